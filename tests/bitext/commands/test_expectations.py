"""`deptree bitext expectations`: the numbers of the library, by every method, in both formats; Ctrl-C; errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.bitext import read_pairs
from deptree_cli.core.streams import sentence_stream
from deptree_cli.pruning.methods import METHODS, Settings
from tests.sample import DATA

SCORES = str(DATA / "bitext.npz")
BUDGET = ("--iterations", "20")


def budget(method: str) -> tuple[str, ...]:
    """The options above where they concern a method."""
    return BUDGET if "iterations" in METHODS.get(method).settings else ()


def test_exact_is_what_the_library_says(done) -> None:
    rows = done("bitext", "expectations", SCORES).rows
    for row, pair in zip(rows, read_pairs(SCORES), strict=True):
        found = pair.distribution
        assert (row["sent_id"], row["p"], row["q"]) == (pair.id, found.p, found.q)
        assert row["log_z"] == pytest.approx(found.log_partition)
        np.testing.assert_allclose(row["expectations"], found.marginals(), rtol=0, atol=1e-12)
        assert "standard_errors" not in row


@pytest.mark.parametrize("method", METHODS.names)
def test_methods_are_the_librarys(done, method: str) -> None:
    """With the pair's own random numbers; settings that concern the method are passed on."""
    seed = ("--seed", 7) if METHODS.get(method).is_random else ()
    rows = done("bitext", "expectations", SCORES, "--method", method, *budget(method), *seed).rows
    settings = Settings(iterations=20)
    for row, pair in zip(rows, read_pairs(SCORES), strict=True):
        found = METHODS.get(method).estimate(pair.distribution.program(), sentence_stream(7, pair.id), settings)
        np.testing.assert_array_equal(row["expectations"], found.expectations)
        assert row.get("log_z") == found.log_partition
        assert row.get("iterations") == found.iterations
        assert row.get("r_hat") == found.r_hat
        assert row.get("effective_size") == found.effective_size
        assert ("standard_errors" in row) == (found.standard_errors is not None)


@pytest.mark.parametrize("method", ["randomized", "rdp"])
def test_same_seed_same_bytes(done, method: str) -> None:
    """For any number of workers and any part of the file."""
    command = ("bitext", "expectations", SCORES, "--method", method, *budget(method), "--seed", 7)
    lines = done(*command).out.splitlines()
    assert done(*command, "--jobs", 2).out.splitlines() == lines
    assert done(*command, "--shard", "2/3").out.splitlines() == lines[1::3]
    assert done(*command[:-1], 8).out.splitlines() != lines


def test_npz_has_the_names_read_and_errors_beside(done, tmp_path: Path) -> None:
    out = tmp_path / "found.npz"
    done("bitext", "expectations", SCORES, "--method", "rdp", "--iterations", 20, "--seed", 7, "-o", out)
    rows = done("bitext", "expectations", SCORES, "--method", "rdp", "--iterations", 20, "--seed", 7).rows
    with np.load(out) as found, np.load(SCORES) as scores:
        assert list(found) == [key for name in scores for key in (name, f"{name}.standard_errors")]
        for row in rows:
            np.testing.assert_array_equal(found[row["sent_id"]], row["expectations"])
            np.testing.assert_array_equal(found[f"{row['sent_id']}.standard_errors"], row["standard_errors"])


def test_signature_says_what_concerns_the_method(done) -> None:
    def fields(*options: object) -> list[str]:
        return done("bitext", "expectations", SCORES, "--header", *options).signature.split("|")[2:-1]

    assert fields() == ["method:exact"]
    randomized = ["method:randomized", "iterations:20", "chains:4", "burnin:10", "counts:soft", "seed:7"]
    assert fields("--method", "randomized", *BUDGET, "--seed", 7) == randomized
    assert fields("--method", "tic-tac-toe") == ["method:tic-tac-toe", "margin:10.0"]


def test_seconds_end_a_run(done, put) -> None:
    """With seconds alone the number of iterations is whatever there was time for."""
    scores = put("one.npy", 6 * np.eye(4) + np.random.default_rng(1).normal(size=(4, 4)))
    start = time.monotonic()
    (row,) = done("bitext", "expectations", scores, "--method", "randomized", "--seconds", "0.3", "--seed", 7).rows
    assert row["iterations"] > 1
    assert time.monotonic() - start > 0.3


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--method", "tic-tac-toe", "--seconds", "3"), "--seconds needs --method randomized or rdp."),
        (("--iterations", "3"), "--iterations needs --method randomized or rdp."),
        (("--method", "randomised"), "there is no method 'randomised'. Did you mean randomized?"),
        (("--method", "rdp", "--seconds", "-1"), "-1 is not a positive number."),
        (("--method", "rdp", "--seconds", "nan"), "nan is not a positive number."),
    ],
)
def test_options_that_do_not_go_together(deptree, options: tuple[str, ...], problem: str) -> None:
    ran = deptree("bitext", "expectations", SCORES, *options)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert problem in ran.err


@pytest.mark.parametrize("method", METHODS.names)
def test_no_alignment(deptree, put, method: str) -> None:
    """Two words that may not stay unlinked, and only one to link them with; the next pair is done."""
    scores = put("bad.npz", {"pair": np.array([[1.0], [1.0]]), "good": np.eye(2)})
    ran = deptree("bitext", "expectations", scores, "--null-score=-inf", "--method", method, "--on-error", "skip", "-q")
    assert ran.code == 1
    assert [row["sent_id"] for row in ran.rows] == ["good"]
    skipped = ran.said[0]
    assert "bad.npz[pair] (pair): " in skipped
    if not METHODS.get(method).by_merits:  # the others cannot tell what they pruned from what was never there
        assert "no alignment is possible. Allow more links" in skipped


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, warm: Path) -> float:
    """How many seconds a start takes, kernels being loaded."""
    scores = tmp_path_factory.mktemp("start") / "one.npz"
    np.savez(scores, a=np.eye(5))
    for _ in range(2):
        begun = time.monotonic()
        options = ["--method", "randomized", "--iterations", "2", "-q"]
        subprocess.run([warm / "deptree", "bitext", "expectations", scores, *options], check=True, capture_output=True)
    return time.monotonic() - begun


@pytest.mark.slow("process")
@pytest.mark.parametrize("output", [None, "out.jsonl", "out.npz"])
def test_ctrl_c_makes_do_with_what_there_is(put, tmp_path: Path, warm: Path, start: float, output: str | None) -> None:
    """The first pair is done, the second is interrupted: both are written whole, and the exit status is 130."""
    rng = np.random.default_rng(1)
    scores = put(
        "two.npz", {"a": 6 * np.eye(5) + rng.normal(size=(5, 5)), "b": 6 * np.eye(9) + rng.normal(size=(9, 9))}
    )
    options = ["--method", "randomized", "--seconds", "2", "--seed", "7", *(["-o", output] if output else [])]
    command = [warm / "deptree", "bitext", "expectations", scores, *options]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(start + 2 + 1)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"interrupted: 2 done" in err
    if output == "out.npz":
        with np.load(tmp_path / output) as found:
            assert {"a", "b"} <= {*found}
    else:
        lines = (tmp_path / output).read_bytes() if output else out
        first, second = map(json.loads, lines.splitlines())
        assert "interrupted" not in first
        assert second["interrupted"] is True
        assert 0 < second["iterations"] < first["iterations"] * 2
    assert {path.name for path in tmp_path.iterdir()} == {"two.npz", *([output] if output else [])}


@pytest.mark.parametrize("command", ["expectations", "align", "show"])
def test_too_little_memory(deptree, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("deptree_cli.core.memory.available", refuse)
    ran = deptree("bitext", command, SCORES, "-q")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "(de-1): there is not enough memory for the chart of 6 by 7 words." in ran.err


@pytest.mark.parametrize("command", ["expectations", "align", "show"])
def test_the_other_direction(deptree, command: str) -> None:
    """Rows and columns exchanged are noticed where there are words."""
    ran = deptree("bitext", command, DATA / "bitext_reverse.npz", "--text", DATA / "bitext.txt", "-q")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "rows are source words, columns target words" in ran.err
