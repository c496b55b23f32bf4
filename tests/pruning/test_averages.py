"""Averages over chains: batches against plain computation, and what they tell against what is known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from deptree_cli.core.dtypes import Float
from deptree_cli.pruning.methods import BATCHES, Averages
from tests.pruning.test_chain import chain_of, exact
from tests.pruning.toy import random_segmentations


def averages_of(chains: Float) -> Averages:
    """Averages of the features in chains (chains, iterations, features)."""
    found = Averages()
    for features in chains.swapaxes(0, 1):
        found.add(features)
    return found


def autoregressive(rng: np.random.Generator, rho: float, shape: tuple[int, int, int]) -> Float:
    """Chains of mean 0 and variance 1 in equilibrium; neighbours have a correlation of rho."""
    noise = rng.normal(size=shape)
    noise[:, 1:] *= np.sqrt(1 - rho**2)
    for k in range(1, shape[1]):
        noise[:, k] += rho * noise[:, k - 1]
    return noise


def test_batches_double() -> None:
    """After every iteration: lengths are powers of two, fewer than 40 batches, each the sum of its own iterations."""
    values, batches = np.random.default_rng(1).normal(size=(700, 2)), Averages()
    assert batches.iterations == 0
    for count in range(1, 701):
        batches.add(values[None, count - 1])
        length = 1
        while count // length >= BATCHES:
            length *= 2
        assert batches.length == length
        whole = values[: count // length * length].reshape(-1, length, 2)
        assert len(batches.sums) == len(batches.squares) == len(whole)
        assert np.array(batches.sums).reshape(-1, 2) == pytest.approx(whole.sum(axis=1), abs=1e-12)
        assert np.array(batches.squares).reshape(-1, 2) == pytest.approx((whole**2).sum(axis=1), abs=1e-12)
        assert batches.iterations == count
        assert batches.mean() == pytest.approx(values[:count].mean(axis=0), abs=1e-12)


def test_what_is_added_may_be_used_again() -> None:
    batches, features = Averages(), np.zeros((1, 2))
    for number in range(5):
        features[:] = number
        batches.add(features)
    assert batches.mean().tolist() == [2.0, 2.0]
    assert [each.tolist() for each in batches.sums] == [[[k, k]] for k in range(5)]


@pytest.mark.parametrize("shape", [(1, 3, 2), (4, 1, 1), (4, 37, 2), (3, 500, 1), (2, 131, 3)])
def test_means_and_errors(shape: tuple[int, int, int]) -> None:
    """The mean is that of everything, also of what no batch is full of; errors are those of the means of batches."""
    chains = np.random.default_rng(2).normal(size=shape)
    found, length = averages_of(chains), 1
    while shape[1] // length >= BATCHES:
        length *= 2
    assert found.iterations == shape[1]
    assert found.mean() == pytest.approx(chains.mean(axis=(0, 1)), abs=1e-13)
    whole = chains[:, : shape[1] // length * length].reshape(-1, length, shape[2])
    errors = found.standard_errors()
    if len(whole) < 4:
        assert errors is None
        assert found.effective_size() is None
    else:
        means = whole.mean(axis=1)
        assert errors == pytest.approx(means.std(axis=0, ddof=1) / np.sqrt(len(means)), rel=1e-10)


@pytest.mark.parametrize("shape", [(4, 3, 1), (4, 4, 1), (1, 37, 2), (4, 38, 2), (3, 500, 2), (8, 130, 5)])
def test_r_hat_is_that_of_the_halves(shape: tuple[int, int, int]) -> None:
    """Gelman and Rubin's (1992) by the textbook, 1 at least; a middle batch and what fills none are left out."""
    chains = np.random.default_rng(3).normal(size=shape)
    found, length = averages_of(chains).r_hat(), 1
    while shape[1] // length >= BATCHES:
        length *= 2
    batches = shape[1] // length
    if batches < 4:
        assert found is None
        return
    size = batches // 2 * length
    halves = np.concatenate([chains[:, :size], chains[:, batches * length - size : batches * length]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = size * halves.mean(axis=1).var(axis=0, ddof=1)
    textbook = np.sqrt(((size - 1) / size * within + between / size) / within).max()
    assert found == pytest.approx(max(textbook, 1.0), rel=1e-10)


def test_independent_draws() -> None:
    """4 chains of 1,000 normal draws, 3 features: they are as good as they are many, and agree.

    An effective size has a relative standard deviation of sqrt(2 / (3 * 100)), 8 %: within 40 %.
    """
    found = averages_of(np.random.default_rng(4).normal(size=(4, 1000, 3)))
    assert found.effective_size() == pytest.approx(4000, rel=0.4)
    assert 0.99 < (found.r_hat() or 0.0) < 1.05


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_draws_that_depend_on_each_other(rho: float) -> None:
    """They are as good as a share (1 - rho) / (1 + rho) of them would be if independent."""
    found = averages_of(autoregressive(np.random.default_rng(5), rho, (4, 2500, 5)))
    assert found.effective_size() == pytest.approx(10_000 * (1 - rho) / (1 + rho), rel=0.4)
    assert 0.99 < (found.r_hat() or 0.0) < 1.1


def coverage(chains: Iterator[Float], right: Float) -> float:
    """How often the mean is within 1.96 standard errors of what is right."""
    covered = []
    for each in chains:
        found = averages_of(each)
        errors = found.standard_errors()
        assert errors is not None
        covered.append(np.abs(found.mean() - right) < 1.96 * errors)
    return float(np.mean(covered))


@pytest.mark.slow("statistics")
def test_errors_cover() -> None:
    """In 95 % of cases for independent draws, a little less for correlated ones in short batches.

    300 x 5 averages: the share has a standard deviation of 0.6 %; bounds are four of them off.
    """
    rng = np.random.default_rng(6)
    for rho, low, high in ((0.0, 0.92, 0.975), (0.5, 0.90, 0.975)):
        chains = (autoregressive(rng, rho, (4, 300, 5)) for _ in range(300))
        assert low < coverage(chains, np.zeros(5)) < high


@pytest.mark.slow("statistics")
def test_errors_of_randomized_pruning_cover() -> None:
    """60 runs of 4 chains of 150 iterations, 4 features that depend on each other: the share is above 87 %.

    Taken for 60 independent cases it has a standard deviation of 2.8 %.
    """
    program = random_segmentations(5, 3)
    steps = (
        np.array([[chain.step() for _ in range(150)] for chain in (chain_of(program, 4 * run + k) for k in range(4))])
        for run in range(60)
    )
    assert 0.87 < coverage(steps, exact(program)) <= 1.0


def test_chains_in_two_modes() -> None:
    """R-hat is infinite where nothing moves, large where chains differ by two standard deviations."""
    chains = np.zeros((4, 100, 2))
    chains[1:3, :, 1] = 1.0
    assert averages_of(chains).r_hat() == np.inf
    noisy = np.random.default_rng(7).normal(size=(4, 100, 2)) + 2 * chains
    assert (averages_of(noisy).r_hat() or 0.0) > 1.3


def test_a_chain_that_still_drifts() -> None:
    """One chain is enough: its halves differ."""
    drift = np.linspace(0, 5, 200)[:, None] + np.random.default_rng(8).normal(size=(200, 1))
    assert (averages_of(drift[None]).r_hat() or 0.0) > 1.5


def test_nothing_varies() -> None:
    """Almost the same everywhere: no error, all iterations count, chains agree; rounding is no difference."""
    found = averages_of(0.1 + 1e-16 * np.random.default_rng(1).normal(size=(2, 50, 3)))
    assert found.mean() == pytest.approx(np.full(3, 0.1))
    assert found.standard_errors() == pytest.approx(np.zeros(3), abs=1e-15)
    assert found.r_hat() == 1.0
    assert found.effective_size() == 2 * 50


def test_features_of_any_shape() -> None:
    found = averages_of(np.random.default_rng(9).normal(size=(2, 50, 3, 4)))
    errors = found.standard_errors()
    assert errors is not None
    assert found.mean().shape == errors.shape == (3, 4)
    assert isinstance(found.r_hat(), float)
    assert isinstance(found.effective_size(), float)
