"""`deptree bitext expectations`: the numbers of the library, by every method, in both formats; Ctrl-C; errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from deptree_cli.bitext import read_pairs
from deptree_cli.bitext.options import Estimating
from deptree_cli.cli.run import Run
from deptree_cli.core.streams import sentence_stream
from deptree_cli.pruning.methods import METHODS, Settings
from tests.lines import table
from tests.sample import DATA

SCORES = str(DATA / "bitext.npz")
EXPECTATIONS = f"bitext expectations {SCORES}"


@pytest.mark.parametrize("method", METHODS.names)
def test_methods_are_the_librarys(done, method):
    """With the pair's own random numbers; settings that concern the method are passed on."""
    known = METHODS.get(method)
    line = f"{EXPECTATIONS} --method {method}" if method != "exact" else EXPECTATIONS
    line += " --iterations 20" * ("iterations" in known.settings) + " --seed 7" * known.is_random
    for row, pair in zip(done(line).rows, read_pairs(SCORES), strict=True):
        found = known.estimate(pair.distribution.program(), sentence_stream(7, pair.id), Settings(iterations=20))
        assert (row["sent_id"], row["p"], row["q"]) == (pair.id, pair.distribution.p, pair.distribution.q)
        np.testing.assert_array_equal(row["expectations"], found.expectations)
        told = found.log_partition, found.iterations, found.r_hat, found.effective_size
        assert tuple(map(row.get, ("log_z", "iterations", "r_hat", "effective_size"))) == told
        assert ("standard_errors" in row) == (found.standard_errors is not None)


def test_npz_has_the_names_read_and_errors_beside(done):
    line = f"{EXPECTATIONS} --method rdp --iterations 20 --seed 7"
    done(f"{line} -o found.npz")
    with np.load("found.npz") as found, np.load(SCORES) as scores:
        assert list(found) == [key for name in scores for key in (name, f"{name}.standard_errors")]
        for row in done(line).rows:
            np.testing.assert_array_equal(found[row["sent_id"]], row["expectations"])
            np.testing.assert_array_equal(found[f"{row['sent_id']}.standard_errors"], row["standard_errors"])


def test_signature_says_what_concerns_the_method(done):
    def fields(options):
        return "|".join(done(f"{EXPECTATIONS} --header {options}").signature.split("|")[2:-1])

    randomized = "method:randomized|iterations:20|chains:4|burnin:10|counts:soft|seed:7"
    assert fields("--method randomized --iterations 20 --seed 7") == randomized
    assert fields("--method rdp --seconds 0.01 --seed 7") == "method:rdp|seconds:0.01|kept:10|seed:7"  # as many as fit
    assert fields("--method tic-tac-toe") == "method:tic-tac-toe|margin:10.0"
    assert fields("") == "method:exact"


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        --method tic-tac-toe --seconds 3   |  --seconds needs --method randomized or rdp.
        --iterations 3                     |  --iterations needs --method randomized or rdp.
        --method randomised                |  there is no method 'randomised'. Did you mean randomized?
        --method rdp --seconds -1          |  -1 is not a positive number.
        --method rdp --seconds nan         |  nan is not a positive number.
    """),
)
def test_options_that_do_not_go_together(refused, line, says):
    refused(f"{EXPECTATIONS} {line}", *says)


@pytest.mark.parametrize("method", METHODS.names)
def test_no_alignment(deptree, put, method):
    """Two words that may not stay unlinked, and only one to link them with; the next pair is done."""
    put("bad.npz", {"pair": np.array([[1.0], [1.0]]), "good": np.eye(2)})
    ran = deptree(f"bitext expectations bad.npz --null-score=-inf --method {method} --on-error skip -q")
    assert ran.code == 1
    assert [row["sent_id"] for row in ran.rows] == ["good"]
    assert "bad.npz[pair] (pair): " in ran.said[0]
    if not METHODS.get(method).by_merits:  # the others cannot tell what they pruned from what was never there
        assert "no alignment is possible. Allow more links" in ran.said[0]


# Ctrl-C: the first one is a wish, which is noted; the second one is for whoever listened before.


def test_the_first_is_noted_and_the_second_goes_through():
    """Items are done up to the first."""
    before, interrupt = signal.getsignal(signal.SIGINT), Estimating(METHODS.get("randomized"), Settings(), Run())
    with interrupt.listening():
        for item in interrupt.until_stopped(iter(range(5))):
            assert not interrupt.was_stopped
            if item == 2:
                signal.raise_signal(signal.SIGINT)
        assert (item, interrupt.was_stopped) == (2, True)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture(scope="module")
def start(tmp_path_factory, warm):
    """How many seconds a start takes, kernels being loaded."""
    scores = tmp_path_factory.mktemp("start") / "one.npz"
    np.savez(scores, a=np.eye(5))
    words = ["--method", "randomized", "--iterations", "2", "-q"]
    for _ in range(2):
        begun = time.monotonic()
        subprocess.run([warm / "deptree", "bitext", "expectations", scores, *words], check=True, capture_output=True)
    return time.monotonic() - begun


@pytest.mark.slow("process")
@pytest.mark.parametrize("output", [None, "out.jsonl", "out.npz"])
def test_ctrl_c_makes_do_with_what_there_is(put, tmp_path, warm, start, output):
    """The first pair is done, the second is interrupted: both are written whole, and the exit status is 130."""
    rng = np.random.default_rng(1)
    scores = put("two.npz", {name: 6 * np.eye(n) + rng.normal(size=(n, n)) for name, n in (("a", 5), ("b", 9))})
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
