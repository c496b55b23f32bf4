"""``--fix-heads`` with the annotator's labels: kept, conditions everywhere, and named where scores do not know them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from deptree_cli import TreeDistribution, read
from deptree_cli.core.errors import DeptreeError

NAMES = ("root", "obj", "nmod", "nsubj")
READING = ("--from", "head-dep,log", "--conllu", "s.conllu", "--fix-heads")
LABELS = ("--labels", "labels.txt")


@pytest.fixture
def scores(put) -> np.ndarray:
    """Joint scores of a sentence of 4 words, in s.npy, and of arcs alone in arcs.npy."""
    found = np.random.default_rng(5).normal(size=(5, 5, len(NAMES)))
    np.save("s.npy", found)
    np.save("arcs.npy", found.max(axis=-1))
    put("labels.txt", "\n".join(NAMES) + "\n")
    return found


def sentence(*columns: tuple[object, str]) -> str:
    rows = (f"{i}\tw{i}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n" for i, (head, label) in enumerate(columns, 1))
    return "# sent_id = x\n" + "".join(rows) + "\n"


def arcs_of(out: bytes) -> list[list[str]]:
    """HEAD and DEPREL of every word, over all trees."""
    rows = [line.split("\t") for line in out.decode().splitlines() if line[:1].isdigit()]
    return [row[6:8] for row in rows]


COMMANDS = ("decode", "decode --method mbr", "decode -k 3", "sample -k 5", "swor -k 5", "swor -k 5 --labelled")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("label", ["nmod", "nmod:special"])
def test_a_label_beside_a_fixed_head_stays(command: str, label: str, scores, put, done) -> None:
    put("s.conllu", sentence(("_", "_"), (4, label), ("_", "_"), ("_", "_")))
    name, *options = command.split()
    ran = done(name, "s.npy", *READING, *LABELS, *options)
    found = arcs_of(ran.out)
    assert found[1::4] == [["4", label]] * (len(found) // 4)
    assert all((head == "0") == (deprel == "root") for head, deprel in found)
    rows = done(name, "s.npy", *READING, *LABELS, *options, "--format", "jsonl").rows
    assert {row["deprels"][1] for row in rows} == {label}
    said = f"deptree: the label {label!r} is not in labels.txt: it is kept as annotated, unscored"
    assert ran.err.splitlines().count(said) == (label not in NAMES)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("label", ["obj", "obj:special", "root", "ROOT"])
def test_a_label_without_a_head_is_a_condition(command: str, label: str, scores, put, done) -> None:
    put("s.conllu", sentence(("_", "_"), ("_", label), ("_", "_"), ("_", "_")))
    name, *options = command.split()
    own = arcs_of(done(name, "s.npy", *READING, *LABELS, *options).out)[1::4]
    assert {found for _, found in own} == {label}
    assert {head == "0" for head, _ in own} == {label.lower() == "root"}


@pytest.mark.parametrize("command", COMMANDS[:5])
def test_labels_stay_where_scores_tell_none(command: str, scores, put, done) -> None:
    put("s.conllu", sentence(("_", "_"), (4, "nmod:special"), ("_", "obj"), (0, "Pred")))
    name, *options = command.split()
    found = arcs_of(done(name, "arcs.npy", *READING, *options).out)
    for place, expected in ((1, ["4", "nmod:special"]), (3, ["0", "Pred"])):
        assert found[place::4] == [expected] * (len(found) // 4)
    assert {label for _, label in found[2::4]} == {"obj"}
    assert "0" not in {head for head, _ in found[2::4]}
    assert {label for _, label in found[0::4]} == {"dep"}
    assert "deprels" not in done(name, "arcs.npy", *READING, *options, "--format", "jsonl").rows[0]


def test_probabilities_and_sums_are_given_the_labels(scores, put, done) -> None:
    """LabelProb is 1 beside a fixed head; partition and expect are of the conditional distribution."""
    put("s.conllu", sentence(("_", "_"), (4, "nmod"), (2, "x:new"), ("_", "obj")))
    for command in ("decode", "marginals"):
        out = done(command, "s.npy", *READING, *LABELS).out.decode()
        rows = [line.split("\t")[9] for line in out.splitlines() if line[:1].isdigit()]
        assert rows[1] == rows[2] == "HeadProb=1|LabelProb=1"
    given = TreeDistribution(scores, labels=NAMES).given([None, 4, 2, None], [None, "nmod", "x:new", "obj"])
    (row,) = done("partition", "s.npy", *READING, *LABELS).rows
    assert row["log_z"] == pytest.approx(given.log_partition, abs=1e-12)
    (row,) = done("expect", "entropy", "s.npy", *READING, *LABELS).rows
    assert row["entropy"] == pytest.approx(given.entropy(), abs=1e-12)


def test_marginals_of_labels(scores, put, done) -> None:
    """JSON names the label that was added; an array has those of --labels."""
    put("s.conllu", sentence(("_", "_"), (4, "x:new"), ("_", "_"), ("_", "obj")))
    (row,) = done("marginals", "s.npy", *READING, *LABELS, "--format", "jsonl").rows
    assert row["labels"] == [*NAMES, "x:new"]
    found = np.array(row["marginals"])
    assert found[4, 2].tolist() == pytest.approx([0, 0, 0, 0, 1], abs=1e-15)
    np.testing.assert_allclose(found[:, 1:].sum(axis=(0, 2)), 1)
    np.testing.assert_allclose(found[:, 4, NAMES.index("obj")].sum(), 1)
    done("marginals", "s.npy", *READING, *LABELS, "-o", "out.npz")
    with np.load("out.npz") as out:
        np.testing.assert_array_equal(next(iter(out.values())), found[..., : len(NAMES)])


def test_a_label_that_is_unknown_is_said_once(scores, put, done) -> None:
    two = sentence((4, "a:b"), ("_", "_"), ("_", "c:d"), ("_", "ROOT"))
    put("s.conllu", two + two.replace("= x", "= y"))
    np.save("s.npy", np.stack([scores, scores]))
    for command in (("sample",), ("sample", "--shard", "2/2"), ("decode", "--jobs", 2)):
        err = done(command[0], "s.npy", *READING, *LABELS, *command[1:]).err
        assert re.findall(r"the label '(\S+)' is not in labels.txt", err) == ["a:b", "c:d"]
    assert "is not in" not in done("sample", "s.npy", *READING, *LABELS, "-q").err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((4, "root"), "word 2 is given the label 'root', which it cannot have below its head 4. Correct it, allow it,"),
        ((0, "obj"), "word 2 is given the label 'obj', which it cannot have below its head ROOT."),
    ],
)
def test_labels_that_contradict_their_heads(columns, message: str, scores, put, deptree) -> None:
    put("s.conllu", sentence(("_", "_"), columns, ("_", "_"), ("_", "_")))
    ran = deptree("decode", "s.npy", *READING, *LABELS)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1


def test_convert_has_no_scores_for_labels_that_are_unknown(scores, put, deptree) -> None:
    put("s.conllu", sentence((4, "a:b"), ("_", "_"), ("_", "_"), ("_", "_")))
    ran = deptree("convert", "s.npy", *READING, *LABELS, "--to-labels", "names.json", "-o", "out.npz")
    assert ran.code == 2
    assert "the label 'a:b' of the CoNLL-U has no scores to write. Put _ for it, or leave out --fix-heads." in ran.err


def test_show_has_the_labels(scores, put, done) -> None:
    put("s.conllu", sentence((4, "a:b"), ("_", "c:d"), ("_", "_"), ("_", "_")))
    for given in (("s.npy", *READING, *LABELS), ("arcs.npy", *READING)):
        shown = done("show", *given, "--above", 0, "-o", "out.svg") and Path("out.svg").read_text()
        assert "a:b" in shown
        assert "c:d" in shown


def test_the_library_keeps_them(scores, put) -> None:
    put("s.conllu", sentence(("_", "_"), (4, "nmod:special"), ("_", "obj"), ("_", "_")))
    options = {"conllu": "s.conllu", "preset": "head-dep,log", "fix_heads": True}
    for given in ({"scores": "s.npy", "labels": "labels.txt"}, {"scores": "arcs.npy"}):
        (found,) = read(**given, **options)
        trees = found.distribution.sample(3, 1)
        labels = found.distribution.labels
        numbers = None if labels is None else labels.draw(trees, seed=1)
        own = arcs_of(found.to_conllu(trees, numbers).encode())
        assert {tuple(each) for each in own[1::4]} == {("4", "nmod:special")}
        assert {label for _, label in own[2::4]} == {"obj"}
        tokens = found.apply(trees[0], None if numbers is None else numbers[0])
        assert [token["deprel"] for token in tokens][1:3] == ["nmod:special", "obj"]


def test_dep_says_nothing_without_a_head(scores, put, done) -> None:
    """It is what stands where no label is known; beside a fixed head it is a label as others are."""
    put("s.conllu", sentence((2, "dep"), (0, "dep"), ("_", "dep"), ("_", "dep")))
    expected = TreeDistribution(scores, labels=NAMES).given([2, 0, None, None], ["dep", None, None, None])
    (row,) = done("partition", "s.npy", *READING, *LABELS).rows
    assert row["log_z"] == pytest.approx(expected.log_partition, abs=1e-12)
    assert arcs_of(done("decode", "s.npy", *READING, *LABELS).out)[:2] == [["2", "dep"], ["0", "root"]]


def test_a_sentence_without_labels_is_what_it_was(scores, put, done) -> None:
    put("s.conllu", sentence(("_", "_"), (4, "_"), ("_", "_"), ("_", "_")))
    (row,) = done("partition", "arcs.npy", *READING).rows
    expected = TreeDistribution(scores.max(axis=-1)).given([None, 4, None, None])
    assert row["log_z"] == pytest.approx(expected.log_partition, abs=1e-12)


def test_nothing_is_fixed_that_was_not_asked_for(scores, put, done) -> None:
    put("s.conllu", sentence((2, "x"), (0, "root"), (2, "y"), ("_", "obj")))
    without = [each for each in READING if each != "--fix-heads"]
    found = arcs_of(done("sample", "s.npy", *without, *LABELS, "-k", 50).out)
    assert "x" not in {label for _, label in found}
    assert len({head for head, _ in found[3::4]}) > 1


def test_what_is_no_label(put) -> None:
    with pytest.raises(DeptreeError, match="the label of word 1 is 1"):
        TreeDistribution(np.zeros((2, 2))).given(labels=[1])  # type: ignore[list-item]
