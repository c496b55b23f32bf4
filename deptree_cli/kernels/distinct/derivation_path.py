"""Which choices a given projective tree is made by (`derivations.py`), and how probable it is to leave them."""

from __future__ import annotations

from deptree_cli.kernels.charts.eisner import BETWEEN, RIGHT
from deptree_cli.kernels.charts.walker import part, places, push, split, total
from deptree_cli.kernels.distinct.derivations import complement, first_item, item_at
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, divide, get, multiply, put, zero

SPLIT = 3  # where in a row of a path, behind the item, it stands at which node the item is split


@kernel
def fill_path(grammar, tree, path, todo, first, last):
    """Fill a path (2n, 4) with the choices of a tree (n,) between several places; return how many there are.

    A choice is an item (kind, i, j) and the node at which it is split. todo: (2n+2, WIDTH), a stack; first, last:
    (n+1,), memory for `fill_extents`.
    """
    fill_extents(tree, first, last)
    items, choices = first_item(tree.shape[0], todo), 0
    while items > 0:
        items -= 1
        item = item_at(todo, items)
        k, stop, _ = places(grammar, item, 0)
        if stop - k > 1:
            k = split_in(tree, item, first, last)
            path[choices, 0], path[choices, 1], path[choices, 2] = item
            path[choices, SPLIT] = k
            choices += 1
        below, above, _, _ = split(grammar, item, 0, k)
        items = push(todo, push(todo, items, below), above)
    return choices


@kernel(forceinline=True)
def split_in(tree, item, first, last):
    """Return where a tree (n,) splits an item; first, last: as `fill_extents` fills them."""
    kind, i, j = item
    if kind == BETWEEN:
        return first[j] - 1 if tree[j - 1] == i else last[i]
    head, k = (i, j) if kind == RIGHT else (j, i)
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


@kernel(allocates=True)
def fill_rest(grammar, path, depth, choices, rest):
    """Fill rest[depth:], numbers, with the probability of all trees but a path's given its choices before each.

    The sum of those that leave it at the next choice, and of those that leave it further on; 0 after the last.
    """
    put(rest, choices, zero(rest))
    for d in range(choices - 1, depth - 1, -1):
        item, k = item_at(path, d), path[d, SPLIT]
        along = multiply(part(grammar, places(grammar, item, 0)[2], k), get(rest, d + 1))
        put(rest, d, divide(add(complement(grammar, item, k)[1], along), total(grammar, item)))
