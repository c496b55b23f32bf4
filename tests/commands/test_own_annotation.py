"""What the input annotates: labels that `--fix-heads` keeps; labels, DEPS and empty nodes beside an unchanged tree."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from deptree_cli import TreeDistribution, read
from tests.commands.sessions import hold_session

NAMES = ("root", "obj", "nmod", "nsubj")
ARCS = "arcs.npy --from head-dep,log --conllu s.conllu --fix-heads"
JOINT = f"s{ARCS[4:]} --labels labels.txt"
COMMANDS = ("decode", "decode --method mbr", "decode -k 3", "sample -k 5", "swor -k 5", "swor -k 5 --labelled")


@pytest.fixture
def scores(put) -> np.ndarray:
    """Joint scores of a sentence of 4 words, in s.npy, and of arcs alone in arcs.npy."""
    found = np.random.default_rng(5).normal(size=(5, 5, len(NAMES)))
    put("s.npy", found)
    put("arcs.npy", found.max(axis=-1))
    put("labels.txt", "\n".join(NAMES) + "\n")
    return found


@pytest.fixture
def given(put, scores):
    """Put these words, each with HEAD and DEPREL, in s.conllu."""
    return lambda *words: put("s.conllu", sentence(*words))


def sentence(*words: str) -> str:
    rows = (f"{i}\tw{i}\t_\t_\t_\t_\t{{}}\t{{}}\t_\t_\n".format(*each.split()) for i, each in enumerate(words, 1))
    return "# sent_id = x\n" + "".join(rows) + "\n"


def arcs_of(out: bytes) -> list[list[str]]:
    """HEAD and DEPREL of every word, over all trees."""
    rows = [line.split("\t") for line in out.decode().splitlines() if line[:1].isdigit()]
    return [row[6:8] for row in rows]


# The second of four words; `Pred` below ROOT is allowed where scores tell no labels.
WORDS = ["4 nmod", "4 nmod:special", "_ obj", "_ obj:special", "_ root", "_ ROOT", "0 Pred"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("command", "read"), [*((each, JOINT) for each in COMMANDS), *((each, ARCS) for each in COMMANDS[:5])]
)
def test_a_label_stays_beside_a_fixed_head_and_is_a_condition_without_one(command, read, scores, put, done) -> None:
    given = WORDS[: -1 if read == JOINT else None]
    put("s.conllu", "".join(sentence("_ _", word, "_ _", "_ _").replace("= x", f"= {word[2:]}") for word in given))
    for name in ("s.npy", "arcs.npy"):
        put(name, np.stack([np.load(name)] * len(given)))
    ran = done(f"{command} {read}")
    found = np.array(arcs_of(ran.out)).reshape(len(given), -1, 4, 2)
    for word, trees in zip(given, found, strict=True):
        head, label = word.split()
        assert set(trees[:, 1, 1]) == {label}
        assert set(trees[:, 1, 0]) == {head} if head != "_" else set(trees[:, 1, 0] == "0") == {label.lower() == "root"}
    others = found[:, :, [0, 2, 3]].reshape(-1, 2)
    assert set(others[others[:, 0] == "0", 1]) <= {"root"}
    assert read == JOINT or set(others[others[:, 0] != "0", 1]) == {"dep"}
    rows = done(f"{command} {read} --format jsonl").rows
    assert [row["deprels"][1] for row in rows if read == JOINT] == found[:, :, 1, 1].ravel().tolist() * (read == JOINT)
    assert read == JOINT or "deprels" not in rows[0]
    said = [line for line in ran.said if "is not in labels.txt: it is kept as annotated, unscored" in line]
    assert [line.split("'")[1] for line in said] == ["nmod:special", "obj:special"] * (read == JOINT)


def test_probabilities_and_sums_are_given_the_labels(scores, given, done) -> None:
    """LabelProb is 1 beside a fixed head; partition and expect are of the conditional distribution."""
    given("_ _", "4 nmod", "2 x:new", "_ obj")
    for command in ("decode", "marginals"):
        out = done(f"{command} {JOINT}").out.decode()
        rows = [line.split("\t")[9] for line in out.splitlines() if line[:1].isdigit()]
        assert rows[1] == rows[2] == "HeadProb=1|LabelProb=1"
    expected = TreeDistribution(scores, labels=NAMES).given([None, 4, 2, None], [None, "nmod", "x:new", "obj"])
    assert done(f"partition {JOINT}").rows[0]["log_z"] == pytest.approx(expected.log_partition, abs=1e-12)
    assert done(f"expect entropy {JOINT}").rows[0]["entropy"] == pytest.approx(expected.entropy(), abs=1e-12)


def test_conditions_that_say_little(scores, given, done) -> None:
    """Without a head `dep` says nothing: it stands where no label is known; nor does a sentence without labels."""
    given("2 dep", "0 dep", "_ dep", "_ dep")
    expected = TreeDistribution(scores, labels=NAMES).given([2, 0, None, None], ["dep", None, None, None])
    assert done(f"partition {JOINT}").rows[0]["log_z"] == pytest.approx(expected.log_partition, abs=1e-12)
    assert arcs_of(done(f"decode {JOINT}").out)[:2] == [["2", "dep"], ["0", "root"]]
    given("_ _", "4 _", "_ _", "_ _")
    expected = TreeDistribution(scores.max(axis=-1)).given([None, 4, None, None])
    assert done(f"partition {ARCS}").rows[0]["log_z"] == pytest.approx(expected.log_partition, abs=1e-12)


def test_marginals_of_labels(given, done) -> None:
    """JSON names the label that was added; an array has those of --labels."""
    given("_ _", "4 x:new", "_ _", "_ obj")
    (row,) = done(f"marginals {JOINT} --format jsonl").rows
    assert row["labels"] == [*NAMES, "x:new"]
    found = np.array(row["marginals"])
    assert found[4, 2].tolist() == pytest.approx([0, 0, 0, 0, 1], abs=1e-15)
    np.testing.assert_allclose(found[:, 1:].sum(axis=(0, 2)), 1)
    np.testing.assert_allclose(found[:, 4, NAMES.index("obj")].sum(), 1)
    done(f"marginals {JOINT} -o out.npz")
    (array,) = np.load("out.npz").values()
    np.testing.assert_array_equal(array, found[..., : len(NAMES)])


def test_a_label_that_is_unknown_is_said_once(scores, put, done) -> None:
    two = sentence("4 a:b", "_ _", "_ c:d", "_ ROOT")
    put("s.conllu", two + two.replace("= x", "= y"))
    put("s.npy", np.stack([scores, scores]))
    for command in ("sample", "sample --shard 2/2", "decode --jobs 2"):
        assert re.findall(r"the label '(\S+)' is not in labels.txt", done(f"{command} {JOINT}").err) == ["a:b", "c:d"]
    assert "is not in" not in done(f"sample {JOINT} -q").err


def test_a_session_of_labels_that_are_refused(deptree, golden, put, scores) -> None:
    for name, word in (("below", "4 root"), ("root", "0 obj"), ("unknown", "4 a:b")):
        put(f"{name}.conllu", sentence("_ _", word, "_ _", "_ _"))
    hold_session(deptree, golden, "fix_heads.txt")


@pytest.mark.parametrize("read", [JOINT, ARCS], ids=["labels", "arcs"])
def test_show_has_the_labels(given, done, read: str) -> None:
    """That of a word without a head on every arc, but only as a condition."""
    given("4 a:b", "_ c:d", "_ _", "_ _")
    shown = done(f"show {read} --above 0").out.decode()
    assert shown.count("w2 (c:d)") == 3 == shown.count("(c:d)")
    assert "w4 -&gt; w2 (c:d)" in shown
    assert "w4 -&gt; w1 (a:b)" in shown
    assert "(c:d)" not in done(f"show {read.replace('--fix-heads', '')} --above 0").out.decode()


@pytest.mark.parametrize("scored", [{"scores": "s.npy", "labels": "labels.txt"}, {"scores": "arcs.npy"}])
def test_the_library_keeps_them(given, scored: dict[str, str]) -> None:
    given("_ _", "4 nmod:special", "_ obj", "_ _")
    (found,) = read(**scored, conllu="s.conllu", preset="head-dep,log", fix_heads=True)
    trees = found.distribution.sample(3, 1)
    labels = found.distribution.labels
    numbers = None if labels is None else labels.draw(trees, seed=1)
    own = arcs_of(found.to_conllu(trees, numbers).encode())
    assert {tuple(each) for each in own[1::4]} == {("4", "nmod:special")}
    assert {label for _, label in own[2::4]} == {"obj"}
    tokens = found.apply(trees[0], None if numbers is None else numbers[0])
    assert [token["deprel"] for token in tokens][1:3] == ["nmod:special", "obj"]


def test_nothing_is_fixed_without_the_option(given, done) -> None:
    given("2 x", "0 root", "2 y", "_ obj")
    found = arcs_of(done(f"sample {JOINT.replace('--fix-heads', '')} -k 50").out)
    assert "x" not in {label for _, label in found}
    assert len({head for head, _ in found[3::4]}) > 1


# Its best tree is its own; that of the second sentence is another one.
OWN = """\
# sent_id = own
1\tMary\t_\tPROPN\t_\t_\t2\tnsubj\t2:nsubj|4.1:nsubj\t_
2\twon\t_\tVERB\t_\t_\t0\troot\t0:root\t_
3\tgold\t_\tNOUN\t_\t_\t2\tobj\t2:obj\t_
4\tPeter\t_\tPROPN\t_\t_\t2\tconj\t4.1:nsubj\t_
4.1\twon\t_\tVERB\t_\t_\t_\t_\t2:conj\tCopyOf=2

"""
OTHER = OWN.replace("= own", "= other").replace("2\tobj", "1\tnmod")


@pytest.fixture
def own(put) -> None:
    sure = [[0, -99, 0, -99, -99], [-99] * 5, [-99, 0, -99, 0, 0], [-99] * 5, [-99] * 5]
    put("s.jsonl", "".join(json.dumps({"sent_id": name, "scores": sure}) + "\n" for name in ("own", "other")))
    of_labels = [[[0.0, 0.0, 1.0, 0.0]] * 5] * 5
    put("l.jsonl", "".join(json.dumps({"sent_id": name, "scores": of_labels}) + "\n" for name in ("own", "other")))
    put("l.json", '["nsubj", "root", "obj", "conj"]')
    put("t.conllu", OWN + OTHER)
    put("few_labels.conllu", (OWN + OTHER).replace("\tnsubj\t", "\t_\t").replace("\tconj\t", "\tdep\t"))


def test_a_session_of_trees_of_their_own_and_others(deptree, golden, own) -> None:
    """The first sentence keeps all; what the other loses is told in lines."""
    hold_session(deptree, golden, "own_annotation.txt")


@pytest.mark.parametrize("line", ["decode --method mbr", "decode --jobs 2"])
def test_decoding_otherwise_keeps_as_much(done, own, line: str) -> None:
    read = "s.jsonl --from synjax --conllu t.conllu --no-header"
    usual, ran = done(f"decode {read}"), done(f"{line} {read}")
    assert (ran.out, ran.said) == (usual.out, usual.said)


def test_many_trees_get_the_same_lines(done, own) -> None:
    ran = done("sample s.jsonl --from synjax --conllu t.conllu --no-header -k 300 --seed 7")
    assert len(ran.said) == 3
    assert ran.out.count(b"CopyOf=2") == 300
