"""Repair: the valid tree nearest to one that was given, by changed heads and labels, then by how probable it is."""
