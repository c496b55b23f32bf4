"""Sentences that are worked on together: the bytes are those of each by itself, whatever stands between them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from deptree_cli.io.scores import records
from tests.sample import DATA

SEED = ("--seed", 7)

COMMANDS: list[tuple[Any, ...]] = [
    ("sample", *SEED),
    ("sample", "-k", 3, *SEED, "--multi-root", "--format", "conllu"),
    ("sample", "-k", 2, *SEED, "--temperature", 0.5, "--format", "npy"),
    ("decode",),
    ("decode", "--format", "conllu", "--multi-root"),
    ("decode", "--format", "npy"),
    ("marginals",),
    ("marginals", "--format", "npy"),
    ("marginals", "--format", "conllu"),
    ("partition",),
    ("partition", "--tsv", "--multi-root"),
    ("doubt", "--rank", "entropy"),
    ("doubt", "--rank", "tree-prob", "--conllu", "trees.conllu"),
    ("doubt", "--rank", "margin", "--conllu", "trees.conllu", "--multi-root", "--format", "conllu"),
    ("doubt", "--conllu", "trees.conllu", "--projective"),
    ("expect entropy",),
    ("expect entropy", "--tsv", "--projective"),
    ("score", "trees.conllu"),
    ("report", "--top", 7, "-o", "page.html"),
    ("report", "--conllu", "trees.conllu", "--gold", "trees.conllu", "-o", "page.html"),
    ("report", "--conllu", "trees.conllu", "--projective", "-o", "page.html"),
    ("inspect",),
    ("inspect", "--gold", "trees.conllu"),
    ("inspect", "--conllu", "trees.conllu", "--multi-root"),
    ("score", "trees.conllu", "--projective", "--tsv"),
]


@pytest.fixture(scope="module")
def lines() -> str:
    """Sentences of all kinds: plain ones, with forbidden arcs, of one word, peaked, of huge scores, without a tree, no
    sentences at all; some names twice."""
    rng = np.random.default_rng(3)
    written = []
    for number in range(40):
        n = 1 + number % 9
        scores = rng.normal(size=(n + 1, n + 1)) * (60 if number % 7 == 3 else 2)
        if number % 7 == 5:
            scores[0, 1:] += 1e6
        rows: Any = scores.tolist()
        if number % 7 == 1:
            rows[0][-1] = rows[-1][0] = None
        row = {"sent_id": f"s{number % 30}", "scores": rows, "forms": [f"w{word}" for word in range(n)]}
        written.append(json.dumps(row))
    written[11] = json.dumps({"sent_id": "treeless", "scores": [[None] * 3] * 3, "forms": ["a", "b"]})
    written[17] = json.dumps({"sent_id": "not numbers", "scores": [[0, "1"], [1, 0]], "forms": ["a"]})
    written[23] = "no JSON"
    return "\n".join(written) + "\n"


def trees_of(lines: str) -> str:
    """Annotated trees of these sentences, and heads that are none: cycles, and words without a head."""
    sentences = []
    for number, line in enumerate(lines.splitlines()):
        row = json.loads(line) if line.startswith("{") else {"sent_id": "none", "forms": ["a"]}
        heads: list[Any] = [(number + word) % (word + 1) for word in range(len(row["forms"]))]
        if number % 5 == 2:
            heads[-1] = "_"
        words = zip(row["forms"], heads, strict=True)
        rows = "".join(f"{at}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for at, (form, head) in enumerate(words, 1))
        sentences.append(f"# sent_id = {row['sent_id']}\n{rows}\n")
    return "".join(sentences)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda args: " ".join(map(str, args)))
def test_bytes_are_those_of_each_alone(deptree, monkeypatch, tmp_path, lines, command):
    (tmp_path / "scores.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "trees.conllu").write_text(trees_of(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    name, *options = command

    def ran(*more: object) -> Any:
        found = deptree(*name.split(), "scores.jsonl", "--from", "head-dep,log", *options, *more)
        page = tmp_path / "page.html"
        return replace(found, out=found.out + (page.read_bytes() if page.exists() else b""))

    skipping = ran("--on-error", "skip"), ran(), ran("--on-error", "skip", "--shard", "2/3")
    monkeypatch.setattr(records.Interpretation, "batch", lambda how, read: None)
    assert skipping == (ran("--on-error", "skip"), ran(), ran("--on-error", "skip", "--shard", "2/3"))
    assert skipping[0].code == 1
    assert skipping[1].code == 2


def test_many_sentences_are_worked_on_together(deptree, monkeypatch):
    """That the test above compares two ways."""
    sizes, batch = [], records.Interpretation.batch

    def counted(how: Any, read: Any) -> Any:
        sizes.append(len(read))
        return batch(how, read)

    monkeypatch.setattr(records.Interpretation, "batch", counted)
    assert deptree("partition", DATA / "scores.jsonl", "--from", "natasha").code == 0
    assert sizes == [1, 2, 4, 1]
