"""Kernels of second-order trees: the chart, its sweep backwards, its grammar, and what masks leave of it."""
