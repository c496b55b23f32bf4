"""Kernels of inversion transduction grammars."""
