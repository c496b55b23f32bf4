"""What quantitative syntax counts in a tree, and what to expect if the order of words were random or the best.

A chunk of trees is packed: the heads of all sentences one behind the other, (words,), those of sentence s in
``heads[starts[s] : starts[s + 1]]``, numbered from 1 in each, 0 for ROOT; they have been validated. Every function
returns a number per sentence, (sentences,).
"""
