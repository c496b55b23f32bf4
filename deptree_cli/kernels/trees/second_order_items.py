"""The items of the second-order chart, from the top down: what they are split into.

An item (item, i, j, above) is COMPLETE, of head i out to the end j, or an ARC from i to j, either way, and `above` is
the grandparent; or it is a PAIR, what stands between the siblings i < j of the head `above`. Where nothing is scored by
grandparents, `above` is 0. All trees are COMPLETE of node 0.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel

COMPLETE, ARC, PAIR = 0, 1, 2


# The functions are inlined, as in `items.py`.


@kernel(forceinline=True)
def push(todo, count, item, i, j, above):
    """Put an item on a stack, unless there is nothing in it; return how many items are there."""
    if i == j:
        return count
    todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3] = item, i, j, above
    return count + 1


@kernel(forceinline=True)
def all_items(n, todo):
    """Begin a stack, todo (2n+2, 4), with the item of all trees; return how many items there are."""
    return push(todo, 0, COMPLETE, 0, n, 0)


@kernel(forceinline=True)
def split(todo, count, item, i, j, above, at, k, heads):
    """Put the parts of an item on the stack, and its new arc into heads (n,); return how many items are there.

    k: the last dependent of a complete item; the sibling before an arc's dependent, the head itself for none; behind
    which node a pair is divided. at: the grandparent of what hangs below i: i, or 0 where nothing is scored by them.
    """
    if item == PAIR:
        return push(todo, push(todo, count, COMPLETE, i, k, above), COMPLETE, j, k + 1, above)
    if item == ARC and k == i:
        return push(todo, count, COMPLETE, j, i + (1 if i < j else -1), at)
    heads[k - 1] = i
    if item == COMPLETE:
        return push(todo, push(todo, count, COMPLETE, k, j, at), ARC, i, k, above)
    return push(todo, push(todo, count, ARC, i, k, above), PAIR, min(j, k), max(j, k), at)
