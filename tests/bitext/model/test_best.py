"""Best alignments: as good as any of brute force, and ties."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext import scores as module
from deptree_cli.bitext.distribution import AlignmentDistribution, best_links
from deptree_cli.bitext.scores import links_of, shift
from deptree_cli.core.errors import DeptreeError
from tests.brute_itg import Alignments, Grammar


@pytest.mark.parametrize("turned", [False, True])
def test_ties_are_won_by_one_of_the_best(turned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole scores, many of them equal: what is found weighs as much as any, on whichever side the chart begins."""
    monkeypatch.setattr(module, "is_turned", lambda p, q: turned)
    rng = np.random.default_rng(4)
    for _ in range(20):
        p, q = rng.integers(1, 5, size=2)
        grammar = Grammar(*(rng.integers(-1, 2, size=shape).astype(float) for shape in ((p, q), p, q)))
        pair = AlignmentDistribution(grammar.scores, "log", grammar.source_nulls, grammar.target_nulls)
        assert grammar.log_weight(links_of(pair.argmax())) == Alignments(grammar).best()[0]


def test_the_best_is_the_most_probable() -> None:
    """Its weight is e^1.5, whatever else there is: unlinked words make nothing more probable than it weighs."""
    scores = np.array([[1.0, -9.0], [-9.0, 0.5]])
    probs = Alignments(Grammar(scores, np.zeros(2), np.zeros(2))).probabilities()
    assert max(probs, key=lambda links: probs[links]) == {(0, 0), (1, 1)}
    assert AlignmentDistribution(scores).argmax().tolist() == [0, 1]


def test_products_beyond_the_range_of_any_number() -> None:
    """40 links of e^2000 each, ten of them in reverse: logarithms are added."""
    scores = np.full((40, 40), -2000.0)
    order = np.arange(40)
    order[10:20] = order[10:20][::-1]
    scores[np.arange(40), order] = 2000.0
    assert AlignmentDistribution(scores).argmax().tolist() == order.tolist()


def test_permutations_that_cannot_be_built() -> None:
    """2 4 1 3 cannot be cut into blocks that change places: one link is given up."""
    scores = np.full((4, 4), -50.0)
    scores[np.arange(4), [1, 3, 0, 2]] = 5.0
    linked = AlignmentDistribution(scores).argmax()
    assert np.sum(linked == [1, 3, 0, 2]) == 3
    assert np.sum(linked == -1) == 1


def test_no_alignment_is_no_best() -> None:
    """Two source words, one target word, nothing may be left out: None from the chart, an error from the pair."""
    scores, source, target = np.zeros((2, 1)), np.full(2, -np.inf), np.full(1, -np.inf)
    assert best_links(shift(scores, source, target, None)) is None
    with pytest.raises(DeptreeError, match="no alignment is possible"):
        AlignmentDistribution(scores, "log", source, target).argmax()
