"""Padded batches of small sentences of every kind, each sentence with all its trees, for tests of the JAX side."""

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import SPACES
from tests.oracle import Oracle

NODES = 5


class Sentences:
    """Six sentences in one batch (6, 5, 5) float32; what is ignored holds NaN and numbers that would be noticed.

    `how` names lengths, single_root and projective, so that what is compiled serves both root modes.
    """

    def __init__(self, graphs, space):
        drawn = [
            graphs.gaussian(4),
            graphs.holes(4, 3, space.single_root, projective=space.projective),
            graphs.one_way(4),
            graphs.gaussian(3, 30.0),
            np.full((2, 2), 0.5),
            graphs.disconnected(4, 1000.0),
        ]
        self.space = space
        self.lengths = np.array([len(scores) - 1 for scores in drawn])
        self.how = {"lengths": self.lengths, "single_root": space.single_root, "projective": space.projective}
        self.log_scores = np.full((len(drawn), NODES, NODES), np.nan, dtype=np.float32)
        self.log_scores[:, :, 0] = 7.0
        for own, scores in zip(self.log_scores, drawn, strict=True):
            own[: len(scores), 1 : len(scores)] = scores[:, 1:]
            np.fill_diagonal(own, 99.0)
        self.log_scores[1, np.isneginf(self.log_scores[1])] = -1e16  # a mask
        self.each = self.of(self.log_scores)
        self.oracles = [Oracle(sentence) for sentence in self.each]

    def of(self, log_scores):
        cut = [own[: n + 1, : n + 1] for own, n in zip(log_scores, self.lengths, strict=True)]
        return [TreeDistribution(own, single_root=False).over(self.space) for own in cut]

    def counted(self):
        """Which entries count, (6, 5, 5): arcs between nodes of a sentence that are not forbidden."""
        return self.padded([np.isfinite(sentence.log_scores) for sentence in self.each]) > 0

    @staticmethod
    def padded(matrices):
        return np.stack([np.pad(matrix.astype(float), (0, NODES - len(matrix))) for matrix in matrices])


@pytest.fixture(scope="session", params=SPACES, ids=lambda space: space.name)
def sentences(graphs, request):
    return Sentences(graphs, request.param)


def _switched_on(name):
    jax = pytest.importorskip("jax")
    jax.config.update(name, True)
    yield
    jax.config.update(name, False)


@pytest.fixture
def quick():  # to compile, in a third of the time, where what is compiled is not run for long
    yield from _switched_on("jax_disable_most_optimizations")


@pytest.fixture
def x64():  # the lowest version that is allowed, 0.6, has no `jax.enable_x64`
    yield from _switched_on("jax_enable_x64")
