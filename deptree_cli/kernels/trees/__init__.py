"""Trees whose arcs may cross: the maximum one, which arcs there are, log-probabilities and labels."""
