"""Bytes of CoNLL-U and of JSON Lines, read and written."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels import columns as c
from deptree_cli.kernels.flags import kernel

# Lists of names by their numbers, as text.


@kernel
def write_lists(index, sizes, names, ends, out, stops):
    """Write a list for each line, names by their numbers with commas between them; return how many bytes these are.

    index: the numbers of all lines, of which line i has sizes[i]. names: the bytes of all names, of which name i has
    those up to ends[i]. stops (L,): filled with where each list ends in `out`.
    """
    at = place = 0
    for line in range(sizes.shape[0]):
        for i in range(sizes[line]):
            if i > 0:
                out[at] = c.COMMA
                at += 1
            name = index[place]
            at = copy(names, ends[name - 1] if name > 0 else 0, ends[name], out, at)
            place += 1
        stops[line] = at
    return at


# Where the sentences of CoNLL-U bytes end, and where a sentence's words have their columns.

_LONGEST_HEAD = 9

# Labels that say nothing, as the numbers that their bytes are behind a 1.
_NONE, _DEP, _ROOT = (int.from_bytes(b"\1" + label, "big") for label in (b"_", b"dep", b"root"))


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
    if end - start > 4:
        return True
    number = 1
    for at in range(start, end):
        number = 256 * number + np.int64(data[at])
    return number != _NONE and number != _DEP and number != _ROOT


@kernel
def scan(data, start, rows, places, any_heads):
    """Find the words of the sentence in data (uint8), from start on, that is, behind what is not part of it.

    rows: int64 (lines + 1, `WORD_FACTS` and at least one more than there are columns); the first is workspace, words
    are written from the second on, empty nodes (where their lines begin and end) from the bottom. places: int64, which
    columns there are: `WIDTH`, ... any_heads: whether HEAD may be anything.

    Returns:
        Six integers. If nothing is wrong: FINE; where the comments, the other lines and the empty lines behind them
        begin; the number of words and of empty nodes. If something is: what it is (`BAD_COLUMNS`, ...), the line
        (from 0), where the wrong text begins and ends, the number of words before it, and the number of columns.
    """
    size, width, form, cuts = data.shape[0], places[c.WIDTH], places[c.FORM_PLACE], rows[0]
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
        id_end = cuts[1] - 1
        if form >= 0 and cuts[form + 1] == cuts[form] + 1:
            return c.BAD_FORM, line, at, id_end, n, width
        if data[at] != c.ZERO and number_at(data, at, id_end) == n + 1:
            word = rows[n + 1]
            for column in range(4):
                place = places[c.HEAD_PLACE + column]
                word[c.HEAD_START + 2 * column] = cuts[place] if place >= 0 else -1
                word[c.HEAD_END + 2 * column] = cuts[place + 1] - 1 if place >= 0 else -1
            from_, to, label = word[c.HEAD_START], word[c.HEAD_END], word[c.DEPREL_START]
            missing = from_ < 0 or (to - from_ == 1 and data[from_] == c.UNDERSCORE)
            head = c.NO_HEAD if missing else number_at(data, from_, to)
            if head < 0 and not missing:
                if not any_heads:
                    return c.BAD_NUMBER, line, from_, to, n, width
                head = c.NO_NUMBER
            keeps = head > 0 and label >= 0 and says_something(data, label, word[c.DEPREL_END])
            word[c.HEAD], word[c.KEEPS], word[c.LINE] = head, keeps, line
            n += 1
        elif is_between(data, at, id_end, c.DASH):
            kind = range_kind(data, at, id_end)
            if kind != c.FINE:
                return kind, line, at, id_end, n, width
        elif is_between(data, at, id_end, c.DOT):
            empty_nodes += 1
            rows[rows.shape[0] - empty_nodes, 0], rows[rows.shape[0] - empty_nodes, 1] = at, end
        else:
            return c.BAD_ID, line, at, id_end, n, width
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
    while end > cuts[width - 1] and (data[end - 1] == c.LINE_FEED or data[end - 1] == c.RETURN):
        end -= 1
    cuts[width] = end + 1
    return columns


# Many trees of one CoNLL-U sentence as bytes: its own, copied around HEAD, DEPREL, DEPS and MISC.


@kernel
def splice(template, id_span, notes, entries, heads, labels, names, deps, gap, out):
    """Write the k trees heads (k, n) into out (uint8), each with its own id, notes and so on.

    Pieces are bytes laid end to end, a pair (pool uint8, cuts int64): piece p extends from cuts[p] to cuts[p + 1].

    Args:
        template: the sentence, a `Template` turned into a plain tuple, which numba is microseconds quicker to accept.
        id_span: where in the sentence's bytes its id begins and ends.
        notes: pieces 2t and 2t + 1 are the id of tree t, written at id_span, and its notes, written behind the
            comments.
        entries: pieces, for each word of each tree what is written behind its MISC; or none.
        labels: (k, n), the number of each word's label among `names`, not counting the first two; or (0, 0).
        names: pieces, `root` and `dep` for arcs without a label, then the names of labels.
        deps: DROP, BASIC or KEEP; a tree that is the sentence's own, with its labels, does not DROP anything.
        gap: uint8, what separates two trees.

    Returns:
        The number of bytes written, of labels that are the sentence's own, and of trees that dropped something.
    """
    data, comments, rows_start, rows_end, words, empty_nodes, written = template
    notes_pool, notes_cuts = notes
    entries_pool, entries_cuts = entries
    k, n = heads.shape
    at = copy(data, 0, comments, out, 0)
    own_labels = dropping = 0
    loses = deps == c.DROP and goes_beyond_tree(data, words, empty_nodes)
    for tree in range(k):
        of_words = labels[tree : tree + 1]
        drops = loses and not is_own(data, words, heads[tree], of_words, names)
        dropping += drops
        how = c.KEEP if loses and not drops else deps
        at = copy(data, comments, id_span[0], out, at)
        at = copy(notes_pool, notes_cuts[2 * tree], notes_cuts[2 * tree + 1], out, at)
        at = copy(data, id_span[1], rows_start, out, at)
        at = copy(notes_pool, notes_cuts[2 * tree + 1], notes_cuts[2 * tree + 2], out, at)
        start = rows_start
        empty = empty_nodes.shape[0] if how == c.KEEP else 0
        for word in range(n):
            facts, head, entry = words[word], heads[tree, word], tree * n + word
            name = name_of(facts, head, of_words, word)
            own_labels += name < 0
            at, empty = copy_rows(data, start, facts[written[0]], empty_nodes, empty, out, at)
            start = facts[written[0]]
            for column in written:
                is_head, is_label, is_deps = column == c.HEAD_START, column == c.DEPREL_START, column == c.DEPS_START
                if is_head:
                    stays = head == facts[c.HEAD]
                elif is_label:
                    stays = name < 0
                else:
                    stays = how == c.KEEP if is_deps else entry + 1 >= entries_cuts.shape[0]
                if stays:
                    continue
                at = copy(data, start, facts[column], out, at)
                start = facts[column + 1]
                if is_head or (is_deps and how == c.BASIC):
                    at = write_number(head, out, at)
                if is_deps:
                    out[at] = c.COLON if how == c.BASIC else c.UNDERSCORE
                    at += 1
                if is_label or (is_deps and how == c.BASIC):
                    at = write_label(data, facts, name, names, out, at)
                if column == c.MISC_START:
                    if start - facts[column] != 1 or data[facts[column]] != c.UNDERSCORE:
                        at = copy(data, facts[column], start, out, at)
                        out[at] = c.BAR
                        at += 1
                    at = copy(entries_pool, entries_cuts[entry], entries_cuts[entry + 1], out, at)
        at, empty = copy_rows(data, start, rows_end, empty_nodes, empty, out, at)
        if tree < k - 1:
            at = copy(gap, 0, gap.shape[0], out, at)
    return copy(data, rows_end, data.shape[0], out, at), own_labels, dropping


@kernel
def goes_beyond_tree(data, words, empty_nodes):
    """Return whether a sentence has empty nodes, or anything but an underscore in DEPS of a word."""
    if empty_nodes.shape[0] > 0:
        return True
    for word in range(words.shape[0]):
        start, end = words[word, c.DEPS_START], words[word, c.DEPS_END]
        if start >= 0 and (end - start != 1 or data[start] != c.UNDERSCORE):
            return True
    return False


@kernel
def is_own(data, words, heads, labels, names):
    """Return whether a tree, heads (n,), and what would stand in DEPREL with it are what the sentence has.

    labels: (1, n) or (0, n), names: as in `splice`.
    """
    pool, cuts = names
    for word in range(words.shape[0]):
        if heads[word] != words[word, c.HEAD]:
            return False
        name = name_of(words[word], heads[word], labels, word)
        if name >= 0 and words[word, c.DEPREL_START] >= 0:
            start, size = words[word, c.DEPREL_START], cuts[name + 1] - cuts[name]
            if words[word, c.DEPREL_END] - start != size:
                return False
            for i in range(size):
                if data[start + i] != pool[cuts[name] + i]:
                    return False
    return True


@kernel
def name_of(facts, head, labels, word):
    """Return the number of the name that a word gets as DEPREL, -1 if that is its own.

    facts: its row of `Template.words`. labels: (1, n) or (0, n), as in `splice`. A word without a label keeps its
    DEPREL if it keeps its head, and becomes `root` or `dep` if not.
    """
    label = labels[0, word] if labels.shape[0] else -1
    if label >= 0:
        return c.DEP + label + 1
    if head == facts[c.HEAD] and facts[c.KEEPS]:
        return -1
    return c.DEP if head else c.ROOT


@kernel
def copy(source, start, stop, out, at):
    """Copy the bytes start..stop-1 of source to position `at` of out; return the position behind them."""
    taken = source[start:stop]
    place = out[at : at + stop - start]
    for i in range(taken.shape[0]):
        place[i] = taken[i]
    return at + stop - start


@kernel
def copy_rows(data, start, stop, empty_nodes, empty, out, at):
    """Copy the bytes start..stop-1 of a sentence, leaving out the lines of its empty nodes from number `empty` on.

    Returns the position in out behind the copy, and the number of the next empty node.
    """
    while empty < empty_nodes.shape[0] and empty_nodes[empty, 0] < stop:
        at = copy(data, start, empty_nodes[empty, 0], out, at)
        start = empty_nodes[empty, 1]
        empty += 1
    return copy(data, start, stop, out, at), empty


@kernel
def write_label(data, facts, name, names, out, at):
    """Write the label of a word at position `at` of out; return the position behind it. facts, name: see `name_of`."""
    if name < 0:
        return copy(data, facts[c.DEPREL_START], facts[c.DEPREL_END], out, at)
    pool, cuts = names
    return copy(pool, cuts[name], cuts[name + 1], out, at)


@kernel
def write_number(number, out, at):
    """Write a number in decimal digits at position `at` of out; return the position behind it."""
    power = 1
    while power * 10 <= number:
        power *= 10
    while power:
        out[at] = c.ZERO + number // power % 10
        at += 1
        power //= 10
    return at
