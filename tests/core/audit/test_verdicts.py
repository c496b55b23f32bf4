"""Verdicts on a file's sentences: Holm's levels, and what a sample would have shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.audit import (
    BIASED,
    UNBIASED,
    UNDECIDED,
    Audit,
    Detector,
    Finding,
    Tally,
    combine,
    detectable_tvs,
    holm,
    judge,
    rival_tree,
)

DETECTORS = (Detector(0.3, 0.5), Detector(0.1, 0.001))
AUDIT = Audit("enumeration", 2000, "trees", 1.0, 9, 0.02, 0.1, 0.1, 0.0, 0, 1e-12, 0.05, DETECTORS)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_procedure_says(p_values: list[float], alpha: float) -> None:
    levels = holm(p_values, alpha)
    found = [p < level for p, level in zip(p_values, levels, strict=True)]
    naive, going = [False] * len(p_values), True
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        going = going and p_values[index] < alpha / (len(p_values) - rank)
        naive[index] = going
    assert found == naive


def test_holm_by_hand() -> None:
    assert holm([0.03, 0.001, 0.02], 0.05) == [0.05, pytest.approx(0.05 / 3), 0.025]
    assert holm([0.02, 0.03], 0.05) == [pytest.approx(0.025), 0.05]
    assert holm([0.03, 0.04], 0.05) == [0.0, 0.0]
    assert holm([], 0.05) == []


def test_verdicts_on_one_sentence_and_on_several() -> None:
    assert [judge([AUDIT], alpha)[0].verdict for alpha in (0.05, 0.01)] == [BIASED, UNBIASED]
    fine = replace(AUDIT, p_value=0.5)
    assert [one.verdict for one in judge([fine, AUDIT, fine], 0.05)] == [UNBIASED] * 3
    assert judge([], 0.05) == []


def test_nothing_found_by_too_few_trees_is_undecided() -> None:
    few = replace(AUDIT, size=20, p_value=0.5)
    assert judge([few], 0.05)[0].detectable_tv > 0.25
    assert judge([few], 0.05)[0].verdict == UNDECIDED
    assert judge([replace(few, p_value=1e-9)], 0.05)[0].verdict == BIASED
    one = replace(AUDIT, size=1, p_value=0.5)
    assert (judge([one], 0.05)[0].detectable_tv, judge([one], 0.05)[0].verdict) == (None, UNDECIDED)


def test_shares_of_the_level_add_up_to_one() -> None:
    family = combine(
        [Finding("trees", 0.01, 10, 0.1), None, Finding("tails", 0.001, 1, 0.2), Finding("together", 1, 1)]
    )
    assert sum(
        tests * detector.share for tests, detector in zip((10, 1), family.detectors, strict=True)
    ) == pytest.approx(5 / 7)
    assert (family.evidence, family.smallest, family.tests) == ("tails", 0.001, 12)
    assert family.p_value == pytest.approx(0.001 * 7)
    assert combine([None]).p_value == 1.0


@pytest.mark.slow("size")
@pytest.mark.parametrize(("n", "size"), [(4, 300), (9, 1000)])
def test_what_is_detectable_is_detected(n: int, size: int, graphs) -> None:
    """H0: a mixture with the rival tree at the distance given is called biased with probability 0.9 at least.

    100 samples; fewer than 75 rejections with probability P(Binomial(100, 0.9) < 75) = 5e-6.
    """
    distribution, rng = graphs.distribution(graphs.gaussian(n)), np.random.default_rng(10)
    rival, rejected = rival_tree(distribution, distribution.marginals()), 0
    prob = float(np.exp(distribution.tree_log_probs(rival[None])[0]))
    for _ in range(100):
        tally, trees = Tally(distribution), distribution.factorisation.sample(size, rng)
        if not rejected:
            tally.add(trees)
            share = detectable_tvs([tally.audit()], 0.001)[0] / (1 - prob)
            tally = Tally(distribution)
        tally.add(np.where((rng.random(size) < share)[:, None], rival, trees))
        rejected += tally.audit().p_value < 0.001
    assert rejected >= 75


def test_more_trees_detect_less() -> None:
    found = detectable_tvs([replace(AUDIT, size=size) for size in (50, 500, 5000, 10**9)], 0.001)
    assert found == sorted(found, reverse=True)
    assert found[-1] < 3e-4
