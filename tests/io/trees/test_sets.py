"""Given trees and their sentences, whichever side leads."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.sentence import Sentence, Side
from deptree_cli.io.trees import read_trees
from deptree_cli.io.trees.sets import TreeSet, read_sets, scored_trees, with_samples

LAYOUT = Layout()


def npz(**words: int) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **{name: np.ones((n + 1, n + 1)) for name, n in words.items()})
    return stream.getvalue()


def jsonl(**words: int) -> bytes:
    rows = ({"sent_id": name, "scores": np.ones((n + 1, n + 1)).tolist()} for name, n in words.items())
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def lines(*trees: tuple[str, list[int]]) -> bytes:
    return "".join(json.dumps({"sent_id": name, "heads": heads}) + "\n" for name, heads in trees).encode()


Led = Callable[[bytes, bytes], list[object]]


@pytest.fixture
def led_by_trees(scratch) -> Led:
    """Trees in their order: (sent_id of the record, heads of its trees), or an error as text."""

    def read(scores: bytes, trees: bytes) -> list[object]:
        source = ScoreSource(scratch("scores", scores))
        scored = Side(ScoreFiles(source).read(LAYOUT), "matrices", source.place)
        found = scored_trees(read_trees(scratch("trees", trees), named=False), scored, "trees")
        return [
            (each.sent_id, list(map(tuple, each.trees.heads.tolist()))) if isinstance(each, Sentence) else str(each)
            for each in found
        ]

    return read


@pytest.mark.parametrize("scores", [npz, jsonl])
def test_trees_lead(scores: Callable[..., bytes], led_by_trees: Led) -> None:
    trees = lines(("b/sample_1", [0]), ("b/sample_2", [0]), ("a-sample_1", [2, 0]), ("c/d", [0, 1]), ("c/d/1", [2, 0]))
    found = led_by_trees(scores(**{"a": 2, "b": 1, "c/d": 2, "unused": 5}), trees)
    assert found == [("b", [(0,), (0,)]), ("a", [(2, 0)]), ("c/d", [(0, 1), (2, 0)])]


def test_what_is_no_tree_of_a_sentence_is_an_error_of_its_own(led_by_trees: Led) -> None:
    trees = lines(("a", [0]), ("a", [1]), ("a", [0, 1]), ("x", [0]), ("x", [0]), ("a", [0]), ("b", [0]), ("a", [0]))
    found = led_by_trees(jsonl(a=1, b=1), trees)
    assert [each for each in found if isinstance(each, tuple)] == [("a", [(0,)]), ("a", [(0,)]), ("b", [(0,)])]
    cycle, longer, missing, again, late = [str(each) for each in found if isinstance(each, str)]
    assert cycle.startswith("trees:2 (a): not a tree")
    assert longer.startswith("trees:3 (a): 1 word at scores:1, but 2 here. Give the same sentences")
    assert missing.startswith("trees:4 (x): scores has no sentence with this id")
    assert again.startswith("trees:5 (x): scores has no sentence with this id")
    assert late.startswith("trees:8 (a): scores has no sentence with this id")


def test_trees_by_running_numbers_and_by_order(led_by_trees: Led) -> None:
    stream = io.BytesIO()
    for n in (1, 2):
        np.save(stream, np.ones((n + 1, n + 1)))
    numbers = lines(("2", [0, 1]), ("1", [0]))
    assert led_by_trees(stream.getvalue(), numbers) == [("2", [(0, 1)]), ("1", [(0,)])]
    nameless = b'{"heads": [0]}\n{"heads": [2, 0]}\n'
    for trees in (nameless, lines(("x", [0]), ("y", [2, 0]))):
        assert led_by_trees(stream.getvalue(), trees) == [("1", [(0,)]), ("2", [(2, 0)])]
    with pytest.raises(OutOfStep, match=r"scores: the number of matrices is 2, that of trees in trees is 1"):
        led_by_trees(stream.getvalue(), b'{"heads": [0]}\n')


def test_scores_lead(scratch) -> None:
    source = ScoreSource(scratch("scores", jsonl(a=1, b=2, c=1) + b'{"sent_id": "d", "scores": 7}\n'))
    trees = [("b/2", [2, 0]), ("d", [0]), ("a", [0]), ("x", [0]), ("b/1", [0, 1]), ("b", [2, 0]), ("a", [0, 1])]
    errors: list[DeptreeError] = []
    sentences = ScoreFiles(source).read(LAYOUT)
    found = with_samples(sentences, read_trees(scratch("trees", lines(*trees))), errors.append)
    assert [type(each) for each in found] == [Sentence] * 3 + [DeptreeError]
    counts = [
        (each.sent_id, each.trees.heads.tolist(), each.trees.times.tolist())
        for each in found
        if isinstance(each, Sentence)
    ]
    assert counts == [("a", [[0]], [1]), ("b", [[2, 0], [0, 1]], [2, 1]), ("c", [], [])]
    assert [str(each).split(". ")[0] for each in errors] == [
        "trees:4 (x): the scores do not have this sentence",
        "trees:7 (a): the tree has 2 words, its scores have 1",
    ]


def test_two_sentences_of_one_name(scratch, says) -> None:
    source = ScoreSource(scratch("scores", jsonl(a=1) * 2))
    with says("a: there are two sentences of this name"):
        with_samples(ScoreFiles(source).read(LAYOUT), [], lambda error: None)


def sets(path: str) -> list[object]:
    """Of each sentence its name and how many trees it has; errors without their remedies."""
    return [
        (each.sent_id, int(each.times.sum())) if isinstance(each, TreeSet) else str(each).split(". ")[0]
        for each in read_sets(path)
    ]


def conllu(name: str, head: str = "0", columns: int = 10) -> str:
    return f"# sent_id = {name}\n" + "\t".join(["1", "a", *["_"] * 4, head, *["_"] * (columns - 7)]) + "\n\n"


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (conllu("b", "77"), "HEAD is '77', not _ or 0 to 1"),
        (conllu("b", columns=11), "11 columns where a word has 10"),
        (conllu("b").replace("\t0\t_", "\t0\t\udcff"), "'\ufffd' is not UTF-8"),
    ],
)
def test_a_bad_sentence_of_conllu_is_an_error_of_its_own(scratch, bad: str, says: str) -> None:
    """It is called by its name, and the sentence in front of it stays."""
    path = scratch("t", (conllu("a") + bad + conllu("c")).encode("utf-8", "surrogateescape"))
    first, error, last = sets(path)
    assert (first, last) == (("a", 1), ("c", 1))
    assert str(error).startswith(("t:5 (b): ", "t:4 (b): "))
    assert says in str(error)


def test_a_bad_sample_of_conllu_is_an_error_of_its_sentence(scratch) -> None:
    """Whichever of the samples it is."""
    names = [f"{name}/sample_{number}" for name in "abc" for number in (1, 2, 3)]
    for bad in range(3, 6):
        found = sets(
            scratch("t", "".join(conllu(each, "0" if n != bad else "7") for n, each in enumerate(names)).encode())
        )
        assert found == [("a", 3), f"t:{3 * bad + 2} (b): HEAD is '7', not _ or 0 to 1", ("c", 3)]


def sampled(name: str, *numbers: int) -> list[str]:
    return [f'{{"sent_id": "{name}", "sample": {number}, "heads": [0]}}\n' for number in numbers]


@pytest.mark.parametrize("line", ["{\n", '{"sent_id": "b", "heads": [0\n'])
def test_a_line_that_is_not_json(scratch, line: str) -> None:
    """An error of its own between single trees; with samples of the sentence whose numbers go on there."""
    named = " (b)" if "b" in line else ""

    def found(*before_and_behind: list[str]) -> list[object]:
        texts = [line.join("".join(each) for each in before_and_behind)]
        return [
            each if isinstance(each, tuple) else str(each).split(": not")[0]
            for each in sets(scratch("t", texts[0].encode()))
        ]

    assert found(['{"sent_id": "a", "heads": [0]}\n'], ['{"sent_id": "c", "heads": [0]}\n']) == [
        ("a", 1),
        f"t:2{named}",
        ("c", 1),
    ]
    assert found(sampled("a", 1), sampled("c", 1)) == [("a", 1), f"t:2{named}", ("c", 1)]
    assert found(sampled("a", 1, 2), sampled("b", 2)) == [("a", 2), "t:3 (b)"]
    assert found(sampled("a", 1, 2) + sampled("b", 1), sampled("b", 3)) == [("a", 2), "t:4 (b)"]
    assert found(sampled("a", 1) + sampled("b", 1, 2), sampled("c", 1)) == [("a", 1), "t:4 (b)", ("c", 1)]
    assert found([], sampled("c", 1)) == [f"t:1{named}", ("c", 1)]
    assert found([], sampled("b", 2)) == ["t:1 (b)"]
