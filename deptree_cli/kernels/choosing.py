"""One random choice by weights of either kind of numbers, by a scan."""

from __future__ import annotations

from deptree_cli.kernels.arithmetic import get, is_less, is_positive, scale, subtract
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform

NONE = -1


@kernel
def choose(weights, start, stop, total, state):
    """An index of start..stop-1 drawn by weight, `total` being the sum; never one of weight 0, NONE where all are 0.

    What rounding leaves over goes to the last possible index.
    """
    rest = scale(total, uniform(state))
    last = NONE
    for i in range(start, stop):
        x = get(weights, i)
        if is_positive(x):
            last = i
            if is_less(rest, x):
                break
            rest = subtract(rest, x)
    return last
