"""Evaluation of parsed trees: attachment scores as the CoNLL 2018 shared task counts them, error bars and tests."""
