"""Marginals as a long table, a row for each arc; and what JSON says of the axes of a matrix."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from tests.sample import DATA, LABELS, SCORES

GOLD = ("--conllu", DATA / "gold.conllu")
COLUMNS = ["sent_id", "word", "form", "head", "head_form", "prob"]


def table(ran) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(ran.out.decode()), delimiter="\t"))


@pytest.mark.parametrize("above", [0, 0.01, 0.5])
@pytest.mark.parametrize("options", [(), GOLD])
def test_rows_are_the_cells_of_the_matrix_above_p(done, above: float, options: tuple[object, ...]) -> None:
    given = ("marginals", *SCORES, "--projective", *options)
    matrices = done(*given, "--format", "jsonl").rows
    rows = done(*given, "--format", "jsonl", "--above", above).rows
    assert {tuple(row) for row in rows} == {tuple(COLUMNS)}
    found = [(row["sent_id"], row["word"], row["head"], row["prob"]) for row in rows]
    assert found == [
        (each["sent_id"], word, head, prob)
        for each in matrices
        for word, probs in enumerate(each["marginals"], 1)
        for head, prob in enumerate(probs)
        if prob > above
    ]


def test_tsv_has_the_same_rows_and_the_words(done) -> None:
    rows = done("marginals", *SCORES, *GOLD, "--format", "jsonl", "--above", 0.01).rows
    ran = done("marginals", *SCORES, *GOLD, "--tsv", "--above", 0.01)
    assert table(ran) == [{name: str(value) for name, value in row.items()} for row in rows]
    assert [row["form"] for row in rows[:3]] == ["She", "saw", "the"]
    assert [row["head_form"] for row in rows[:3]] == ["saw", "ROOT", "man"]
    assert len(table(done("marginals", *SCORES, "--tsv"))) > len(rows)


def test_labels_have_rows_of_their_own(done) -> None:
    (first, *_) = done("marginals", *SCORES, *LABELS).rows
    probs = np.array(first["marginals"])
    rows = [row for row in done("marginals", *SCORES, *LABELS, "--above", 0.2).rows if row["sent_id"] == "en-1"]
    assert len(rows) == (probs > 0.2).sum() > 5
    for row in rows:
        assert row["prob"] == probs[row["word"] - 1, row["head"], first["labels"].index(row["label"])]


LAYOUTS = [
    ("natasha", "dep-head", "first"),
    ("spacy", "dep-head", "diagonal"),
    ("torch-struct", "head-dep", "diagonal"),
]


@pytest.mark.parametrize(("preset", "orient", "root"), [*LAYOUTS, ("synjax", "head-dep", "first")])
@pytest.mark.parametrize("command", [("marginals",), ("marginals", "--projective"), ("expect", "--grad", "entropy")])
def test_json_says_what_the_axes_are(done, put, preset: str, orient: str, root: str, command: tuple[str, ...]) -> None:
    put("unrelated", b"")
    done("convert", *SCORES, "--to", preset, "-o", "own.npz")
    for row in done(*command, "own.npz").rows:
        assert (row["orient"], row["root"]) == (orient, root)


def test_a_mixture_says_so_too(done) -> None:
    for row in done("combine", DATA / "gold.conllu", DATA / "gold.conllu", "--json").rows:
        assert (row["orient"], row["root"]) == ("head-dep", "first")
