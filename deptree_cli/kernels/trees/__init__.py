"""Dependency trees: elimination, random walks, maximum trees, and cells of the space of trees."""
