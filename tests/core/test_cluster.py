"""A dask cluster that is not there, or not any more, is one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sample import DATA

pytest.importorskip("distributed")

COMMAND = [sys.executable, "-m", "deptree_cli", "decode", str(DATA / "scores.npz"), "--from", "natasha", "-q"]

SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(1, threads_per_worker=1, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow("process")
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "nonsense://x:1", "127.0.0.1:99999"])
def test_a_wrong_scheduler(address: str) -> None:
    """Nobody waits for long: loading dask takes a second or two, and reaching nobody four."""
    env = os.environ | {"DEPTREE_SCHEDULER": address}
    ran = subprocess.run(COMMAND, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"deptree: the scheduler {address}")
    assert ran.stderr.endswith("). Check its address.\n")
    assert ran.stderr.count("\n") == 1


@pytest.mark.slow("process")
def test_a_scheduler_that_is_killed(tmp_path: Path) -> None:
    """In the middle of sentences that take long."""
    (tmp_path / "cluster.py").write_text(SCHEDULER)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    cluster = subprocess.Popen(
        [sys.executable, tmp_path / "cluster.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=env,
        start_new_session=True,
    )
    try:
        address = cluster.stdout.readline().strip()
        command = [sys.executable, "-m", "deptree_cli", "sample", str(DATA / "scores.npz"), "--from", "natasha", "-q"]
        command += ["-k", "3000000", "-o", str(tmp_path / "out.jsonl")]
        env = os.environ | {"DEPTREE_SCHEDULER": address}
        process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
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
