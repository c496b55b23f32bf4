"""Padded batches of small sentences as tensors, each sentence with all its trees, for tests of the PyTorch side."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import SPACES
from deptree_cli.torch import TreeDistribution as Batched
from tests.oracle import Oracle

WORDS = (4, 1, 3, 2)


class Padded:
    """Sentences of 4, 1, 3 and 2 words in one batch; what is ignored holds NaN and numbers that would be noticed."""

    def __init__(self, graphs, kind, trees):
        scores = np.full((len(WORDS), 5, 5), np.nan)
        scores[:, :, 0], scores[:, 0, 0] = 7.0, -3.0
        for b, n in enumerate(WORDS):
            own = scores[b, : n + 1, : n + 1]
            if kind == "holes" and n > 1:
                drawn = graphs.holes(n, b, trees.single_root, projective=trees.projective)
            else:
                drawn = graphs.gaussian(n, 60.0 if kind == "peaked" else 1.0, b)
            own[:, 1:] = drawn[:, 1:]
            np.fill_diagonal(own, 99.0)
        self.log_scores, self.lengths = torch.from_numpy(scores), torch.tensor(WORDS)
        self.how = {"single_root": trees.single_root, "projective": trees.projective}
        self.sentences = [TreeDistribution(scores[b, : n + 1, : n + 1], **self.how) for b, n in enumerate(WORDS)]
        self.oracles = [Oracle(each) for each in self.sentences]

    def distribution(self, scores=None, **how):
        return Batched(self.log_scores if scores is None else scores, self.lengths, **self.how, **how)

    def ignored(self):
        """Which entries do not count, (B, N, N) bool: all but arcs between nodes of a sentence that are possible."""
        found = torch.ones(self.log_scores.shape, dtype=torch.bool)
        for b, (n, each) in enumerate(zip(WORDS, self.sentences, strict=True)):
            found[b, : n + 1, : n + 1] = torch.from_numpy(np.isneginf(each.log_scores))
        return found

    def heads(self, at=-1, fill=-1):
        heads = torch.full((len(WORDS), 5), fill)
        for b, n in enumerate(WORDS):
            heads[b, 1 : n + 1] = torch.from_numpy(self.oracles[b].trees[at])
        return heads


@pytest.fixture(params=[trees.name for trees in SPACES])
def trees(request):
    return SPACES.get(request.param)


@pytest.fixture(params=("flat", "peaked", "holes"))
def padded(request, trees, graphs):
    return Padded(graphs, request.param, trees)


@pytest.fixture
def flat(trees, graphs):
    return Padded(graphs, "flat", trees)


@pytest.fixture
def holes(trees, graphs):
    return Padded(graphs, "holes", trees)
