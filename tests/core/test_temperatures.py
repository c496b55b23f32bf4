"""Temperatures beside finite differences, enumeration and simulation; what is judged has no say in the fit."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.calibration import (
    CRITERIA,
    LOWEST,
    ArcEvidence,
    Calibration,
    Fit,
    GoldArcs,
    LabelEvidence,
    by_calibration_error,
    by_likelihood,
)
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import space
from tests.oracle import Oracle

SPACES = [space(True), space(False), space(True, projective=True)]


def arcs(graphs, trees=SPACES[0], seeds=range(12), n=4, true=1.5, scale=3.0) -> ArcEvidence:
    """Sentences whose gold trees are drawn at a temperature."""
    found = []
    for seed in seeds:
        distribution = graphs.over(graphs.gaussian(n, scale, seed), trees)
        (gold,) = distribution.tempered(true).sample(1, seed=seed)
        found.append(GoldArcs.of(distribution, gold))
    return ArcEvidence(found, trees)


def labels(seed: int, m: int = 40, true: float = 2.0) -> LabelEvidence:
    """Words whose gold labels are drawn at a temperature; the first label is impossible."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(m, 5)) * 3
    scores[:, 0] = -np.inf
    gold = (scores / true + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return LabelEvidence(scores - np.logaddexp.reduce(scores, axis=1)[:, None], gold)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("kind", [*SPACES, "labels"], ids=str)
def test_slope_is_that_of_finite_differences(graphs, kind, temperature: float) -> None:
    evidence = labels(1) if kind == "labels" else arcs(graphs, kind)
    beta, step = 1 / temperature, 1e-5
    high, low = (evidence.likelihood(1 / (beta + each)).value for each in (step, -step))
    assert evidence.likelihood(temperature).slope == pytest.approx((high - low) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("trees", SPACES, ids=str)
def test_likelihood_and_its_optimum_beside_enumeration(graphs, trees) -> None:
    """The log-likelihood is that of enumerated trees, and no temperature of a fine grid has a higher one."""
    evidence = arcs(graphs, trees)

    def enumerated(temperature: float) -> float:
        total = 0.0
        for each in evidence.sentences:
            oracle = Oracle(graphs.over(each.log_scores / temperature, trees))
            total += oracle.log_probs[(oracle.trees == each.heads).all(axis=1)][0]
        return total

    grid = np.geomspace(0.5, 6, 60)
    values = [enumerated(each) for each in grid.tolist()]
    assert [evidence.likelihood(each).value for each in grid.tolist()] == pytest.approx(values, abs=1e-9)
    found, _ = by_likelihood([evidence])
    assert enumerated(found) >= max(values)
    assert abs(np.log(found / grid[int(np.argmax(values))])) < 0.05


def test_the_true_temperature_is_found(graphs) -> None:
    """H0: gold is drawn at T = 1.5 (arcs) and 2 (labels). 600 sentences of 6 words, 3,000 labels: the standard error of
    log T is about 0.04; within four of them."""
    of_arcs, _ = by_likelihood([arcs(graphs, seeds=range(600), n=6)])
    of_labels, _ = by_likelihood([labels(3, 3000)])
    assert abs(np.log(of_arcs / 1.5)) < 0.16
    assert abs(np.log(of_labels / 2.0)) < 0.16


@pytest.mark.slow("size")
def test_the_least_calibration_error_of_the_grid(graphs) -> None:
    evidence = arcs(graphs, seeds=range(100))

    def error(temperature: float) -> float:
        calibration = Calibration()
        evidence.count(temperature, calibration)
        return calibration.error

    found, _ = by_calibration_error([evidence])
    assert error(found) == pytest.approx(min(map(error, np.geomspace(1 / 16, 16, 129).tolist())), abs=1e-12)


@pytest.mark.slow("size")
@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_part_has_a_say_in_what_it_is_judged_at(graphs, criterion: str) -> None:
    """Other gold in a part changes the fit of all others, and not its own."""
    parts = [arcs(graphs, seeds=range(30 * at, 30 * at + 30)) for at in range(3)]
    other = arcs(graphs, seeds=range(30), true=8.0)
    before, after = Fit.of(parts, criterion), Fit.of([other, *parts[1:]], criterion)
    assert before.others[0] == after.others[0]
    assert before.temperature != after.temperature
    assert all(a != b for a, b in zip(before.others[1:], after.others[1:], strict=True))


def test_after_is_at_the_temperatures_of_the_others(graphs) -> None:
    parts = [arcs(graphs, seeds=range(9)), arcs(graphs, seeds=range(9, 20))]
    fit = Fit.of(parts, "likelihood")
    assert fit.others == pytest.approx([by_likelihood([parts[1]])[0], by_likelihood([parts[0]])[0]])
    values = [part.likelihood(each).value for part, each in zip(parts, fit.others, strict=True)]
    assert fit.after.log_likelihood == pytest.approx(sum(values) / 80)
    assert fit.before.log_likelihood == pytest.approx(sum(part.likelihood(1.0).value for part in parts) / 80)


def test_unknown_heads_count_for_calibration_only(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(4))
    part = ArcEvidence([GoldArcs.of(distribution, np.array([0, -1, 1, 1], np.int32))], distribution.space)
    calibration = Calibration()
    part.count(1.0, calibration)
    assert calibration.words.sum() == 3
    assert part.likelihood(1.0).words == 0
    with pytest.raises(DeptreeError, match="no sentence has a gold tree"):
        by_likelihood([part])


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_part_is_judged_at_a_temperature_that_nothing_was_fitted_to(graphs, criterion: str) -> None:
    """Words without gold fitted nothing, and the other part was judged at an end of the range, in silence."""
    distribution, none = graphs.distribution(graphs.gaussian(4)), np.array([-1, -1, -1, -1], np.int32)
    without = ArcEvidence([GoldArcs.of(distribution, none)], distribution.space)
    with pytest.raises(DeptreeError, match="too few sentences have a gold tree"):
        Fit.of([arcs(graphs), without], criterion)
    no_labels = LabelEvidence(np.zeros((0, 5)), np.zeros(0, dtype=np.int64))
    with pytest.raises(DeptreeError, match="too few sentences have gold labels"):
        Fit.of([no_labels, labels(1)], criterion)
    assert Fit.of([no_labels, labels(1), labels(2)], criterion).others[0] > LOWEST


def test_impossible_gold_trees_have_no_likelihood(graphs) -> None:
    """Their words still count for calibration; the fit is that to the others."""
    possible = arcs(graphs)
    scores = graphs.gaussian(4)
    scores[0, 1] = scores[2, 1] = -np.inf
    distribution, cycle = graphs.distribution(scores), np.array([2, 1, 0, 1], np.int32)
    for heads in (np.array([0, 1, 1, 1], np.int32), cycle):
        impossible = GoldArcs.of(distribution, heads)
        both = ArcEvidence([*possible.sentences, impossible], possible.space)
        assert both.likelihood(1.7) == possible.likelihood(1.7)
        assert by_likelihood([both]) == by_likelihood([possible])
        calibration = Calibration()
        both.count(1.0, calibration)
        assert calibration.words.sum() == 4 * len(both.sentences)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("true", [1 / 14, 1 / 5, 5.0, 14.0])
def test_temperatures_far_from_1_are_found(graphs, true: float) -> None:
    """Within 1/16 and 16; gold trees are drawn from scores times that. The standard error of log T is about 0.08."""
    sentences = [
        GoldArcs(each.log_scores * true, each.heads, each.best, each.is_tree)
        for each in arcs(graphs, seeds=range(150), n=6, true=1.0).sentences
    ]
    part = ArcEvidence(sentences, SPACES[0])
    found, _ = by_likelihood([part])
    assert abs(np.log(found / true)) < 0.35
    assert by_calibration_error([part])[0] == pytest.approx(true, rel=0.5)


def test_gold_that_is_always_best_wants_the_lowest_temperature(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(4))
    part = ArcEvidence([GoldArcs.of(distribution, distribution.argmax())], distribution.space)
    assert by_likelihood([part])[0] == LOWEST
    assert Fit.of([part, part], "likelihood").at_the_end
