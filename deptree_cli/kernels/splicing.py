"""Many trees of one CoNLL-U sentence as bytes: its own, copied around HEAD, DEPREL and DEPS.

A `pool` (uint8) holds pieces end to end, piece p from cuts[p] to cuts[p + 1].
"""

from __future__ import annotations

from deptree_cli.kernels.columns import (
    DEP,
    DEPREL_END,
    DEPS_END,
    DROP,
    HEAD,
    HEAD_START,
    KEEP,
    KEEPS,
    ROOT,
    TAB,
    UNDERSCORE,
    ZERO,
)
from deptree_cli.kernels.flags import kernel

COLON = 58


@kernel
def copy(source, start, stop, out, at):
    """Copy bytes; returns where the next ones go."""
    taken = source[start:stop]
    place = out[at : at + stop - start]
    for i in range(taken.shape[0]):
        place[i] = taken[i]
    return at + stop - start


@kernel
def write_number(number, out, at):
    """Write a number in decimal digits; returns where the next byte goes."""
    power = 1
    while power * 10 <= number:
        power *= 10
    while power:
        out[at] = ZERO + number // power % 10
        at += 1
        power //= 10
    return at


@kernel
def copy_rows(data, start, stop, empty_nodes, empty, out, at):
    """Copy bytes without the lines of empty nodes, from number `empty` on; returns where to go on, and the number."""
    while empty < empty_nodes.shape[0] and empty_nodes[empty, 0] < stop:
        at = copy(data, start, empty_nodes[empty, 0], out, at)
        start = empty_nodes[empty, 1]
        empty += 1
    return copy(data, start, stop, out, at), empty


@kernel
def write_arc(data, word, head, label, names, name_cuts, deps, out, at):
    """Write HEAD, DEPREL and DEPS of a word (a row of `scan`'s); label -1: its own with its own head, root or dep."""
    start = at
    kept = label < 0 and head == word[HEAD] and word[KEEPS]
    if kept:
        at = copy(data, word[HEAD_START], word[DEPREL_END], out, at)
    else:
        at = write_number(head, out, at)
        out[at] = TAB
        name = DEP + label + 1 if label >= 0 else (DEP if head else ROOT)
        at = copy(names, name_cuts[name], name_cuts[name + 1], out, at + 1)
    if deps == KEEP:
        return copy(data, word[DEPREL_END], word[DEPS_END], out, at)
    out[at] = TAB
    if deps == DROP:
        out[at + 1] = UNDERSCORE
        return at + 2
    return write_dependency(out, start, at)


@kernel
def write_dependency(out, start, end):
    """Write the arc that stands from start to end once more, behind a tab, as DEPS has it: 2:nsubj."""
    at = copy(out, start, end, out, end + 1)
    for i in range(end + 1, at):
        if out[i] == TAB:
            out[i] = COLON
            break
    return at


@kernel
def splice(
    data,
    comments,
    rows_start,
    rows_end,
    words,
    empty_nodes,
    id_start,
    id_end,
    told,
    told_cuts,
    heads,
    labels,
    names,
    name_cuts,
    deps,
    gap,
    out,
):
    """Write the k trees heads (k, n) into out (uint8), each with an id, notes and labels of its own; returns the size.

    data to empty_nodes: a sentence and what `scan` found, empty nodes in their order; told: pieces 2t and 2t + 1 are
    the id of tree t, in place of id_start to id_end, and its notes, behind the comments; labels: (k, n), numbers of
    `names`, not counting the first two, or (0, 0); deps: DROP, BASIC or KEEP; gap: what ends every tree but the last.
    """
    k, n = heads.shape
    at = copy(data, 0, comments, out, 0)
    for tree in range(k):
        at = copy(data, comments, id_start, out, at)
        at = copy(told, told_cuts[2 * tree], told_cuts[2 * tree + 1], out, at)
        at = copy(data, id_end, rows_start, out, at)
        at = copy(told, told_cuts[2 * tree + 1], told_cuts[2 * tree + 2], out, at)
        start = rows_start
        empty = empty_nodes.shape[0] if deps == KEEP else 0
        for word in range(n):
            at, empty = copy_rows(data, start, words[word, HEAD_START], empty_nodes, empty, out, at)
            label = labels[tree, word] if labels.shape[0] else -1
            at = write_arc(data, words[word], heads[tree, word], label, names, name_cuts, deps, out, at)
            start = words[word, DEPS_END]
        at, empty = copy_rows(data, start, rows_end, empty_nodes, empty, out, at)
        if tree < k - 1:
            at = copy(gap, 0, gap.shape[0], out, at)
    return copy(data, rows_end, data.shape[0], out, at)
