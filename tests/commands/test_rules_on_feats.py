"""A rule that asks for FEATS asks every sentence of a file in which some word has them, wherever that word is."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli import read
from tests.commands.test_report import data_of

RULE = "goeswith-missing-typo"

# A word that is written as two, which its head says in a file with FEATS.
APART = "# sent_id = {}\n{}1\twith\t_\tNOUN\t_\t{}\t0\troot\t{}\t_\n2\tout\t_\tX\t_\t_\t1\tgoeswith\t_\t_\n\n"


def text(feats: str = "_", first: str = "", size: int = 5) -> str:
    """Sentences, of which the last but one may have FEATS, and lines in front of its words."""
    lines = [("", "_")] * (size - 2) + [(first, feats), ("", "_")]
    return "".join(APART.format(f"s{at}", *each, "_") for at, each in enumerate(lines))


EMPTY_NODE = "0.1\tand\t_\tCCONJ\t_\tFoo=Bar\t_\t_\t0:root\t_\n"
TOKEN = "1-2\twithout\t_\t_\t_\tTypo=Yes\t_\t_\t_\t_\n"
FILES = {
    "none": (text(), []),
    "others": (text("Case=Nom"), [0, 1, 2, 3, 4]),
    "its own": (text("Case=Nom|Typo=Yes"), [0, 1, 2, 4]),
    "an empty node": (text(first=EMPTY_NODE), [0, 1, 2, 3, 4]),
    "a multiword token": (text(first=TOKEN), []),
    "late": (text("Typo=Yes", size=600), [*range(598), 599]),
}


@pytest.mark.parametrize("name", FILES)
def test_check_lists_what_the_validator_lists(deptree, put, name: str) -> None:
    """That waits for the first FEATS; we look for them first: in files, packed or not, and in what comes by a pipe."""
    given, found = FILES[name]
    put("x.conllu", given)
    Path("x.conllu.gz").write_bytes(gzip.compress(given.encode()))
    ran = deptree("check", "x.conllu")
    assert [(row["rule"], row["sent_id"], row["head"]) for row in ran.rows] == [(RULE, f"s{at}", 1) for at in found]
    ways = ("x.conllu", "-j", 2), ("x.conllu.gz",)
    assert all(deptree("check", *way).out == ran.out for way in ways)
    assert deptree("check", "-", stdin=given.encode()).out == ran.out
    shards = [deptree("check", "x.conllu", "--shard", f"{number}/2", "-j", number).out for number in (1, 2)]
    assert sorted(b"".join(shards).splitlines()) == sorted(ran.out.splitlines())
    udtools = pytest.importorskip("udtools", reason="udtools is not installed")
    state = udtools.Validator(lang="ud", level=3, output=None).validate_file_handle(io.StringIO(given))
    theirs = {each.sentid for each in state.error_tracker if each.testid == RULE}
    assert theirs == {f"s{at}" for at in found}


def test_each_file_by_itself_whatever_its_columns(deptree, put) -> None:
    plus = "# global.columns = ID FEATS UPOS HEAD DEPREL\n"
    rows = "# sent_id = {}\n1\t{}\tNOUN\t0\troot\n2\t_\tX\t1\tgoeswith\n\n"
    put("with.conllup", plus + rows.format("a", "_") + rows.format("b", "Typo=Yes"))
    put("marked.conllu", "\ufeff" + text()[len("# sent_id = s0\n") :].replace("NOUN\t_\t_", "NOUN\t_\tTypo=Yes", 1))
    assert len(deptree("check", "marked.conllu").rows) == 4
    put("without.conllup", plus + rows.format("c", "_") + rows.format("d", "_"))
    put("no.conllup", plus.replace(" FEATS", "") + rows.format("e", "_").replace("\t_\t", "\t"))
    ran = deptree("check", "with.conllup", "without.conllup", "no.conllup")
    assert [row["sent_id"] for row in ran.rows] == ["a"]


@pytest.fixture
def scores(put) -> tuple[str, ...]:
    """Scores of five such sentences, for which goeswith is the best label, and what reads them."""
    label_scores = np.zeros((3, 3, 3))
    label_scores[..., 1] = 2
    np.savez("scores.npz", **{f"s{at}": np.zeros((3, 3)) for at in range(5)})
    np.savez("labels.npz", **{f"s{at}": label_scores for at in range(5)})
    put("labels.json", json.dumps(["root", "goeswith", "dep"]))
    labels = "--labels", "labels.json", "--label-scores", "labels.npz"
    return ("scores.npz", "--from", "head-dep,log", *labels, "--conllu", "x.conllu", "--rules", "ud")


@pytest.mark.parametrize("feats", ["_", "Case=Nom"])
def test_every_command_with_rules(done, put, scores, feats: str) -> None:
    """What is decoded, sampled or repaired has no such words where check would list them."""
    put("x.conllu", text(feats))
    allowed = feats == "_"
    for command in (("decode",), ("sample", "-k", 20, "--seed", 1), ("repair",)):
        how = ("x.conllu", "-q") if command == ("repair",) else scores
        assert (b"\tgoeswith\t" in done(*command, *how).out) == allowed
    (sentence, *_) = read(
        "scores.npz", "x.conllu", preset="head-dep,log", labels="labels.json", label_scores="labels.npz", rules="ud"
    )
    right = 1 + np.exp(2) * allowed  # the weight of an arc from word 1 to 2; that from 2 to 1 is never goeswith
    assert sentence.distribution.marginals()[1, 2] == pytest.approx(right / (right + 1))
    rows = done("marginals", *scores, "--format", "jsonl").rows
    assert {row["marginals"][1][2][1] > 0 for row in rows} == {allowed}
    assert data_of(done("report", *scores).out)["broken"] == [[] if allowed else [[RULE, 2]]] * 5


def test_trees_are_the_same_by_any_workers_and_shards(done, put, scores) -> None:
    put("x.conllu", text("Case=Nom"))
    for command in (("decode",), ("sample", "-k", 3, "--seed", 1)):
        args = (*command, *scores, "--format", "jsonl")
        whole = done(*args).out
        assert done(*args, "-j", 2).out == whole
        parts = [done(*args, "--shard", f"{number}/2").out for number in (1, 2)]
        assert sorted(b"".join(parts).splitlines()) == sorted(whole.splitlines())
