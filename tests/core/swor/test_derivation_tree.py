"""Distinct projective trees: when a trie is made of them, in which numbers, and the time of the next one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, TreeSpace
from deptree_cli.kernels import derivations
from tests.core.swor.test_adaptive import draw, improbable
from tests.oracle import Oracle


def tries(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The kinds of numbers in which tries are made."""
    made: Counter[str] = Counter()
    draw_from_trie = derivations.draw_from_trie

    def counting(grammar: Any, drawn: Any, left: Any, below: Any, cursor: Any) -> Any:
        made["WIDE" if isinstance(left, tuple) else "REAL"] += cursor[derivations.USED] == 1  # no nodes yet
        return draw_from_trie(grammar, drawn, left, below, cursor)

    monkeypatch.setattr(derivations, "draw_from_trie", counting)
    return made


def test_a_trie_is_made_where_repeats_pile_up_and_only_there(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tries(monkeypatch)
    draw(graphs.over(graphs.gaussian(30), PROJECTIVE), 2_000)
    assert not made
    draw(graphs.over(graphs.gaussian(30, 20), PROJECTIVE), 2_000)
    assert made == {"REAL": 1}
    draw(improbable(graphs, PROJECTIVE), 200)
    assert made == {"REAL": 2, "WIDE": 1}


@pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)
def test_the_time_of_the_next_tree_is_right_where_next_to_nothing_is_left(trees: TreeSpace, graphs) -> None:
    """H0: what is left behind the best tree, e^-350 or less, times the time until the next one is Exp(1). The mean of
    500 is 1 within five standard errors, 5 / sqrt(500) = 0.22; float64 alone would say that no tree is left."""
    log_scores = graphs.uniform(3)
    log_scores[:, 1:] -= 400.0
    log_scores[0, 1] = log_scores[1, 2] = log_scores[2, 3] = 0.0
    distribution = graphs.over(log_scores, trees)
    log_left = np.logaddexp.reduce(np.sort(Oracle(distribution).log_probs)[:-1])
    assert -500 < log_left < -350
    draws = [draw(distribution, 1, seed) for seed in range(500)]
    waits = [np.exp(log_left) * (each.tau - each.arrivals[0]) for each in draws if not each.exhausted]
    assert len(waits) == 500
    assert np.mean(waits) == pytest.approx(1.0, abs=0.22)
