"""What the kernels of CoNLL-U and their callers call things; without numba."""

from __future__ import annotations

from typing import NamedTuple

TAB, LINE_FEED, RETURN, HASH, DASH, DOT, UNDERSCORE, BAR, ZERO, NINE, COMMA, COLON = map(ord, "\t\n\r#-._|09,:")

# What `sentence_ends` carries from call to call: where the current line began, whether that line is empty so far,
# whether the line before it was, and whether the sentence has begun.
LINE_START, EMPTY, AFTER_EMPTY, BEGUN = range(4)

# What `scan` is told of a file's columns, in this order: how many there are, and the places of those that it looks for,
# from 0, `NO_COLUMN` for one that the file does not have. ID is the first of all files.
WIDTH, FORM_PLACE, HEAD_PLACE, DEPREL_PLACE, DEPS_PLACE, MISC_PLACE = range(6)
NO_COLUMN = -1

# What `scan` finds of a word, a row of int64: its head (`NO_HEAD` for an underscore, `NO_NUMBER` for anything else that
# is not a number, if any heads are asked for), whether DEPREL is kept together with HEAD (not one that says nothing),
# its line; and where its columns begin and end, the last one before the newline. Of a column that the file does not
# have both are -1.
HEAD, KEEPS, LINE = range(3)
HEAD_START, HEAD_END, DEPREL_START, DEPREL_END, DEPS_START, DEPS_END, MISC_START, MISC_END = range(3, 11)
WORD_FACTS = 11
NO_HEAD = -1
NO_NUMBER = -2

# What is wrong with a line, or nothing.
FINE, BAD_COLUMNS, BAD_ID, BAD_NUMBER, BAD_HEAD, BAD_FORM, BAD_RANGE = range(7)

# What becomes of DEPS with another tree: an underscore, the tree's own arc, or what it was; only the last keeps empty
# nodes.
DROP, BASIC, KEEP = range(3)

# The first two of the names of labels: what an arc is called that has no label.
ROOT, DEP = range(2)


class Template(NamedTuple):
    """The bytes of a sentence, and the places in them where trees are written.

    data: uint8. comments, rows_start, rows_end: where the comments, the other lines and the empty lines behind them
    begin. words: int64 (n, `WORD_FACTS`). empty_nodes: int64 (m, at least 2), where their lines begin and end.
    written: int64, `HEAD_START`, ... of those columns that there are, in the order of the file.
    """

    data: object
    comments: int
    rows_start: int
    rows_end: int
    words: object
    empty_nodes: object
    written: object
