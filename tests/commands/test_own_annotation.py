"""Labels, DEPS and empty nodes of the input: kept beside an unchanged tree, else a line on stderr when they go."""

from __future__ import annotations

import json

import pytest

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
REDUCED = (
    OWN.replace("= own", "= other")
    .replace("2:nsubj|4.1:nsubj", "_")
    .replace("0:root", "_")
    .replace("2\tobj\t2:obj", "2\tdep\t_")
    .replace("4.1:nsubj", "_")
    .replace("4.1\twon\t_\tVERB\t_\t_\t_\t_\t2:conj\tCopyOf=2\n", "")
)
SURE = [[0, -99, 0, -99, -99], [-99] * 5, [-99, 0, -99, 0, 0], [-99] * 5, [-99] * 5]
SCORES = ("s.jsonl", "--from", "synjax", "--conllu", "t.conllu", "--no-header")


@pytest.fixture
def sentences(put):
    put("s.jsonl", "".join(json.dumps({"sent_id": name, "scores": SURE}) + "\n" for name in ("own", "other")))
    put("t.conllu", OWN + OTHER)


COPIED = "deptree: labels are copied from the input where the head is unchanged: not predicted, so LAS means nothing"
REMOVED = [
    "deptree: DEPS are removed where the tree changed: they describe the old one",
    "deptree: empty nodes are removed where the tree changed",
]


def bare(data: bytes) -> str:
    """Sentences without what the commands note."""
    lines = data.decode().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("#") or line.startswith("# sent_id")]
    return "".join(line.partition("HeadProb=")[0] + "_\n" if "HeadProb=" in line else line for line in kept)


@pytest.mark.parametrize("how", [(), ("--method", "mbr"), ("--jobs", 2)], ids=str)
def test_a_sentence_keeps_all_with_its_own_tree(done, sentences, how):
    ran = done("decode", *SCORES, *how)
    assert bare(ran.out) == OWN + REDUCED
    assert ran.said == [COPIED, *REMOVED]
    assert done("decode", *SCORES, *how, "-q").err == ""


@pytest.mark.parametrize("size", [1, 300])
def test_many_trees_get_the_same_lines(done, sentences, size):
    ran = done("sample", *SCORES, "-k", size, "--seed", 7)
    assert ran.said == [COPIED, *REMOVED]
    assert ran.out.count(b"CopyOf=2") == size


def test_what_goes_on_request_or_stays_needs_no_line(done, sentences):
    assert done("decode", *SCORES, "--deps", "basic").said == [COPIED]
    kept = done("decode", *SCORES, "--deps", "keep")
    assert (kept.said, kept.out.count(b"CopyOf=2")) == ([COPIED], 2)
    assert done("decode", *SCORES[:-1], "--format", "jsonl").said == []


def test_labels_that_were_fixed_predicted_or_missing_are_not_copied(done, sentences, put):
    assert done("decode", *SCORES, "--fix-heads").said == []
    put("labels.json", '["nsubj", "root", "obj", "conj"]')
    label_scores = [[[0.0, 0.0, 1.0, 0.0]] * 5] * 5
    put("l.jsonl", "".join(json.dumps({"sent_id": name, "scores": label_scores}) + "\n" for name in ("own", "other")))
    assert done("decode", *SCORES, "--labels", "labels.json", "--label-scores", "l.jsonl").said == REMOVED
    put("t.conllu", (OWN + OTHER).replace("\tnsubj\t", "\t_\t").replace("\tconj\t", "\tdep\t"))
    assert done("decode", *SCORES).said == [COPIED, *REMOVED]
