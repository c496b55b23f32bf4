"""The paper's program of three children, in O(p^4 q^4)."""
