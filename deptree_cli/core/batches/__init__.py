"""Sums over the trees of many sentences at once, for training loops: padded arrays in, padded arrays out."""
