"""Distinct projective trees: drawing with replacement, repeats dropped, then from a trie of how the trees are made.

The trie of `kernels/distinct/derivation_tree.py` is in the chart's numbers, and once next to nothing is left, in wide
ones: so the last tree comes as surely as the first, however improbable.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.numbers import Kind
from deptree_cli.core.spaces.projective import Eisner
from deptree_cli.core.streams import kernel_state
from deptree_cli.core.swor.cells import longer
from deptree_cli.core.swor.conditionals import some_are_improbable
from deptree_cli.core.swor.derivations import eisner_of
from deptree_cli.core.swor.draws import LEAST, Draws, clock_of
from deptree_cli.kernels.charts.eisner import LOG_LOST
from deptree_cli.kernels.charts.walker import NONE, WIDTH
from deptree_cli.kernels.distinct import derivation_tree as kernel
from deptree_cli.kernels.distinct.derivation_nodes import DerivationProblem, DerivationWorkspace, Trie
from deptree_cli.kernels.distinct.tree_set import hash_table

# A tree from the trie costs about as much as so many with replacement.
REPEATS = 10.0

# What float64 may have lost of a chart is far below this: e^-50.
LOWEST = 0.5 * LOG_LOST

# Room for so many slots at first.
SLOTS = 4096


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    clock = clock_of(rng)
    eisner = eisner_of(distribution.factorisation)
    lossy = not eisner.is_wide and some_are_improbable(eisner.shifted.log_weights)
    rules = kernel.DerivationRules(REPEATS, LEAST, 1.0 - mass, LOWEST if lossy else -np.inf)
    drawing = Drawing(distribution.n, size, rng)
    if not drawing.with_replacement(eisner, rules):
        drawing.from_trie(eisner, rules)
        if drawing.log_left[drawing.count] < rules.lowest:
            drawing.from_trie(eisner.in_wide_numbers, rules._replace(lowest=-np.inf))
    heads, log_left = drawing.heads[: drawing.count], drawing.log_left[: drawing.count + 1]
    return Draws.timed(heads, distribution.tree_log_probs(heads), log_left, clock)


class Drawing:
    """Up to `size` trees of n words, as far as they have been drawn.

    Attributes:
        heads: (size, n) int32.
        log_left: (size+1,), the logarithm of the mass left before each tree and after the last.
    """

    def __init__(self, n: int, size: int, rng: np.random.Generator) -> None:
        self.heads: Heads = np.empty((size, n), dtype=np.int32)
        self.log_left: Float = np.empty(size + 1)
        self._state = kernel_state(rng)
        self._cursor = kernel.Cursor(kernel.SET, 0, 0, 0)

    @property
    def count(self) -> int:
        """How many trees there are."""
        return self._cursor.n_drawn

    def with_replacement(self, eisner: Eisner, rules: kernel.DerivationRules) -> bool:
        """Draw with replacement, dropping repeats, while that pays; whether no more trees are to be drawn."""
        problem, todo = _problem(eisner), np.empty((2 * eisner.n + 2, WIDTH), dtype=np.int64)
        drawn = self._state, self.heads, self.log_left
        while self._cursor.needs == kernel.SET:
            seen = hash_table(self.heads, self.count)
            self._cursor = kernel.draw_new(problem, rules, *drawn, seen, self._cursor, todo)
        return self._cursor.needs == kernel.DONE

    def from_trie(self, eisner: Eisner, rules: kernel.DerivationRules) -> None:
        """Draw all other trees that are to be drawn, in the chart's numbers as far as these reach."""
        problem, trie, work = _problem(eisner), _no_nodes(eisner.kind), _workspace(eisner.n, eisner.kind)
        drawn = self._state, self.heads, self.log_left
        self._cursor = kernel.draw_rest(problem, rules, *drawn, trie, self._cursor._replace(in_trie=0), work)
        while self._cursor.needs == kernel.SLOTS:
            trie = trie._replace(left=eisner.kind.each(longer, trie.left), below=longer(trie.below))
            self._cursor = kernel.draw_rest(problem, rules, *drawn, trie, self._cursor, work)


def _problem(eisner: Eisner) -> DerivationProblem:
    return DerivationProblem(eisner.grammar, eisner.shifted.log_weights, eisner.shifted_log_z)


def _no_nodes(kind: Kind) -> Trie:
    """A trie in which everything is left."""
    left = kind.exp(np.append(0.0, np.full(SLOTS - 1, -np.inf)))
    return Trie(np.ones(1, dtype=np.int64), left, np.full(SLOTS, NONE))


def _workspace(n: int, kind: Kind) -> DerivationWorkspace:
    todo, stack = np.empty((2, 2 * n + 2, WIDTH), dtype=np.int64)
    first, last = np.empty((2, n + 1), dtype=np.int64)
    path, other = np.empty((2, 2 * n, 4), dtype=np.int64)
    rest, other_rest, slots = kind.zeros(2 * n + 1), kind.zeros(2 * n + 1), np.empty(2 * n + 1, dtype=np.int64)
    return DerivationWorkspace(todo, stack, first, last, path, other, rest, other_rest, slots, np.full(1, NONE))
