"""The same sentences in every form are the same sentences: containers, pipes, layouts, padding."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.io.scores.layout import PRESETS
from tests.oracle import Oracle
from tests.sample import DATA

LENGTHS = ("--lengths", DATA / "lengths.txt")
SAME = {
    "npz": (DATA / "scores.npz", "--from", "natasha"),
    "jsonl": (DATA / "scores.jsonl", "--from", "natasha"),
    "npy": (DATA / "scores.npy", "--from", "supar", *LENGTHS),
    "stream": (DATA / "scores_stream.npy", "--from", "supar"),
}


@pytest.mark.parametrize("container", ["padded.npy", "padded.npz"])
def test_lengths_that_count_root_are_refused(deptree, put, container):
    """The longest sentence has no room for one word more, unless the batch is padded further."""
    scores = np.pad(np.load(DATA / "scores.npy"), [(0, 0), (0, 2), (0, 2)])
    counted = np.loadtxt(DATA / "lengths.txt", dtype=int) + 1
    put("padded.npy", scores)
    put("padded.npz", {"scores": scores, "lengths": counted})
    put("lengths.npy", counted)
    given = ("--lengths", "lengths.npy") if container == "padded.npy" else ()
    ran = deptree("decode", container, "--from", "supar", *given, "-q")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "Do the lengths count ROOT?" in ran.err


@pytest.mark.parametrize("name", SAME)
def test_a_real_pipe(shell, done, name):
    path, *options = SAME[name]
    ran = shell(f"cat {path} | deptree partition - -q -o - {' '.join(map(str, options))}")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == done("partition", path, *options).out


def diagonal(square: np.ndarray) -> np.ndarray:
    """(n+1, n+1) head-dep to (n, n) head-dep with the scores of ROOT arcs on the diagonal."""
    arcs = square[1:, 1:].copy()
    np.fill_diagonal(arcs, square[0, 1:])
    return arcs


# cli.md, the table of presets: from weights (n+1, n+1), head-dep, to what the parser's user dumps.
AS_PARSER = {
    "supar": lambda weights: np.log(weights).T,
    "diaparser": lambda weights: np.log(weights).T,
    "hanlp": lambda weights: np.log(weights).T,
    "supar-probs": lambda weights: weights.T[1:],
    "stanza": lambda weights: np.log(weights).T,
    "trankit": lambda weights: np.log(weights).T,
    "udpipe2": lambda weights: np.log(weights).T[1:],
    "natasha": lambda weights: np.log(weights).T[1:],
    "spacy": lambda weights: diagonal(np.log(weights)).T,
    "torch-struct": lambda weights: diagonal(np.log(weights)),
    "synjax": lambda weights: np.log(weights),
    "treesample": lambda weights: weights,
}


# With an axis of labels: in test_labels.py.
LABELLED = {"allennlp"}


def test_every_preset_is_here():
    assert set(AS_PARSER) | LABELLED == set(PRESETS.names)


@pytest.mark.parametrize("name", sorted(AS_PARSER.keys() - LABELLED))
def test_presets(done, put, name):
    """An asymmetric matrix, numbers where no arc is: read in another way it has another sum."""
    weights = np.random.default_rng(7).uniform(0.1, 3, (5, 5))
    put("scores.npy", AS_PARSER[name](weights))
    (row,) = done("partition", "scores.npy", "--from", name).rows
    assert row["n"] == 4
    assert row["log_z"] == pytest.approx(Oracle(TreeDistribution(weights, "weight")).log_z, abs=1e-9)


@pytest.mark.parametrize("command", ["sample", "inspect", "convert -o out.npz", "bitext expectations"])
def test_second_order_scores_are_refused(deptree, command: str) -> None:
    """In one line, also where sentences that cannot be used are skipped: their scores would be others."""
    as_log = ("--scale", "log") if command.startswith("bitext") else ("--from", "log")
    ran = deptree(*command.split(), DATA / "second_order.npz", *as_log, "--on-error", "skip", "-q")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "second_order.npz[en-1.grandparent]: these are second-order scores" in ran.err
    assert "deptree_cli.second_order.read" in ran.err
