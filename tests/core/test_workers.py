"""As many workers as there is work for; they end with the block that they work for."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from deptree_cli.core.corpus import Workers, most_workers, ordered_map
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import register, undo_everything, undone_at_once

ASLEEP = 60  # seconds; who waits for a worker that sleeps takes as long


def worker(_: int) -> int:
    """Who works, for long enough that the others come to work too."""
    time.sleep(0.05)
    return os.getpid()


def sleep_or_fail(number: int) -> int:
    if number == 0:
        raise DeptreeError("not this one")
    time.sleep(ASLEEP)
    return number


@pytest.mark.slow("process")
@pytest.mark.parametrize(("items", "most"), [(1, 1), (3, 3), (200, most_workers())])
def test_no_more_processes_than_items_or_than_the_machine_keeps_busy(items: int, most: int) -> None:
    assert 1 <= len(set(ordered_map(worker, range(items), Workers(100_000)))) <= most


def test_few_items_are_shared_out() -> None:
    assert len(set(ordered_map(worker, range(6), Workers(3)))) > 1


def test_an_error_does_not_wait_for_the_others() -> None:
    start = time.monotonic()
    with pytest.raises(DeptreeError, match="not this one"):
        list(ordered_map(sleep_or_fail, range(40), Workers(2)))
    assert time.monotonic() - start < ASLEEP


def test_whoever_stops_early_does_not_wait() -> None:
    results = ordered_map(sleep_from(3), range(40), Workers(2))
    assert next(results) == 0
    start = time.monotonic()
    results.close()
    assert time.monotonic() - start < ASLEEP


class sleep_from:  # noqa: N801 (a function with an argument, which travels to processes)
    def __init__(self, first: int) -> None:
        self.first = first

    def __call__(self, number: int) -> int:
        time.sleep(ASLEEP if number >= self.first else 0)
        return number


def test_what_is_registered_is_undone_the_latest_first() -> None:
    done: list[str] = []

    def fail() -> None:
        raise OSError

    forget = [register(lambda: done.append("first")), register(fail), register(lambda: done.append("last"))]
    with undone_at_once(lambda: done.append("block")):
        pass
    undo_everything()
    for each in forget:
        each()
    assert done == ["last", "first"]
    undo_everything()
    assert done == ["last", "first"]


LEFT_IN_THE_MIDDLE = """
import time
from contextlib import suppress
from deptree_cli.core.workers import on_processes

def large(chunk):
    return [bytes(2**26) for _ in chunk]

for wait in range(16):
    with suppress(ZeroDivisionError), on_processes(large, 1) as submit:
        submit([0] * 4)
        time.sleep(0.05 * (1 + wait))
        1 / 0
"""


@pytest.mark.slow("process")
def test_nobody_waits_for_the_rest_of_a_result() -> None:
    """Of a worker that was killed while it sent a large one: at any of sixteen moments."""
    subprocess.run([sys.executable, "-c", LEFT_IN_THE_MIDDLE], check=True, timeout=60)
