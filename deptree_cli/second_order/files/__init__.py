"""Second-order scores in files."""
