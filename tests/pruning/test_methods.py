"""Methods: exact, one mask, randomized pruning, randomized dynamic programming; settings, seeds, when they end."""

from __future__ import annotations

from time import monotonic

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning import methods
from deptree_cli.pruning.methods import (
    ITERATIONS,
    METHODS,
    Chain,
    Ratio,
    Settings,
    expectations,
    inclusion_probabilities,
)
from deptree_cli.pruning.program import CellProgram
from tests.brute_itg import Alignments, Grammar
from tests.pruning.test_chain import exact, paper
from tests.pruning.toy import Segmentations, all_or_none, enumerated, random_segmentations


@pytest.mark.parametrize("method", [method for method in METHODS if not method.by_merits], ids=lambda each: each.name)
def test_a_program_of_a_users_own(method):
    """Right within six standard errors, or exactly, or under the condition that what is pinned is there."""
    program = random_segmentations(7, 4)
    probs, right = enumerated(program)
    found = expectations(program, method.name, 1, iterations=1000)
    if method.name == "fixed":
        left = {structure: x for structure, x in probs.items() if all(structure[:4])}
        right = sum(x * np.array(structure) for structure, x in left.items()) / sum(left.values())
    errors = 0.0 if found.standard_errors is None else 6 * found.standard_errors
    assert (np.abs(found.expectations - right) <= errors + 1e-12).all()


@pytest.mark.parametrize("method", [method for method in METHODS if method.by_merits], ids=lambda each: each.name)
def test_methods_that_need_merits(method):
    with pytest.raises(
        DeptreeError, match=rf"^{method.name} needs the merits of states\. Derive the program from CellProg"
    ):
        expectations(random_segmentations(3, 1), method.name)


def test_what_is_random_is_said_to_be():
    program = random_segmentations(5, 3)
    for method in METHODS:
        if not method.by_merits and method.name != "fixed":  # which draws only where not all can be pinned
            a, b = (expectations(program, method.name, seed, iterations=20).expectations for seed in (1, 2))
            assert np.array_equal(a, b) != method.is_random


def test_there_is_no_such_method():
    with pytest.raises(DeptreeError, match=r"randomised.*randomized") as caught:
        expectations(random_segmentations(3, 1), "randomised")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"counts": "medium"}, "unknown counts 'medium'. Choose one of soft, hard."),
        ({"iterations": 0}, "iterations is 0. Give 1 or more."),
        ({"iterations": -5}, "iterations is -5. Give 1 or more."),
        ({"chains": 0}, "chains is 0. Give 1 or more."),
        ({"kept": 0}, "kept is 0. Give 1 or more."),
        ({"burn_in": -1}, "burn_in is -1. Give 0 or more."),
        ({"seconds": -1.0}, "seconds is -1.0. Give 0 or more."),
        ({"seconds": np.nan}, "seconds is nan. Give 0 or more."),
        ({"margin": -1.0}, "margin is -1.0. Give 0 or more."),
        ({"iterations": np.nan}, "iterations is nan. Give 1 or more."),
        ({"margin": np.nan}, "margin is nan. Give 0 or more."),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(DeptreeError) as caught:
        Settings(**settings)
    assert str(caught.value) == message


def test_iterations_are_a_thousand_unless_seconds_say_when_to_end():
    assert sum(Settings().rounds()) == ITERATIONS
    assert sum(Settings(iterations=3, seconds=60).rounds()) == 3
    assert sum(Settings(seconds=0.2).rounds()) > ITERATIONS


SCORES = 1.5 * np.eye(4) + 0.5 * np.random.default_rng(1).normal(size=(4, 4))


def square_pair():
    return AlignmentDistribution(SCORES, "log", -0.5, -0.5)


def test_exact():
    pair = square_pair()
    found = expectations(pair.program(), "exact")
    assert np.array_equal(found.expectations, pair.marginals())
    assert found.log_partition == pair.log_partition
    assert (found.standard_errors, found.iterations, found.r_hat, found.effective_size) == (None,) * 4
    assert repr(found).startswith("<MonteCarloEstimate of (4, 4): log_partition=")


@pytest.mark.parametrize("margin", [1e3, np.inf])
def test_with_a_huge_margin_tic_tac_toe_is_exact(margin):
    found = expectations(square_pair().program(), "tic-tac-toe", margin=margin)
    assert found.expectations == pytest.approx(square_pair().marginals(), rel=1e-12)


def test_with_smaller_margins_it_is_biased():
    """More and more; with none at all only the best target span of every source span is left, and what is always."""
    pair, errors = square_pair(), []
    for margin in (8.0, 4.0, 1.0, 0.0):
        found = expectations(pair.program(), "tic-tac-toe", margin=margin).expectations
        errors.append(float(np.abs(found - pair.marginals()).max()))
    assert errors == sorted(errors)
    assert errors[0] < 0.05
    assert errors[-1] > 3 * errors[0]


def test_what_tic_tac_toe_keeps():
    """States within the margin of the best of their cell, those that are always kept beside them; no others."""
    program, masks = square_pair().program(), []
    merits, keep = program.merits(), program.keep
    program.keep = lambda kept, log_weights=None: masks.append(kept) or keep(kept, log_weights)
    expectations(program, "tic-tac-toe", margin=2.0)
    for row, kept in zip(merits, masks[0], strict=True):
        finite = row[np.isfinite(row)]
        best = finite.max() if len(finite) else np.inf
        assert kept.tolist() == [merit == np.inf or merit >= best - 2.0 for merit in row]


def test_fixed():
    """All that is sure is pinned, if it goes together: expectations are those under that condition, and biased."""
    program = square_pair().program()
    confident = program.confident()
    assert len(confident)
    pins = {(int(k) // 4, int(k) % 4): True for k in confident}
    under = Alignments(Grammar(SCORES, np.full(4, -0.5), np.full(4, -0.5)), pins).marginals()
    found = expectations(program, "fixed")
    assert found.expectations == pytest.approx(under, rel=1e-10)
    assert found.log_partition is None
    assert np.abs(found.expectations - square_pair().marginals()).max() > 0.1


def test_fixed_where_not_all_goes_together():
    """Boundaries 1 and 2 exclude each other: either the one is there and the other not, or the other way round."""
    scores = np.zeros((5, 5))
    scores[1, 2] = -np.inf
    found = {tuple(expectations(Segmentations(scores, np.arange(2)), "fixed", k).expectations) for k in range(20)}
    assert found == {(1.0, 0.0, 0.5), (0.0, 1.0, 0.5)}


def test_fixed_where_nothing_is_sure_is_exact():
    program = random_segmentations(5, 0)
    assert expectations(program, "fixed").expectations == pytest.approx(enumerated(program)[1], rel=1e-12)


def test_nothing_to_sum_over():
    program = Segmentations(np.full((4, 4), -np.inf), np.arange(2))
    for method in ("exact", "fixed"):
        with pytest.raises(DeptreeError, match=r"^there is no structure to sum over\. Allow more structures\.$"):
            expectations(program, method)


def test_a_mask_that_prunes_everything():
    """Words of either side must be linked in inverted order, which the simpler model does not expect."""
    scores = np.full((4, 4), -np.inf)
    scores[np.arange(4), [1, 0, 3, 2]] = 0.0
    other = AlignmentDistribution(8.0 * np.eye(4)[::-1].copy(), "log", -9.0, -9.0)
    program = AlignmentDistribution(scores, "log", -np.inf, -np.inf).program(other)
    with pytest.raises(DeptreeError, match=r"^the pruning mask removes every structure\. Use a larger margin\.$"):
        expectations(program, "tic-tac-toe", margin=0.0)


def after(calls):
    """Something that says stop after so many questions, and from then on."""
    asked = 0

    def stop():
        nonlocal asked
        asked += 1
        return asked > calls

    return stop


def same(a, b):
    return np.array_equal(a.expectations, b.expectations) and a.r_hat == b.r_hat


@pytest.mark.slow("size")
def test_it_is_right_and_says_how_right():
    """Within six standard errors; chains that mix agree, and most iterations are worth something."""
    program = random_segmentations(6, 4)
    found = expectations(program, "randomized", 1, iterations=1500)
    assert (np.abs(found.expectations - exact(program)) < 6 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.02
    assert found.iterations == 1500
    assert 0.99 < (found.r_hat or 0.0) < 1.05
    assert 500 < (found.effective_size or 0.0) <= 6000
    assert found.log_partition is None
    assert not found.is_interrupted
    assert repr(found).startswith("<MonteCarloEstimate of (5,): iterations=1500, r_hat=1")


def test_modes_that_no_chain_leaves(monkeypatch):
    """Without the step that pins nothing dispersed chains stay in two modes: R-hat is infinite, and says so.

    With it the same program mixes. One chain alone cannot know.
    """
    program = all_or_none(3)
    good = expectations(program, "randomized", 2, iterations=300)
    assert (good.r_hat or 0.0) < 1.1
    monkeypatch.setattr(methods, "selections", paper)
    bad = expectations(program, "randomized", 2, iterations=300)
    assert bad.r_hat == np.inf
    alone = expectations(program, "randomized", 2, iterations=300, chains=1)
    assert alone.r_hat == 1.0
    assert alone.expectations.tolist() in ([0.0, 0.0], [1.0, 1.0])


def test_only_the_first_chain_starts_with_everything_positive(monkeypatch):
    started = []
    begin = Chain.__init__

    def note(self, program, confident, rng, dispersed):
        started.append(dispersed)
        begin(self, program, confident, rng, dispersed)

    monkeypatch.setattr(Chain, "__init__", note)
    expectations(random_segmentations(4, 2), "randomized", 1, iterations=1, chains=3)
    assert started == [False, True, True]


def test_the_seed_is_all_that_matters():
    program = random_segmentations(6, 4)
    found = expectations(program, "randomized", 5, iterations=50)
    assert same(found, expectations(program, "randomized", 5, iterations=50))
    first, second = (expectations(program, "randomized", np.random.default_rng(5), iterations=50) for _ in range(2))
    assert same(first, second)
    assert not same(found, expectations(program, "randomized", 6, iterations=50))


def steps_of(monkeypatch, **settings):
    """What is answered, and how many steps were made in all."""
    steps = 0
    step = Chain.step

    def count(self, soft=True):
        nonlocal steps
        steps += 1
        return step(self, soft)

    with monkeypatch.context() as patch:
        patch.setattr(Chain, "step", count)
        return expectations(random_segmentations(5, 3), "randomized", 1, **settings), steps


@pytest.mark.parametrize(("iterations", "burn_in", "chains"), [(1, 0, 1), (1, 5, 2), (20, 0, 3), (20, 7, 1)])
def test_iterations(monkeypatch, iterations, burn_in, chains):
    found, steps = steps_of(monkeypatch, iterations=iterations, burn_in=burn_in, chains=chains)
    assert found.iterations == iterations
    assert steps == chains * (iterations + burn_in)
    assert not found.is_interrupted


def test_what_is_burnt_in_does_not_count():
    """After 5 iterations that do not count the next 10 are those that 15 have behind their first 5."""
    program, settings = random_segmentations(5, 3), {"chains": 1}
    every = [
        expectations(program, "randomized", 3, iterations=n, burn_in=0, **settings).expectations * n for n in (5, 15)
    ]
    later = expectations(program, "randomized", 3, iterations=10, burn_in=5, **settings).expectations
    assert later == pytest.approx((every[1] - every[0]) / 10, rel=1e-12)


def test_stop():
    """It is asked after every iteration; one that counts is made in any case, and what there is is answered."""
    program = random_segmentations(5, 3)
    found = expectations(program, "randomized", 1, iterations=1000, burn_in=0, stop=after(30))
    assert found.is_interrupted
    assert found.iterations == 31
    assert same(found, expectations(program, "randomized", 1, iterations=found.iterations, burn_in=0))
    at_once = expectations(program, "randomized", 1, iterations=1000, stop=lambda: True)
    assert at_once.iterations == 1
    assert at_once.is_interrupted


def test_the_burn_in_ends_when_it_is_to_stop(monkeypatch):
    """One iteration counts, without those that should have come before."""
    for settings in ({"stop": lambda: True}, {"seconds": 0.0}):
        found, steps = steps_of(monkeypatch, burn_in=50, chains=2, **settings)
        assert (found.iterations, steps) == (1, 2)


def test_seconds():
    """They end it, with as many iterations as there was time for; in no time there is one."""
    program = random_segmentations(5, 3)
    begin = monotonic()
    found = expectations(program, "randomized", 1, seconds=0.2)
    assert monotonic() - begin >= 0.2
    assert (found.iterations or 0) > 1
    assert same(found, expectations(program, "randomized", 1, iterations=found.iterations))
    assert expectations(program, "randomized", 1, seconds=0.0).iterations == 1
    assert expectations(program, "randomized", 1, iterations=10, seconds=100.0).iterations == 10
    assert expectations(program, "randomized", 1, iterations=2.5).iterations == 3


@pytest.mark.parametrize("counts", ["soft", "hard"])
def test_nothing_to_pin(counts):
    """Without confident variables every step is exact: soft counts are the sums, hard ones independent draws."""
    program = random_segmentations(5, 0)
    found = expectations(program, "randomized", 1, iterations=500, counts=counts)
    if counts == "soft":
        assert found.expectations == pytest.approx(exact(program), rel=1e-12)
        return
    assert (np.abs(found.expectations - exact(program)) < 6 * found.standard_errors).all()
    assert 1000 < (found.effective_size or 0.0) <= 2000


INF = np.inf


def pair_of(size=4, highest=0.0):
    """Links on the diagonal are better than others; the whole weighs e^highest more, if other than 1.

    The first source word is always linked, so that the whole, but for unlinked target words, is a part.
    """
    scores = np.eye(size) + 0.7 * np.random.default_rng(3).normal(size=(size, size))
    bispans = np.zeros((size + 1,) * 4)
    bispans[0, size, :, size] = highest
    nulls = np.array([-np.inf] + [-0.5] * (size - 1))
    return AlignmentDistribution(scores, "log", nulls, -0.5, bispans=bispans if highest else None)


def runs(program, kept, size, weighted=True):
    """log Z of some runs, and their features times Z over the greatest Z."""
    chances, rng = inclusion_probabilities(program.merits(), kept), np.random.default_rng(kept)
    with np.errstate(divide="ignore"):
        log_weights = np.where(chances > 0, -np.log(chances), 0.0) if weighted else None
    log_z, features = np.empty(size), []
    for run in range(size):
        log_z[run], chart = program.inside(program.keep(rng.random(chances.shape) < chances, log_weights))
        features.append(program.outside(chart))
    weights = np.exp(log_z - log_z.max())
    return log_z, weights[:, None, None] * features


@pytest.mark.parametrize("kept", [1, 2])
def test_z_and_sums_of_features_are_unbiased(kept):
    """H0: the mean over 4,000 runs is the exact value, within 5 standard errors; those of Z are below 5 %.

    Without the weights of what was drawn the mean is more than 30 of them too low.
    """
    pair = pair_of(highest=kept - 1.0)  # with weights of bispans of its own, and without
    log_z, weighted = runs(pair.program(), kept, 4000)
    z = np.exp(log_z - pair.log_partition)
    error = z.std(ddof=1) / np.sqrt(len(z))
    assert error < 0.05
    assert abs(z.mean() - 1.0) < 5 * error
    features = weighted * np.exp(log_z.max() - pair.log_partition)
    errors = features.std(axis=0, ddof=1) / np.sqrt(len(z))
    assert (np.abs(features.mean(axis=0) - pair.marginals()) < 5 * errors).all()
    unweighted = np.exp(runs(pair.program(), kept, 400, weighted=False)[0] - pair.log_partition)
    assert unweighted.mean() < 1.0 - 30 * unweighted.std(ddof=1) / np.sqrt(400)


@pytest.mark.slow("size")
def test_ratios_converge():
    """Within 5 of the standard errors that are stated, which fall as one over the square root of the runs."""
    pair, before = pair_of(), None
    for iterations in (100, 1000, 10_000):
        found = expectations(pair.program(), "rdp", 1, iterations=iterations, kept=2)
        assert (np.abs(found.expectations - pair.marginals()) < 5 * found.standard_errors).all()
        assert found.iterations == iterations
        assert 0 < (found.effective_size or 0.0) < iterations
        size = float(np.sqrt((found.standard_errors**2).sum()))
        if before:
            assert 0.2 < size / before < 0.5
        before = size


def test_errors_cover():
    """16 marginals of 60 times 100 runs are within 1.96 standard errors of the exact ones: above 88 % of them.

    Taken for 60 independent cases the share has a standard deviation of 2.8 %.
    """
    pair, covered = pair_of(), []
    for seed in range(60):
        found = expectations(pair.program(), "rdp", seed, iterations=100, kept=3)
        covered.append(np.abs(found.expectations - pair.marginals()) < 1.96 * found.standard_errors)
    assert 0.88 < np.mean(covered) <= 1.0


def test_everything_kept_is_exact():
    pair = pair_of()
    found = expectations(pair.program(), "rdp", 1, iterations=3, kept=100)
    assert found.expectations == pytest.approx(pair.marginals(), rel=1e-12)
    assert found.standard_errors == pytest.approx(np.zeros((4, 4)), abs=1e-7)
    assert found.effective_size == pytest.approx(3.0)


@pytest.mark.parametrize("highest", [1e4, -1e4])
def test_weights_beyond_float64(highest):
    """Z is e^10000 or e^-10000: the same ratio of the same runs."""
    plain, wide = (expectations(pair_of(highest=h).program(), "rdp", 1, iterations=50, kept=2) for h in (0.0, highest))
    assert wide.expectations == pytest.approx(plain.expectations, rel=1e-9)
    assert wide.standard_errors == pytest.approx(plain.standard_errors, rel=1e-6)


def test_chances_by_hand():
    """Two are kept, two drawn on average: half by merits (2/3 and 1/3 of 1), half by chance (1/2 each), 1 at most."""
    merits = np.array([[np.log(8), np.log(1), np.log(2), -INF, np.log(9)]])
    assert inclusion_probabilities(merits, 2)[0] == pytest.approx([1, 1 / 3 + 1 / 2, 1, 0, 1])
    assert inclusion_probabilities(merits, 4).tolist() == [[1, 1, 1, 0, 1]]


def test_chances():
    """No state is left without one, what is no state has none, and what is always kept does not take a place."""
    rng = np.random.default_rng(4)
    for kept in (1, 3, 10):
        merits = 5 * rng.normal(size=(30, 20))
        merits[rng.random(merits.shape) < 0.2] = -INF
        merits[rng.random(merits.shape) < 0.2] = INF
        merits[3] = -INF
        chances = inclusion_probabilities(merits, kept)
        assert ((chances > 0) == (merits > -INF)).all()
        assert (chances[merits == INF] == 1.0).all()
        for row, its in zip(merits, chances, strict=True):
            finite = np.flatnonzero(np.isfinite(row))
            best = finite[np.argsort(-row[finite])[:kept]]
            assert (its[best] == 1.0).all()
            others = np.setdiff1d(finite, best)
            if len(others):
                assert its[others].sum() <= kept + 1e-9
                assert its[others].min() >= min(1.0, kept / len(others) / 2) - 1e-12
                assert (np.diff(its[others[np.argsort(row[others])]]) >= 0).all()


def test_ratios_by_plain_computation():
    """Weights of any size, those that come later greater or smaller: sums as they are written."""
    rng = np.random.default_rng(5)
    for shift in (0.0, 2000.0, -2000.0):
        logs, features, ratio = 3 * rng.normal(size=40), rng.normal(size=(40, 3)), Ratio()
        for log_weight, each in zip(logs + shift, features, strict=True):
            ratio.add(log_weight, each)
        weights = np.exp(logs)[:, None]
        mean = (weights * features).sum(axis=0) / weights.sum()
        assert ratio.mean() == pytest.approx(mean, rel=1e-10)
        squares = (weights**2 * (features - mean) ** 2).sum(axis=0)
        assert ratio.standard_errors() == pytest.approx(np.sqrt(squares) / weights.sum(), rel=1e-8)
        assert ratio.effective_size == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), rel=1e-10)
        assert ratio.runs == 40


class Cells(CellProgram[Bool, Bool, Bool]):
    """One of four states; a structure is a state, of which none need be kept."""

    weights = np.array([1.0, 2.0, 3.0, 4.0])

    def variables(self):
        return 4

    def confident(self):
        return np.arange(0)

    def compile(self, selected, assigned):
        return self.weights

    def merits(self):
        return np.zeros((1, 4))

    def keep(self, kept, log_weights=None):
        return self.weights * kept[0] * (1.0 if log_weights is None else np.exp(log_weights[0]))

    def inside(self, mask):
        with np.errstate(divide="ignore"):
            return float(np.log(mask.sum())), mask

    def outside(self, chart):
        return chart / chart.sum()

    def sample(self, chart, rng):
        return rng.multinomial(1, chart / chart.sum()).astype(np.bool_)

    def assign(self, structure):
        return structure


def test_runs_without_a_structure_count_as_zero(monkeypatch):
    """Each state is kept with probability 1/8, so that 59 % of runs keep none: the ratio converges all the same."""
    module = "deptree_cli.pruning.methods.inclusion_probabilities"
    monkeypatch.setattr(module, lambda merits, kept: np.full((1, 4), 0.125))
    found = expectations(Cells(), "rdp", 1, iterations=4000)
    assert (np.abs(found.expectations - Cells.weights / 10) < 5 * found.standard_errors).all()
    assert found.iterations == 4000
    monkeypatch.setattr(module, lambda merits, kept: np.zeros((1, 4)))
    with pytest.raises(DeptreeError, match=r"^no run kept a structure\. Keep more states \(kept\)\.$"):
        expectations(Cells(), "rdp", 1, iterations=5)


def test_stop_and_seconds():
    program = pair_of().program()
    assert expectations(program, "rdp", 1, stop=lambda: True).iterations == 1
    assert expectations(program, "rdp", 1, stop=lambda: True).is_interrupted
    assert expectations(program, "rdp", 1, seconds=0.0).iterations == 1
    assert (expectations(program, "rdp", 1, seconds=0.1).iterations or 0) > 1
