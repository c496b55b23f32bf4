"""The default: drawing with replacement, repeats dropped, in a space of trees that is divided where they pile up.

The adaptive partition tree of `kernels/partition_tree.py`, first in float64, then, once less than e^-300 is left, in
wide numbers: so the last tree comes as surely as the first, however improbable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.numbers import REAL, SAFE_LOG, WIDE, Float, Kind, shift_columns
from deptree_cli.core.samplers.wilson import alias_tables
from deptree_cli.core.sentence import Sentence
from deptree_cli.core.streams import kernel_state
from deptree_cli.core.swor import Draws, clock_of
from deptree_cli.kernels import partition_tree as kernel
from deptree_cli.kernels.head_distribution import head_probs

# After so many repeats in a cell it is divided: walks are cheap beside a division, m^3/3 for m words left.
REPEATS = 4

# One minus the probabilities drawn keeps ten digits down to here.
LEAST = 1e-6


def draw(sentence: Sentence, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` different trees, of which the last brings the probability drawn to `mass`."""
    clock = clock_of(rng)
    state = kernel_state(rng)
    n = sentence.n
    drawn = kernel.Drawn(np.empty((size, n), dtype=np.int32), np.empty(size), np.empty(size + 1))
    log_weights, _ = shift_columns(sentence.log_scores, sentence.single_root)
    budget = 1000 + n**3 // 10
    count = _draw(sentence, log_weights, REAL, budget, mass, state, drawn, 0)
    if drawn.log_left[count] <= SAFE_LOG and _some_are_improbable(log_weights):
        count = _draw(sentence, log_weights, WIDE, 0, mass, state, drawn, count)
    return Draws.timed(drawn.heads[:count], sentence.log_probs(drawn.heads[:count]), drawn.log_left[: count + 1], clock)


def _some_are_improbable(log_weights: Float) -> bool:
    """Whether float64 may have taken trees for impossible that are not."""
    least = np.where(np.isfinite(log_weights), log_weights, 0.0).min(axis=0)
    return bool(least.sum() < SAFE_LOG)


def _draw(
    sentence: Sentence, log_weights: Float, kind: Kind, budget: int, mass: float, state: Any, drawn: Any, count: int
) -> int:
    """Draw on from tree `count` in one kind of numbers; how many trees there are then."""
    work = _workspace(sentence.n, kind)
    problem = _problem(sentence, log_weights, kind)
    rules = kernel.Rules(budget, REPEATS, LEAST, 1.0 - mass)
    top = _first_choice(sentence, problem, kind, work)
    return int(kernel.draw_different(problem, rules, top, state, drawn, count, work))


def _problem(sentence: Sentence, log_weights: Float, kind: Kind) -> Any:
    marginals = sentence.elimination.marginals()[:, 1:]
    order = np.argsort(-marginals.max(axis=0), kind="stable") + 1  # the most certain word first
    rank = np.zeros(sentence.n + 1, dtype=np.int64)
    rank[order] = np.arange(sentence.n)
    tables, bits = alias_tables(np.exp(log_weights), 1 if sentence.single_root else 0)
    wide_weights = WIDE.exp(log_weights)
    return kernel.Problem(
        single_root=sentence.single_root,
        weights=wide_weights if kind is WIDE else np.exp(log_weights),
        wide_weights=wide_weights,
        log_weights=log_weights,
        log_z=sentence.elimination.log_z_shifted,
        order=order,
        rank=rank,
        tables=tables,
        bits=bits,
    )


def _workspace(n: int, kind: Kind) -> Any:
    return kernel.Workspace(
        Q=kind.zeros((n, n)),
        R=kind.zeros(n),
        wide_Q=WIDE.zeros((n, n)),
        wide_R=WIDE.zeros(n),
        wide_probs=WIDE.zeros(n + 1),
        choices=np.zeros(n, dtype=np.int64),
        fixed=np.zeros(n + 1, dtype=np.int64),
        stamp=np.zeros(n + 1, dtype=np.int64),
        row=np.zeros(n, dtype=np.int32),
    )


def _first_choice(sentence: Sentence, problem: Any, kind: Kind, work: Any) -> Any:
    """The distribution of the root, or of the first word's head where there is no one root."""
    if sentence.single_root and kind is REAL:
        return sentence.elimination.root_marginals()
    if sentence.single_root:
        return WIDE.exp(sentence.elimination.log_root_marginals())
    probs = kind.zeros(sentence.n + 1)
    work.fixed[:] = kernel.FREE
    kernel.distribution(problem, 0, work, problem.order[0], probs)
    return probs
