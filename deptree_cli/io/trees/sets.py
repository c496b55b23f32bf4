"""Sets of trees of the same sentences from several files: of annotators, of parsers, or samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.join import IGNORE, joined
from deptree_cli.io.scores.layout import Layout, words_in
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sides import Side
from deptree_cli.io.trees import read_trees
from deptree_cli.io.trees.base import GivenTree, sentence_of

_DISTINCT = "these trees were drawn without replacement (swor), so each stands for more or less than one"
_SAME_WORDS = "Give trees of the same sentences, with the same words"


@dataclass(frozen=True, eq=False)
class TreeSet:
    """The trees of a sentence in one file.

    Attributes:
        sent_id: without the mark of a sample; empty if the file does not name sentences.
        place: where the first was read.
        heads: (k, n), distinct unless labels differ.
        times: (k,), how often each is there.
        labels: k times n names; none if a word has none.
    """

    sent_id: str
    place: str
    heads: Heads
    times: Int
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> Sequence[str]:
        """What the sentence is called in other files."""
        return [self.sent_id] if self.sent_id else []

    @property
    def n(self) -> int:
        """How many words the sentence has."""
        return self.heads.shape[1]


@dataclass(frozen=True, eq=False)
class ComparedSets:
    """A sentence with its trees from each file, and its scores if these are read too."""

    sets: tuple[TreeSet, ...]
    sent_id: str
    record: Record | None = None

    @property
    def place(self) -> str:
        """Where the first was read."""
        return self.sets[0].place

    @property
    def names(self) -> Sequence[str]:
        """What the sentence is called in other files."""
        return self.sets[0].names

    @property
    def notice(self) -> str:
        """What the user must hear of the scores."""
        return self.record.notice if self.record else ""


@dataclass(frozen=True)
class WithDistribution:
    """Makes sets of trees beside the distribution of their sentence; it travels to worker processes."""

    prepare: Callable[[Record], ScoredSentence]

    def __call__(self, compared: ComparedSets) -> tuple[ComparedSets, ScoredSentence]:
        """The two."""
        assert compared.record is not None  # read beside the trees
        return compared, self.prepare(compared.record)


def read_sets(path: str) -> Iterator[TreeSet | DeptreeError]:
    """The trees of each sentence of a file, which stand together; an error among them stands for all of its sentence.

    Trees without a name are of a sentence each.

    Raises:
        DeptreeError: reading cannot begin or go on.
    """
    group: list[GivenTree | DeptreeError] = []
    for tree in read_trees(path, named=False):
        if group and not _belongs(tree, group):
            yield _together(group)
            group = []
        group.append(tree)
    if group:
        yield _together(group)


def _belongs(tree: GivenTree | DeptreeError, group: Sequence[GivenTree | DeptreeError]) -> bool:
    """Whether a tree is of the sentence of those in front; so is an error that names no sentence, if they name one."""
    name, first, last = sentence_of(tree), sentence_of(group[0]), group[-1]
    if isinstance(tree, DeptreeError) and not name:
        return bool(first)
    other = isinstance(tree, GivenTree) and isinstance(last, GivenTree) and len(tree.heads) != len(last.heads)
    return bool(name) and name == first and not other


def _together(group: Sequence[GivenTree | DeptreeError]) -> TreeSet | DeptreeError:
    times: Counter[tuple[tuple[int, ...], tuple[str, ...]]] = Counter()
    for tree in group:
        if isinstance(tree, GivenTree) and tree.distinct:
            tree = DeptreeError(_DISTINCT, "Give trees as `sample` draws them", place=tree.place)
        if isinstance(tree, DeptreeError):
            tree.sent_id = sentence_of(group[0])
            return tree
        complete = len(tree.labels) == len(tree.heads) and "_" not in tree.labels
        times[tree.heads, tree.labels if complete else ()] += tree.times
    heads = np.array([tree for tree, _ in times], dtype=np.int32)
    labels = tuple(each for _, each in times)
    numbers = np.array(list(times.values()), dtype=np.int64)
    return TreeSet(sentence_of(group[0]), group[0].place, heads, numbers, labels if all(labels) else ())


def read_compared_sets(paths: Sequence[str]) -> Iterator[ComparedSets | DeptreeError]:
    """The sentences of the first file, each with its trees from all files, found by name, else by order.

    Raises:
        DeptreeError: the files do not hold the same sentences (`joined`).
    """
    first, *others = paths
    found: Iterator[ComparedSets | DeptreeError] = map(_alone, read_sets(first), count(1))
    for path in others:
        beside = Side(read_sets(path), "sentences", place_of(path))
        found = joined(Side(found, "sentences", place_of(first)), beside, _with_set)
    return found


def _alone(trees: TreeSet | DeptreeError, number: int) -> ComparedSets | DeptreeError:
    return trees if isinstance(trees, DeptreeError) else ComparedSets((trees,), trees.sent_id or str(number))


def _with_set(compared: ComparedSets, trees: TreeSet, _: int) -> ComparedSets:
    _check_length(compared, trees.n, trees.place)
    return replace(compared, sets=(*compared.sets, trees))


def _check_length(compared: ComparedSets, words: int, place: str) -> None:
    if words != (n := compared.sets[0].n):
        raise OutOfStep(f"{counted(words, 'word')} at {place}, but {n} here", _SAME_WORDS)


def with_records(
    compared: Iterator[ComparedSets | DeptreeError], place: str, records: Side[Record], layout: Layout
) -> Iterator[ComparedSets | DeptreeError]:
    """The sentences of the file at `place`, each with its scores, also found by running numbers.

    Args:
        layout: of the scores.
    """

    def with_record(compared: ComparedSets, record: Record, _: int) -> ComparedSets:
        _check_length(compared, words_in(record.scores.shape, layout), record.place)
        return replace(compared, record=record)

    by_number = replace(records, names=lambda record: (record.sent_id,))
    return joined(Side(compared, "sentences", place), by_number, with_record, leftover=IGNORE)
