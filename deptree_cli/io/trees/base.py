"""A tree that somebody drew or annotated, and what a format of trees is."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from deptree_cli.core.errors import DeptreeError

# What marks a sample of a sentence: /anything as in UD, or -sample_3, which strict validators prefer.
_MARKS = re.compile(r"/[^/]*$"), re.compile(r"-sample_\d+$")

# Of one tree, so that those of a sentence add up within an int64.
_LARGEST_COUNT = 10**12


class SworNotes(NamedTuple):
    """What `deptree swor` writes beside a tree, and on a sentence's last tree on behalf of all.

    None is missing, NaN is no number.

    Attributes:
        log_prob: the logarithm of the tree's probability.
        rank, arrival: which tree it is, from 1, and when it came.
        tau: on the last tree: when the next would have come; infinite where all were drawn, and beyond all numbers.
        certain, since: on the last tree, of --mass: how many of the first trees reached it, and when the last of these
            came.
    """

    log_prob: float | None = None
    rank: float | None = None
    arrival: float | None = None
    tau: float | None = None
    certain: float | None = None
    since: float | None = None


class GivenTree(NamedTuple):
    """A tree that a file has `times` times, as `sent_id` is named there.

    Attributes:
        sent_id: empty if it names no sentence.
        heads: n integers, 0 = ROOT.
        place: where it was read.
        notes: what `deptree swor` writes beside it.
        distinct: whether it was drawn without replacement, by `deptree swor`.
        labels: n names, or none.
        label_draws: whether its labels were drawn given the tree, so that two labelings are not two trees.
    """

    sent_id: str
    heads: tuple[int, ...]
    times: int
    place: str
    notes: SworNotes = SworNotes()
    distinct: bool = False
    labels: tuple[str, ...] = ()
    label_draws: bool = False

    @property
    def names(self) -> list[str]:
        return names_of(self.sent_id)

    def check_acyclic(self) -> None:
        """Raise unless every word has ROOT above it."""
        n = len(self.heads)
        seen = [0] * (n + 1)  # the word from which a node was first reached; ROOT is above all
        for word in range(1, n + 1):
            node = word
            while node and not seen[node]:
                seen[node] = word
                node = self.heads[node - 1]
            if node and seen[node] == word:
                problem = f"not a tree: word {node} is its own ancestor"
                raise DeptreeError(problem, "Correct it or remove it", place=self.place, sent_id=self.sent_id)


def names_of(sent_id: str) -> list[str]:
    """What a tree's sentence may be called, likeliest first: its own name, or that without the mark of a sample."""
    if not ("/" in sent_id or "-" in sent_id):  # as hardly any has a mark
        return [sent_id] if sent_id else []
    return [sent_id, *(mark.sub("", sent_id) for mark in _MARKS if mark.search(sent_id))]


def sentence_of(tree: GivenTree | DeptreeError) -> str:
    """The name of the sentence that a tree is of, without the mark of a sample; empty if nobody knows it."""
    names = names_of(tree.sent_id)
    return names[-1] if names else ""


def number_of(tree: GivenTree | DeptreeError) -> float:
    """Which of its sentence's samples a tree is, from 1, by its rank or the mark of a sample; 0 if neither is there."""
    mark = re.search(r"[/-]sample_([0-9]{1,18})$", tree.sent_id)
    rank = tree.notes.rank if isinstance(tree, GivenTree) else None
    return rank or (int(mark[1]) if mark else 0)


@dataclass(frozen=True)
class TreeFormat:
    """A format of files of trees.

    Attributes:
        name: how it is called.
        matches: whether a file that begins with these bytes has it.
        read: the trees of a stream, and what messages call that; errors in place of what is no tree.
    """

    name: str
    matches: Callable[[bytes], bool]
    read: Callable[[BinaryIO, str], Iterator[GivenTree | DeptreeError]]


def checked_count(count: Any, place: str, sent_id: str) -> int:
    """How often a tree was drawn; raises for what is no such number."""
    if type(count) is not int or not 1 <= count <= _LARGEST_COUNT:
        remedy = f"Give an integer from 1 to {_LARGEST_COUNT}"
        raise DeptreeError(f"the count is {reprlib.repr(count)}", remedy, place=place, sent_id=sent_id)
    return count


def swor_notes(found: Mapping[str, Any]) -> SworNotes:
    """What `deptree swor` notes on a tree, and on all with the last; NaN for what is no number."""
    notes = SworNotes(*map(_number, map(found.get, SworNotes._fields)))
    exhausted = found.get("exhausted")  # on the last tree only
    if exhausted not in (None, True, False, "yes", "no"):
        return notes._replace(tau=math.nan)
    endless = exhausted in (True, "yes") or (exhausted is not None and notes.tau is None)
    return notes._replace(tau=math.inf) if endless else notes


def _number(value: Any) -> float | None:
    """A number, also from the text of a comment; NaN where there is something else."""
    if value is None:
        return None
    try:
        return float(value) if isinstance(value, int | float | str) and type(value) is not bool else math.nan
    except (ValueError, OverflowError):
        return math.nan
