"""Matrices of many sentences laid out as ``[head, dependent]`` with ROOT first, one after another, and back."""

from __future__ import annotations

from deptree_cli.kernels.batches.packed import sentence
from deptree_cli.kernels.flags import kernel

# Where ROOT stands.
FIRST, LAST, DIAGONAL = 0, 1, 2


@kernel(allocates=True)
def lay_out(values, shapes, starts, dep_head, root, empty, lengths, offsets, out):
    """Fill out with the matrices of sentences of lengths (B,), each (n+1, n+1) from its offset on.

    values: the numbers of all as they were read, a matrix of shapes (B, 2) from each of starts (B,) on. dep_head (B,):
    whether its rows are dependents. Column 0 and the diagonal become `empty`.
    """
    for b in range(lengths.shape[0]):
        n, rows, columns = lengths[b], shapes[b, 0], shapes[b, 1]
        given = values[starts[b] : starts[b] + rows * columns].reshape(rows, columns)
        target = sentence(out, offsets[b], n)
        for i in range(n + 1):
            target[i, 0] = target[i, i] = empty
        for i in range(rows):
            for j in range(columns):
                head, word = arc_of(i, j, rows, columns, dep_head[b], root, n)
                if word > 0 and head != word:
                    target[head, word] = given[i, j]


@kernel
def clear_no_arcs(values, sizes, offsets, empty):
    """Overwrite column 0 and the diagonal of square matrices of sizes (B,), one after another, by `empty`."""
    for b in range(sizes.shape[0]):
        for i in range(sizes[b]):
            values[offsets[b] + i * sizes[b]] = empty
            values[offsets[b] + i * (sizes[b] + 1)] = empty


@kernel(allocates=True)
def lay_back(found, shapes, starts, dep_head, root, lengths, offsets, values):
    """Fill values as `lay_out` takes them with what belongs to arcs, 0 where a cell has none."""
    for b in range(lengths.shape[0]):
        n, rows, columns = lengths[b], shapes[b, 0], shapes[b, 1]
        given = sentence(found, offsets[b], n)
        target = values[starts[b] : starts[b] + rows * columns].reshape(rows, columns)
        for i in range(rows):
            for j in range(columns):
                head, word = arc_of(i, j, rows, columns, dep_head[b], root, n)
                target[i, j] = given[head, word] if word > 0 and head != word else 0.0


@kernel
def arc_of(i, j, rows, columns, dep_head, root, n):
    """Return the head and the word of a cell of a matrix as it was read."""
    head, word, dependents = (j, i, rows) if dep_head else (i, j, columns)
    if root == DIAGONAL:
        return 0 if head == word else head + 1, word + 1
    shift = 0 if root == FIRST else 1
    return (head + shift) % (n + 1), (word + shift) % (n + 1) if dependents > n else word + 1


@kernel(allocates=True)
def find_plain(scores, lengths, starts, most, plain):
    """Fill plain (B,) with whether all scores of arcs are numbers nearer to 0 than `most`."""
    for b in range(lengths.shape[0]):
        scores_of_one = sentence(scores, starts[b], lengths[b])
        plain[b] = True
        for i in range(scores_of_one.shape[0]):
            for j in range(1, scores_of_one.shape[0]):
                plain[b] = plain[b] and (i == j or abs(scores_of_one[i, j]) < most)
