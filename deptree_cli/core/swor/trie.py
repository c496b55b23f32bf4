"""Trie sampling (Shi, Bieber, Sutton 2020) over Colbourn's conditionals: Stanojevic 2022's Trie-SWOR.

The papers subtract the mass of what was drawn from every node above it; on sharp distributions that cancels and the
draw stops early. Here a node's remaining mass is always the sum over its children, so nothing is ever subtracted.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.swor.choices import choices_in
from deptree_cli.core.swor.draws import Draws, clock_of
from deptree_cli.core.swor.sequences import Prefix, goes_on, log_sum, pick


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
    conditionals = choices_in(distribution)
    root = Node(conditionals.log_probs(()))
    heads: list[Heads] = []
    log_left = [0.0]
    while len(heads) < size and goes_on(log_left[-1], mass):
        path = walk_known(root, conditionals.depth, rng)
        if len(path) < conditionals.depth:
            for log_probs, choice in zip(*conditionals.branch(choices_of(path), rng), strict=True):
                path.append((add_node(path, log_probs), int(choice)))
        heads.append(conditionals.heads(choices_of(path)))
        remove(path)
        log_left.append(log_sum(root.log_left))
    trees = np.array(heads, dtype=np.int32).reshape(-1, distribution.n)
    return Draws.timed(trees, distribution.tree_log_probs(trees), np.array(log_left), clock)


def walk_known(root: Node, depth: int, rng: np.random.Generator) -> list[tuple[Node, int]]:
    """Choose among what is left as far as nodes are known."""
    path = [(root, pick(root.log_left, rng))]
    while len(path) < depth:
        node, choice = path[-1]
        if choice not in node.children:
            break
        below = node.children[choice]
        path.append((below, pick(below.log_left, rng)))
    return path


def add_node(path: list[tuple[Node, int]], log_probs: Float) -> Node:
    """A new node where the path leads to."""
    node, choice = path[-1]
    node.children[choice] = Node(log_probs)
    return node.children[choice]


def choices_of(path: list[tuple[Node, int]]) -> Prefix:
    """The choices along a path."""
    return tuple(choice for _, choice in path)


def remove(path: list[tuple[Node, int]]) -> None:
    """Take the tree just drawn out of all nodes above it."""
    log_left = -np.inf
    for node, choice in reversed(path):
        node.log_left[choice] = node.log_probs[choice] + log_left
        log_left = log_sum(node.log_left)
