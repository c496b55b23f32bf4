"""The trie's nodes: what is left is a sum over children; laws are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.conditionals import (
    Conditionals,
    Node,
    choices_in,
    choices_of,
    draw_new,
    draw_trie,
    log_sum,
)
from deptree_cli.core.spaces import SPACES, TreeSpace
from tests.oracle import Oracle


@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
def test_what_is_left_is_the_mass_of_the_trees_not_drawn(trees: TreeSpace, graphs) -> None:
    """After every tree; relative to itself, though less than 1e-100 is left in the end."""
    distribution = graphs.over(graphs.gaussian(3, 60), trees)
    oracle, conditionals = Oracle(distribution), choices_in(distribution)
    root, rng = Node(conditionals.log_probs(())), np.random.default_rng(1)
    left = {tuple(tree): log_prob for tree, log_prob in zip(oracle.trees.tolist(), oracle.log_probs, strict=True)}
    while left:
        assert log_sum(root.log_left) == pytest.approx(np.logaddexp.reduce(list(left.values())), rel=1e-12, abs=1e-11)
        path = draw_new(
            root, conditionals.depth, rng, lambda prefix: zip(*conditionals.branch(prefix, rng), strict=True)
        )
        left.pop(tuple(conditionals.heads_of_each(np.array([choices_of(path)]))[0].tolist()))
    assert log_sum(root.log_left) == -np.inf


def test_conditionals_are_asked_for_once_per_prefix(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []
    log_probs, branch = Conditionals.log_probs, Conditionals.branch

    def counting(self: Conditionals, prefix: tuple[int, ...]) -> np.ndarray:
        asked.append(prefix)
        return log_probs(self, prefix)

    def counting_all(self: Conditionals, prefix: tuple[int, ...], rng: np.random.Generator):
        found, chosen = branch(self, prefix, rng)
        asked.extend((*prefix, *chosen[:length].tolist()) for length in range(len(chosen)))
        return found, chosen

    monkeypatch.setattr(Conditionals, "log_probs", counting)
    monkeypatch.setattr(Conditionals, "branch", counting_all)
    draw_trie(graphs.distribution(graphs.uniform(4)), 60, np.random.default_rng(2))
    assert len(asked) == len(set(asked)) > 20
