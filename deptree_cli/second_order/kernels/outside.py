"""The marginals of arcs from the second-order chart, by its sweep backwards; what is pruned is not touched either."""

from __future__ import annotations

from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.operations import add, divide, get, inner, length, multiply, one, part, put, row, zero
from deptree_cli.second_order.kernels.chart import grandparents, heads_of, heads_of_both, tables_of


@kernel(allocates=True)
def outside(weights, kept, single_root, items, adjoint_items, marginals):
    """Fill marginals (n+1, n+1), zeros at first, with those of arcs: `inside` line by line, backwards.

    adjoint_items: a chart of zeros, which is filled with the derivatives of log Z; those of arc items come out
    multiplied by the weights of their arcs.
    """
    of_tables(weights, kept, single_root, tables_of(items), tables_of(adjoint_items), marginals)


# A function of its own: tables that are arguments are not counted at every call below.
@kernel
def of_tables(weights, kept, single_root, chart, adjoints, marginals):
    """Fill marginals, given the tables of both charts."""
    n = length(chart.complete) - 1
    put(adjoints.complete, (0, n, 0), divide(one(chart.complete), get(chart.complete, (0, n, 0))))
    for j in range(n, 0, -1):
        if kept.complete[0, j] and (j == n or not single_root):
            return_complete(kept, chart, adjoints, 0, j)
        if kept.arc[0, j]:
            return_arc(weights, kept, chart, adjoints, 0, j, not single_root, marginals)
        for i in range(1, j):
            for head, end in ((j, i), (i, j)):
                if kept.complete[head, end]:
                    return_complete(kept, chart, adjoints, head, end)
            for head, end in ((j, i), (i, j)):
                if kept.arc[head, end]:
                    return_arc(weights, kept, chart, adjoints, head, end, True, marginals)
            if kept.pair[i, j]:
                return_pair(kept, chart, adjoints, i, j)


@kernel
def return_complete(kept, chart, adjoints, head, end):
    """Hand the adjoint of a complete item to those that it was made of."""
    complete, of_complete, of_arc = chart.complete, adjoints.complete, adjoints.arc
    first, count = heads_of(kept, head)
    step = 1 if head < end else -1
    h, e, at = Index(head), Index(end), Index(head if grandparents(complete) > 1 else 0)
    adjoint, arcs = part(row(row(of_complete, head), end), first, first + count), row(chart.arc, head)
    for dependent in range(head + step, end + step, step):
        d = Index(dependent)
        if kept.arc[h, d] and kept.complete[d, e]:
            factor = get(complete, (d, e, at))
            for k in range(count):
                g = first + k
                put(of_arc, (h, d, g), add(get(of_arc, (h, d, g)), multiply(get(of_complete, (h, e, g)), factor)))
            total = inner(adjoint, part(row(arcs, dependent), first, first + count))
            put(of_complete, (d, e, at), add(get(of_complete, (d, e, at)), total))


@kernel
def return_arc(weights, kept, chart, adjoints, head, dependent, with_siblings, marginals):
    """Hand the adjoint of an arc's item to what it was made of, and fill its marginal."""
    arcs, siblings, pair = weights.arcs, weights.siblings, chart.pair
    of_complete, of_arc, of_pair = adjoints.complete, adjoints.arc, adjoints.pair
    first, count = heads_of(kept, head)
    step = 1 if head < dependent else -1
    h, d, at = Index(head), Index(dependent), Index(head if grandparents(pair) > 1 else 0)
    adjoint, items = part(row(row(of_arc, head), dependent), first, first + count), row(chart.arc, head)
    put(marginals, (head, dependent), inner(adjoint, part(row(items, dependent), first, first + count)))
    total = zero(of_arc)
    for k in range(count):
        g = first + k
        put(of_arc, (h, d, g), multiply(get(of_arc, (h, d, g)), get(arcs, (h, d, g))))
        total = add(total, get(of_arc, (h, d, g)))
    nearest = d, Index(head + step), at
    if kept.complete[d, head + step]:
        put(of_complete, nearest, add(get(of_complete, nearest), multiply(total, get(siblings, (h, d, h)))))
    if with_siblings:
        for sibling in range(head + step, dependent, step):
            s = Index(sibling)
            between = min(s, d), max(s, d), at
            if kept.arc[h, s] and kept.pair[between[0], between[1]]:
                factor = multiply(get(pair, between), get(siblings, (h, d, s)))
                for k in range(count):
                    g = first + k
                    put(of_arc, (h, s, g), add(get(of_arc, (h, s, g)), multiply(get(of_arc, (h, d, g)), factor)))
                total = inner(adjoint, part(row(items, sibling), first, first + count))
                put(of_pair, between, add(get(of_pair, between), multiply(total, get(siblings, (h, d, s)))))


@kernel
def return_pair(kept, chart, adjoints, i, j):
    """Hand the adjoint of a pair to the complete items that it was made of."""
    complete, of_complete, of_pair = chart.complete, adjoints.complete, adjoints.pair
    start, count = heads_of_both(kept, i, j)
    i, j = Index(i), Index(j)
    for r in range(i, j):
        if kept.complete[i, r] and kept.complete[j, r + Index(1)]:
            for k in range(count):
                g = start + k
                first, last = (i, r, g), (j, r + Index(1), g)
                adjoint = get(of_pair, (i, j, g))
                put(of_complete, first, add(get(of_complete, first), multiply(adjoint, get(complete, last))))
                put(of_complete, last, add(get(of_complete, last), multiply(adjoint, get(complete, first))))
