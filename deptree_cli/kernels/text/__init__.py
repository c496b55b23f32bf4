"""Scanning and splicing the bytes of CoNLL-U."""
