"""How every companion of the scores is paired: what the table in docs/scores.md says, and what follows from that."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.bitext.files import PairLayout, PairSource, with_links
from deptree_cli.commands.expect import features_of
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.read import sentences
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.sentence import Side
from deptree_cli.io.trees import read_trees
from deptree_cli.io.trees.sets import scored_trees, with_samples

DOCS = Path(__file__).parents[2] / "docs" / "scores.md"
LOG = Layout(scale="log")

# A name, None for none, and the number by which an item is known again.
Items = list[tuple[str | None, int]]
A, B, C, D = ("a", 1), ("b", 2), ("c", 3), ("d", 4)
AGAIN = ("a", 5)

# case -> the items that lead, and their companions
CASES: dict[str, tuple[Items, Items]] = {
    "same order": ([A, B, C], [A, B, C]),
    "reversed": ([A, B, C], [C, B, A]),
    "subset": ([A, B, C], [A, B]),
    "the first is missing": ([A, B, C], [B, C]),
    "superset": ([A, B, C], [A, B, C, D]),
    "no names": ([A, B, C], [(None, number) for _, number in (A, B, C)]),
    "duplicate names": ([A, AGAIN, B], [A, AGAIN, B]),
}

# (paired by, what becomes of the rest) -> what the leaders get in each of the cases: numbers, `!` for an error of one
# alone, `-` for nothing, or all are refused
OUTCOMES = {
    ("ids, else order", "ignored"): ["1 2 3", "1 2 3", "1 2 !", "! 2 3", "1 2 3", "1 2 3", "1 5 2"],
    ("ids, else order", "an error"): ["1 2 3", "1 2 3", "1 2 !", "! 2 3", "1 2 3 !", "1 2 3", "1 5 2"],
    ("ids of trees, else order", "ignored"): ["1 2 3", "1 2 3", "1 2 !", "! 2 3", "1 2 3", "1 2 3", "1 1 2"],
    ("order", "refused"): ["1 2 3", "3 2 1", "refused", "refused", "refused", "1 2 3", "1 5 2"],
    ("ids", "ignored"): ["1 2 3", "1 2 3", "1 2 !", "! 2 3", "1 2 3", "! ! !", "1 1 2"],  # an .npz has a name once
    ("ids", "refused"): ["1 2 3", "1 2 3", "1 2 -", "- 2 3", "refused", "refused", "refused"],
}


def table() -> dict[str, tuple[str, str]]:
    """The table of the docs: companion -> (paired by, what becomes of the rest)."""
    rows = [line.strip("| \n").split(" | ") for line in DOCS.read_text(encoding="utf-8").splitlines()]
    start = next(number for number, row in enumerate(rows) if row[:2] == ["companion", "leads"])
    found = {}
    for row in rows[start + 2 :]:
        if len(row) != 4:
            break
        found |= {name.strip("`"): (row[2], row[3]) for name in row[0].split("; ")}
    return found


def write(name: str, items: Items, row: Callable[[int], dict[str, Any]]) -> str:
    """Write JSON Lines."""
    lines = [json.dumps(({"sent_id": key} if key else {}) | row(number)) for key, number in items]
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return name


def scores(name: str, items: Items, shape: tuple[int, ...] = (3, 3)) -> str:
    """Write scores in the container that the suffix says; an .npz names what has no name arr_0, ..."""
    if name.endswith(".npz"):
        arrays = {key or f"arr_{at}": np.full(shape, float(number)) for at, (key, number) in enumerate(items)}
        np.savez(name, **arrays)  # type: ignore[arg-type]
        return name
    return write(name, items, lambda number: {"scores": np.full(shape, float(number)).tolist()})


def conllu(name: str, items: Items) -> str:
    rows = "1\t{0}" + "\t_" * 8 + "\n2\tw" + "\t_" * 8 + "\n\n"
    blocks = [(f"# sent_id = {key}\n" if key else "") + rows.format(number) for key, number in items]
    Path(name).write_text("".join(blocks))
    return name


def text(name: str, items: Items, line: str) -> str:
    Path(name).write_text("".join(f"{line.format(number)}\n" for _, number in items))
    return name


def seen(found: Iterable[Any], number: Callable[[Any], object]) -> str:
    return " ".join("!" if isinstance(each, DeptreeError) else str(int(number(each))) for each in found)  # type: ignore[call-overload]


def records(items: Items) -> Iterator[Any]:
    return beside(items)


def beside(items: Items, **companions: Any) -> Iterator[Any]:
    """The sentences of scores that lead."""
    return ScoreFiles(ScoreSource(scores("s.jsonl", items)), **companions).read(LOG)


def sentences_and_scores(leaders: Items, items: Items, kind: str = "jsonl") -> str:
    found = ScoreFiles(ScoreSource(scores(f"s.{kind}", items)), conllu("l.conllu", leaders)).read(LOG)
    return seen(found, lambda each: each.scores[0, 1])


def trees_and_scores(leaders: Items, items: Items) -> str:
    lead = sentences([conllu("l.conllu", leaders)])
    found = ScoreFiles(ScoreSource(scores("s.jsonl", items))).read(LOG, lead=lead)
    return seen(found, lambda each: each.scores[0, 1])


def gold(leaders: Items, items: Items) -> str:
    return seen(beside(leaders, gold=conllu("g.conllu", items)), lambda each: each.gold.column("form")[0])


def other(leaders: Items, items: Items, kind: str = "jsonl") -> str:
    found = beside(leaders, other=ScoreSource(scores(f"o.{kind}", items)))
    return seen(found, lambda each: each.companions["other"][0, 1])


def label_scores(leaders: Items, items: Items, kind: str = "jsonl") -> str:
    found = beside(leaders, label_scores=scores(f"l.{kind}", items, (3, 3, 2)))
    return seen(found, lambda each: each.labels[0, 1, 0])


def symmetric(leaders: Items, items: Items, kind: str = "jsonl") -> str:
    leading = scores("s.jsonl", [(key, 0) for key, _ in leaders])
    found = PairSource(leading, scores(f"r.{kind}", items)).read(PairLayout())
    return seen(found, lambda each: 2 * each.scores[0, 0])  # the mean with 0


def features(leaders: Items, items: Items) -> str:
    np.savez("f.npz", **{key or f"arr_{number}": np.full((3, 3, 1), float(number)) for key, number in reversed(items)})  # type: ignore[arg-type]

    def number(record: Any) -> object:
        return features_of(str(Path("f.npz").absolute()), record, LOG)[0, 1, 0]

    return " ".join(_or_error(number, record) for record in records(leaders))


def _or_error(number: Callable[[Any], object], record: Any) -> str:
    try:
        return seen([record], number)
    except DeptreeError:
        return "!"


def lengths(leaders: Items, items: Items) -> str:
    batch = io.BytesIO()
    np.save(batch, np.ones((len(leaders), 6, 6)))
    Path("s.npy").write_bytes(batch.getvalue())
    found = ScoreFiles(ScoreSource("s.npy"), lengths=text("l.txt", items, "{}")).read(LOG)
    return seen(found, lambda each: len(each.scores) - 1)


def words(leaders: Items, items: Items) -> str:
    found = PairSource(scores("s.jsonl", leaders), None, text("t.txt", items, "{} w w ||| x y z")).read(PairLayout())
    return seen(found, lambda each: each.source[0])


def links(leaders: Items, items: Items) -> str:
    pairs = PairSource(scores("s.jsonl", leaders, (6, 6))).read(PairLayout())
    return seen(with_links(pairs, [text("g.align", items, "0-{}")]), lambda pair: min(pair.known.sure)[1])


def samples(leaders: Items, items: Items) -> str:
    def stop(error: DeptreeError) -> None:
        raise error

    trees = write("t.jsonl", items, lambda number: {"heads": [2, 0], "count": number})
    found = with_samples(records(leaders), read_trees(trees), stop)
    return " ".join(str(each.trees.times.sum() or "-") for each in found)  # type: ignore[union-attr]


def given_trees(leaders: Items, items: Items) -> str:
    trees = read_trees(write("t.jsonl", leaders, lambda _: {"heads": [2, 0]}), named=False)
    found = scored_trees(trees, Side(records(items), "matrices"), "t.jsonl")
    each_tree = (
        each for group in found for each in [group] * (1 if isinstance(group, DeptreeError) else len(group.trees.heads))
    )
    return seen(each_tree, lambda each: each.scores[0, 1])


# companion, as the docs call it -> what its leaders get of it
COMPANIONS: dict[str, Callable[..., str]] = {
    "--conllu": sentences_and_scores,
    "deptree repair TREES --scores SCORES": trees_and_scores,
    "--gold": gold,
    "--other": other,
    "--label-scores": label_scores,
    "read_pairs(symmetric=)": symmetric,
    "--features": features,
    "--lengths": lengths,
    "--text": words,
    "bitext align --gold": links,
    "--samples": samples,
    "deptree score SCORES TREES": given_trees,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("companion", COMPANIONS)
def test_every_companion_is_paired_as_the_docs_say(companion: str, case: str, scratch: object) -> None:
    expected = OUTCOMES[table()[companion]][list(CASES).index(case)]
    try:
        found = COMPANIONS[companion](*CASES[case])
    except DeptreeError:
        found = "refused"
    assert found == expected


@pytest.mark.parametrize("case", [case for case in CASES if case != "duplicate names"])
@pytest.mark.parametrize("companion", ["--conllu", "--other", "--label-scores", "read_pairs(symmetric=)"])
def test_a_container_of_names_is_paired_alike(companion: str, case: str, scratch: object) -> None:
    """An .npz, whose arrays are loaded by name and which always has names."""
    expected = OUTCOMES[table()[companion]][list(CASES).index(case)]
    try:
        found = COMPANIONS[companion](*CASES[case], "npz")
    except DeptreeError:
        found = "refused"
    assert found == expected


def test_the_docs_have_every_companion() -> None:
    assert set(table()) == set(COMPANIONS)
