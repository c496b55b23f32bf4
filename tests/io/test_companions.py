"""How every companion of the scores is paired: what the table in docs/scores.md says, and what follows from that."""

from __future__ import annotations

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
from tests.tree_files import word

DOCS = Path(__file__).parents[2] / "docs" / "scores.md"
LOG, PAIRS = Layout(scale="log"), PairLayout()

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
    lines = [json.dumps(({"sent_id": key} if key else {}) | row(number)) for key, number in items]
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return name


def scores(name: str, items: Items, shape: tuple[int, ...] = (3, 3)) -> str:
    """Write scores in the container that the suffix says; an .npz names what has no name arr_0, ..."""
    if name.endswith(".npz"):
        np.savez(name, **{key or f"arr_{at}": np.full(shape, float(number)) for at, (key, number) in enumerate(items)})
        return name
    return write(name, items, lambda number: {"scores": np.full(shape, float(number)).tolist()})


def conllu(name: str, items: Items) -> str:
    blocks = [
        (f"# sent_id = {key}\n" * bool(key)) + word(1, str(number), "_") + word(2, "w", "_") for key, number in items
    ]
    Path(name).write_text("".join(f"{block}\n" for block in blocks))
    return name


def text(name: str, items: Items, line: str) -> str:
    Path(name).write_text("".join(f"{line.format(number)}\n" for _, number in items))
    return name


def leading(items: Items, **companions: Any) -> Iterator[Any]:
    return ScoreFiles(ScoreSource(scores("s.jsonl", items)), **companions).read(LOG)


def samples(leaders: Items, items: Items, kind: str) -> Iterator[Any]:
    def stop(error: DeptreeError) -> None:
        raise error

    trees = read_trees(write("t.jsonl", items, lambda number: {"heads": [2, 0], "count": number}))
    return (each.trees.times.sum() or "-" for each in with_samples(leading(leaders), trees, stop))


def scored(leaders: Items, items: Items, kind: str) -> Iterator[Any]:
    trees = read_trees(write("t.jsonl", leaders, lambda _: {"heads": [2, 0]}), named=False)
    for group in scored_trees(trees, Side(leading(items), "matrices"), "t.jsonl"):
        bad = isinstance(group, DeptreeError)
        yield from [group] if bad else [group.scores[0, 1]] * len(group.trees.heads)


def features(leaders: Items, items: Items, kind: str) -> Iterator[Any]:
    np.savez("f.npz", **{key or f"arr_{n}": np.full((3, 3, 1), float(n)) for key, n in reversed(items)})
    for record in leading(leaders):
        try:
            yield features_of(str(Path("f.npz").absolute()), record, LOG)[0, 1, 0]
        except DeptreeError as error:
            yield error


def lengths(leaders: Items, items: Items, kind: str) -> Iterator[Any]:
    np.save("s.npy", np.ones((len(leaders), 6, 6)))
    return ScoreFiles(ScoreSource("s.npy"), lengths=text("l.txt", items, "{}")).read(LOG)


def with_pairs(leaders: Items, items: Items, kind: str) -> Iterator[Any]:
    pairs = PairSource(scores("s.jsonl", leaders, (6, 6))).read(PAIRS)
    return with_links(pairs, [text("g.align", items, "0-{}")])


# A companion, as the docs call it -> what its leaders get of it, of a container of the kind, and the number in that.
COMPANIONS: dict[str, tuple[Callable[[Items, Items, str], Iterable[Any]], Callable[[Any], Any]]] = {
    "--conllu": (
        lambda a, b, kind: ScoreFiles(ScoreSource(scores(f"s.{kind}", b)), conllu("l.conllu", a)).read(LOG),
        lambda each: each.scores[0, 1],
    ),
    "deptree repair TREES --scores SCORES": (
        lambda a, b, _: ScoreFiles(ScoreSource(scores("s.jsonl", b))).read(
            LOG, lead=sentences([conllu("l.conllu", a)])
        ),
        lambda each: each.scores[0, 1],
    ),
    "--gold": (lambda a, b, _: leading(a, gold=conllu("g.conllu", b)), lambda each: each.gold.column("form")[0]),
    "--other": (
        lambda a, b, kind: leading(a, other=ScoreSource(scores(f"o.{kind}", b))),
        lambda each: each.companions["other"][0, 1],
    ),
    "--label-scores": (
        lambda a, b, kind: leading(a, label_scores=scores(f"l.{kind}", b, (3, 3, 2))),
        lambda each: each.labels[0, 1, 0],
    ),
    "read_pairs(symmetric=)": (
        lambda a, b, kind: PairSource(scores("s.jsonl", [(key, 0) for key, _ in a]), scores(f"r.{kind}", b)).read(
            PAIRS
        ),
        lambda each: 2 * each.scores[0, 0],  # the mean with 0
    ),
    "--features": (features, int),
    "--lengths": (lengths, lambda each: len(each.scores) - 1),
    "--text": (
        lambda a, b, _: PairSource(scores("s.jsonl", a), None, text("t.txt", b, "{} w w ||| x y z")).read(PAIRS),
        lambda each: each.source[0],
    ),
    "bitext align --gold": (with_pairs, lambda each: min(each.known.sure)[1]),
    "--samples": (samples, str),
    "deptree score SCORES TREES": (scored, int),
}
IN_NPZ = ["--conllu", "--other", "--label-scores", "read_pairs(symmetric=)"]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("companion", "kind"), [*((each, "jsonl") for each in COMPANIONS), *((each, "npz") for each in IN_NPZ)]
)
def test_every_companion_is_paired_as_the_docs_say(companion: str, kind: str, case: str, scratch) -> None:
    """Also of an .npz, whose arrays are loaded by name and which always has names, none of them twice."""
    if kind == "npz" and case == "duplicate names":
        return
    read, number = COMPANIONS[companion]
    try:
        found = [each if isinstance(each, DeptreeError) else number(each) for each in read(*CASES[case], kind)]
        seen = " ".join("!" if isinstance(each, DeptreeError) else str(each).removesuffix(".0") for each in found)
    except DeptreeError:
        seen = "refused"
    assert seen == OUTCOMES[table()[companion]][list(CASES).index(case)]


def test_the_docs_have_every_companion() -> None:
    assert set(table()) == set(COMPANIONS)
