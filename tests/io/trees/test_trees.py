"""Somebody else's trees."""

from __future__ import annotations

import json
import math

import pytest

from deptree_cli.commands.estimate import DrawnTrees, read_draws
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.trees import GivenTree, read_trees


def sentence(heads: str, comments: str) -> str:
    rows = [f"{word}\tf\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1)]
    return comments + "".join(rows) + "\n"


@pytest.mark.parametrize("name", ["doc-1", "doc-1/sample_3", "doc-1/anna", "doc-1-sample_12"])
def test_conllu(name: str, scratch) -> None:
    path = scratch("a.conllu", sentence("20", f"# sent_id = {name}\n# tree_count = 5\n").encode())
    assert list(read_trees(path)) == [GivenTree(name, (2, 0), 5, "a.conllu:1")]
    (tree,) = read_trees(path)
    assert tree.names[0] == name
    assert tree.names[-1] == "doc-1"


def test_only_the_last_part_of_a_name_is_the_sample(scratch) -> None:
    path = scratch("a", sentence("0", "# sent_id = a/b/sample_1\n").encode())
    (tree,) = read_trees(path)
    assert tree.names == ["a/b/sample_1", "a/b"]


def test_json_lines(scratch) -> None:
    path = scratch("a.txt", b'{"sent_id": "a/b", "heads": [2, 0]}\n\n{"sent_id": 7, "heads": [0], "count": 3}\n')
    assert list(read_trees(path)) == [GivenTree("a/b", (2, 0), 1, "a.txt:1"), GivenTree("7", (0,), 3, "a.txt:3")]


def test_what_others_say_of_their_trees_is_no_error(scratch) -> None:
    path = scratch("a", b'{"sent_id": "a", "heads": [0], "log_prob": 3.5, "tau": "x"}\n')
    (tree,) = read_trees(path)
    assert (tree.heads, tree.notes.log_prob, tree.distinct) == ((0,), 3.5, False)


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (sentence("20", "# text = a\n"), ["a:1", "without sent_id"]),
        (sentence("0_", "# sent_id = s\n"), ["a:1 (s)", "word 2 has no HEAD"]),
        (sentence("09", "# sent_id = s\n"), ["a:3", "HEAD is '9'"]),
        (sentence("0", "# sent_id = s\n# tree_count = many\n"), ["a:1 (s)", "the count is 'many'"]),
        (sentence("0", "# sent_id = s\n# tree_count = 0\n"), ["the count is '0'"]),
        ('{"heads": [0]}', ["a:1", "without sent_id"]),
        ('{"sent_id": "s"}', ["a:1 (s)", "heads is not a list"]),
        ('{"sent_id": "s", "heads": []}', ["heads is not a list"]),
        ('{"sent_id": "s", "heads": [0, 3]}', ["the head of word 2 is 3, not 0 to 2"]),
        ('{"sent_id": "s", "heads": [0, "1"]}', ["the head of word 2 is '1'"]),
        ('{"sent_id": "s", "heads": [false]}', ["the head of word 1 is False"]),
        ('{"sent_id": "s", "heads": [0], "count": 0.5}', ["the count is 0.5"]),
        ('{"sent_id": "s", "heads": [0]}\n{"sent_id": ', ["a:2", "not JSON"]),
    ],
)
def test_what_is_not_a_sample(data: str, parts: list[str], scratch, says) -> None:
    path = scratch("a", data.encode())
    with says(*parts):
        raise next(each for each in read_trees(path) if isinstance(each, DeptreeError))


def drawn(sent_id: str, *heads: list[int], tau: float | None = 2.0, **last: object) -> str:
    """Trees of a sentence as `deptree swor` writes them, the time of the next with the last."""
    rows = [{"sent_id": sent_id, "heads": each, "log_prob": 0.0 if tau is None else -1.5} for each in heads]
    rows[-1] |= {"tau": tau, "exhausted": tau is None, **last}
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_draws_come_sentence_by_sentence(scratch) -> None:
    path = scratch("d", (drawn("a", [2, 0], [0, 1]) + drawn("b", [0], tau=None) + drawn("a", [0, 1])).encode())
    first, second, third = read_draws(path)
    assert [(each.sent_id, each.heads.tolist(), each.tau, each.place) for each in (first, second, third)] == [
        ("a", [[2, 0], [0, 1]], 2.0, "d:1"),
        ("b", [[0]], math.inf, "d:3"),
        ("a", [[0, 1]], 2.0, "d:4"),
    ]
    assert first.log_probs.tolist() == [-1.5, -1.5]


def test_samples_of_a_sentence_are_its_draws(scratch) -> None:
    text = sentence("20", "# sent_id = a/sample_1\n# tree_logprob = -0.5\n")
    text += sentence("01", "# sent_id = a/sample_2\n# tree_logprob = -1.5\n# swor_tau = 3\n# swor_exhausted = no\n")
    (only,) = read_draws(scratch("d.conllu", text.encode()))
    assert (only.sent_id, only.heads.tolist(), only.tau) == ("a", [[2, 0], [0, 1]], 3.0)


def test_what_is_wrong_with_a_sentence_is_handed_on_and_the_next_is_read(scratch) -> None:
    """One without its last tree, before another and at the end; one whose numbers are none."""
    broken = json.dumps({"sent_id": "b", "heads": [0], "log_prob": -1.5}) + "\n"
    text = drawn("a", [0]) + broken + drawn("c", [0]) + drawn("d", [0], log_prob=None) + drawn("e", [0]) + broken
    found = list(read_draws(scratch("x", text.encode())))
    assert [each.sent_id for each in found if isinstance(each, DrawnTrees)] == ["a", "c", "e"]
    assert [(index, str(each).split(".")[0]) for index, each in enumerate(found) if isinstance(each, DeptreeError)] == [
        (1, "x:2 (b): the sentence's last tree, which carries tau, is missing"),
        (3, "x:4 (d): log_prob is missing"),
        (5, "x:6 (b): the sentence's last tree, which carries tau, is missing"),
    ]


def test_what_cannot_be_read_leaves_the_next_sentence_alone(scratch) -> None:
    """By the numbers of trees in a line that names no sentence, and by names in CoNLL-U."""
    path = scratch("x", (drawn("a", [0], sample=1) + "{\n" + drawn("c", [0], sample=1) + "{\n").encode())
    assert [each.sent_id for each in read_draws(path)] == ["a", "", "c", ""]
    path = scratch("x", (drawn("a", [0], sample=1) + "{\n" + drawn("b", [0], sample=2)).encode())
    assert [isinstance(each, DrawnTrees) for each in read_draws(path)] == [True, False]
    rest = "# tree_logprob = -1.5\n# swor_tau = 2\n# swor_exhausted = no\n"
    text = "".join(
        sentence(head, f"# sent_id = {name}/sample_1\n{rest}") for name, head in zip("abc", "070", strict=True)
    )
    first, error, last = read_draws(scratch("d.conllu", text.encode()))
    assert [each.sent_id for each in (first, error, last)] == ["a", "b/sample_1", "c"]
    assert isinstance(error, DeptreeError)


def test_labels_that_are_no_list(scratch) -> None:
    path = scratch("t.jsonl", b'{"sent_id": "a", "heads": [0], "deprels": "root"}\n')
    (error,) = read_trees(path)
    assert isinstance(error, DeptreeError)
    assert "field deprels is 'root', not a list" in str(error)
