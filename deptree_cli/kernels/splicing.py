"""Many trees of one CoNLL-U sentence as bytes: ready pieces, copied one behind the other.

`pool` (uint8) holds all pieces of a sentence, piece p from cuts[p] to cuts[p + 1]: for each of the n words what stands
before its arc, then for each word its arc as read, then for each head 0..n a new arc, then END, JOINT, LEAD, BEFORE_ID,
AFTER_ID.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel

# behind the 3n + 1 pieces of words: what ends the last tree, what ends any other; what stands before the first sentence
# line, before the sentence's id, behind it
END, JOINT, LEAD, BEFORE_ID, AFTER_ID = range(1, 6)


@kernel
def arc_piece(word, n, head, old):
    """The piece of a word's new arc: as read where the head is the old one."""
    return n + word if head == old[word] else 2 * n + head


@kernel
def spliced_size(cuts, old, id_cuts, note_cuts, heads):
    """The number of bytes that `splice` will write."""
    k, n = heads.shape
    last = 3 * n
    size = id_cuts[k] + note_cuts[k]
    for piece in (last + END, last + LEAD):
        size += cuts[piece + 1] - cuts[piece]
    for piece in (last + BEFORE_ID, last + AFTER_ID):
        size += k * (cuts[piece + 1] - cuts[piece])
    size += (k - 1) * (cuts[last + JOINT + 1] - cuts[last + JOINT]) + k * cuts[n]
    for tree in range(k):
        for word in range(n):
            piece = arc_piece(word, n, heads[tree, word], old)
            size += cuts[piece + 1] - cuts[piece]
    return size


@kernel
def copy(source, start, stop, out, at):
    """Copy bytes; returns where the next ones go."""
    taken = source[start:stop]
    place = out[at : at + stop - start]
    for i in range(taken.shape[0]):
        place[i] = taken[i]
    return at + stop - start


@kernel
def splice(pool, cuts, old, ids, id_cuts, notes, note_cuts, heads, out):
    """Write the k trees heads (k, n) into out (uint8), with an id and notes of its own each.

    old: (n,) the heads with which words keep their arcs as read, -1 for none; ids, notes: uint8, those of tree t from
    id_cuts[t] to id_cuts[t + 1].
    """
    k, n = heads.shape
    last = 3 * n
    at = copy(pool, cuts[last + LEAD], cuts[last + LEAD + 1], out, 0)
    for tree in range(k):
        at = copy(pool, cuts[last + BEFORE_ID], cuts[last + BEFORE_ID + 1], out, at)
        at = copy(ids, id_cuts[tree], id_cuts[tree + 1], out, at)
        at = copy(pool, cuts[last + AFTER_ID], cuts[last + AFTER_ID + 1], out, at)
        at = copy(notes, note_cuts[tree], note_cuts[tree + 1], out, at)
        for word in range(n):
            at = copy(pool, cuts[word], cuts[word + 1], out, at)
            piece = arc_piece(word, n, heads[tree, word], old)
            at = copy(pool, cuts[piece], cuts[piece + 1], out, at)
        piece = last + (END if tree == k - 1 else JOINT)
        at = copy(pool, cuts[piece], cuts[piece + 1], out, at)
