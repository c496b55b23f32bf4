"""Stochastic beam search (Kool, van Hoof, Welling 2019) over Colbourn's conditionals: Stanojevic 2022's SBS-SWOR.

Every tree gets a log-probability perturbed by Gumbel noise of its own, and those with the k largest are drawn. A prefix
carries the largest of its trees', so the beam finds them level by level. Minus the perturbed value is the logarithm of
the tree's arrival time.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.swor.choices import choices_in
from deptree_cli.core.swor.draws import Draws


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees; one more is followed, for its arrival time."""
    conditionals = choices_in(distribution)
    beam = conditionals.beam(size + 1)
    log_probs, perturbed = np.zeros(1), np.array([rng.gumbel()])
    for _ in range(conditionals.depth):
        below = log_probs[:, None] + beam.log_probs()
        values = _perturb(below, perturbed, rng)
        kept = np.argsort(-values, axis=None, kind="stable")[: size + 1]
        kept = kept[np.isfinite(values.ravel()[kept])]
        above, choices = np.divmod(kept, values.shape[1])
        beam.grow(above, choices)
        log_probs, perturbed = below.ravel()[kept], values.ravel()[kept]
    count = min(size, len(log_probs), int(np.searchsorted(np.exp(log_probs).cumsum(), mass)) + 1 if mass < 1 else size)
    heads = conditionals.heads_of_each(beam.prefixes)[:count]
    with np.errstate(over="ignore"):
        arrivals = np.append(np.exp(-perturbed), np.inf)
    return Draws(
        heads,
        distribution.tree_log_probs(heads),
        arrivals[:count],
        float(arrivals[count]),
        exhausted=count == len(log_probs),
    )


def _perturb(log_probs: Float, largest: Float, rng: np.random.Generator) -> Float:
    """Gumbel noise around log_probs (b, c), given that each row's largest is `largest` (b,).

    Kool et al. 2019, appendix B.3: without a difference of large exponentials.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        free = log_probs + rng.gumbel(size=log_probs.shape)
        gap = largest[:, None] - free + np.log1p(-np.exp(free - free.max(axis=1, keepdims=True)))
        given = largest[:, None] - np.maximum(gap, 0.0) - np.log1p(np.exp(-np.abs(gap)))
    return np.where(np.isfinite(log_probs), given, -np.inf)
