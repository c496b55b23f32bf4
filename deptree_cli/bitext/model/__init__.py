"""Sentence pairs: distributions over alignments by inversion transduction grammars."""
