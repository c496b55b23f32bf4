"""Trees in JSON Lines: the fields `sent_id`, `heads`, if there are labels `deprels` and, unless it is 1, `count`."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.files.streams import lines_of
from deptree_cli.io.json_lines import objects, sent_id_of
from deptree_cli.io.trees.base import GivenTree, TreeFormat, checked_count, swor_notes


def _read(stream: BinaryIO, place: str) -> Iterator[GivenTree | DeptreeError]:
    for here, value in objects(lines_of(stream, place), place):
        try:
            if isinstance(value, DeptreeError):
                yield value
            elif value.keys() != {"signature"}:  # our own --header
                yield _tree(value, here)
        except DeptreeError as error:
            yield error


def _tree(value: dict[str, Any], here: str) -> GivenTree:
    sent_id = sent_id_of(value, here) or ""
    times = checked_count(value.get("count", 1), here, sent_id)
    heads = _heads(value.get("heads"), here, sent_id)
    notes = swor_notes({**value, "rank": value.get("sample")})
    labels = _labels(value.get("deprels"), heads, here, sent_id)
    distinct, label_draws = {"arrival", "weight"} <= value.keys(), "label_log_prob" in value
    tree = GivenTree(sent_id, heads, times, here, notes, distinct, labels, label_draws)
    tree.check_acyclic()
    return tree


def _heads(heads: Any, place: str, sent_id: str) -> tuple[int, ...]:
    if not isinstance(heads, list) or not heads:
        problem = "the field heads is not a list of numbers"
        raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    for word, head in enumerate(heads, 1):
        if type(head) is not int or not 0 <= head <= len(heads):
            problem = f"the head of word {word} is {reprlib.repr(head)}, not 0 to {len(heads)}"
            raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    return tuple(heads)


def _labels(deprels: Any, heads: tuple[int, ...], place: str, sent_id: str) -> tuple[str, ...]:
    """The labels, `_` for one that is null; none if there is no list of them."""
    if deprels is None:
        return ()
    if not isinstance(deprels, list):
        problem = f"the field deprels is {reprlib.repr(deprels)}, not a list"
        raise DeptreeError(problem, "Give one of deprels per word", place=place, sent_id=sent_id)
    if len(deprels) != len(heads):
        problem = f"there are {counted(len(heads), 'head')} and {counted(len(deprels), 'label')}"
        raise DeptreeError(problem, "Give one of deprels per word", place=place, sent_id=sent_id)
    return tuple("_" if name is None else str(name) for name in deprels)


def _matches(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


JSON_LINES = TreeFormat("jsonl", _matches, _read)
