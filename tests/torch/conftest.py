"""Padded batches of small sentences as tensors, each sentence with all its trees, for tests of the PyTorch side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import SPACES, TreeSpace
from tests.oracle import Oracle

KINDS = ("flat", "peaked", "holes")
WORDS = (4, 1, 3, 2)


class Padded:
    """Sentences of 4, 1, 3 and 2 words in one batch; what is ignored holds NaN and numbers that would be noticed.

    Attributes:
        log_scores: (B, N, N) float64, ``[head, dependent]``.
        lengths: (B,) words.
        how: the arguments that say which trees there are.
        sentences, oracles: each sentence's distribution, and its trees by enumeration.
    """

    def __init__(self, torch: Any, graphs: Any, kind: str, trees: TreeSpace) -> None:
        nodes = max(WORDS) + 1
        scores = np.full((len(WORDS), nodes, nodes), np.nan)
        scores[:, :, 0], scores[:, 0, 0] = 7.0, -3.0
        for b, n in enumerate(WORDS):
            own = scores[b, : n + 1, : n + 1]
            own[:, 1:] = self._drawn(graphs, kind, n, b, trees)[:, 1:]
            np.fill_diagonal(own, 99.0)
        self.log_scores, self.lengths = torch.from_numpy(scores), torch.tensor(WORDS)
        self.how = {"single_root": trees.single_root, "projective": trees.projective}
        self.sentences = [TreeDistribution(scores[b, : n + 1, : n + 1], **self.how) for b, n in enumerate(WORDS)]
        self.oracles = [Oracle(each) for each in self.sentences]

    @staticmethod
    def _drawn(graphs: Any, kind: str, n: int, seed: int, trees: TreeSpace) -> Any:
        if kind == "holes" and n > 1:
            return graphs.holes(n, seed, trees.single_root, projective=trees.projective)
        return graphs.gaussian(n, 60.0 if kind == "peaked" else 1.0, seed)

    def counted(self) -> Any:
        """Which entries count, (B, N, N) bool: arcs between nodes of a sentence that are not forbidden."""
        found = np.zeros(self.log_scores.shape, dtype=bool)
        for b, (n, each) in enumerate(zip(WORDS, self.sentences, strict=True)):
            found[b, : n + 1, : n + 1] = np.isfinite(each.log_scores)
        return found

    def heads(self, trees: list[Any], torch: Any, fill: int = -1) -> Any:
        """A tree of each sentence, (n,), as heads (B, N)."""
        heads = torch.full(self.log_scores.shape[:2], fill)
        for b, tree in enumerate(trees):
            heads[b, 1 : len(tree) + 1] = torch.tensor(tree.tolist())
        return heads


@pytest.fixture(params=[trees.name for trees in SPACES])
def trees(request: pytest.FixtureRequest) -> TreeSpace:
    """Each tree space."""
    return SPACES.get(request.param)


@pytest.fixture(params=KINDS)
def padded(request: pytest.FixtureRequest, trees: TreeSpace, graphs: Any) -> Padded:
    """Batches of each kind over each space's trees."""
    return Padded(pytest.importorskip("torch"), graphs, request.param, trees)


@pytest.fixture
def flat(trees: TreeSpace, graphs: Any) -> Padded:
    """A batch of scores without forbidden arcs."""
    return Padded(pytest.importorskip("torch"), graphs, "flat", trees)


@pytest.fixture
def holes(trees: TreeSpace, graphs: Any) -> Padded:
    """A batch in which about every second arc is forbidden."""
    return Padded(pytest.importorskip("torch"), graphs, "holes", trees)
