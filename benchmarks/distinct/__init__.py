"""Distinct trees: speed by algorithm, and stochastic beam search in JAX."""
