"""What the adaptive partition tree (`partition_tree.py`) is given, and a tree as a sequence of choices.

The choices are the root (node 0 where there may be several), then the heads of words in a fixed order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.elimination.contraction import FREE
from deptree_cli.kernels.flags import kernel


class PartitionProblem(NamedTuple):
    """A sentence's distribution as the kernel needs it; "numbers" are float64 or wide (`kernels/numbers`).

    weights: numbers (n+1, n+1), ``[head, dependent]``, columns shifted. log_weights, log_z: their logarithms, and that
    of their partition function. order: (n,) the words in the order in which their heads are chosen; rank:
    (n+1,) the place of each word in it, of node 0 n. tables, bits: alias tables of the weights (`wilson.py`).
    """

    single_root: bool
    weights: object
    log_weights: object
    log_z: float
    order: object
    rank: object
    tables: object
    bits: int


class PartitionRules(NamedTuple):
    """The thresholds of the algorithm.

    walks: whether to walk at all. tree: the steps that a tree takes by elimination, after which a walk is given up;
    with m words free and some heads given, m^3 times `factors` is added. repeats: a cell is divided after that many
    times the steps of a division were spent on trees drawn before. least: below this share of a cell, what is left of
    it has cancelled. stop: the total left at which to stop.
    """

    walks: bool
    tree: int
    factors: float
    repeats: float
    least: float
    stop: float


class Drawn(NamedTuple):
    """Trees and their probabilities: heads (k, n), log_probs (k,), log_left (k+1,).

    log_left: the logarithm of the mass left before each tree was drawn, and after the last.
    """

    heads: object
    log_probs: object
    log_left: object


class PartitionWorkspace(NamedTuple):
    """Arrays to compute in.

    choices (depth,), fixed (n+1,) and free (n,), int64: a cell's choices, the heads that follow from them, and the
    words without. stamp (n+1,) int64, zeros, and row (n,) int32: a walk, and its tree.
    """

    choices: object
    fixed: object
    free: object
    stamp: object
    row: object


class PartitionTree(NamedTuple):
    """A sentence's partition tree.

    A `PartitionProblem`, `PartitionRules`, `Cells` (`cells.py`), the trees `Drawn`, the set of them (`tree_set.py`), a
    `PartitionWorkspace`.
    """

    problem: object
    rules: object
    cells: object
    drawn: object
    seen: object
    work: object


@kernel
def word_at(problem, root, level):
    """Return the word whose head is the choice at a level from 1 on; a root that is a word has no choice."""
    return problem.order[level - 1 if level - 1 < problem.rank[root] else level]


@kernel
def choice_of(problem, heads, root, level):
    """Return the choice at a level that leads to a tree, heads (n,)."""
    if level > 0:
        return np.int64(heads[word_at(problem, root, level) - 1])
    if problem.single_root:
        for word in range(1, heads.shape[0] + 1):
            if heads[word - 1] == 0:
                return np.int64(word)
    return np.int64(0)


@kernel
def fix(cells, problem, r, h, work):
    """Set work.fixed to the heads that the trees of cell (r, h) share; return the node that they hang on."""
    choices = work.choices
    level = cells.level[r]
    choices[level] = h
    while r > 0:
        choices[cells.level[r] - 1] = cells.choice[r]
        r = cells.above[r]
    root = choices[0]
    fill(work.fixed, FREE)
    for earlier in range(1, level + 1):
        work.fixed[word_at(problem, root, earlier)] = choices[earlier]
    return root
