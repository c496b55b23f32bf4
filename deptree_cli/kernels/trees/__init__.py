"""Dependency trees: random walks, charts, maximum trees, and cells of the space of trees."""
