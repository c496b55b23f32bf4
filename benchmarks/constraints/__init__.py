"""Trees that obey rules: how valid and how right they are, what they cost, and a heuristic beside them."""
