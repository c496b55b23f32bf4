"""Benchmarks: tables of figures, never tests. ``make bench`` runs them all; a name on the command line runs one."""
