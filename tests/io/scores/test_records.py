"""`read` gives a Python user what the commands read, with every option, and says what is wrong as they do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import deptree_cli
from deptree_cli.cli.app import deptree
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.reading import read
from deptree_cli.io.scores.records import ScoredSentence
from tests.sample import DATA

NPZ = (str(DATA / "scores.npz"), {"preset": "natasha"})
GOLD = str(DATA / "gold.conllu")
LABELS = {"labels": str(DATA / "labels.json"), "label_scores": str(DATA / "label_scores.npz")}
NAMES = ["en-1", "en-2", "en-3", "en-4", "cs-1", "cs-2", "ru-1", "ru-2"]

CONTAINERS = {
    "npz": NPZ,
    "jsonl": (str(DATA / "scores.jsonl"), {"preset": "natasha"}),
    "npy": (str(DATA / "scores.npy"), {"preset": "supar", "lengths": str(DATA / "lengths.txt")}),
    "batch": (str(DATA / "scores.npy"), {"preset": "supar", "conllu": GOLD}),
    "stream": (str(DATA / "scores_stream.npy"), {"preset": "supar"}),
    "one": (str(DATA / "one.npy"), {"preset": "head-dep"}),
    "figure1": (str(DATA / "figure1.npy"), {}),
    "saturated": (str(DATA / "saturated.npy"), {}),
}

# How an option of `read` is called on the command line, where that is not its own name.
FLAGS = {"preset": "--from", "single_root": "--multi-root"}
VARIANTS = [
    {"single_root": False},
    {"temperature": 2.5},
    {"conllu": GOLD, "fix_heads": True, "temperature": 3.0},
    {"preset": "natasha,dep-head,last,log"},
    {"preset": "supar,log"},
]


def options_of(options: dict[str, Any]) -> list[str]:
    """Options of `read` as the command line has them."""
    words = []
    for name, value in options.items():
        flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
        words += [flag] if isinstance(value, bool) else [flag, str(value)]
    return words


@pytest.fixture
def command() -> Callable[..., list[dict[str, Any]]]:
    """The rows that a command writes."""

    def run(name: str, path: str, options: dict[str, Any], *more: str) -> list[dict[str, Any]]:
        args = [name, path, *options_of(options), "--format=jsonl", "-q", *more]
        ran = CliRunner().invoke(deptree, args, standalone_mode=False)
        assert ran.exception is None, ran.exception
        return [json.loads(line) for line in ran.stdout_bytes.splitlines()]

    return run


def agree(sentences: list[ScoredSentence], command: Callable[..., Any], path: str, options: dict[str, Any]) -> None:
    """The same trees under the same seed, with the same probabilities, to the last bit."""
    drawn = command("sample", path, options, "-k", "2", "--seed", "7")
    best = command("decode", path, options)
    assert len(drawn) == 2 * len(best) == 2 * len(sentences)
    for number, (sentence, row) in enumerate(zip(sentences, best, strict=True)):
        found = sentence.distribution
        assert (sentence.id, found.id) == (row["sent_id"], row["sent_id"])
        assert found.single_root == options.get("single_root", True)
        assert found.argmax().tolist() == row["heads"]
        assert found.entropy() == row["entropy"]
        samples = drawn[2 * number : 2 * number + 2]
        assert found.sample(2, 7).tolist() == [sample["heads"] for sample in samples]
        assert found.log_probs([sample["heads"] for sample in samples]).tolist() == [row["log_prob"] for row in samples]


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_is_read_as_the_commands_read_it(command, name) -> None:
    path, options = CONTAINERS[name]
    agree(list(read(path, **options)), command, path, options)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_option_does_what_it_does_there(command, options) -> None:
    path, given = NPZ
    given = given if "scale" not in options else {}
    agree(list(read(path, **given | options)), command, path, given | options)


def test_a_file_that_says_its_layout_needs_no_preset(tmp_path) -> None:
    path = str(tmp_path / "own.npz")
    args = ["convert", NPZ[0], "--from", "natasha", "--to", "torch-struct", "-o", path, "-q"]
    assert CliRunner().invoke(deptree, args, standalone_mode=False).exception is None
    for ours, theirs in zip(read(path), read(NPZ[0], preset="natasha"), strict=True):
        np.testing.assert_array_equal(ours.distribution.log_scores, theirs.distribution.log_scores)
        assert ours.interpretation.layout.name == "torch-struct"
    with pytest.raises(DeptreeError, match="the file says log, but weight was asked for"):
        next(read(path, preset="weight"))


@pytest.fixture
def mixed(scratch) -> str:
    """Sound sentences around a line that is not JSON, scores of no sentence, and scores of which there is no tree."""
    first, second, third, *_ = (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    ragged = json.dumps({"sent_id": "ragged", "scores": [[0, 1], [0]]})
    nan = json.dumps({"sent_id": "nan", "scores": [[float("nan")] * 3] * 2})
    return scratch("mixed.jsonl", "\n".join([first, "oops", second, ragged, nan, third, ""]).encode())


SAID = [
    "mixed.jsonl:2 (2): not JSON",
    "mixed.jsonl:4 (ragged): the rows of the field scores differ in length",
    "mixed.jsonl:5 (nan): the score of ROOT -> 1 (nan) is NaN",
]


def test_what_cannot_be_used_is_handed_over_and_left_out(mixed) -> None:
    """Each with its place and its name, as the commands have it."""
    errors: list[DeptreeError] = []
    assert [sentence.id for sentence in read(mixed, preset="natasha", on_error=errors.append)] == NAMES[:3]
    assert [str(error).startswith(said) for error, said in zip(errors, SAID, strict=True)] == [True] * 3, errors


def test_without_anybody_to_take_them_errors_are_raised(mixed) -> None:
    sentences = read(mixed, preset="natasha")
    assert next(sentences).id == "en-1"
    with pytest.raises(DeptreeError, match=r"mixed\.jsonl:2 \(2\): not JSON"):
        next(sentences)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"preset": "natahsa"}, "Did you mean natasha?"),
        ({"preset": "log,up"}, "'log,up' is not a layout"),
        ({"preset": "natasha", "conllu": "nowhere.conllu"}, "nowhere.conllu: no such file"),
        ({"preset": "natasha", "labels": LABELS["labels"]}, "no axis of labels"),
        ({"preset": "natasha", "label_scores": LABELS["label_scores"]}, "needs the names of the labels"),
        ({"preset": "natasha", "fix_heads": True}, "needs the sentences"),
        ({"preset": "natasha", "temperature": 0}, "the temperature is 0"),
        ({"preset": "natasha", "lengths": str(DATA / "lengths.txt")}, "--lengths needs a padded .npy"),
    ],
    ids=str,
)
def test_requests_that_make_no_sense(options, part) -> None:
    with pytest.raises(DeptreeError) as caught:
        list(read(NPZ[0], **options))
    assert part in str(caught.value)


def test_labels_with_scores_of_their_own_and_together_with_arcs(command, tmp_path) -> None:
    given = {**NPZ[1], **LABELS}
    agree(list(read(NPZ[0], **given)), command, NPZ[0], given)
    path, names = str(tmp_path / "joint.npz"), str(tmp_path / "names.json")
    args = ["convert", NPZ[0], *options_of(given), "--to", "allennlp", "--to-labels", names, "-o", path, "-q"]
    assert CliRunner().invoke(deptree, args, standalone_mode=False).exception is None
    joint = {"preset": "allennlp", "labels": names}
    agree(list(read(path, **joint)), command, path, joint)
    for ours, theirs in zip(read(NPZ[0], **given), read(path, **joint), strict=True):
        assert ours.distribution.labels.names == theirs.distribution.labels.names
        marginals = [each.labels.marginals(each.marginals()) for each in (ours.distribution, theirs.distribution)]
        np.testing.assert_allclose(*marginals, atol=1e-9)


def test_it_is_offered_at_the_top() -> None:
    assert deptree_cli.read is read
    assert deptree_cli.ScoredSentence is ScoredSentence
