"""Randomized dynamic programming: Z is unbiased, ratios converge, and chances are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution, LinkProgram
from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.methods import Ratio, expectations, inclusion_probabilities
from deptree_cli.pruning.program import CellProgram

INF = np.inf


def pair_of(size: int = 4, highest: float = 0.0) -> AlignmentDistribution:
    """Links on the diagonal are better than others; the whole weighs e^highest more, if other than 1.

    The first source word is always linked, so that the whole, but for unlinked target words, is a part.
    """
    scores = np.eye(size) + 0.7 * np.random.default_rng(3).normal(size=(size, size))
    bispans = np.zeros((size + 1,) * 4)
    bispans[0, size, :, size] = highest
    nulls = np.array([-np.inf] + [-0.5] * (size - 1))
    return AlignmentDistribution(scores, "log", nulls, -0.5, bispans=bispans if highest else None)


def runs(program: LinkProgram, kept: int, size: int, weighted: bool = True) -> tuple[Float, Float]:
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
def test_z_and_sums_of_features_are_unbiased(kept: int) -> None:
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
def test_ratios_converge() -> None:
    """Within 5 of the standard errors that are stated, which fall as one over the square root of the runs."""
    pair, before = pair_of(), None
    for iterations in (100, 1000, 10_000):
        found = expectations(pair.program(), "rdp", 1, iterations=iterations, kept=2)
        assert found.standard_errors is not None
        assert (np.abs(found.expectations - pair.marginals()) < 5 * found.standard_errors).all()
        assert found.iterations == iterations
        assert 0 < (found.effective_size or 0.0) < iterations
        size = float(np.sqrt((found.standard_errors**2).sum()))
        if before:
            assert 0.2 < size / before < 0.5
        before = size


def test_errors_cover() -> None:
    """16 marginals of 60 times 100 runs are within 1.96 standard errors of the exact ones: above 88 % of them.

    Taken for 60 independent cases the share has a standard deviation of 2.8 %.
    """
    pair, covered = pair_of(), []
    for seed in range(60):
        found = expectations(pair.program(), "rdp", seed, iterations=100, kept=3)
        assert found.standard_errors is not None
        covered.append(np.abs(found.expectations - pair.marginals()) < 1.96 * found.standard_errors)
    assert 0.88 < np.mean(covered) <= 1.0


def test_everything_kept_is_exact() -> None:
    pair = pair_of()
    found = expectations(pair.program(), "rdp", 1, iterations=3, kept=100)
    assert found.expectations == pytest.approx(pair.marginals(), rel=1e-12)
    assert found.standard_errors == pytest.approx(np.zeros((4, 4)), abs=1e-7)
    assert found.effective_size == pytest.approx(3.0)


@pytest.mark.parametrize("highest", [1e4, -1e4])
def test_weights_beyond_float64(highest: float) -> None:
    """Z is e^10000 or e^-10000: the same ratio of the same runs."""
    plain, wide = (expectations(pair_of(highest=h).program(), "rdp", 1, iterations=50, kept=2) for h in (0.0, highest))
    assert wide.expectations == pytest.approx(plain.expectations, rel=1e-9)
    assert wide.standard_errors == pytest.approx(plain.standard_errors, rel=1e-6)


def test_chances_by_hand() -> None:
    """Two are kept, two drawn on average: half by merits (2/3 and 1/3 of 1), half by chance (1/2 each), 1 at most."""
    merits = np.array([[np.log(8), np.log(1), np.log(2), -INF, np.log(9)]])
    assert inclusion_probabilities(merits, 2)[0] == pytest.approx([1, 1 / 3 + 1 / 2, 1, 0, 1])
    assert inclusion_probabilities(merits, 4).tolist() == [[1, 1, 1, 0, 1]]


def test_chances() -> None:
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


def test_ratios_by_plain_computation() -> None:
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


def test_one_run_has_no_error() -> None:
    ratio = Ratio()
    ratio.add(-5.0, np.array([0.25]))
    assert ratio.mean().tolist() == [0.25]
    assert ratio.standard_errors() is None


class Cells(CellProgram[Bool, Bool, Bool]):
    """One of four states; a structure is a state, of which none need be kept."""

    weights = np.array([1.0, 2.0, 3.0, 4.0])

    def variables(self) -> int:
        return 4

    def confident(self) -> np.ndarray:
        return np.arange(0)

    def compile(self, selected: Bool, assigned: Bool) -> Float:
        return self.weights

    def merits(self) -> Float:
        return np.zeros((1, 4))

    def keep(self, kept: Bool, log_weights: Float | None = None) -> Float:
        return self.weights * kept[0] * (1.0 if log_weights is None else np.exp(log_weights[0]))

    def inside(self, mask: Float) -> tuple[float, Float]:
        with np.errstate(divide="ignore"):
            return float(np.log(mask.sum())), mask

    def outside(self, chart: Float) -> Float:
        return chart / chart.sum()

    def sample(self, chart: Float, rng: np.random.Generator) -> Bool:
        return rng.multinomial(1, chart / chart.sum()).astype(np.bool_)

    def assign(self, structure: Bool) -> Bool:
        return structure


def test_runs_without_a_structure_count_as_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each state is kept with probability 1/8, so that 59 % of runs keep none: the ratio converges all the same."""
    module = "deptree_cli.pruning.methods.inclusion_probabilities"
    monkeypatch.setattr(module, lambda merits, kept: np.full((1, 4), 0.125))
    found = expectations(Cells(), "rdp", 1, iterations=4000)
    assert found.standard_errors is not None
    assert (np.abs(found.expectations - Cells.weights / 10) < 5 * found.standard_errors).all()
    assert found.iterations == 4000
    monkeypatch.setattr(module, lambda merits, kept: np.zeros((1, 4)))
    with pytest.raises(DeptreeError, match=r"^no run kept a structure\. Keep more states \(kept\)\.$"):
        expectations(Cells(), "rdp", 1, iterations=5)


def test_stop_and_seconds() -> None:
    program = pair_of().program()
    assert expectations(program, "rdp", 1, stop=lambda: True).iterations == 1
    assert expectations(program, "rdp", 1, stop=lambda: True).is_interrupted
    assert expectations(program, "rdp", 1, seconds=0.0).iterations == 1
    assert (expectations(program, "rdp", 1, seconds=0.1).iterations or 0) > 1
