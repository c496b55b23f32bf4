"""Weights and functionals by hand and against plain loops; laws are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.estimate import FUNCTIONALS, arcs, estimate, weights
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.swor import ALGORITHMS


def test_weights() -> None:
    log_probs = np.log([0.5, 0.1])
    assert weights(log_probs, 2.0) == pytest.approx([0.5 / (1 - np.exp(-1.0)), 0.1 / (1 - np.exp(-0.2))])
    assert weights(log_probs, np.inf) == pytest.approx([0.5, 0.1])
    assert weights(np.array([-2000.0, -90.0]), 4.0) == pytest.approx([0.25, 0.25])


def test_all_trees_give_the_expectation_without_error(graphs) -> None:
    sentence = graphs.sentence(graphs.gaussian(4, 2))
    draws = ALGORITHMS["auto"].draw(sentence, 64, np.random.default_rng(1))
    found = estimate(draws.heads, draws.log_probs, draws.tau, arcs)
    np.testing.assert_allclose(found.unbiased, sentence.elimination.marginals(), atol=1e-13)
    np.testing.assert_allclose(found.normalised, found.unbiased, atol=1e-13)
    assert not found.unbiased_error.any()
    assert not found.normalised_error.any()


def test_chunks_do_not_show(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = graphs.sentence(graphs.gaussian(5))
    draws = ALGORITHMS["auto"].draw(sentence, 50, np.random.default_rng(1))
    whole = estimate(draws.heads, draws.log_probs, draws.tau, FUNCTIONALS["depth"])
    monkeypatch.setattr("deptree_cli.core.estimate.CHUNK", 7)
    parts = estimate(draws.heads, draws.log_probs, draws.tau, FUNCTIONALS["depth"])
    assert list(vars(parts).values()) == pytest.approx(list(vars(whole).values()))


def test_a_constant_is_estimated_without_error_when_normalised(graphs) -> None:
    draws = ALGORITHMS["auto"].draw(graphs.sentence(graphs.gaussian(6)), 20, np.random.default_rng(1))
    found = estimate(draws.heads, draws.log_probs, draws.tau, lambda heads: np.ones(len(heads)))
    assert found.normalised == pytest.approx(1.0)
    assert found.normalised_error == pytest.approx(0.0, abs=1e-7)
    assert found.unbiased_error > 0.01


def descends(tree: NDArray[np.int32], word: int, head: int) -> bool:
    while word not in (0, head):
        word = int(tree[word - 1])
    return word == head


@pytest.mark.parametrize("single_root", [True, False])
def test_shapes_of_trees_against_loops(single_root: bool) -> None:
    trees = all_trees(5, single_root)
    depths, lengths, crossing = [], [], []
    for tree in trees:
        words = range(1, len(tree) + 1)
        depths.append(max(sum(descends(tree, word, above) for above in words) for word in words))
        spans = [abs(int(head) - word) for word, head in zip(words, tree, strict=True) if head]
        lengths.append(np.mean(spans) if spans else 0.0)
        crossing.append(
            sum(
                not all(descends(tree, w, int(h)) or h == 0 for w in range(min(h, d) + 1, max(h, d)))
                for d, h in zip(words, tree, strict=True)
            )
        )
    assert FUNCTIONALS["depth"](trees).tolist() == depths
    assert FUNCTIONALS["dependency_length"](trees) == pytest.approx(lengths)
    assert FUNCTIONALS["non_projective_arcs"](trees).tolist() == crossing


def test_every_functional_gives_a_value_per_tree() -> None:
    trees = np.array([[0], [0]], dtype=np.int32)
    for function in FUNCTIONALS.values():
        assert len(function(trees)) == 2
        assert function.__doc__
