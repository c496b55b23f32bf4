"""Scores of arcs in any container and layout, read as distributions and written again."""
