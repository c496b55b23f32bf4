"""Given trees and the sentences that they are trees of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Integers
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.join import IGNORE, joined
from deptree_cli.io.scores.layout import Layout, words_in
from deptree_cli.io.scores.record import Record
from deptree_cli.io.sides import Side
from deptree_cli.io.trees.base import GivenTree

_TOGETHER = "Check that both belong together"


@dataclass(frozen=True, eq=False)
class RecordTrees:
    """A sentence as it was read, and the trees that are given of it.

    Attributes:
        heads: (k, n).
        times: (k,), how often each is given.
        names: what the file calls each, where trees lead.
        labels: n names of each, or none, where trees lead.
    """

    record: Record
    heads: Integers
    times: Integers
    names: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def sent_id(self) -> str:
        """The sentence's name."""
        return self.record.sent_id

    @property
    def place(self) -> str:
        """Where its scores were read."""
        return self.record.place


Prepared = TypeVar("Prepared")


@dataclass(frozen=True)
class WithTrees(Generic[Prepared]):
    """Makes what is made of a record, beside its trees; it travels to worker processes."""

    prepare: Callable[[Record], Prepared]

    def __call__(self, given: RecordTrees) -> tuple[Prepared, RecordTrees]:
        """The two."""
        return self.prepare(given.record), given


def records_with_trees(
    records: Iterable[Record | DeptreeError],
    trees: Iterable[GivenTree | DeptreeError],
    layout: Layout,
    on_error: Callable[[DeptreeError], None],
) -> list[RecordTrees | DeptreeError]:
    """The records, each with its trees, which may come in any order; those of a sentence's error are left alone.

    Args:
        layout: of the records.
        on_error: called with what is no tree, or no tree of one of the sentences.

    Raises:
        DeptreeError: two sentences have one name.
    """
    found = list(records)
    words: dict[str, int | None] = {each.sent_id: None for each in found}
    for record in found:
        if isinstance(record, DeptreeError):
            continue
        if words[record.sent_id] is not None:
            problem = "there are two sentences of this name, so samples cannot tell which they are of"
            raise DeptreeError(problem, "Give every sentence a sent_id of its own", sent_id=record.sent_id)
        words[record.sent_id] = words_in(record.scores.shape, layout)
    counts: dict[str, Counter[tuple[int, ...]]] = {name: Counter() for name in words}
    for tree in trees:
        try:
            if isinstance(tree, DeptreeError):
                raise tree
            counts[_sentence_of(tree, words)][tree.heads] += tree.times
        except DeptreeError as error:
            on_error(error)
    return [each if isinstance(each, DeptreeError) else _counted(each, counts[each.sent_id]) for each in found]


def _counted(record: Record, counts: Counter[tuple[int, ...]]) -> RecordTrees:
    heads, times = np.array(list(counts), dtype=np.int32), np.array(list(counts.values()), dtype=np.int64)
    return RecordTrees(record, heads, times)


def _sentence_of(tree: GivenTree, words: Mapping[str, int | None]) -> str:
    """The name of a tree's sentence; raises if there is none of the tree's names and length."""
    name = next((name for name in tree.names if name in words), None)
    if name is None:
        problem, remedy = "the scores have no such sentence", "Name samples as their sentences"
        raise DeptreeError(problem, remedy, place=tree.place, sent_id=tree.sent_id)
    if (n := words[name]) is not None and n != len(tree.heads):
        raise _other_length(tree, n)
    return name


def _other_length(tree: GivenTree, words: int) -> OutOfStep:
    problem = f"the tree has {counted(len(tree.heads), 'word')}, its scores have {words}"
    return OutOfStep(problem, _TOGETHER, place=tree.place, sent_id=tree.sent_id)


def records_of_trees(
    trees: Iterable[GivenTree | DeptreeError], records: Side[Record], layout: Layout, place: str = ""
) -> Iterator[RecordTrees | DeptreeError]:
    """The trees in their order, those that follow each other together with the record that they are trees of.

    Records are found by name, also by running numbers, for trees are often named by these; else by order, a tree each.
    Trees of one sentence must stand together: records are not kept.

    Args:
        layout: of the records.
        place: of the trees, for messages.

    Yields:
        trees with their record, or the error of a tree that cannot be used.
    """

    def pair(tree: GivenTree, record: Record, _: int) -> tuple[Record, GivenTree]:
        if (words := words_in(record.scores.shape, layout)) != len(tree.heads):
            raise _other_length(tree, words)
        return record, tree

    def of(found: tuple[Record, GivenTree] | DeptreeError) -> Record | DeptreeError:
        return found if isinstance(found, DeptreeError) else found[0]

    leaders = Side(trees, "trees", place)
    by_number = Side(records.items, records.what, records.place, lambda record: (record.sent_id,), records.ordered)
    for record, group in groupby(joined(leaders, by_number, pair, leftover=IGNORE, again=True), of):
        if isinstance(record, DeptreeError):
            yield record
        else:
            given = [each[1] for each in group if not isinstance(each, DeptreeError)]
            heads, times = (np.array(each) for each in zip(*((tree.heads, tree.times) for tree in given), strict=True))
            names = tuple(tree.sent_id or record.sent_id for tree in given)
            yield RecordTrees(record, heads, times, names, tuple(tree.labels for tree in given))
