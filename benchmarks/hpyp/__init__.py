"""The generative parser."""
