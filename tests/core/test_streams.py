"""A sentence's randomness depends on the seed, its id and how often that came before, and on nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deptree_cli.core.streams import SentenceStreams, kernel_state, sentence_stream

GOLDEN = (7419884384020598761, 505374845719401962)


def numbers(*arguments: object) -> tuple[int, ...]:
    """The start of a stream."""
    return tuple(sentence_stream(*arguments).integers(0, 2**63, size=4).tolist())  # type: ignore[arg-type]


def test_the_same_three_give_the_same_stream() -> None:
    first = numbers(7, "en-1", 2)
    np.random.seed(0)  # the global generator must not matter
    numbers(8, "other")
    assert numbers(7, "en-1", 2) == first
    assert numbers(7, "en-1") == numbers(7, "en-1", 0)


def test_any_other_gives_another_stream() -> None:
    seeds, names = [0, 1, 7, 2**32, 2**64 + 7], ["1", "2", "11", "", "en-1", "č", " 1", "\udcff"]
    streams = [numbers(*three) for three in itertools.product(seeds, names, range(3))]
    assert len(set(streams)) == len(streams)


def test_streams_stay_what_they_were() -> None:
    """A seed written down today draws the same trees tomorrow. (If this fails, results of all versions change: say so
    in the changelog.)"""
    assert numbers(7, "en-1")[:2] == GOLDEN


def test_streams_are_uniform_and_unrelated() -> None:
    """H0: numbers of neighbouring ids are independent and uniform. 4,000 streams, one number each: mean 1/2 with
    standard deviation 1/sqrt(12 * 4000) = 0.0046, correlation of neighbours 0 with 1/sqrt(4000) = 0.0158; within five
    of each, which chance misses once in two million."""
    first = np.array([sentence_stream(1, str(number)).random() for number in range(4_000)])
    assert abs(first.mean() - 0.5) < 5 * 0.0046
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 5 * 0.0158


def test_a_kernel_state() -> None:
    rng = sentence_stream(7, "en-1")
    first, second = kernel_state(rng), kernel_state(rng)
    assert first.shape == (4,)
    assert first.dtype == np.uint64
    assert not np.array_equal(first, second)
    assert np.array_equal(first, kernel_state(sentence_stream(7, "en-1")))


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**64 + 7])
def test_states_of_many_are_those_of_each(seed: int) -> None:
    streams = SentenceStreams(seed, [("1", 0), ("", 0), ("en-1", 3), ("č", 1), ("\udcff", 2**20)])
    each = [kernel_state(streams.of(b)) for b in range(5)]
    assert (streams.states == each).all()


def test_streams_beside_a_stream() -> None:
    """What NumPy spawns differs each time, and from the streams of other sentences."""
    rng = sentence_stream(7, "en-1")
    streams = [rng, *rng.spawn(2), *rng.spawn(1), *sentence_stream(7, "en-2").spawn(1)]
    assert len({each.random() for each in streams}) == 5
    assert sentence_stream(7, "en-1").spawn(2)[1].random() == sentence_stream(7, "en-1").spawn(2)[1].random()
