"""A cluster: a worker that is killed in the middle of a run costs a retry, not a sentence."""

from __future__ import annotations

import os
import signal
from importlib import import_module
from pathlib import Path

import pytest

from deptree_cli.core.corpus import CHUNK, Workers, ordered_map

distributed = pytest.importorskip("distributed")

ITEMS = 12 * CHUNK
PATIENCE = 60

# Slow enough that a worker can be killed while it works; a module of its own, for workers import it by name.
SLOW = """
import time

def square(x):
    time.sleep(0.01)
    return x * x
"""


@pytest.mark.slow("process")
def test_a_killed_worker_costs_no_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_for_dask.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    square = import_module("slow_for_dask").square
    signal.alarm(PATIENCE)  # ends the run where a cluster waits for ever
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            victim = next(iter(client.run(os.getpid).values()))
        results = ordered_map(square, range(ITEMS), Workers(2, cluster.scheduler_address))
        drawn = [next(results)]
        os.kill(victim, signal.SIGKILL)
        drawn += results
    signal.alarm(0)
    assert drawn == [x * x for x in range(ITEMS)]
