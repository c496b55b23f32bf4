"""The generative parser as a library: train it on a treebank, parse, sample, and measure surprisal."""
