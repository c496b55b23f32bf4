"""What scores find in annotated treebanks."""
