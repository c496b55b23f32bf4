"""Randomized pruning as a whole: what it answers, when it ends, and whether its figures notice what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.pruning import methods
from deptree_cli.pruning.methods import Chain, expectations
from tests.pruning.test_chain import exact, paper
from tests.pruning.toy import all_or_none, random_segmentations


def after(calls: int) -> Callable[[], bool]:
    """Something that says stop after so many questions, and from then on."""
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > calls

    return stop


def same(a: MonteCarloEstimate, b: MonteCarloEstimate) -> bool:
    return np.array_equal(a.expectations, b.expectations) and a.r_hat == b.r_hat


@pytest.mark.slow("size")
def test_it_is_right_and_says_how_right() -> None:
    """Within six standard errors; chains that mix agree, and most iterations are worth something."""
    program = random_segmentations(6, 4)
    found = expectations(program, "randomized", 1, iterations=1500)
    assert found.standard_errors is not None
    assert (np.abs(found.expectations - exact(program)) < 6 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.02
    assert found.iterations == 1500
    assert 0.99 < (found.r_hat or 0.0) < 1.05
    assert 500 < (found.effective_size or 0.0) <= 6000
    assert found.log_partition is None
    assert not found.is_interrupted
    assert repr(found).startswith("<MonteCarloEstimate of (5,): iterations=1500, r_hat=1")


def test_modes_that_no_chain_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_only_the_first_chain_starts_with_everything_positive(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[bool] = []
    begin = Chain.__init__

    def note(self: Chain, program: Any, confident: Any, rng: Any, dispersed: bool) -> None:
        started.append(dispersed)
        begin(self, program, confident, rng, dispersed)

    monkeypatch.setattr(Chain, "__init__", note)
    expectations(random_segmentations(4, 2), "randomized", 1, iterations=1, chains=3)
    assert started == [False, True, True]


def test_the_seed_is_all_that_matters() -> None:
    program = random_segmentations(6, 4)
    found = expectations(program, "randomized", 5, iterations=50)
    assert same(found, expectations(program, "randomized", 5, iterations=50))
    first, second = (expectations(program, "randomized", np.random.default_rng(5), iterations=50) for _ in range(2))
    assert same(first, second)
    assert not same(found, expectations(program, "randomized", 6, iterations=50))


def steps_of(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> tuple[MonteCarloEstimate, int]:
    """What is answered, and how many steps were made in all."""
    steps = 0
    step = Chain.step

    def count(self: Chain, soft: bool = True) -> Any:
        nonlocal steps
        steps += 1
        return step(self, soft)

    with monkeypatch.context() as patch:
        patch.setattr(Chain, "step", count)
        return expectations(random_segmentations(5, 3), "randomized", 1, **settings), steps


@pytest.mark.parametrize(("iterations", "burn_in", "chains"), [(1, 0, 1), (1, 5, 2), (20, 0, 3), (20, 7, 1)])
def test_iterations(monkeypatch: pytest.MonkeyPatch, iterations: int, burn_in: int, chains: int) -> None:
    found, steps = steps_of(monkeypatch, iterations=iterations, burn_in=burn_in, chains=chains)
    assert found.iterations == iterations
    assert steps == chains * (iterations + burn_in)
    assert not found.is_interrupted


def test_what_is_burnt_in_does_not_count() -> None:
    """After 5 iterations that do not count the next 10 are those that 15 have behind their first 5."""
    program, settings = random_segmentations(5, 3), {"chains": 1}
    every = [
        expectations(program, "randomized", 3, iterations=n, burn_in=0, **settings).expectations * n for n in (5, 15)
    ]
    later = expectations(program, "randomized", 3, iterations=10, burn_in=5, **settings).expectations
    assert later == pytest.approx((every[1] - every[0]) / 10, rel=1e-12)


def test_stop() -> None:
    """It is asked after every iteration; one that counts is made in any case, and what there is is answered."""
    program = random_segmentations(5, 3)
    found = expectations(program, "randomized", 1, iterations=1000, burn_in=0, stop=after(30))
    assert found.is_interrupted
    assert found.iterations == 31
    assert same(found, expectations(program, "randomized", 1, iterations=found.iterations, burn_in=0))
    at_once = expectations(program, "randomized", 1, iterations=1000, stop=lambda: True)
    assert at_once.iterations == 1
    assert at_once.is_interrupted


def test_the_burn_in_ends_when_it_is_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """One iteration counts, without those that should have come before."""
    for settings in ({"stop": lambda: True}, {"seconds": 0.0}):
        found, steps = steps_of(monkeypatch, burn_in=50, chains=2, **settings)
        assert (found.iterations, steps) == (1, 2)


def test_seconds() -> None:
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


def test_too_little_to_tell() -> None:
    """One iteration of one chain: no errors, no R-hat, and no warning."""
    found = expectations(random_segmentations(5, 3), "randomized", 1, iterations=1, chains=1)
    assert (found.standard_errors, found.r_hat, found.effective_size) == (None, None, None)


@pytest.mark.parametrize("counts", ["soft", "hard"])
def test_nothing_to_pin(counts: str) -> None:
    """Without confident variables every step is exact: soft counts are the sums, hard ones independent draws."""
    program = random_segmentations(5, 0)
    found = expectations(program, "randomized", 1, iterations=500, counts=counts)
    if counts == "soft":
        assert found.expectations == pytest.approx(exact(program), rel=1e-12)
        return
    assert found.standard_errors is not None
    assert (np.abs(found.expectations - exact(program)) < 6 * found.standard_errors).all()
    assert 1000 < (found.effective_size or 0.0) <= 2000


def test_one_variable_to_pin() -> None:
    program = random_segmentations(5, 1)
    found = expectations(program, "randomized", 1, iterations=1000)
    assert found.standard_errors is not None
    assert (np.abs(found.expectations - exact(program)) < 6 * found.standard_errors).all()


@pytest.mark.slow("statistics")
def test_soft_counts_have_smaller_errors_than_hard_ones() -> None:
    program = random_segmentations(6, 3)
    soft, hard = (expectations(program, "randomized", 1, iterations=1000, counts=counts) for counts in ("soft", "hard"))
    assert soft.standard_errors is not None
    assert hard.standard_errors is not None
    assert (soft.standard_errors < hard.standard_errors).all()
