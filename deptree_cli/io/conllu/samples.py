"""Trees that somebody drew, to be audited or to estimate from: CoNLL-U or JSON Lines."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.json_lines import objects, sent_id_of
from deptree_cli.io.streams import lines_of, open_input

# What marks a sample of a sentence: /anything as in UD, or -sample_3, which strict validators prefer.
_MARKS = re.compile(r"/[^/]*$"), re.compile(r"-sample_\d+$")
_COUNT = "tree_count"

# Of one tree, so that those of a sentence add up within an int64.
_LARGEST_COUNT = 10**12

# How containers of arrays begin.
_BINARY = b"PK", b"\x93NUMPY", b"\x80", b"\x89HDF"


class SworNotes(NamedTuple):
    """What `deptree swor` writes beside a tree, and on a sentence's last tree on behalf of all.

    None is missing, NaN is no number.

    Attributes:
        log_prob: the logarithm of the tree's probability.
        rank, arrival, weight, weight_normalised: which tree it is, from 1, when it came, and what it counts for.
        tau: on the last tree: when the next would have come; infinite where all were drawn, and beyond all numbers.
        certain, since: on the last tree, of --mass: how many of the first trees reached it, and when the last of these
            came.
        mass: on the last tree: the probability of all.
    """

    log_prob: float | None = None
    rank: float | None = None
    arrival: float | None = None
    weight: float | None = None
    weight_normalised: float | None = None
    tau: float | None = None
    certain: float | None = None
    since: float | None = None
    mass: float | None = None


class DrawnTree(NamedTuple):
    """A tree drawn `times` times, as `sent_id` is named in the file; heads: n integers, 0 = ROOT.

    distinct: whether it was drawn without replacement, by `deptree swor`; labels: then, if two labelings of one tree
    may be two trees.
    """

    sent_id: str
    heads: tuple[int, ...]
    times: int
    place: str
    notes: SworNotes = SworNotes()
    distinct: bool = False
    labels: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """What its sentence may be called, likeliest first: its own name, or that without the mark of a sample."""
        return [self.sent_id, *(mark.sub("", self.sent_id) for mark in _MARKS if mark.search(self.sent_id))]


def read_samples(path: str) -> Iterator[DrawnTree | DeptreeError]:
    """The trees in a file, or with ``file:line`` what is not a tree of a named sentence; `-` is standard input.

    In CoNLL-U samples are usually named ``X/sample_3`` (`DrawnTree.names`), and a comment ``# tree_count = 5`` says how
    often the tree was drawn. In JSON Lines the fields are `sent_id`, `heads` and, unless it is 1, `count`.

    Raises:
        DeptreeError: reading cannot begin or go on.
    """
    with open_input(path) as file:
        if file.head.startswith(_BINARY):
            problem = "these are not samples in CoNLL-U or JSON Lines"
            raise DeptreeError(problem, "Give trees as CoNLL-U, or a line of JSON with sent_id and heads", place=path)
        json = file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))
        yield from (_from_jsonl if json else _from_conllu)(file.stream, file.place)


def _acyclic(tree: DrawnTree) -> DrawnTree:
    """The tree; raises unless every word has ROOT above it."""
    n = len(tree.heads)
    seen = [0] * (n + 1)  # the word from which a node was first reached; ROOT is above all
    for word in range(1, n + 1):
        node = word
        while node and not seen[node]:
            seen[node] = word
            node = tree.heads[node - 1]
        if node and seen[node] == word:
            problem = f"the heads are no tree: word {node} stands above itself"
            raise DeptreeError(problem, "Repair or leave out the sample", place=tree.place, sent_id=tree.sent_id)
    return tree


def _from_conllu(stream: BinaryIO, place: str) -> Iterator[DrawnTree | DeptreeError]:
    for block in read_blocks_or_errors(stream, place):
        try:
            yield block if isinstance(block, DeptreeError) else _acyclic(_of_block(block))
        except DeptreeError as error:
            yield error


def _of_block(block: Block) -> DrawnTree:
    sent_id = block.sent_id
    heads = tuple(head for head in block.heads if head is not None)
    if not sent_id:
        raise _nameless(block.place)
    if len(heads) < block.n:
        problem = f"word {block.heads.index(None) + 1} has no HEAD"
        raise DeptreeError(problem, "Every word of a sample needs one", place=block.place, sent_id=sent_id)
    notes = {field: block.comment(f"swor_{field}") for field in (*SworNotes._fields, "exhausted")}
    notes["log_prob"] = block.comment("tree_logprob")
    distinct = notes["weight"] is not None
    labels = tuple(block.deprels) if distinct and block.comment("label_logprob") is None else ()
    return DrawnTree(sent_id, heads, _count_in(block), block.place, _swor_notes(notes), distinct, labels)


def _count_in(block: Block) -> int:
    count = block.comment(_COUNT)
    if count is None:
        return 1
    if not re.fullmatch("[1-9][0-9]{0,17}", count):
        raise _miscounted(count, block.place, block.sent_id)
    return _checked_count(int(count), block.place, block.sent_id)


def _checked_count(count: Any, place: str, sent_id: str) -> int:
    if type(count) is not int or not 1 <= count <= _LARGEST_COUNT:
        raise _miscounted(count, place, sent_id)
    return count


def _from_jsonl(stream: BinaryIO, place: str) -> Iterator[DrawnTree | DeptreeError]:
    for here, value in objects(lines_of(stream, place), place):
        try:
            if isinstance(value, DeptreeError):
                yield value
            elif value.keys() != {"signature"}:  # our own --header
                yield _acyclic(_of_object(value, here))
        except DeptreeError as error:
            yield error


def _of_object(value: dict[str, Any], here: str) -> DrawnTree:
    sent_id = sent_id_of(value, here)
    if not sent_id:
        raise _nameless(here)
    count = _checked_count(value.get("count", 1), here, sent_id)
    heads = _heads(value.get("heads"), here, sent_id)
    notes, deprels = _swor_notes({**value, "rank": value.get("sample")}), value.get("deprels")
    distinct = {"arrival", "weight"} <= value.keys()
    labels: tuple[str, ...] = ()
    if distinct and "label_log_prob" not in value and isinstance(deprels, list):
        labels = tuple(map(str, deprels))
    return DrawnTree(sent_id, heads, count, here, notes, distinct, labels)


def _heads(heads: Any, place: str, sent_id: str) -> tuple[int, ...]:
    if not isinstance(heads, list) or not heads:
        problem = "the field heads is not a list of numbers"
        raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    for word, head in enumerate(heads, 1):
        if type(head) is not int or not 0 <= head <= len(heads):
            problem = f"the head of word {word} is {reprlib.repr(head)}, not 0 to {len(heads)}"
            raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    return tuple(heads)


def _swor_notes(found: Mapping[str, Any]) -> SworNotes:
    """What `deptree swor` notes on a tree, and on all with the last; NaN for what is no number."""
    notes = SworNotes(*map(_number, map(found.get, SworNotes._fields)))
    exhausted = found.get("exhausted")  # on the last tree only
    endless = exhausted in (True, "yes") or (exhausted in (False, "no") and notes.tau is None)
    return notes._replace(tau=math.inf) if endless else notes


def _number(value: Any) -> float | None:
    """A number, also from the text of a comment; NaN where there is something else."""
    if value is None:
        return None
    try:
        return float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return math.nan


def _nameless(place: str) -> DeptreeError:
    return DeptreeError("a sample without sent_id", "Name the sentence that it is a tree of", place=place)


def _miscounted(count: object, place: str, sent_id: str) -> DeptreeError:
    problem = f"the count is {reprlib.repr(count)}"
    return DeptreeError(problem, f"Give an integer from 1 to {_LARGEST_COUNT}", place=place, sent_id=sent_id)
