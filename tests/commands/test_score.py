"""``deptree score``: probabilities of given trees, whichever way they are named, beside the library's own."""

from __future__ import annotations

import json
from math import exp

import numpy as np
import pytest

from deptree_cli import read
from tests.oracle import Oracle
from tests.sample import DATA, SCORES


@pytest.mark.parametrize("fmt", ["conllu", "jsonl"])
def test_the_probabilities_of_samples(done, put, fmt: str) -> None:
    """Several trees of a sentence, named X/sample_3 or by X; the gap is that to the best tree."""
    drawn = done("sample", *SCORES, "--conllu", DATA / "sentences.conllu", "-k", 5, "--seed", 7, "--format", fmt)
    put("s", drawn.out)
    heads = done("sample", *SCORES, "-k", 5, "--seed", 7).rows
    rows = done("score", *SCORES[:1], "s", *SCORES[1:]).rows
    sentences = {each.id: each.distribution for each in read(str(SCORES[0]), preset="natasha")}
    for row, tree in zip(rows, heads, strict=True):
        name = tree["sent_id"]
        assert row["sent_id"].startswith(name)
        log_prob = sentences[name].log_prob(np.array(tree["heads"]))
        assert row["log_prob"] == pytest.approx(log_prob, abs=1e-12)
        assert row["prob"] == pytest.approx(exp(log_prob))
        assert row["gap"] == pytest.approx(sentences[name].log_prob(sentences[name].argmax()) - log_prob, abs=1e-12)


def test_trees_that_are_impossible_and_such_that_are_none(deptree, put) -> None:
    put("s.jsonl", '{"sent_id": "a", "scores": [[0, 1, 1], [0, 0, 1], [0, 0, 0]]}\n')
    trees = [("a", [0, 1]), ("a", [2, 0]), ("a", [2, 1]), ("b", [0, 1])]
    put("t.jsonl", "".join(json.dumps({"sent_id": name, "heads": heads}) + "\n" for name, heads in trees))
    ran = deptree("score", "s.jsonl", "t.jsonl", "--on-error", "skip")
    assert [(row["prob"], row["log_prob"], row["gap"]) for row in ran.rows] == [(1.0, 0.0, 0.0), (0.0, None, None)]
    assert ran.code == 1
    assert [line.split(": ")[2] for line in ran.said if "skipped: " in line] == ["t.jsonl:3 (a)", "t.jsonl:4 (b)"]


def test_labels_count_where_there_are_scores_of_them(done, put) -> None:
    """Against all labelled trees of the 3 words of en-4: its gold tree, one label unknown, one missing, none."""
    given = ("--labels", DATA / "labels.json", "--label-scores", DATA / "label_scores.npz")
    sentence = next(
        each
        for each in read(str(SCORES[0]), preset="natasha", labels=given[1], label_scores=str(given[3]))
        if each.id == "en-4"
    )
    labels, trees = sentence.distribution.labels, Oracle(sentence.distribution)
    of_all = [labels.of(tree) for tree in trees.trees]
    best = max(log_prob + of.max(axis=1).sum() for log_prob, of in zip(trees.log_probs, of_all, strict=True))
    names = [labels.names[number] for number in labels.best(np.array([[2, 0, 1]]))[0]]
    cases = [names, ["no-such", *names[1:]], [names[0], names[1], None], None]
    lines = [{"sent_id": "en-4", "heads": [2, 0, 1]} | ({"deprels": each} if each else {}) for each in cases]
    put("t.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    rows = done("score", SCORES[0], "t.jsonl", *SCORES[1:], *given).rows
    at = trees.trees.tolist().index([2, 0, 1])
    own = of_all[at].max(axis=1)
    assert [row["label_log_prob"] for row in rows] == pytest.approx([own.sum(), None, own[:2].sum(), 0.0], abs=1e-12)
    gap = best - trees.log_probs[at] - own.sum()
    assert [row["gap"] for row in rows] == pytest.approx([gap, None, gap, gap], abs=1e-12)
    assert gap > 0.1


def test_labels_that_are_too_few(deptree, put) -> None:
    put("t.jsonl", json.dumps({"sent_id": "en-4", "heads": [2, 0, 1], "deprels": ["root"]}) + "\n")
    ran = deptree("score", SCORES[0], "t.jsonl", *SCORES[1:])
    assert ran.code == 2
    assert "t.jsonl:1 (en-4): there are 3 heads and 1 label" in ran.err
