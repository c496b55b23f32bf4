"""CoNLL-U, byte for byte: sentences read (`blocks`), trees spliced into them, and anybody's trees read back."""
