"""What a score file says of itself, what options say, and what is assumed: for every command that reads scores."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.io.scores.layout import CHOICES
from tests.commands.readers import OF_PAIRS, OF_TREES, PAGES, READERS, SQUARES, line, numbers, put_files


@pytest.fixture
def own(done, put) -> str:
    """A file that says that its log-scores are head-dep."""
    put_files(put)
    done("convert", "base.npz", "--from", "supar", "-o", "own.npz", "-q")
    return "own.npz"


@pytest.mark.parametrize("reader", OF_TREES)
def test_an_option_changes_nothing_that_a_file_says(deptree, own, reader):
    expected = numbers(deptree(*line(reader, own)))
    for said in (("--from", "head-dep"), ("--from", "first"), ("--from", "log"), ("--from", "synjax")):
        if reader not in PAGES:
            assert numbers(deptree(*line(reader, own), *said)) == expected, said


@pytest.mark.parametrize("reader", OF_TREES)
@pytest.mark.parametrize(
    ("said", "both"),
    [
        (("--from", "dep-head"), ("head-dep", "dep-head was asked for")),
        (("--from", "last"), ("first", "last was asked for")),
        (("--from", "weight"), ("log", "weight was asked for")),
        (("--from", "torch-struct"), ("first", "diagonal was asked for")),
    ],
    ids=lambda each: each[0],
)
def test_a_contradiction_names_both(deptree, own, reader, said, both):
    ran = deptree(*line(reader, own), *said, "-q")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "own.npz: the file says {}, but {}".format(*both) in ran.err


def test_a_second_file_says_its_layout_too(deptree, own):
    ran = deptree("expect", "kl", "base.npz", "--other", "own.npz", "--from", "supar", "-q")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "own.npz: the file says head-dep" in ran.err


@pytest.mark.parametrize("reader", READERS)
def test_one_line_names_all_that_is_assumed(deptree, put, reader):
    put_files(put)
    put("bare.npz", {name: np.exp(each) for name, each in SQUARES.items()})
    about = [each for each in deptree(*line(reader, "bare.npz")).said if "given: reading" in each]
    assert len(about) == 1
    if reader in OF_PAIRS:
        assert about[0] == "deptree: no --scale or --null given: reading as log-scores, without NULL"
        assert "given: reading" not in deptree(*line(reader, "bare.npz"), "--scale", "log", "--null", "last").err
        return
    for each in ("no --from", "as weights", "heads in rows", "ROOT first", "inspect"):
        assert each in about[0]
    assert "given: reading" not in deptree(*line(reader, "bare.npz"), "--from", "treesample").err
    assert "given: reading" not in deptree(*line(reader, "bare.npz"), "-q").err


def test_what_options_leave_open_is_assumed(done, put):
    put("bare.npy", np.ones((4, 4)))
    put("rectangle.npy", np.ones((3, 4)))
    told = {
        ("bare.npy", "--from", "weight"): "only --from weight given: reading heads in rows, ROOT first;",
        ("bare.npy", "--from", "head-dep,last"): "only --from head-dep,last given: reading as weights;",
        ("rectangle.npy", "--from", "first"): "only --from first given: reading as weights;",
    }
    for given, words in told.items():
        assert words in done("partition", *given).err
    given = ("--from", "head-dep,first,weight")
    assert done("partition", "bare.npy", *given).err == ""


LOGITS = np.random.default_rng(3).uniform(0.5, 20, size=(6, 6))
SOFTMAX = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=0)
NUMBERS = {
    "logits": (LOGITS, True),
    "probabilities": (SOFTMAX, False),
    "probabilities of rows": (SOFTMAX.T, False),
    "exponentials": (np.exp(LOGITS), False),
    "all alike": (np.ones((6, 6)), False),
}


@pytest.mark.parametrize(("scores", "like_logits"), NUMBERS.values(), ids=NUMBERS)
def test_weights_that_look_like_logits(done, put, scores, like_logits):
    put("bare.npy", scores)
    assert ("they look like logits: if so, pass --from log" in done("partition", "bare.npy").err) == like_logits
    assert "logits" not in done("partition", "bare.npy", "--from", "weight").err


@pytest.mark.parametrize("scores", [np.full((3, 4), 0.25), np.eye(3)])
def test_log_scores_of_links_that_look_like_weights(done, put, scores):
    put("bare.npy", scores)
    assert "from 0 to 1: if they are weights, pass --scale weight" in done("bitext", "align", "bare.npy").err
    put("other.npy", scores - 0.5)
    assert "from 0 to 1" not in done("bitext", "align", "other.npy").err


def test_inspect_marks_what_is_assumed(done, put):
    put("bare.npy", np.ones((4, 4)))
    (row,) = done("inspect", "bare.npy").rows
    assert [row[name] for name in CHOICES] == ["head-dep (assumed)", "first (assumed)", "weight (assumed)"]
    (row,) = done("inspect", "bare.npy", "--from", "last,log").rows
    assert [row[name] for name in CHOICES] == ["head-dep (assumed)", "last", "log"]
    (row,) = done("inspect", "bare.npy", "--from", "supar").rows
    assert [row[name] for name in CHOICES] == ["dep-head", "first", "log"]


def test_marginals_are_read_as_probabilities_in_one_line(deptree, done, put):
    put_files(put)
    done("marginals", "base.npz", "--from", "supar", "-o", "m.npz")
    said = done("sample", "m.npz", "--seed", 1).said
    about = "these are probabilities of arcs, as deptree marginals wrote them: reading them as weights"
    assert sum(about in each for each in said) == 1
    assert not any("given: reading" in each for each in said)
    assert "the file says weight, but log was asked for" in deptree("sample", "m.npz", "--from", "log").err


def test_joined_files_of_two_layouts_are_not_read_as_one(deptree, done, put):
    put_files(put)
    log, weight = (done("convert", "base.npz", "--from", "supar", "--to", each).out for each in ("log", "weight"))
    assert len(done("partition", "-", stdin=log + log).rows) == 4
    ran = deptree("partition", "-", "--on-error", "skip", "-q", stdin=log + weight)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "standard input:4: the scores after this header have another layout than those before it" in ran.err


def test_results_are_no_scores_of_labels(deptree, done, put):
    put_files(put)
    put("labels.txt", "a\nb\n")
    put("labels.npz", {name: np.ones((4, 4, 2)) for name in SQUARES})
    labels = ("--labels", "labels.txt", "--label-scores", "labels.npz")
    done("marginals", "base.npz", "--from", "supar", *labels, "-o", "m.npz")
    ran = deptree("decode", "base.npz", "--from", "supar", "--labels", "labels.txt", "--label-scores", "m.npz", "-q")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "m.npz: deptree marginals wrote this file, and it holds no scores" in ran.err


@pytest.mark.parametrize("given", [(), ("--from", "weight")])
def test_a_second_file_meets_the_first_as_it_is_read(deptree, done, put, given):
    """Whether somebody said how, or nobody."""
    put_files(put)
    put("bare.npz", {name: np.exp(each) for name, each in SQUARES.items()})
    done("convert", "base.npz", "--from", "synjax", "-o", "own.npz", "-q")
    ran = deptree("expect", "kl", "bare.npz", "--other", "own.npz", *given, "-q")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "own.npz: the file says log, but bare.npz is read as weight" in ran.err
    assert deptree("expect", "kl", "own.npz", "--other", "own.npz", "-q").code == 0
