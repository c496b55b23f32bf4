"""What the generative parser reads and writes: treebanks and tables of contexts."""
