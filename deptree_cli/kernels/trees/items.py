"""The items of Eisner's chart, from the top down: at which nodes they can be split, and into what.

An item (item, i, j) spans the nodes i..j. RIGHT is complete, of head i; LEFT is complete, of head j; BETWEEN is what
fills the span of an arc between i and j. All trees are RIGHT of node 0. A complete item is split at its outermost
dependent, an arc's span where its two halves meet: behind the node k. What is still to be split is a stack; what is
pushed last is split first.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel

RIGHT, LEFT, BETWEEN = 0, 1, 2


# The functions are inlined: handing over arrays would take longer than what they do.


@kernel(forceinline=True)
def push(todo, count, item, i, j):
    """Put an item on a stack, unless there is nothing in it; return how many items are there."""
    if i == j:
        return count
    todo[count, 0], todo[count, 1], todo[count, 2] = item, i, j
    return count + 1


@kernel(forceinline=True)
def all_items(n, todo):
    """Begin a stack, todo (2n+2, 3), with the item of all trees; return how many items there are."""
    return push(todo, 0, RIGHT, 0, n)


@kernel(forceinline=True)
def splits_of(single_root, item, i, j):
    """Return the first node at which an item can be split, and the node behind the last."""
    if item == RIGHT:
        return i + 1, j + 1
    return i, i + 1 if item == BETWEEN and single_root and i == 0 else j


@kernel(forceinline=True)
def split(todo, count, item, i, j, k):
    """Put the parts of an item that is split at k on the stack; return how many items are there."""
    if item == RIGHT:
        return push(todo, push(todo, count, RIGHT, k, j), BETWEEN, i, k)
    if item == LEFT:
        return push(todo, push(todo, count, LEFT, i, k), BETWEEN, k, j)
    return push(todo, push(todo, count, RIGHT, i, k), LEFT, k + 1, j)


@kernel(forceinline=True)
def attach(heads, item, i, j, k):
    """Put the arc of an item that is split at k, if it has one, into heads (n,)."""
    if item == RIGHT:
        heads[k - 1] = i
    elif item == LEFT:
        heads[k - 1] = j
