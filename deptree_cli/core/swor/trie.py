"""Trie sampling (Shi, Bieber, Sutton 2020) over Colbourn's conditionals: Stanojevic 2022's Trie-SWOR.

The papers subtract the mass of what was drawn from every node above it; on sharp distributions that cancels and the
draw stops early. Here a node's remaining mass is always the sum over its children, so nothing is ever subtracted.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.swor.conditionals import Conditionals, Prefix, goes_on, log_sum, pick
from deptree_cli.core.swor.draws import Draws, clock_of


class Stepwise(Protocol):
    """A distribution over sequences of choices, one after another."""

    @property
    def depth(self) -> int:
        """How many choices make a sequence."""

    def log_probs(self, prefix: Prefix) -> Float:
        """Log-probability of each choice behind those of the prefix."""


class Node:
    """A prefix met before.

    Attributes:
        log_probs: log-probability of each next choice.
        log_left: the same, restricted to trees not drawn yet.
        children: the nodes below that were met.
    """

    __slots__ = ("children", "log_left", "log_probs")

    def __init__(self, log_probs: Float) -> None:
        self.log_probs = log_probs
        self.log_left = log_probs.copy()
        self.children: dict[int, Node] = {}


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees; one walk down the trie each."""
    clock = clock_of(rng)
    conditionals = Conditionals(distribution)
    root = Node(conditionals.log_probs(()))
    heads: list[Heads] = []
    log_left = [0.0]
    while len(heads) < size and goes_on(log_left[-1], mass):
        path = walk_down(root, conditionals, rng)
        heads.append(conditionals.heads(tuple(choice for _, choice in path)))
        remove(path)
        log_left.append(log_sum(root.log_left))
    trees = np.array(heads, dtype=np.int32).reshape(-1, distribution.n)
    return Draws.timed(trees, distribution.tree_log_probs(trees), np.array(log_left), clock)


def walk_down(root: Node, conditionals: Stepwise, rng: np.random.Generator) -> list[tuple[Node, int]]:
    """Choose among what is left, from the root to a complete tree; the nodes passed and the choices made there."""
    node, prefix, path = root, Prefix(), []
    while True:
        choice = pick(node.log_left, rng)
        path.append((node, choice))
        prefix = (*prefix, choice)
        if len(prefix) == conditionals.depth:
            return path
        if choice not in node.children:
            node.children[choice] = Node(conditionals.log_probs(prefix))
        node = node.children[choice]


def remove(path: list[tuple[Node, int]]) -> None:
    """Take the tree just drawn out of all nodes above it."""
    log_left = -np.inf
    for node, choice in reversed(path):
        node.log_left[choice] = node.log_probs[choice] + log_left
        log_left = log_sum(node.log_left)
