"""Which choices a given projective tree is made by (`derivations.py`), and how probable it is to leave them."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, divide, get, multiply, put, zero
from deptree_cli.kernels.trees.derivations import all_but, product
from deptree_cli.kernels.trees.items import BETWEEN, RIGHT, all_items, split, splits_of

# What a row of a path says besides the item.
SPLIT, PLACE = 3, 4


@kernel
def fill_path(single_root, tree, path, todo, first, last):
    """Fill a path (2n, 5) with the choices of a tree (n,) between several places; return how many there are.

    A choice is an item (item, i, j), where it is split, and which of the places that is, counted from 0. todo:
    (2n+2, 3), a stack; first, last: (n+1,), memory for `fill_extents`.
    """
    fill_extents(tree, first, last)
    items, choices = all_items(tree.shape[0], todo), 0
    while items > 0:
        items -= 1
        item, i, j = todo[items, 0], todo[items, 1], todo[items, 2]
        start, stop = splits_of(single_root, item, i, j)
        k = start
        if stop - start > 1:
            k = split_in(tree, item, i, j, first, last)
            path[choices, 0], path[choices, 1], path[choices, 2] = item, i, j
            path[choices, SPLIT], path[choices, PLACE] = k, k - start
            choices += 1
        items = split(todo, items, item, i, j, k)
    return choices


@kernel(forceinline=True)
def split_in(tree, item, i, j, first, last):
    """Return where a tree (n,) splits an item; first, last: as `fill_extents` fills them."""
    if item == BETWEEN:
        return first[j] - 1 if tree[j - 1] == i else last[i]
    head, k = (i, j) if item == RIGHT else (j, i)
    while tree[k - 1] != head:
        k = tree[k - 1]
    return k


@kernel
def fill_extents(tree, first, last):
    """Fill first and last (n+1,) with the first and last of the words that are below each node of a tree, or itself."""
    for node in range(tree.shape[0] + 1):
        first[node] = last[node] = node
    for word in range(1, tree.shape[0] + 1):
        node = word
        while node != 0:
            node = tree[node - 1]
            if first[node] <= word <= last[node]:
                break
            first[node], last[node] = min(first[node], word), max(last[node], word)


@kernel
def fill_rest(sums, single_root, path, depth, choices, rest):
    """Fill rest[depth:], numbers, with the probability of all trees but a path's given its choices before each.

    The sum of those that leave it at the next choice, and of those that leave it further on; 0 after the last.
    """
    put(rest, choices, zero(rest))
    for d in range(choices - 1, depth - 1, -1):
        item, i, j, k = path[d, 0], path[d, 1], path[d, 2], path[d, SPLIT]
        start, stop = splits_of(single_root, item, i, j)
        along = multiply(product(sums, item, i, j, k), get(rest, d + 1))
        put(rest, d, divide(add(all_but(sums, item, i, j, start, k, stop), along), get(sums.total, (item, i, j))))
