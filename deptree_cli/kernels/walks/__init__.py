"""Random walks over the words of a sentence, from which trees are drawn."""
