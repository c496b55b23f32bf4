"""Covariances of arcs: the marginals of `elimination.py` differentiated in one direction, by dual numbers."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import as_float, get, is_positive, multiply, row


@kernel
def arc_covariances(weights, adjoints, order, out):
    """Fill out (n+1, n+1), float64, zeros at first, with the derivative of P(head -> dependent) by node.

    weights, adjoints: dual numbers (n+1, n), as in `elimination.arc_marginals`.
    """
    n = order.shape[0]
    for a in range(n + 1):
        head = order[a] if a < n else n
        for b in range(n):
            weight = get(row(weights, head), order[b])
            if is_positive(weight):
                x = multiply(weight, get(row(adjoints, a), b))
                out[head + 1 if head < n else 0, order[b] + 1] = as_float(x.tangent)
