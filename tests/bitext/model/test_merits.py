"""The simpler model: against its definition, word by word and cut by cut."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from deptree_cli.bitext.distribution import bispan_merits, confidences
from deptree_cli.bitext.scores import LinkScores
from deptree_cli.core.dtypes import Float


def scores_of(p: int, q: int, scale: float = 2.0, seed: int = 0, holes: float = 0.0) -> LinkScores:
    rng = np.random.default_rng([seed, p, q])
    arrays = [scale * rng.normal(size=shape) for shape in ((p, q), (p,), (q,))]
    for array in arrays:
        array[rng.random(array.shape) < holes] = -np.inf
    return LinkScores(*arrays)


def model_1(links: Float, nulls: Float) -> tuple[Float, Float]:
    """Each word's shares of links and of none, one by one."""
    shares, alone = np.zeros_like(links), np.zeros_like(nulls)
    for i, (row, null) in enumerate(zip(links, nulls, strict=True)):
        total = math.fsum(map(math.exp, (*row, null)))
        if total > 0:
            shares[i], alone[i] = [math.exp(each) / total for each in row], math.exp(null) / total
    return shares, alone


SHAPES = pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 4), (3, 2), (4, 4)])


@SHAPES
def test_confidences(p: int, q: int) -> None:
    for seed in range(5):
        pair = scores_of(p, q, seed=seed)
        there, _ = model_1(pair.links, pair.source_nulls)
        back, _ = model_1(pair.links.T, pair.target_nulls)
        assert confidences(pair) == pytest.approx(np.minimum(there, back.T), rel=1e-12)


def test_confident_links_share_no_word() -> None:
    found = 0
    for seed in range(50):
        confident = confidences(scores_of(6, 5, 4.0, seed)) > 0.5
        assert confident.sum(axis=0).max() <= 1
        assert confident.sum(axis=1).max() <= 1
        found += confident.sum()
    assert found > 20


@SHAPES
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_merits(p: int, q: int, holes: float) -> None:
    """Every word of the one part stays there or has no link, every word of the other part likewise."""
    pair = scores_of(p, q, holes=holes)
    merits = bispan_merits(pair)
    spans = [[*combinations(range(n + 1), 2)] for n in (p, q)]
    sides = model_1(pair.links, pair.source_nulls), model_1(pair.links.T, pair.target_nulls)
    for (k, source), (m, target) in product(*map(enumerate, spans)):
        expected = 0.0
        for (links, nulls), own, other in ((sides[0], source, target), (sides[1], target, source)):
            for word, row in enumerate(links):
                within = own[0] <= word < own[1]
                stays = math.fsum(x for j, x in enumerate(row) if (other[0] <= j < other[1]) == within)
                expected += math.log(stays + nulls[word] + 1e-12)
        assert merits[k, m] == pytest.approx(expected, rel=1e-6, abs=1e-4 if holes else 1e-6)


def test_merits_are_finite_whatever_the_scores() -> None:
    for scale, holes in ((1000.0, 0.0), (1.0, 0.9), (1e6, 0.5)):
        pair = scores_of(4, 5, scale, holes=holes)
        assert np.isfinite(bispan_merits(pair)).all()
        assert np.isfinite(confidences(pair)).all()
