"""Repair: the valid tree nearest to one that was given, by changed words, then by how probable it is."""
