"""Second-order trees: their distribution, its chart, and the same as a program for randomized pruning."""
