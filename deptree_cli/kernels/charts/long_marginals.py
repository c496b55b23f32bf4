"""Marginals from the chart of a long sentence, whose numbers are dear to change: each adjoint is a sum of products.

`eisner.outside` goes from an item to its parts, and adds to the adjoint of each. This goes from a part to the items
that it is in, all of which are longer and done before it: rows are multiplied, and no number is written twice. Where an
item of the chart is twice, its adjoint is too:

    adjoints[RIGHT, i, j] = adjoints[RIGHT, j, i]: of right[i, j]
    adjoints[LEFT, i, j] = adjoints[LEFT, j, i-1]: of left[i, j]
    adjoints[BETWEEN, i, j] = adjoints[BETWEEN, j, i]: of between[i, j]
    adjoints[INTO, dependent, head]: the arcs themselves, chart[ARC, head, dependent]
"""

from __future__ import annotations

from deptree_cli.kernels.charts.eisner import ARC, BETWEEN, COLUMNS, LEFT, RIGHT, is_right, sum_to_one
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    from_wide,
    get,
    inner,
    length,
    multiply,
    one,
    part,
    put,
    row,
)

INTO = ARC


@kernel
def long_marginals(weights, single_root, chart, adjoints, marginals):
    """Fill marginals (n+1, n+1), zeros at first, given memory for adjoints: zeros, shaped as the chart is.

    Returns whether the numbers were in range. O(n^3): n^3 multiply-adds.
    """
    n = length(weights) - 1
    for head in range(n + 1):
        for dependent in range(n + 1):
            put(adjoints, (INTO, dependent, head), get(chart, (ARC, head, dependent)))
    for stop in range(n + 1, 1, -COLUMNS):
        start = max(stop - COLUMNS, 1)
        for i in range(stop - 1):
            for j in range(stop - 1, max(start, i + 1) - 1, -1):
                find_adjoints(weights, single_root, chart, adjoints, marginals, i, j)
    return sum_to_one(marginals)


@kernel(forceinline=True)
def find_adjoints(weights, single_root, chart, adjoints, marginals, i, j):
    """Find the adjoints of the items from i to j, and the marginals of both arcs, from those of longer items."""
    n = length(weights) - 1
    if i > 0:
        left = add(
            product(adjoints, (BETWEEN, j), chart, (RIGHT, i - 1), 0, i),
            product(adjoints, (LEFT, i), adjoints, (INTO, j), j + 1, n + 1),
        )
        put(adjoints, (LEFT, i, j), left)
        put(adjoints, (LEFT, j, i - 1), left)
    if is_right(single_root, i, j, n):
        right = adjoint_of_right(chart, adjoints, i, j, n)
        put(adjoints, (RIGHT, i, j), right)
        put(adjoints, (RIGHT, j, i), right)
    to_right = product(adjoints, (RIGHT, i), chart, (RIGHT, j), j, n + 1)
    to_left = product(adjoints, (LEFT, j), chart, (LEFT, i), 0, i)
    put(marginals, (i, j), from_wide(marginals, multiply(to_right, get(chart, (ARC, i, j)))))
    put(marginals, (j, i), from_wide(marginals, multiply(to_left, get(chart, (ARC, j, i)))))
    between = add(multiply(to_right, get(weights, (i, j))), multiply(to_left, get(weights, (j, i))))
    put(adjoints, (BETWEEN, i, j), between)
    put(adjoints, (BETWEEN, j, i), between)


@kernel(forceinline=True)
def adjoint_of_right(chart, adjoints, i, j, n):
    """Return the adjoint of right[i, j]: of all trees, or of what stands beside it in `between` and in `right`."""
    if i == 0 and j == n:
        return divide(one(chart), get(chart, (RIGHT, 0, n)))
    beside = product(adjoints, (RIGHT, j), adjoints, (INTO, i), 0, i)
    return beside if j == n else add(product(adjoints, (BETWEEN, i), chart, (LEFT, j + 1), j + 1, n + 1), beside)


@kernel(forceinline=True)
def product(x, row_of_x, y, row_of_y, first, stop):
    """Return the sum of products of two rows, from a place to that before `stop`."""
    return inner(part(row(x, row_of_x), first, stop), part(row(y, row_of_y), first, stop))
