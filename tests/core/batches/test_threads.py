"""Sentences spread over threads: everything once, in fair shares, errors included, and after a fork."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core import tree_batch
from deptree_cli.core.tree_batch import _shares, spread


@given(st.lists(st.integers(1, 100), min_size=1, max_size=60), st.integers(1, 9))
def test_shares(lengths: list[int], count: int) -> None:
    """They cover the batch, in order; none is empty, and none costs more than its part and one sentence."""
    costs = np.array(lengths, dtype=np.float64) ** 3
    shares = _shares(costs, count)
    assert [sentence for first, stop in shares for sentence in range(first, stop)] == list(range(len(lengths)))
    assert all(first < stop for first, stop in shares)
    assert len(shares) <= count
    assert max(costs[first:stop].sum() for first, stop in shares) <= costs.sum() / count + costs.max()


@given(st.lists(st.integers(1, 100), max_size=60), st.integers(1, 4))
def test_every_sentence_is_acted_on_once(lengths: list[int], count: int) -> None:
    """In blocks: of no more than `BLOCK` numbers, if not of one sentence."""
    acted = np.zeros(len(lengths), dtype=np.int64)

    def act(first: int, stop: int) -> None:
        acted[first:stop] += 1
        assert stop - first == 1 or (stop - first) * (max(lengths[first:stop]) + 1) ** 2 <= tree_batch.BLOCK

    spread(act, np.array(lengths, dtype=np.int64), count)
    assert (acted == 1).all()


@pytest.mark.parametrize(("size", "expected"), [(250, [(0, 2), (2, 4), (4, 5)]), (99, [(b, b + 1) for b in range(5)])])
def test_blocks_are_as_large_as_they_may_be(monkeypatch, size: int, expected: list[tuple[int, int]]) -> None:
    """Five sentences of 100 numbers each; one alone where it is larger than a block."""
    blocks: list[tuple[int, int]] = []
    monkeypatch.setattr(tree_batch, "BLOCK", size)
    spread(lambda first, stop: blocks.append((first, stop)), np.full(5, 9), 1)
    assert blocks == expected


@pytest.mark.parametrize("count", [1, 2, 3])
def test_as_many_threads_as_were_asked_for(count: int) -> None:
    """All at work at the same time: each waits for the others."""
    meeting, names = threading.Barrier(count, timeout=30), set()

    def act(first: int, stop: int) -> None:
        meeting.wait()
        names.add(threading.current_thread().name)

    spread(act, np.full(count, 255), count)
    assert len(names) == count
    assert threading.current_thread().name in names


@pytest.mark.parametrize(("n", "expected"), [(10, 1), (20, 1), (40, 4), (100, 8)])
def test_no_more_threads_than_pay(n: int, expected: int) -> None:
    """Of 8, for 32 sentences: short ones are done before another thread is awake."""
    names = set()

    def act(first: int, stop: int) -> None:
        names.add(threading.current_thread().name)
        time.sleep(0.05)

    spread(act, np.full(32, n), 8)
    assert len(names) == expected


@pytest.mark.parametrize("bad", [0, 1, 2, 3])
def test_errors_arrive_from_whatever_thread(bad: int) -> None:
    """And not before every other thread is done: nobody writes into a batch that was given up."""
    done: list[int] = []

    def act(first: int, stop: int) -> None:
        if first == bad:
            raise ValueError(f"sentence {first}")
        time.sleep(0.05 * first)
        done.append(first)

    with pytest.raises(ValueError, match=f"sentence {bad}"):
        spread(act, np.full(4, 255), 4)
    assert sorted(done) == [b for b in range(4) if b != bad]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """The parent's are not there any more; who waited for them would wait forever."""
    acted = np.zeros(4)

    def act(first: int, stop: int) -> None:
        acted[first:stop] += 1

    spread(act, np.full(4, 255), 3)  # the pool is there before the fork
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        spread(act, np.full(4, 255), 3)
        os._exit(0 if (acted == 2).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
