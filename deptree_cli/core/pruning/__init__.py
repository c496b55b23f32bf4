"""Randomized pruning (Bouchard-Cote, Petrov and Klein 2009): expectations by dynamic programs that are too large."""
