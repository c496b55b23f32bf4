"""The elimination in operations of PyTorch, on whatever device the tensors are."""
