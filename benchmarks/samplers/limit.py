"""The limit of a random walk: the serial chain of a step (random bits, dependent load, select) and nothing else."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import seconds, times
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.factorisation import shift
from deptree_cli.core.spaces import SINGLE_ROOT
from deptree_cli.core.walks import alias_tables
from deptree_cli.kernels import wilson as kernel
from deptree_cli.kernels.flags import kernel as compiled
from deptree_cli.kernels.wilson import ALIAS, ALIAS_MASK
from deptree_cli.kernels.xoshiro import U64, step

STEPS = times(200_000, 1000)
TREES = times(1000, 10)
STEPS_ENOUGH = 10**8


@compiled
def chain(tables, bits, state, steps):
    """`steps` steps from word 1 on, nowhere written down; returns where they lead."""
    s0, s1, s2, s3 = state
    shift = U64(64 - bits)
    width = U64(bits)
    u = U64(1)
    for _ in range(steps):
        z, s0, s1, s2, s3 = step(s0, s1, s2, s3)
        b = z >> shift
        e = tables[(u << width) | b]
        u = b if ((z << width) >> ALIAS) < (e >> ALIAS) else e & ALIAS_MASK
    state[0] = s0
    return u


def steps_per_second(distribution: TreeDistribution) -> float:
    """Of the bare chain on the distribution's graph of words."""
    tables, bits = alias_tables(np.exp(shift(distribution.possible_scores, SINGLE_ROOT).log_weights), 1)
    state = np.arange(1, 5, dtype=np.uint64)
    return STEPS / seconds(lambda: chain(tables, bits, state, STEPS))


def steps_per_tree(distribution: TreeDistribution) -> float:
    """How many steps Wilson's walk takes for a tree, roots drawn by their marginals."""
    weights = np.exp(shift(distribution.possible_scores, SINGLE_ROOT).log_weights)
    weights[:, 0] = distribution.root_marginals
    tables, bits = alias_tables(weights, 1)
    state = np.arange(1, 5, dtype=np.uint64)
    heads, roots = np.zeros((TREES, distribution.n), dtype=np.int32), np.zeros(TREES, dtype=np.int64)
    kernel.draw_roots(tables, bits, state, roots)
    _, left = kernel.walk_trees(tables, bits, roots, state, STEPS_ENOUGH, False, heads)
    return float(STEPS_ENOUGH - left) / TREES
