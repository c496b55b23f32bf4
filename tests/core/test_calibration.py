"""Calibration and temperatures beside enumeration and finite differences; sets of heads, how often they are right."""

import numpy as np
import pytest

from deptree_cli.core import calibration as module
from deptree_cli.core.calibration import CRITERIA, ArcEvidence, Fit, GoldArcs, by_likelihood, gold_scores, threshold
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import space
from tests.oracle import Oracle

SPACES = [space(True), space(False), space(True, projective=True)]


def test_calibration_by_hand():
    calibration = module.Calibration()
    assert (calibration.accuracy, calibration.mean_confidence, calibration.error, calibration.rows()) == (0, 0, 0, [])
    calibration.add([0.95, 1.0, 0.91], [True, True, False])
    calibration.add([0.25, 0.2], [False, True])
    assert calibration.accuracy == pytest.approx(0.6)
    assert calibration.mean_confidence == pytest.approx((0.95 + 1.0 + 0.91 + 0.25 + 0.2) / 5)
    assert calibration.error == pytest.approx((abs(2.86 - 2) + abs(0.45 - 1)) / 5)
    low, high = calibration.rows()
    assert low == ["0.2 to 0.3", 2, pytest.approx(0.225), 0.5]
    assert high == ["0.9 to 1.0", 3, pytest.approx(2.86 / 3), pytest.approx(2 / 3)]


def arcs(graphs, trees=SPACES[0], seeds=range(12), n=4, true=1.5, scale=3.0):
    """Sentences whose gold trees are drawn at a temperature."""
    found = []
    for seed in seeds:
        distribution = graphs.over(graphs.gaussian(n, scale, seed), trees)
        (gold,) = distribution.tempered(true).sample(1, seed=seed)
        found.append(GoldArcs.of(distribution, gold))
    return ArcEvidence(found, trees)


def one(distribution, heads):
    return ArcEvidence([GoldArcs.of(distribution, np.array(heads, np.int32))], distribution.space)


def labels(seed, m=40, true=2.0):
    """Words whose gold labels are drawn at a temperature; the first label is impossible."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(m, 5)) * 3
    scores[:, 0] = -np.inf
    gold = (scores / true + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return module.LabelEvidence(scores - np.logaddexp.reduce(scores, axis=1)[:, None], gold)


def counted(evidence, temperature):
    calibration = module.Calibration()
    evidence.count(temperature, calibration)
    return calibration


@pytest.mark.quick
@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("kind", [*SPACES, "labels"], ids=str)
def test_slope_is_that_of_finite_differences(graphs, kind, temperature):
    evidence = labels(1) if kind == "labels" else arcs(graphs, kind)
    beta, step = 1 / temperature, 1e-5
    high, low = (evidence.likelihood(1 / (beta + each)).value for each in (step, -step))
    assert evidence.likelihood(temperature).slope == pytest.approx((high - low) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("trees", SPACES, ids=str)
def test_likelihood_and_its_optimum_beside_enumeration(graphs, trees):
    evidence = arcs(graphs, trees)

    def enumerated(temperature):
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


@pytest.mark.parametrize(("true", "size", "within"), [(1.5, 600, 0.16), (1 / 14, 150, 0.32), (14.0, 150, 0.32)])
def test_the_true_temperature_is_found(graphs, true, size, within):
    """H0: gold is drawn at 1 from scores that are multiplied by T then, labels at 2. Of 600 sentences of 6 words and of
    3,000 labels the standard error of log T is about 0.04, of 150 sentences 0.08; within four of them."""
    drawn = arcs(graphs, seeds=range(size), n=6, true=1.0).sentences
    part = ArcEvidence([GoldArcs(s.log_scores * true, s.heads, s.best, s.is_tree) for s in drawn], SPACES[0])
    assert abs(np.log(by_likelihood([part])[0] / true)) < within
    assert module.by_calibration_error([part])[0] == pytest.approx(true, rel=0.5)
    assert abs(np.log(by_likelihood([labels(3, 3000)])[0] / 2.0)) < 0.16


@pytest.mark.slow("size")
def test_the_least_calibration_error_of_the_grid(graphs):
    evidence = arcs(graphs, seeds=range(100))
    found, _ = module.by_calibration_error([evidence])
    errors = [counted(evidence, each).error for each in np.geomspace(1 / 16, 16, 129).tolist()]
    assert counted(evidence, found).error == pytest.approx(min(errors), abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_parts_are_judged_at_the_temperatures_of_the_others(graphs, criterion):
    parts = [arcs(graphs, seeds=range(9)), arcs(graphs, seeds=range(9, 20))]
    fit, fitted = Fit.of(parts, criterion), CRITERIA[criterion]
    assert fit.temperature == fitted(parts)[0]
    assert fit.others == pytest.approx([fitted([parts[1]])[0], fitted([parts[0]])[0]])
    values = [part.likelihood(each).value for part, each in zip(parts, fit.others, strict=True)]
    assert fit.after.log_likelihood == pytest.approx(sum(values) / 80)
    assert fit.before.log_likelihood == pytest.approx(sum(part.likelihood(1.0).value for part in parts) / 80)


def test_unknown_heads_count_for_calibration_only(graphs):
    part = one(graphs.distribution(graphs.gaussian(4)), [0, -1, 1, 1])
    assert counted(part, 1.0).words.sum() == 3
    assert part.likelihood(1.0).words == 0
    with pytest.raises(DeptreeError, match="no sentence has a gold tree"):
        by_likelihood([part])


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_part_is_judged_at_a_temperature_that_nothing_was_fitted_to(graphs, criterion):
    """Words without gold fitted nothing, and the other part was judged at an end of the range, in silence."""
    with pytest.raises(DeptreeError, match="too few sentences have a gold tree"):
        Fit.of([arcs(graphs), one(graphs.distribution(graphs.gaussian(4)), [-1] * 4)], criterion)
    no_labels = module.LabelEvidence(np.zeros((0, 5)), np.zeros(0, dtype=np.int64))
    with pytest.raises(DeptreeError, match="too few sentences have gold labels"):
        Fit.of([no_labels, labels(1)], criterion)
    assert Fit.of([no_labels, labels(1), labels(2)], criterion).others[0] > module.LOWEST


@pytest.mark.parametrize("heads", [[0, 1, 1, 1], [2, 1, 0, 1]], ids=["forbidden", "cycle"])
def test_impossible_gold_trees_have_no_likelihood(graphs, heads):
    """Their words still count for calibration; the fit is that to the others."""
    possible, scores = arcs(graphs), graphs.gaussian(4)
    scores[0, 1] = scores[2, 1] = -np.inf
    both = ArcEvidence([*possible.sentences, *one(graphs.distribution(scores), heads).sentences], possible.space)
    assert both.likelihood(1.7) == possible.likelihood(1.7)
    assert by_likelihood([both]) == by_likelihood([possible])
    assert counted(both, 1.0).words.sum() == 4 * len(both.sentences)


def test_gold_that_is_always_best_wants_the_lowest_temperature(graphs):
    distribution = graphs.distribution(graphs.gaussian(4))
    part = one(distribution, distribution.argmax())
    assert by_likelihood([part])[0] == module.LOWEST
    assert Fit.of([part, part], "likelihood").at_the_end


def test_head_sets_by_hand():
    marginals = np.array([[0, 0.7, 0.2], [0, 0, 0.8], [0, 0.3, 0]])
    assert module.nonconformity(marginals).tolist() == [[0, 0.8], [np.inf, 0], [0.7, np.inf]]
    assert module.head_sets(marginals, 0.0) == [[0], [1]]
    assert module.head_sets(marginals, 0.75) == [[0, 2], [1]]
    assert module.head_sets(marginals, 1.0) == [[0, 2], [1, 0]]


@pytest.mark.parametrize("count", [9, 99, 999, 9999])
def test_the_threshold_is_that_of_finite_samples(count):
    """Of k scores the ceil((k + 1) coverage)-th; where there is none all heads are in. Ranks are those of decimal
    numbers: 100 times 0.07 is 7, and 7.000000000000001 as a float."""
    for hundredths in range(1, 100):
        rank = -(-(count + 1) * hundredths // 100)
        assert threshold(np.arange(count, 0.0, -1), hundredths / 100) == (rank if rank <= count else 1.0)
    assert threshold(np.array([0.1, 0.2, 0.9]), 0.0) == 0.0


def test_coverage_is_what_was_asked(graphs):
    """H0: words are exchangeable. 20 times thresholds of 100 sentences on 100 others: 12,000 words, with a standard
    error of the mean coverage of 0.005 at most (words of a sentence and thresholds included); within three of them."""
    part, rng = arcs(graphs, seeds=range(400), n=6, true=2.5, scale=2), np.random.default_rng(1)
    found = np.zeros((2, 3))
    for _ in range(20):
        halves = np.split(rng.permutation(400)[:200], 2)
        one, other = (ArcEvidence([part.sentences[at] for at in half], part.space) for half in halves)
        scores = gold_scores(one, 1.0)
        found += module.tried_on(other, 1.0, [threshold(scores, each) for each in (0.8, 0.9)])
    assert found[:, 1] / found[:, 0] == pytest.approx([0.8, 0.9], abs=0.015)


def test_thresholds_judge_none_of_their_own_words(graphs):
    """Parts whose gold differs in kind: thresholds of the others, not of all, tell how often sets contain the head."""
    parts = [arcs(graphs, seeds=seeds, n=6, true=2.5, scale=2) for seeds in (range(20), range(20, 60))]
    fit = Fit.of(parts, "likelihood")
    (found,) = module.HeadSets.of(parts, fit, [0.9])
    largest = gold_scores(parts[0], 2.0).max()  # a threshold is within its set
    words, right, heads = module.tried_on(parts[0], 2.0, [largest])[0]
    sets = [module.head_sets(marginals, largest) for _, marginals, _ in parts[0].at(2.0)]
    assert (words, right, heads) == (120, 120, sum(len(each) for sentence in sets for each in sentence))
    expected = np.zeros(3)
    for part, other, each in zip(parts, parts[::-1], fit.others, strict=True):
        expected += module.tried_on(part, each, [threshold(gold_scores(other, each), 0.9)])[0]
    assert (found.covered, found.heads) == pytest.approx((expected[1] / 360, expected[2] / 360))
    scores = np.concatenate([gold_scores(part, fit.temperature) for part in parts])
    assert found.threshold == threshold(scores, 0.9)
