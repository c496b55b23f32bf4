"""Elimination of words: its sweeps and what stands on them, for trees that may cross."""
