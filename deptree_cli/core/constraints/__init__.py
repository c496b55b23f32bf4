"""Trees that obey: what a single arc decides is a mask, what only a tree decides is found by division, and certified."""
