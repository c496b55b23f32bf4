"""Where the sentences of CoNLL-U bytes end, and where a sentence's words have their columns."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.text import columns as c

_LONGEST_HEAD = 9


@kernel
def is_space(byte):
    """Return whether a byte is white space, as Python's bytes.strip has it."""
    return byte == 32 or 9 <= byte <= 13


@kernel
def sentence_ends(buffer, start, state, ends):
    """Fill `ends` with the positions from start on at which a sentence ends and the next begins; return how many.

    state: int64 (4,), carried from call to call; its positions are relative to `buffer`.
    """
    count = 0
    for at in range(start, buffer.shape[0]):
        byte = buffer[at]
        if byte == c.LINE_FEED:
            state[c.AFTER_EMPTY] = state[c.EMPTY] and state[c.BEGUN]
            state[c.EMPTY] = 1
            state[c.LINE_START] = at + 1
        elif state[c.EMPTY] and not is_space(byte):
            if state[c.AFTER_EMPTY]:
                ends[count] = state[c.LINE_START]
                count += 1
            state[c.EMPTY] = 0
            state[c.AFTER_EMPTY] = 0
            state[c.BEGUN] = 1
    return count


@kernel
def line_end(data, start):
    """Return the position behind the newline of the line that begins at start, or the end of the data."""
    for at in range(start, data.shape[0]):
        if data[at] == c.LINE_FEED:
            return at + 1
    return data.shape[0]


@kernel
def text_end(data, start, end):
    """Return where what comes before a newline ends, in the bytes start..end-1."""
    while end > start and (data[end - 1] == c.LINE_FEED or data[end - 1] == c.RETURN):
        end -= 1
    return end


@kernel
def is_empty(data, start, end):
    """Return whether the bytes start..end-1 are all white space."""
    for at in range(start, end):  # noqa: SIM110 (numba has no all)
        if not is_space(data[at]):
            return False
    return True


@kernel
def number_at(data, start, end):
    """Return the number that the bytes start..end-1 spell, -1 if they are not digits or too many."""
    if start == end or end - start > _LONGEST_HEAD:
        return -1
    number = 0
    for at in range(start, end):
        if not c.ZERO <= data[at] <= c.NINE:
            return -1
        number = 10 * number + np.int64(data[at]) - c.ZERO
    return number


@kernel
def is_between(data, start, end, sign):
    """Return whether the bytes start..end-1 are digits on both sides of one sign: 3-4 or 3.1."""
    signs = 0
    for at in range(start, end):
        if data[at] == sign:
            signs += 1
            if at == start or at == end - 1:
                return False
        elif not c.ZERO <= data[at] <= c.NINE:
            return False
    return signs == 1


@kernel
def range_kind(data, start, end):
    """Return what numbers on both sides of a dash, the bytes start..end-1, are: FINE, or BAD_RANGE as 2-1 is, or BAD_ID
    as a number with too many digits or a zero in front is."""
    dash = start
    while data[dash] != c.DASH:
        dash += 1
    first, last = number_at(data, start, dash), number_at(data, dash + 1, end)
    if first < 0 or last < 0 or data[start] == c.ZERO or data[dash + 1] == c.ZERO:
        return c.BAD_ID
    return c.BAD_RANGE if first > last else c.FINE


@kernel
def says_something(data, start, end):
    """Return whether a DEPREL, the bytes start..end-1, is more than `_`, `dep` or `root` beside the head of a word."""
    size = end - start
    if size == 1:
        return data[start] != c.UNDERSCORE
    if size == 3:
        return not (data[start] == 100 and data[start + 1] == 101 and data[start + 2] == 112)
    if size == 4:
        return not (data[start] == 114 and data[start + 1] == 111 and data[start + 2] == 111 and data[start + 3] == 116)
    return True


@kernel
def scan(data, start, rows, places, any_heads):
    """Find the words of the sentence in data (uint8), from start on, that is, behind what is no part of it.

    rows: int64 (lines + 1, `WORD_FACTS` and at least one more than there are columns); the first is workspace, words
    are written from the second on, empty nodes (where their lines begin and end) from the bottom. places: int64, which
    columns there are: `WIDTH`, ... any_heads: whether HEAD may be anything.

    Returns:
        Six integers. If nothing is wrong: FINE; where the comments, the other lines and the empty lines behind them
        begin; the number of words and of empty nodes. If something is: what it is (`BAD_COLUMNS`, ...), the line
        (from 0), where the wrong text begins and ends, the number of words before it, and the number of columns.
    """
    size, width, cuts = data.shape[0], places[c.WIDTH], rows[0]
    line, at = 0, start
    end = line_end(data, at)
    while at < size and is_empty(data, at, end):
        line, at = line + 1, end
        end = line_end(data, at)
    comments = at
    while at < size and data[at] == c.HASH:
        line, at = line + 1, end
        end = line_end(data, at)
    first = at
    n = empty_nodes = 0
    while at < size and not is_empty(data, at, end):
        found = cut(data, at, end, width, cuts)
        if found != width:
            return c.BAD_COLUMNS, line, at, end, n, found
        kind, from_, to = scan_row(data, cuts, n + 1, places, any_heads, rows[n + 1])
        if kind == c.EMPTY_NODE:
            empty_nodes += 1
            rows[rows.shape[0] - empty_nodes, 0], rows[rows.shape[0] - empty_nodes, 1] = at, end
        elif kind == c.WORD:
            n += 1
            rows[n, c.LINE] = line
        elif kind != c.FINE:
            return kind, line, from_, to, n, width
        line, at = line + 1, end
        end = line_end(data, at)
    for word in rows[1 : n + 1]:
        if word[c.HEAD] > n and not any_heads:
            return c.BAD_HEAD, word[c.LINE], word[c.HEAD_START], word[c.HEAD_END], n, width
    return c.FINE, comments, first, at, n, empty_nodes


@kernel
def cut(data, start, end, width, cuts):
    """Find the columns of one line, the bytes start..end-1; return how many it has.

    width: how many are due. cuts: int64, filled with where each begins, and where another one would; a column ends one
    byte before the next begins.
    """
    columns = 1
    cuts[0] = start
    for at in range(start, end):
        if data[at] == c.TAB:
            if columns < width:
                cuts[columns] = at + 1
            columns += 1
    cuts[width] = text_end(data, cuts[width - 1], end) + 1
    return columns


@kernel
def scan_row(data, cuts, due, places, any_heads, word):
    """Look at one line, cut into its columns; fill the row `word` if it is one.

    due: the id that the next word must have. places, any_heads: see `scan`.

    Returns:
        WORD, EMPTY_NODE, FINE for another line, or what is wrong; where the wrong text begins and ends.
    """
    start, id_end, form = cuts[0], cuts[1] - 1, places[c.FORM_PLACE]
    if form >= 0 and cuts[form + 1] == cuts[form] + 1:
        return c.BAD_FORM, start, id_end
    if data[start] == c.ZERO or number_at(data, start, id_end) != due:
        if is_between(data, start, id_end, c.DASH):
            return range_kind(data, start, id_end), start, id_end
        return c.EMPTY_NODE if is_between(data, start, id_end, c.DOT) else c.BAD_ID, start, id_end
    for column in range(4):
        at, place = c.HEAD_START + 2 * column, places[c.HEAD_PLACE + column]
        word[at] = cuts[place] if place >= 0 else -1
        word[at + 1] = cuts[place + 1] - 1 if place >= 0 else -1
    from_, to = word[c.HEAD_START], word[c.HEAD_END]
    missing = from_ < 0 or (to - from_ == 1 and data[from_] == c.UNDERSCORE)
    head = c.NO_HEAD if missing else number_at(data, from_, to)
    if head < 0 and not missing:
        if not any_heads:
            return c.BAD_NUMBER, from_, to
        head = c.NO_NUMBER
    word[c.HEAD] = head
    label = word[c.DEPREL_START]
    word[c.KEEPS] = head > 0 and label >= 0 and says_something(data, label, word[c.DEPREL_END])
    return c.WORD, start, id_end
