"""CoNLL-U, byte for byte: sentences read (`blocks`), and trees spliced into them."""
