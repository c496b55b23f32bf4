"""Sums over the trees of many sentences in one call: weights packed one sentence after another, results padded."""
