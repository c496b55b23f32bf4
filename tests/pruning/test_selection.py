"""Selections: against a literal transcription of section 3.2 of the paper, and the step that is added to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, islice, pairwise
from math import comb

import numpy as np
import pytest
from scipy import stats

from deptree_cli.pruning.methods import selections

LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds

Set = frozenset[int]


def transitions(selected: Set, all_of_them: Set) -> set[Set]:
    """What can come next, all equally probable: those not selected, and a half of those that are (rounded down)."""
    halves = combinations(sorted(selected), len(selected) // 2)
    return {(all_of_them - selected) | frozenset(half) for half in halves}


def run(confident: np.ndarray, steps: int, seed: int = 0, variables: int = 40) -> list[Set]:
    found = list(islice(selections(confident, variables, np.random.default_rng(seed)), steps))
    assert all(each.shape == (variables,) and each.dtype == np.bool_ for each in found)
    return [frozenset(np.flatnonzero(each).tolist()) for each in found]


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 9, 15])
def test_every_step_is_one_of_the_papers(m: int) -> None:
    """Between two that select something; only the confident are ever selected. With two or more the paper's never
    select nothing, so that all that do are ours."""
    confident = np.random.default_rng(m).permutation(40)[:m]
    found = [each for each in run(confident, 300) if each]
    everything: Set = frozenset(confident.tolist())
    for before, after in pairwise(found):
        assert after <= everything
        assert after >= everything - before
        assert len(after) == m - len(before) + len(before) // 2
    start = round(2 * m / 3)
    assert len(found[0]) == m - start + start // 2


@pytest.mark.slow("statistics")
def test_halves_are_drawn_at_random() -> None:
    """H0: from every selection all that can come next are equally probable, m = 5 and 6: chi-square for each.

    10 selections of 3 variables with 3 that follow, 15 of 4 with 6; 30,000 steps, threshold 1e-6 over 25.
    """
    for m in (5, 6):
        counts: defaultdict[Set, Counter[Set]] = defaultdict(Counter)
        found = [each for each in run(np.arange(m), 30_000) if each]
        for before, after in pairwise(found):
            counts[before][after] += 1
        assert len(counts) == comb(m, round(2 * m / 3))
        for before, after in counts.items():
            possible = transitions(before, frozenset(range(m)))
            assert set(after) <= possible
            assert stats.chisquare([after[each] for each in possible]).pvalue > LEVEL / 25


@pytest.mark.slow("statistics")
def test_the_first_two_thirds_are_drawn_at_random() -> None:
    """H0: the start is any of the 10 threes of 5 variables; what follows from it is one of 10 again. 5,000 chains."""
    counts = Counter(next(filter(None, run(np.arange(5), 20, seed))) for seed in range(5000))
    assert len(counts) == 10
    assert stats.chisquare([*counts.values()]).pvalue > LEVEL


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("m", [2, 3, 4, 6, 8])
def test_nothing_is_selected_once_in_two_to_the_m(m: int) -> None:
    """H0: with probability 2^-m at every step, independently; exact binomial test, 20,000 steps."""
    empty = np.array([not each for each in run(np.arange(m), 20_000)])
    assert stats.binomtest(int(empty.sum()), len(empty), 0.5**m).pvalue > LEVEL
    twice = empty[1:] & empty[:-1]
    assert stats.binomtest(int(twice.sum()), int(empty[:-1].sum()), 0.5**m).pvalue > LEVEL


def test_a_step_without_selection_forgets_nothing() -> None:
    """The step behind it starts from the selection before it: that happens often with two variables."""
    found = run(np.array([3, 7]), 200)
    selected = [each for each in found if each]
    assert len(found) - len(selected) > 20
    assert all(len(each) == 1 for each in selected)
    assert all(before != after for before, after in pairwise(selected))


def test_few_confident_variables() -> None:
    """None: never anything. One: pinned at every second step of the paper's."""
    assert set(run(np.array([], dtype=np.int64), 50)) == {frozenset()}
    steps = run(np.array([4]), 2000)
    assert set(steps) == {frozenset(), frozenset([4])}
    assert stats.binomtest(sum(map(bool, steps)), len(steps), 0.25).pvalue > LEVEL


def test_what_was_handed_out_does_not_change() -> None:
    found = selections(np.arange(6), 6, np.random.default_rng(1))
    first = next(found)
    copy = first.copy()
    for _ in range(20):
        next(found)
    assert np.array_equal(first, copy)
