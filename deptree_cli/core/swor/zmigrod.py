"""Sampling without replacement by a list of the trees drawn (Zmigrod et al. 2021a, Fig. 7), kept as the baseline.

At every choice the mass of the drawn trees that share it is taken off its probability (their eq. 23), which costs a
pass over the list: k^2 n in all. Where that subtraction would cancel, the mass left is summed over the choices below
instead.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.swor.choices import choices_in
from deptree_cli.core.swor.draws import Draws, clock_of
from deptree_cli.core.swor.sequences import Prefix, TreeChoices, goes_on, log_sum, pick

# A remainder below this share of a choice's probability has lost too many digits to a subtraction.
SAFE_SHARE = 1e-6

Drawn = Int  # (trees, depth): the choices of each drawn tree


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees."""
    clock = clock_of(rng)
    conditionals = choices_in(distribution)
    drawn: Drawn = np.empty((0, conditionals.depth), dtype=np.int64)
    log_probs: Float = np.empty(0)
    lefts = [0.0]
    while len(drawn) < size and goes_on(lefts[-1], mass):
        prefix, log_prob, kept = Prefix(), 0.0, np.arange(len(drawn))
        while len(prefix) < conditionals.depth:
            log_left = _log_left(conditionals, prefix, drawn[kept], log_probs[kept] - log_prob)
            choice = pick(log_left, rng)
            log_prob += conditionals.log_probs(prefix)[choice]
            kept = kept[drawn[kept, len(prefix)] == choice]
            prefix = (*prefix, choice)
        drawn = np.vstack([drawn, prefix])
        log_probs = np.append(log_probs, log_prob)
        lefts.append(log_sum(_log_left(conditionals, (), drawn, log_probs)))
    heads = [conditionals.heads(tuple(prefix)) for prefix in drawn.tolist()]
    trees = np.array(heads, dtype=np.int32).reshape(-1, distribution.n)
    return Draws.timed(trees, distribution.tree_log_probs(trees), np.array(lefts), clock)


def _log_left(conditionals: TreeChoices, prefix: Prefix, drawn: Drawn, log_shares: Float) -> Float:
    """Log-probability, given a prefix, of each next choice together with a tree not drawn yet.

    drawn: the trees drawn with that prefix; log_shares: their log-probabilities given it.
    """
    log_left = conditionals.log_probs(prefix).copy()
    choices = drawn[:, len(prefix)]
    for choice in np.unique(choices).tolist():
        same = choices == choice
        shares = log_shares[same] - log_left[choice]
        log_left[choice] += _log_remainder(conditionals, (*prefix, choice), drawn[same], shares)
    return log_left


def _log_remainder(conditionals: TreeChoices, prefix: Prefix, drawn: Drawn, log_shares: Float) -> float:
    """log of the share of a prefix's mass that was not drawn."""
    if len(prefix) == conditionals.depth:
        return -np.inf
    left = 1.0 - float(np.exp(log_shares).sum())
    if left > SAFE_SHARE:
        return float(np.log(left))
    return log_sum(_log_left(conditionals, prefix, drawn, log_shares))
