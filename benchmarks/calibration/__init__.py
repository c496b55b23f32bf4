"""Temperatures and sets of heads on real parsers."""
