"""What the commands of the generative parser share at the terminal: options, folds, how a training is followed."""
