"""What the commands of sentence pairs share at the terminal: options, and estimates that Ctrl-C ends early."""
