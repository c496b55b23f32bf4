"""Order, bounded reading ahead, errors in their turn, by any workers."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator

import pytest

from deptree_cli.core.corpus import AHEAD, BATCH, CHUNK, HEAVY, Workers, ordered_map
from deptree_cli.core.errors import DeptreeError

# One works here, more are processes; dask, which needs a cluster and is no requirement, is looked at once.
EVERY_WAY = pytest.mark.parametrize("jobs", [1, 2, 4])


def mapped(function: Callable[[int], int], items: Iterable[int], jobs: int) -> Iterator[int]:
    return ordered_map(function, items, Workers(jobs))


def square(number: int) -> int:
    return number * number


def slow_at_first(number: int) -> int:
    """Later items are done before earlier ones."""
    time.sleep(0.02 if number % (2 * CHUNK) == 0 else 0.0)
    return number


def picky(number: int) -> int:
    """Refuses one number, CHUNK + 5, the sixth of its chunk."""
    if number == CHUNK + 5:
        raise DeptreeError("not this one", place=str(number))
    return number


def deadly(number: int) -> int:
    """Ends its process without a word, as a kernel that runs out of memory would."""
    if number == 40:
        os._exit(9)
    return number


class Counting:
    """Numbers from 0, and how many were taken."""

    def __init__(self) -> None:
        self.taken = 0

    def __iter__(self) -> Iterator[int]:
        for number in itertools.count():
            self.taken += 1
            yield number


@EVERY_WAY
@pytest.mark.parametrize("count", [0, 1, 2, 3, CHUNK, 2 * CHUNK + 1, 5 * CHUNK * AHEAD + 3])
def test_what_map_gives(jobs: int, count: int) -> None:
    assert list(mapped(square, range(count), jobs)) == [number * number for number in range(count)]


@EVERY_WAY
def test_order_is_kept_whoever_is_ready_first(jobs: int) -> None:
    assert list(mapped(slow_at_first, range(10 * CHUNK), jobs)) == list(range(10 * CHUNK))


@EVERY_WAY
def test_reading_ahead_is_bounded(jobs: int) -> None:
    """Also of an endless input, and also when the reader of the results stops."""
    source = Counting()
    results = mapped(square, source, jobs)
    assert source.taken == 0
    for done, _ in enumerate(itertools.islice(results, 20 * CHUNK), 1):
        assert source.taken - done <= (jobs * AHEAD * CHUNK if jobs > 1 else 0)
    taken = source.taken
    results.close()  # type: ignore[attr-defined]
    assert source.taken == taken


@EVERY_WAY
def test_an_error_of_the_function_comes_in_its_turn(jobs: int) -> None:
    """All results before it come first, the same whatever the number of jobs."""
    results = mapped(picky, range(100), jobs)
    before = []
    with pytest.raises(DeptreeError, match=f"{CHUNK + 5}: not this one"):
        before.extend(results)  # keeps what was yielded before the error
    assert before == list(range(CHUNK + 5))


def endless_until(stop: int) -> Iterator[int]:
    """Numbers, then an error of reading."""
    yield from range(stop)
    raise DeptreeError("the file is broken here")


@EVERY_WAY
def test_an_error_of_reading_is_raised(jobs: int) -> None:
    """Behind the results of all items before it."""
    results = mapped(square, endless_until(CHUNK + 3), jobs)
    assert [next(results) for _ in range(CHUNK + 3)] == [number * number for number in range(CHUNK + 3)]
    with pytest.raises(DeptreeError, match="the file is broken here"):
        next(results)


def test_a_dead_process_is_reported() -> None:
    with pytest.raises(DeptreeError, match="a worker process died"):
        list(mapped(deadly, range(100), 2))


class Together:
    """Squares, of several numbers at once; notes how many came together."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, number: int) -> int:
        raise AssertionError("asked for one number")

    def weight(self, number: int) -> int:
        return HEAVY // 3 if number % 1000 >= 900 else 0

    def together(self, numbers: list[int]) -> list[int]:
        assert sum(map(self.weight, numbers)) < 2 * HEAVY
        self.sizes.append(len(numbers))
        return list(map(square, numbers))


def test_a_function_of_many_items_is_given_many() -> None:
    function = Together()
    count = 4 * BATCH
    assert list(mapped(function, range(count), 1)) == list(map(square, range(count)))
    assert sum(function.sizes) == count
    assert max(function.sizes) == BATCH
    assert min(function.sizes) == 1  # the first result waits for no other item


def test_nothing_waits_for_what_is_not_at_hand() -> None:
    """The items so far are worked on before the next one, which may be long in coming."""
    function, taken = Together(), Counting()
    results = ordered_map(function, taken, at_hand=lambda: taken.taken % 3 > 0)
    for done, _ in enumerate(itertools.islice(results, 5 * BATCH)):
        assert taken.taken <= done + 3
