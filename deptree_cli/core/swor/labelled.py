"""Distinct labelled trees: two labelings of one tree are two samples.

With replacement, at one draw per unit of time, labelled trees come as the trees do, each with labels drawn for it. So
the distinct trees in order, with their arrival times, come first, from any algorithm of the register; a tree's first
labeling comes with it, each further one after another Exp(1) / (P(tree) times what is left of its labelings). The k
that come first are what is asked for; no more than k trees can be among them.

The order is exact while arrival times are numbers: for trees of probability above e^-700.
"""

from __future__ import annotations

import heapq

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.labels import label_stream
from deptree_cli.core.swor import Algorithm
from deptree_cli.core.swor.draws import Draws, most_certain, size_for_mass
from deptree_cli.core.swor.sequences import log_sum, pick
from deptree_cli.core.swor.trie import Node, add_node, remove, walk_known


def draw(
    algorithm: Algorithm, distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0
) -> Draws:
    """Up to `size` distinct labelled trees; `mass` is as of `Algorithm.draw`.

    The labelings are drawn by streams of the seed of `rng`, which does not move on: see `label_stream`.

    Raises:
        DeptreeError: the scores tell no labels.
    """
    trees = algorithm.draw(distribution, size, rng)
    each = _labelings(distribution, trees.heads, rng)
    waiting = list(zip(trees.arrivals.tolist(), range(len(each)), strict=True))  # increasing: a heap
    drawn: list[tuple[int, tuple[int, ...], float, float]] = []
    most = most_certain(size) if mass < 1 else 0
    certain, covered = 0, 0.0
    while waiting and len(drawn) < size:
        arrival, number = waiting[0]
        labels, log_prob = each[number].draw()
        log_prob += float(trees.log_probs[number])
        drawn.append((number, labels, log_prob, arrival))
        covered += float(np.exp(log_prob))
        if not certain and most and (covered >= mass or len(drawn) == most):
            certain, size = len(drawn), size_for_mass(len(drawn), size)
        wait = each[number].wait(float(trees.log_probs[number]))
        if wait is None:
            heapq.heappop(waiting)
        else:
            heapq.heapreplace(waiting, (arrival + wait, number))
    numbers, labels_drawn, log_probs, arrivals = zip(*drawn, strict=True) if drawn else ([], [], [], [])
    tau = min(waiting[0][0] if waiting else np.inf, trees.tau)
    heads = trees.heads[list(numbers)]
    labels_of = np.array(labels_drawn, dtype=np.int32).reshape(heads.shape)
    exhausted = not waiting and trees.exhausted
    return Draws(heads, np.array(log_probs), np.array(arrivals), tau, exhausted, certain, labels_of)


LABELS = Setting("labels")


def _labelings(distribution: ArcFactored, trees: Heads, rng: np.random.Generator) -> list[Labelings]:
    """Those of each of k trees, (k, n) heads."""
    if distribution.labels is None:
        problem = "the scores tell no labels to draw"
        raise DeptreeError(problem, f"Give their names ({LABELS})", sent_id=distribution.id, options=[LABELS])
    log_probs = distribution.labels.of(trees)
    return [Labelings(own, label_stream(rng, number)) for number, own in enumerate(log_probs)]


class Labelings:
    """The labelings of one tree, each to be drawn once: log_probs (n, L), words independent of each other."""

    def __init__(self, log_probs: Float, rng: np.random.Generator) -> None:
        self._log_probs = log_probs
        self._rng = rng
        self._top = Node(log_probs[0])

    def draw(self) -> tuple[tuple[int, ...], float]:
        """A labeling that was not drawn before, and its log-probability given the tree."""
        path = walk_known(self._top, len(self._log_probs), self._rng)
        while len(path) < len(self._log_probs):
            node = add_node(path, self._log_probs[len(path)])
            path.append((node, pick(node.log_left, self._rng)))
        remove(path)
        return tuple(choice for _, choice in path), float(sum(node.log_probs[choice] for node, choice in path))

    def wait(self, log_prob: float) -> float | None:
        """How long it takes until the next one comes, if the tree has this log-probability; None: never."""
        log_left = log_sum(self._top.log_left)
        if log_left == -np.inf:
            return None
        with np.errstate(over="ignore"):
            return float(self._rng.standard_exponential() * np.exp(-log_prob - log_left))
