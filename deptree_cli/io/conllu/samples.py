"""Trees that somebody drew, to be audited or to estimate from: CoNLL-U or JSON Lines."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.swor.draws import window_of
from deptree_cli.io.conllu.blocks import Block, read_blocks
from deptree_cli.io.json_lines import objects, sent_id_of
from deptree_cli.io.streams import lines_of, open_input

# What marks a sample of a sentence: /anything as in UD, or -sample_3, which strict validators prefer.
_MARKS = re.compile(r"/[^/]*$"), re.compile(r"-sample_\d+$")
_COUNT = "tree_count"

# Of one tree, so that those of a sentence add up within an int64.
_LARGEST_COUNT = 10**12

# How containers of arrays begin.
_BINARY = b"PK", b"\x93NUMPY", b"\x80", b"\x89HDF"


class DrawnTree(NamedTuple):
    """A tree drawn `times` times, as `sent_id` is named in the file; heads: n integers, 0 = ROOT.

    Of `deptree swor`: the tree's log_prob, and on a sentence's last tree `tau`, infinite where all were drawn, and with
    --mass how many of the first trees are `certain` and since when the others were waited for.
    """

    sent_id: str
    heads: tuple[int, ...]
    times: int
    place: str
    log_prob: float | None = None
    tau: float | None = None
    certain: float | None = None
    since: float | None = None

    @property
    def names(self) -> list[str]:
        """What its sentence may be called, likeliest first: its own name, or that without the mark of a sample."""
        return [self.sent_id, *(mark.sub("", self.sent_id) for mark in _MARKS if mark.search(self.sent_id))]


def read_samples(path: str) -> Iterator[DrawnTree]:
    """The trees in a file; `-` is standard input.

    In CoNLL-U samples are usually named ``X/sample_3`` (`DrawnTree.names`), and a comment ``# tree_count = 5`` says how
    often the tree was drawn. In JSON Lines the fields are `sent_id`, `heads` and, unless it is 1, `count`.

    Raises:
        DeptreeError: with ``file:line``, where something is not a tree of a named sentence.
    """
    with open_input(path) as file:
        if file.head.startswith(_BINARY):
            problem = "these are not samples in CoNLL-U or JSON Lines"
            raise DeptreeError(problem, "Give trees as CoNLL-U, or a line of JSON with sent_id and heads", place=path)
        json = file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))
        for tree in (_from_jsonl if json else _from_conllu)(file.stream, file.place):
            _check_acyclic(tree)
            yield tree


def _check_acyclic(tree: DrawnTree) -> None:
    """Raise unless every word has ROOT above it."""
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


def _from_conllu(stream: BinaryIO, place: str) -> Iterator[DrawnTree]:
    for block in read_blocks(stream, place):
        sent_id = block.sent_id
        heads = tuple(head for head in block.heads if head is not None)
        if not sent_id:
            raise _nameless(block.place)
        if len(heads) < block.n:
            problem = f"word {block.heads.index(None) + 1} has no HEAD"
            raise DeptreeError(problem, "Every word of a sample needs one", place=block.place, sent_id=sent_id)
        notes = {"log_prob": block.comment("tree_logprob"), "tau": block.comment("swor_tau")}
        notes |= {field: block.comment(f"swor_{field}") for field in ("exhausted", "certain", "since")}
        yield DrawnTree(sent_id, heads, _count_in(block), block.place, *_draw_notes(notes))


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


def _from_jsonl(stream: BinaryIO, place: str) -> Iterator[DrawnTree]:
    for here, value in objects(lines_of(stream, place), place):
        if isinstance(value, DeptreeError):
            raise value
        if value.keys() == {"signature"}:  # our own --header
            continue
        sent_id = sent_id_of(value, here)
        if not sent_id:
            raise _nameless(here)
        count = _checked_count(value.get("count", 1), here, sent_id)
        heads = _heads(value.get("heads"), here, sent_id)
        yield DrawnTree(sent_id, heads, count, here, *_draw_notes(value))


def _heads(heads: Any, place: str, sent_id: str) -> tuple[int, ...]:
    if not isinstance(heads, list) or not heads:
        problem = "the field heads is not a list of numbers"
        raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    for word, head in enumerate(heads, 1):
        if type(head) is not int or not 0 <= head <= len(heads):
            problem = f"the head of word {word} is {reprlib.repr(head)}, not 0 to {len(heads)}"
            raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    return tuple(heads)


def _draw_notes(notes: Mapping[str, Any]) -> tuple[float | None, ...]:
    """What `deptree swor` notes on a tree, and on all with the last; NaN for what is no number."""
    tau = math.inf if notes.get("exhausted") in (True, "yes") else _number(notes.get("tau"))
    return _number(notes.get("log_prob")), tau, _number(notes.get("certain")), _number(notes.get("since"))


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


# Trees come at the rate 1, all together; the square of a weight, at most of 1 / tau, must be a number.
_SHORTEST = 1e-100

_REMEDY = "Give the whole output of deptree swor, JSON Lines or CoNLL-U"


class DrawnTrees(NamedTuple):
    """All distinct trees drawn of one sentence: heads (k, n), log_probs (k,), and what else `estimate` needs.

    tau: when the next would have come; certain: how many of the first reached the mass that was asked for; window: the
    time from the last of these to tau.
    """

    sent_id: str
    heads: Heads
    log_probs: Float
    tau: float
    place: str
    certain: int
    window: float
    notice: str = ""


def read_draws(path: str) -> Iterator[DrawnTrees | DeptreeError]:
    """The output of `deptree swor`, sentence by sentence, or with ``file:line`` what is wrong with a sentence's trees.

    Raises:
        DeptreeError: with ``file:line``, where something is not a tree of a named sentence.
    """
    trees: list[DrawnTree] = []
    for tree in read_samples(path):
        if trees and _of(tree) != _of(trees[0]):
            yield _broken_off(trees)
            trees = []
        trees.append(tree)
        if tree.tau is not None:
            yield _together(trees)
            trees = []
    if trees:
        yield _broken_off(trees)


def _problem_of(tree: DrawnTree) -> DeptreeError | None:
    """What is wrong with the numbers of a tree."""
    if tree.log_prob is None:
        problem = "log_prob is missing"
    elif not tree.log_prob <= 0:
        problem = "log_prob is not the logarithm of a probability"
    elif tree.tau is not None and not tree.tau > _SHORTEST:
        problem = "tau is not a time"
    elif tree.tau is not None and not 0 <= (tree.since or 0) < tree.tau:
        problem = "since is not a time before tau"
    else:
        return None
    return DeptreeError(problem, _REMEDY, place=tree.place, sent_id=tree.sent_id)


def _of(tree: DrawnTree) -> tuple[str, int]:
    return tree.names[-1], len(tree.heads)


def _together(trees: list[DrawnTree]) -> DrawnTrees | DeptreeError:
    """The trees of a sentence, or what is wrong with them."""
    if problem := next(filter(None, map(_problem_of, trees)), None):
        return problem
    heads = np.array([tree.heads for tree in trees], dtype=np.int32)
    log_probs, last = np.array([tree.log_prob for tree in trees]), trees[-1]
    tau, certain, since = float(last.tau or 0.0), last.certain or 0.0, last.since or 0.0
    if not (certain.is_integer() and 0 <= certain <= len(trees) and (certain > 0) == (since > 0)):
        what = f"certain is not a number of trees, 0 to {len(trees)}, and since when the last of them came"
        return DeptreeError(what, _REMEDY, place=last.place, sent_id=last.sent_id)
    if math.isinf(tau) and not np.exp(log_probs).any():
        what = "these are marked as all trees, but the probability of each is 0"
        return DeptreeError(what, _REMEDY, place=last.place, sent_id=last.sent_id)
    window = window_of(since, tau)
    return DrawnTrees(trees[0].names[-1], heads, log_probs, tau, trees[0].place, int(certain), window)


def _broken_off(trees: list[DrawnTree]) -> DeptreeError:
    """What is wrong with trees of which the last is missing."""
    problem = "the sentence's last tree, which carries tau, is missing"
    found = next(filter(None, map(_problem_of, trees)), None)
    return found or DeptreeError(problem, _REMEDY, place=trees[-1].place, sent_id=trees[-1].sent_id)
