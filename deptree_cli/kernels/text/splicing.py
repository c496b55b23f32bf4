"""Many trees of one CoNLL-U sentence as bytes: its own, copied around HEAD, DEPREL, DEPS and MISC."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.text import columns as c

COLON = 58


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
                if column == c.HEAD_START:
                    if head != facts[c.HEAD]:
                        at = copy_few(data, start, facts[c.HEAD_START], out, at)
                        at, start = write_number(head, out, at), facts[c.HEAD_END]
                elif column == c.DEPREL_START:
                    if name >= 0:
                        at = copy_few(data, start, facts[c.DEPREL_START], out, at)
                        at, start = write_label(data, facts, name, names, out, at), facts[c.DEPREL_END]
                elif column == c.DEPS_START:
                    if how != c.KEEP:
                        at = copy_few(data, start, facts[c.DEPS_START], out, at)
                        at, start = write_deps(data, facts, head, name, names, how, out, at), facts[c.DEPS_END]
                elif entry + 1 < entries_cuts.shape[0]:
                    at = copy_few(data, start, facts[c.MISC_START], out, at)
                    at, start = copy_misc(data, facts[c.MISC_START], facts[c.MISC_END], out, at), facts[c.MISC_END]
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
def copy_misc(data, start, stop, out, at):
    """Copy the bytes start..stop-1, MISC, for another entry to come; return the position behind them."""
    if stop - start == 1 and data[start] == c.UNDERSCORE:
        return at
    at = copy(data, start, stop, out, at)
    out[at] = c.BAR
    return at + 1


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
def copy_few(source, start, stop, out, at):
    """Do what `copy` does, byte by byte: quicker for the tab between two columns."""
    for i in range(start, stop):
        out[at] = source[i]
        at += 1
    return at


@kernel
def write_deps(data, facts, head, name, names, deps, out, at):
    """Write DEPS of a word at position `at` of out: an underscore, or its arc; return the position behind it."""
    if deps == c.DROP:
        out[at] = c.UNDERSCORE
        return at + 1
    at = write_number(head, out, at)
    out[at] = COLON
    return write_label(data, facts, name, names, out, at + 1)


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
