"""Evaluation of files: their words as arrays, sentences of the same text paired, what is right counted."""
