"""The columns of a record of configurations (`configurations.py`), and how elements of contexts are numbered.

A record describes the top of a stack: a word, with the tags of its outermost children so far. The element of a context
that is in column c of the word at depth d of the stack (0 is the top) has the code RECORD * d + c.
"""

from __future__ import annotations

# The record of the stack below; the word's position (0: the root); its tag and word symbols; the tags of its leftmost
# left child and its rightmost right child; the record before, and the action that led here from it.
BELOW, INDEX, TAG, WORD, LEFT, RIGHT, PREVIOUS, ACTION = range(8)
RECORD = 8

# The code of the tag of the word that is shifted next.
NEXT_TAG = -1

# The record below the root: its symbols are all null. The record of the root alone.
BOTTOM, ROOT = 0, 1

# Actions: 0 shifts, 1..L make left-arcs, L+1..2L right-arcs, with a label each.
SHIFT = 0

# The symbol of what is missing or was never seen: a word with this tag has one that is not known. The symbol of the
# root node, as a word and as a tag.
NULL_SYMBOL, ROOT_SYMBOL = 0, 1
