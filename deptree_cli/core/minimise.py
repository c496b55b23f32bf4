"""Minima of smooth convex functions by L-BFGS (Nocedal and Wright 2006, algorithm 7.4), in steps of bounded size.

Functions that are sums of exponentials at heart mislead a full step: where it lands a variable may be right by
chance and all others be wrong, and half of the evaluations are spent on the way back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from deptree_cli.core.dtypes import Float

# Pairs of steps and differences of gradients that are kept; the largest change of a variable in one step.
MEMORY = 10
LARGEST_STEP = 2.0

# A step is halved until the function falls by this share of what the slope promises, so many times at most.
ENOUGH = 1e-4
HALVINGS = 30

Function = Callable[[Float], tuple[float, Float]]
Pair = tuple[Float, Float, float]


def minimise(function: Function, start: Float, units: Float, is_done: Callable[[], bool]) -> None:
    """Evaluate a convex function at points that come closer to its minimum, until that is enough or no step helps.

    Args:
        function: a point (m,) -> its value and gradient (m,), inf where it is out of range.
        units: (m,), the scale of each variable: about one over the root of the second derivative.
        is_done: asked after every evaluation.
    """
    point, pairs = start, deque[Pair](maxlen=MEMORY)
    value, gradient = function(point)
    while not is_done():
        direction = -_preconditioned(gradient * units, pairs) * units
        slope = float(direction @ gradient)
        step = min(1.0, LARGEST_STEP / float(np.abs(direction).max())) if slope < 0.0 else 0.0
        for _ in range(HALVINGS if step else 0):
            after, new = function(point + step * direction)
            if is_done() or after < min(value, value + ENOUGH * step * slope):
                break
            step *= 0.5
        else:
            if not pairs:
                return
            pairs.clear()  # rounding has spoilt them: once more along the gradient
            continue
        moved, turned = step * direction / units, (new - gradient) * units
        if (curvature := float(moved @ turned)) > 0.0:
            pairs.append((moved, turned, curvature))
        point, value, gradient = point + step * direction, after, new


def _preconditioned(gradient: Float, pairs: deque[Pair]) -> Float:
    """The gradient times what the pairs tell of the inverse of the Hessian."""
    found, shares = gradient.copy(), []
    for moved, turned, curvature in reversed(pairs):
        shares.append(float(moved @ found) / curvature)
        found -= shares[-1] * turned
    if pairs:
        _, turned, curvature = pairs[-1]
        found *= curvature / float(turned @ turned)
    for (moved, turned, curvature), share in zip(pairs, reversed(shares), strict=True):
        found += (share - float(turned @ found) / curvature) * moved
    return found
