"""Somebody else's trees."""

from __future__ import annotations

import pytest

from deptree_cli.io.samples import DrawnTree, read_samples


def sentence(heads: str, comments: str) -> str:
    rows = [f"{word}\tf\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1)]
    return comments + "".join(rows) + "\n"


@pytest.mark.parametrize("name", ["doc-1", "doc-1/sample_3", "doc-1/anna", "doc-1-sample_12"])
def test_conllu(name: str, scratch) -> None:
    path = scratch("a.conllu", sentence("20", f"# sent_id = {name}\n# tree_count = 5\n").encode())
    assert list(read_samples(path)) == [DrawnTree(name, (2, 0), 5, "a.conllu:1")]
    (tree,) = read_samples(path)
    assert tree.names[0] == name
    assert tree.names[-1] == "doc-1"


def test_only_the_last_part_of_a_name_is_the_sample(scratch) -> None:
    path = scratch("a", sentence("0", "# sent_id = a/b/sample_1\n").encode())
    (tree,) = read_samples(path)
    assert tree.names == ["a/b/sample_1", "a/b"]


def test_json_lines(scratch) -> None:
    path = scratch("a.txt", b'{"sent_id": "a/b", "heads": [2, 0]}\n\n{"sent_id": 7, "heads": [0], "count": 3}\n')
    assert list(read_samples(path)) == [DrawnTree("a/b", (2, 0), 1, "a.txt:1"), DrawnTree("7", (0,), 3, "a.txt:3")]


def test_what_others_say_of_their_trees_is_no_error(scratch) -> None:
    path = scratch("a", b'{"sent_id": "a", "heads": [0], "log_prob": 3.5, "tau": "x"}\n')
    (tree,) = read_samples(path)
    assert (tree.heads, tree.log_prob) == ((0,), 3.5)


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
        list(read_samples(path))
