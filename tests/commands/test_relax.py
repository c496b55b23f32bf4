"""Rules that no tree obeys: what cannot hold together is named by every command, and given up by `decode --relax`.

The sentences: s0 obeys; of s1 word 1 must and must not be below word 2; of s2 words 1 and 3 must be subjects of word 2,
which only a whole tree breaks; of s3 a span is left by two words.
"""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.errors import DeptreeError

LABELS = ("root", "nsubj", "obj", "det", "punct")
ASKED = {
    "s0": {},
    "s1": {1: "HeadIn=2|NotHead=2", 5: "HeadIn=2"},
    "s2": {1: "HeadIn=2|DeprelIn=nsubj", 3: "HeadIn=2|DeprelIn=nsubj"},
    "s3": {1: "HeadIn=4|Span=1-3", 2: "HeadIn=5"},
}
READING = ("--from", "head-dep,log", "--labels", "l.txt", "--conllu", "s.conllu")
RULES = ("--rules", "r.toml", "--rules", "misc")
TOML = 'at-most-one = [{name = "one-subject", label = "nsubj"}]\n'
MASKS = "HeadIn of word 1 and NotHead of word 1 together"
OF_TREES = {
    "s2": "one-subject, HeadIn of word 1, DeprelIn of word 1, HeadIn of word 3 and DeprelIn of word 3 together",
    "s3": "HeadIn of word 1, HeadIn of word 2 and the span of words 1 to 3 together",
}


def conllu(*sent_ids: str) -> str:
    rows = {
        name: "".join(f"{i}\tw{i}\t_\tX\t_\t_\t_\t_\t_\t{ASKED[name].get(i, '_')}\n" for i in range(1, 6))
        for name in sent_ids
    }
    return "".join(f"# sent_id = {name}\n{row}\n" for name, row in rows.items())


@pytest.fixture
def given(put):
    """Files of these sentences."""
    rng = np.random.default_rng(1)
    scores = {name: rng.normal(size=(6, 6, len(LABELS))) for name in ASKED}
    put("l.txt", "\n".join(LABELS) + "\n")
    put("r.toml", TOML)

    def write(*sent_ids: str) -> None:
        put("s.npz", {name: scores[name] for name in sent_ids})
        put("s.conllu", conllu(*sent_ids))

    write(*ASKED)
    return write


COMMANDS = (*("sample -k 2", "marginals", "convert -o o.npz", "decode --method mbr", "decode -k 2"),)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_the_masks_that_leave_no_tree(command: str, given, deptree) -> None:
    """Only `decode` advises to relax: no other can."""
    given("s1")
    name, *options = command.split()
    rules = RULES if name != "convert" else ("--rules", "misc")
    ran = deptree(name, *options, "s.npz", *READING, *rules)
    advice = ", or pass --relax" if name == "decode" else ""
    assert ran.code == 2
    assert ran.said[-1] == f"deptree: s.npz[s1] (s1): no tree obeys {MASKS}. Give one up{advice}."


@pytest.mark.parametrize("sent_id", OF_TREES)
@pytest.mark.parametrize("how", [(), ("-k", 2), ("--method", "mbr"), ("--jobs", 2)])
def test_what_only_trees_break_is_named(sent_id: str, how: tuple[object, ...], given, deptree) -> None:
    given(sent_id)
    ran = deptree("decode", "s.npz", *READING, *RULES, *how)
    assert ran.code == 2
    said = f"deptree: s.npz[{sent_id}] ({sent_id}): no tree obeys {OF_TREES[sent_id]}. Give one up, or pass --relax."
    assert ran.said[-1] == said


def test_skipped_sentences_are_named_with_their_conflicts(given, deptree) -> None:
    ran = deptree("decode", "s.npz", *READING, *RULES, "--on-error", "skip")
    assert ran.code == 1
    assert len([line for line in ran.said if "skipped: s.npz[" in line]) == 3
    assert ran.out.count(b"# sent_id") == 1


def test_relaxed_sentences_are_named_and_counted(given, done) -> None:
    """Exit status 0; one demand is enough each time, and comments name it."""
    ran = done("decode", "s.npz", *READING, *RULES, "--relax")
    comments = [line for line in ran.out.decode().splitlines() if line.startswith("# relaxed")]
    names = [line.partition(" = ")[2] for line in comments[::2]]
    assert comments[1::2] == ["# relaxed_fewest = yes"] * 3
    assert [name in OF_TREES.get(f"s{i}", MASKS) and ";" not in name for i, name in enumerate(names, 1)] == [True] * 3
    told = [f"deptree: relaxed: s.npz[s{i}] (s{i}): {name}" for i, name in enumerate(names, 1)]
    assert ran.said[-4:] == [*told, "deptree: 3 sentences relaxed"]
    assert "|relax:yes|" in ran.out.decode().splitlines()[0]
    assert not [line for line in done("decode", "s.npz", *READING, *RULES, "--relax", "-q").said if "relaxed" in line]


def test_json_has_what_is_given_up_or_null(given, done) -> None:
    rows = done("decode", "s.npz", *READING, *RULES, "--relax", "--format", "jsonl").rows
    assert rows[0]["relaxed"] is rows[0]["relaxed_fewest"] is None
    assert [len(row["relaxed"]) for row in rows[1:]] == [1, 1, 1]
    assert [row["relaxed_fewest"] for row in rows[1:]] == [True] * 3
    given("s0")
    rows = done("decode", "s.npz", *READING, *RULES, "--format", "jsonl").rows
    assert "relaxed" not in rows[0]


@pytest.mark.parametrize("method", ["mst", "mbr"])
def test_k_best_of_a_relaxed_sentence(method: str, given, done) -> None:
    """The first is the one that comes alone; distinct trees, the same bytes for any jobs."""
    command = ("decode", "s.npz", *READING, *RULES, "--relax", "--method", method, "--format", "jsonl", "-q")
    alone, several = done(*command).rows, done(*command, "-k", 3).rows
    assert [row["heads"] for row in several if row["sample"] == 1] == [row["heads"] for row in alone]
    assert len({(row["sent_id"], *row["heads"]) for row in several}) == len(several) > 6
    assert done(*command, "-k", 3).out == done(*command, "-k", 3, "--jobs", 2).out


def test_python_relaxes_as_the_command_does(given, done) -> None:
    options = {"labels": "l.txt", "preset": "head-dep,log", "rules": ["r.toml", "misc"]}
    asked = {"conllu": "s.conllu", **options}
    rows = done("decode", "s.npz", *READING, *RULES, "--relax", "--format", "jsonl").rows
    found = list(read("s.npz", relax=True, **asked))
    assert [each.given_up and list(each.given_up.names) for each in found] == [row["relaxed"] for row in rows]
    assert [each.constrained.best_trees()[0].heads.tolist() for each in found] == [row["heads"] for row in rows]
    with pytest.raises(DeptreeError, match=r"no tree obeys HeadIn of word 1 and .* or pass `relax=True`\.$"):
        list(read("s.npz", **asked))


def test_fixed_heads_are_not_given_up(given, done, put) -> None:
    """The fixed head stays, and what is asked against it goes."""
    given("s1")
    put("s.conllu", conllu("s1").replace("\t_\t_\t_\tHeadIn=2\n", "\t3\t_\t_\tHeadIn=2\n"))
    rows = done("decode", "s.npz", *READING, *RULES, "--fix-heads", "--relax", "--format", "jsonl").rows
    assert rows[0]["heads"][4] == 3
    assert len(rows[0]["relaxed"]) == 2
    assert "HeadIn of word 5" in rows[0]["relaxed"]


def test_a_budget_that_ends_says_that_fewer_may_be_enough(given, done) -> None:
    """With one maximum tree nobody knows whether the rule that its tree breaks is the fewest."""
    given("s2")
    ran = done("decode", "s.npz", *READING, *RULES, "--relax", "--budget", 1, "--format", "jsonl")
    assert ran.rows[0]["relaxed_fewest"] is False
    assert "(fewer may be enough: raise --budget)" in ran.err


def test_projective_trees_that_cannot_obey_advise_others(given, deptree, put) -> None:
    """Words 1 and 2 below 3 and 4, and 3 and 4 below 5, cross; without --projective they obey."""
    given("s0")
    put("c.tsv", "s0\t1\tHeadIn\t3\ns0\t2\tHeadIn\t4\n")
    ran = deptree("decode", "s.npz", *READING, "--rules", "c.tsv", "--projective")
    said = "no tree obeys HeadIn of word 1 and HeadIn of word 2 together. Give one up, or pass --relax, or leave out"
    assert f"{said} --projective." in ran.err
