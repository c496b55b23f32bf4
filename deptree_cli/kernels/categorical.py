"""One random draw from a categorical distribution, its weights being numbers of any kind."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.operations import get, is_less, is_positive, scale, subtract
from deptree_cli.kernels.xoshiro import uniform

NONE = -1


@kernel
def draw_categorical(weights, start, stop, total, state):
    """Return an index from start..stop-1, drawn in proportion to its weight; NONE if all weights are 0.

    total: the sum of these weights. An index of weight 0 is never drawn: what rounding leaves over goes to the last
    index of positive weight.
    """
    return pick(weights, start, stop, scale(total, uniform(state)))


@kernel
def pick(weights, start, stop, rest):
    """Return the index at which the sum of weights first exceeds `rest`; the others as in `draw_categorical`."""
    last = NONE
    for i in range(start, stop):
        x = get(weights, i)
        if is_positive(x):
            last = i
            if is_less(rest, x):
                break
            rest = subtract(rest, x)
    return last
