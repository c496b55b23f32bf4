"""Work shared out: order, reading ahead, errors in their turn; workers and clusters that die, threads that meet."""

import itertools
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.constrained import Constrained
from deptree_cli.core.corpus import AHEAD, BATCH, CHUNK, HEAVY, Workers, most_workers, ordered_map
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import register, undo_everything, undone_at_once
from tests.interrupted import at_every_line
from tests.lines import words

# One works here, more are processes; dask, which needs a cluster and is no requirement, is looked at once.
EVERY_WAY = pytest.mark.parametrize("jobs", [1, 2, 4])
ASLEEP = 60  # seconds; who waits for a worker that sleeps takes as long


def square(number):
    return number * number


def slow_at_first(number):
    time.sleep(0.02 if number % (2 * CHUNK) == 0 else 0.0)
    return number


def picky(number):
    """Refuses one number, CHUNK + 5, the sixth of its chunk."""
    if number == CHUNK + 5:
        raise DeptreeError("not this one", place=str(number))
    return number


def deadly(number):
    """Ends its process without a word, as a kernel that runs out of memory would."""
    if number == 40:
        os._exit(9)
    return number


def worker(_):
    """Who works, for long enough that the others come to work too."""
    time.sleep(0.05)
    return os.getpid()


def sleep_or_fail(number):
    if number == 0:
        raise DeptreeError("not this one")
    time.sleep(ASLEEP)


def sleep_from_3(number):
    time.sleep(ASLEEP if number >= 3 else 0)
    return number


class Counting:
    taken = 0

    def __iter__(self):
        for number in itertools.count():
            self.taken += 1
            yield number


@EVERY_WAY
@pytest.mark.parametrize("count", [0, 1, 2, 3, CHUNK, 2 * CHUNK + 1, 5 * CHUNK * AHEAD + 3])
def test_what_map_gives(jobs, count):
    """In order, whoever is ready first."""
    assert list(ordered_map(square, range(count), Workers(jobs))) == [number * number for number in range(count)]
    assert list(ordered_map(slow_at_first, range(count), Workers(jobs))) == list(range(count))


@EVERY_WAY
def test_reading_ahead_is_bounded(jobs):
    """Also of an endless input, and also when the reader of the results stops."""
    source = Counting()
    results = ordered_map(square, source, Workers(jobs))
    assert source.taken == 0
    for done, _ in enumerate(itertools.islice(results, 20 * CHUNK), 1):
        assert source.taken - done <= (jobs * AHEAD * CHUNK if jobs > 1 else 0)
    taken = source.taken
    results.close()
    assert source.taken == taken


@EVERY_WAY
def test_an_error_comes_in_its_turn(jobs):
    """Behind all results before it, whatever the number of jobs; and where a process dies there is one."""

    def broken():
        yield from range(CHUNK + 3)
        raise DeptreeError("the file is broken here")

    for function, items, message in ((picky, range(100), f"{CHUNK + 5}: not this one"), (abs, broken(), "broken here")):
        before = []
        with pytest.raises(DeptreeError, match=message):
            before.extend(ordered_map(function, items, Workers(jobs)))  # keeps what was yielded before the error
        assert before == list(range(CHUNK + 5 if function is picky else CHUNK + 3))
    with pytest.raises(DeptreeError, match="a worker process died"):
        list(ordered_map(deadly, range(100), Workers(2)))


class Together:
    def __init__(self):
        self.sizes = []

    def __call__(self, number):
        raise AssertionError("one number alone")

    def weight(self, number):
        return HEAVY // 3 if number % 1000 >= 900 else 0

    def together(self, numbers):
        assert sum(map(self.weight, numbers)) < 2 * HEAVY
        self.sizes.append(len(numbers))
        return list(map(square, numbers))


def test_a_function_of_many_items_is_given_many():
    function, count = Together(), 4 * BATCH
    assert list(ordered_map(function, range(count), Workers(1))) == list(map(square, range(count)))
    assert sum(function.sizes) == count
    assert max(function.sizes) == BATCH
    assert min(function.sizes) == 1  # the first result waits for no other item


def test_nothing_waits_for_what_is_not_at_hand():
    """The items so far are worked on before the next one, which may be long in coming."""
    function, taken = Together(), Counting()
    results = ordered_map(function, taken, at_hand=lambda: taken.taken % 3 > 0)
    for done, _ in enumerate(itertools.islice(results, 5 * BATCH)):
        assert taken.taken <= done + 3


@pytest.mark.slow("process")
@pytest.mark.parametrize(("items", "most"), [(1, 1), (3, 3), (200, most_workers())])
def test_no_more_processes_than_items_or_than_the_machine_keeps_busy(items, most):
    assert 1 <= len(set(ordered_map(worker, range(items), Workers(100_000)))) <= most


def test_few_items_are_shared_out():
    assert len(set(ordered_map(worker, range(6), Workers(3)))) > 1


def test_nobody_waits_for_workers_whose_results_nobody_wants():
    """Neither behind an error nor where the reader stops early."""
    start = time.monotonic()
    with pytest.raises(DeptreeError, match="not this one"):
        list(ordered_map(sleep_or_fail, range(40), Workers(2)))
    results = ordered_map(sleep_from_3, range(40), Workers(2))
    assert next(results) == 0
    results.close()
    assert time.monotonic() - start < ASLEEP


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
def test_nobody_waits_for_the_rest_of_a_result():
    """Of a worker that was killed while it sent a large one: at any of sixteen moments."""
    subprocess.run([sys.executable, "-c", LEFT_IN_THE_MIDDLE], check=True, timeout=60)


def test_what_is_registered_is_undone_the_latest_first():
    done = []

    def fail():
        raise OSError

    forget = [register(lambda: done.append("first")), register(fail), register(lambda: done.append("last"))]
    with undone_at_once(lambda: done.append("block")):
        pass
    undo_everything()
    for each in forget:
        each()
    undo_everything()
    assert done == ["last", "first"]


@pytest.mark.parametrize("before", [0, 1], ids=["known", "anew"])
def test_answers_that_threads_share(graphs, before):
    """What one is told never depends on what another asks meanwhile, be it the same or something else."""
    shared = graphs.distribution(graphs.gaussian(4))
    ask, other = (lambda: shared.raised_to(2.0)), (lambda: shared.raised_to(3.0))
    expected = 2.0 * shared.factorisation.shifted.log_weights
    found = list(at_every_line(TreeDistribution.raised_to, ask, other, first=(ask, other)[before]))
    assert len(found) > 1
    for each in found:
        np.testing.assert_array_equal(each.log_scores, expected)
    ruled = Constrained(shared, [])
    ask, other = (lambda: ruled.best_trees(2)), (lambda: ruled.best_trees(3))
    best = [tree.heads.tolist() for tree in ask()]
    found = list(at_every_line(Constrained._search, ask, other, first=(ask, other)[before]))
    assert len(found) > 1
    for trees in found:
        assert [tree.heads.tolist() for tree in trees] == best


# Slow enough that a worker can be killed while it works; a module of its own, for workers import it by name.
SLOW = """
import time

def square(x):
    time.sleep(0.01)
    return x * x
"""
SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(1, threads_per_worker=1, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow("process")
def test_a_killed_worker_of_a_cluster_costs_no_item(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    (tmp_path / "slow_for_dask.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    slow_square = import_module("slow_for_dask").square
    signal.alarm(60)  # ends the run where a cluster waits for ever
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            victim = next(iter(client.run(os.getpid).values()))
        results = ordered_map(slow_square, range(12 * CHUNK), Workers(2, cluster.scheduler_address))
        drawn = [next(results)]
        os.kill(victim, signal.SIGKILL)
        drawn += results
    signal.alarm(0)
    assert drawn == [x * x for x in range(12 * CHUNK)]


@pytest.mark.slow("process")
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "nonsense://x:1", "127.0.0.1:99999"])
def test_a_wrong_scheduler_is_one_line(address, refused, monkeypatch):
    """Nobody waits for long: loading dask takes a second or two, and reaching nobody four."""
    pytest.importorskip("distributed")
    monkeypatch.setenv("DEPTREE_SCHEDULER", address)
    refused("decode $SCORES -q", f"deptree: the scheduler {address}", "). Check its address.\n")


@pytest.mark.slow("process")
def test_a_scheduler_that_is_killed_in_the_middle_is_one_line(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "cluster.py").write_text(SCHEDULER)
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    cluster = subprocess.Popen([sys.executable, tmp_path / "cluster.py"], env=env, start_new_session=True, **streams)
    try:
        address = cluster.stdout.readline().strip()
        line = words(f"-m deptree_cli sample $SCORES -q -k 3000000 -o {tmp_path}/out.jsonl")
        env["DEPTREE_SCHEDULER"] = address
        process = subprocess.Popen([sys.executable, *line], env=env, stderr=subprocess.PIPE, text=True)
        time.sleep(8)
        assert process.poll() is None
        os.killpg(cluster.pid, signal.SIGKILL)
        _, err = process.communicate(timeout=30)
    finally:
        if cluster.poll() is None:
            os.killpg(cluster.pid, signal.SIGKILL)
    assert process.returncode == 2
    assert err.startswith(f"deptree: the scheduler {address} is gone")
    assert err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"cluster.py"}
