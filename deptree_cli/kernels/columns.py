"""The names of what the kernels of CoNLL-U find, for them and for those who ask them; without numba."""

from __future__ import annotations

TAB, LINE_FEED, HASH, DASH, DOT, UNDERSCORE, ZERO, NINE = (ord(sign) for sign in "\t\n#-._09")

# what `sentence_ends` knows of the bytes before: where the line began, whether it is empty so far, whether the line
# before it was, whether the sentence has begun
LINE_START, EMPTY, AFTER_EMPTY, BEGUN = range(4)

# what `scan` finds of a word: where its columns begin and end, its head (`NO_HEAD`: an underscore), whether DEPREL may
# be kept with HEAD, its line
HEAD_START, DEPREL_START, DEPREL_END, DEPS_END, HEAD, KEEPS, LINE = range(7)
WORD_FACTS = 7
NO_HEAD = -1

# what a line is, or what is wrong with it
FINE, WORD, EMPTY_NODE, BAD_COLUMNS, BAD_ID, BAD_NUMBER, BAD_HEAD = range(7)

# what becomes of DEPS: an underscore, the tree's own arc, or what it was; only the last keeps empty nodes
DROP, BASIC, KEEP = range(3)

# the first names of labels: what a word is called whose label nobody knows
ROOT, DEP = range(2)
