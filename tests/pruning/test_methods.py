"""Methods: exact, one mask, randomized pruning, randomized dynamic programming; settings, seeds, when they end."""

from __future__ import annotations

from time import monotonic

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
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
from tests.brute_itg import Alignments, Grammar
from tests.pruning.test_chain import Segmentations, all_or_none, exact, paper, random_segmentations, rivals

INF = np.inf


def named(each):
    return each.name


@pytest.mark.parametrize("method", [method for method in METHODS if not method.by_merits], ids=named)
def test_a_program_of_a_users_own(method):
    """Right within six standard errors, or exactly, or under the condition that what is pinned is there."""
    program = random_segmentations(7, 4)
    structures, probs = program.enumerated()
    if method.name == "fixed":
        probs = probs * structures[:, :4].all(axis=1)
    found = expectations(program, method.name, 1, iterations=1000)
    errors = 0.0 if found.standard_errors is None else 6 * found.standard_errors
    assert (np.abs(found.expectations - probs @ structures / probs.sum()) <= errors + 1e-12).all()


@pytest.mark.parametrize("method", [method for method in METHODS if method.by_merits], ids=named)
def test_methods_that_need_merits(method):
    says = rf"^{method.name} needs the merits of states\. Derive the program from CellProg"
    with pytest.raises(DeptreeError, match=says):
        expectations(random_segmentations(3, 1), method.name)


def test_the_seed_decides_what_is_random():
    program = random_segmentations(5, 3)
    for method in METHODS:
        if not method.by_merits and method.name != "fixed":  # which draws only where not all can be pinned
            seeds = 1, 1, 2, np.random.default_rng(1), np.random.default_rng(1)
            found = [expectations(program, method.name, seed, iterations=20).expectations.tolist() for seed in seeds]
            assert found[0] == found[1]
            assert (found[0] != found[2]) == method.is_random
            assert found[3] == found[4]


def test_settings_that_make_no_sense():
    for name, least in {"iterations": 1, "chains": 1, "kept": 1, "burn_in": 0, "seconds": 0, "margin": 0}.items():
        assert getattr(Settings(**{name: least}), name) == least
        for bad in (least - 1, -5, np.nan):
            with pytest.raises(DeptreeError) as caught:
                Settings(**{name: bad})
            assert str(caught.value) == f"{name} is {bad}. Give {least} or more."
    with pytest.raises(DeptreeError, match=r"^unknown counts 'medium'\. Choose one of soft, hard\.$"):
        Settings(counts="medium")


def test_iterations_are_a_thousand_unless_seconds_say_when_to_end():
    assert sum(Settings().rounds()) == ITERATIONS
    assert sum(Settings(iterations=3, seconds=60).rounds()) == 3
    assert sum(Settings(seconds=0.2).rounds()) > ITERATIONS


SCORES = 1.5 * np.eye(4) + 0.5 * np.random.default_rng(1).normal(size=(4, 4))
SQUARE = AlignmentDistribution(SCORES, "log", -0.5, -0.5)


def test_exact():
    found = expectations(SQUARE.program(), "exact")
    assert np.array_equal(found.expectations, SQUARE.marginals())
    assert found.log_partition == SQUARE.log_partition
    assert (found.standard_errors, found.iterations, found.r_hat, found.effective_size) == (None,) * 4
    assert repr(found).startswith("<MonteCarloEstimate of (4, 4): log_partition=")


@pytest.mark.parametrize("margin", [1e3, np.inf])
def test_with_a_huge_margin_tic_tac_toe_is_exact(margin):
    found = expectations(SQUARE.program(), "tic-tac-toe", margin=margin)
    assert found.expectations == pytest.approx(SQUARE.marginals(), rel=1e-12)


@pytest.mark.parametrize("margin", [0.0, 2.0])
def test_what_tic_tac_toe_keeps(margin):
    """States within the margin of the best of their cell, those that are always kept beside them; no others."""
    program, masks = SQUARE.program(), []
    merits, keep = program.merits(), program.keep
    program.keep = lambda kept, log_weights=None: masks.append(kept) or keep(kept, log_weights)
    found = expectations(program, "tic-tac-toe", margin=margin)
    for row, kept in zip(merits, masks[0], strict=True):
        best = row[np.isfinite(row)].max(initial=-np.inf)
        assert kept.tolist() == [merit == np.inf or -np.inf < best - margin <= merit for merit in row]
    assert np.abs(found.expectations - SQUARE.marginals()).max() > 0.01


def test_fixed():
    """All that is sure is pinned, if it goes together: expectations are those under that condition, and biased."""
    program = SQUARE.program()
    confident = program.confident()
    assert len(confident)
    pins = {(int(k) // 4, int(k) % 4): True for k in confident}
    under = Alignments(Grammar(SCORES, np.full(4, -0.5), np.full(4, -0.5)), pins).marginals()
    found = expectations(program, "fixed")
    assert found.expectations == pytest.approx(under, rel=1e-10)
    assert found.log_partition is None
    assert np.abs(found.expectations - SQUARE.marginals()).max() > 0.1


def test_fixed_where_not_all_goes_together():
    """Of two boundaries that exclude each other either the one is there and the other not, or the other way round."""
    found = {tuple(expectations(rivals(), "fixed", seed).expectations[:2]) for seed in range(20)}
    assert found == {(1.0, 0.0), (0.0, 1.0)}


@pytest.mark.parametrize("method", ["exact", "fixed", "randomized"])
def test_nothing_to_sum_over(method):
    program = Segmentations(np.full((4, 4), -np.inf), np.arange(2))
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


def test_modes_that_no_chain_leaves(monkeypatch):
    """Without the step that pins nothing dispersed chains stay in two modes: R-hat is infinite, and says so.

    With it the same program mixes. One chain alone cannot know.
    """
    program = all_or_none(3)
    assert expectations(program, "randomized", 2, iterations=300).r_hat < 1.1
    monkeypatch.setattr(methods, "selections", paper)
    assert expectations(program, "randomized", 2, iterations=300).r_hat == np.inf
    alone = expectations(program, "randomized", 2, iterations=300, chains=1)
    assert alone.r_hat == 1.0
    assert alone.expectations.tolist() in ([0.0, 0.0], [1.0, 1.0])


def test_only_the_first_chain_starts_with_everything_positive(monkeypatch):
    started, begin = [], Chain.__init__
    monkeypatch.setattr(
        Chain, "__init__", lambda *given, dispersed: started.append(dispersed) or begin(*given, dispersed)
    )
    expectations(random_segmentations(4, 2), "randomized", 1, iterations=1, chains=3)
    assert started == [False, True, True]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("iterations", "burn_in", "chains"), [(1, 0, 1), (1, 5, 2), (20, 0, 3), (20, 7, 1), (2.5, 0, 1)]
)
def test_iterations(iterations, burn_in, chains):
    told, settings = [], {"iterations": iterations, "burn_in": burn_in, "chains": chains}
    found = expectations(random_segmentations(5, 3), "randomized", 1, tell=told.append, **settings)
    assert told == [0] * burn_in + [*range(1, int(np.ceil(iterations)) + 1)]
    assert found.iterations == told[-1]
    assert not found.is_interrupted


def test_what_is_burnt_in_does_not_count():
    """After 5 iterations that do not count the next 10 are those that 15 have behind their first 5."""

    def found(n, burn_in=0):
        settings = {"iterations": n, "burn_in": burn_in, "chains": 1}
        return expectations(random_segmentations(5, 3), "randomized", 3, **settings).expectations

    assert found(10, burn_in=5) == pytest.approx((15 * found(15) - 5 * found(5)) / 10, rel=1e-12)


def same(a, b):
    return np.array_equal(a.expectations, b.expectations) and a.r_hat == b.r_hat


def test_stop():
    """It is asked after every iteration, and what there is is answered."""
    program, answers = random_segmentations(5, 3), iter([False] * 30)
    found = expectations(program, "randomized", 1, iterations=1000, burn_in=0, stop=lambda: next(answers, True))
    assert found.is_interrupted
    assert found.iterations == 31
    assert same(found, expectations(program, "randomized", 1, iterations=31, burn_in=0))


@pytest.mark.parametrize("method", ["randomized", "rdp"])
def test_what_ends_at_once_has_one_iteration_that_counts(method):
    """Without those that should have come before."""
    for settings in ({"stop": lambda: True}, {"seconds": 0.0}):
        told = []
        found = expectations(pair_of().program(), method, 1, burn_in=50, chains=2, tell=told.append, **settings)
        assert (told, found.iterations, found.is_interrupted) == ([1], 1, "stop" in settings)


@pytest.mark.parametrize("method", ["randomized", "rdp"])
def test_seconds(method):
    """They end it, with as many iterations as there was time for."""
    program, begin = pair_of().program(), monotonic()
    found = expectations(program, method, 1, seconds=0.2)
    assert monotonic() - begin >= 0.2
    assert found.iterations > 1
    assert same(found, expectations(program, method, 1, iterations=found.iterations))
    assert expectations(program, method, 1, iterations=10, seconds=100.0).iterations == 10


def test_nothing_to_pin():
    """Without confident variables every step is exact: soft counts are the sums, hard ones independent draws."""
    program = random_segmentations(5, 0)
    for method in ("fixed", "randomized"):
        assert expectations(program, method).expectations == pytest.approx(exact(program), rel=1e-12)
    found = expectations(program, "randomized", 1, iterations=500, counts="hard")
    assert (np.abs(found.expectations - exact(program)) < 6 * found.standard_errors).all()
    assert 1000 < found.effective_size <= 2000


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
    """Two are kept, two drawn on average: half by merits (2/3 and 1/3 of 1), half by chance (1/2 each), 1 at most. What
    is always kept takes no place, and what is no state has no chance."""
    merits = np.full((3, 6), -INF)
    merits[0] = np.log(8), np.log(1), np.log(2), -INF, np.log(9), INF
    merits[1, 3] = 7.0
    expected = [[1, 1 / 3 + 1 / 2, 1, 0, 1, 1], [0, 0, 0, 1, 0, 0], [0] * 6]
    assert inclusion_probabilities(merits, 2) == pytest.approx(np.array(expected))
    assert inclusion_probabilities(merits, 4).tolist() == np.ceil(expected).tolist()


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


def test_runs_without_a_structure_count_as_zero(monkeypatch):
    """Each part, the whole too, is kept with probability 1/2, so that more than half of the runs have no structure: the
    ratio converges all the same."""
    module = "deptree_cli.pruning.methods.inclusion_probabilities"
    monkeypatch.setattr(module, lambda merits, kept: np.where(merits > -INF, 0.5, 0.0))
    pair = pair_of(2)
    found = expectations(pair.program(), "rdp", 1, iterations=4000)
    assert (np.abs(found.expectations - pair.marginals()) < 5 * found.standard_errors).all()
    assert found.iterations == 4000
    assert 0 < found.effective_size < 2200
    monkeypatch.setattr(module, lambda merits, kept: np.zeros_like(merits))
    with pytest.raises(DeptreeError, match=r"^no run kept a structure\. Keep more states \(kept\)\.$"):
        expectations(pair.program(), "rdp", 1, iterations=5)
