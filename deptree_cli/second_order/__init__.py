"""Projective trees with scores of grandparents and of adjacent siblings: a wing of the library, without commands."""
