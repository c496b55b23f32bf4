"""Kernels of the generative parser: hierarchical Pitman-Yor processes, arc-standard configurations, search, filters."""
