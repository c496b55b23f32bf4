"""Randomized pruning of alignments and second-order trees beside exact sums and its rivals."""
