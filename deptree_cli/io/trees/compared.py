"""Sentences whose trees are evaluated: a gold tree, and those of one system or two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.conllu.beside import sentences
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.surface import rows_as_written
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.join import joined
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sides import Side

_REMEDY = "Evaluate trees over the same words; udeval of udtools aligns others"


@dataclass(frozen=True)
class ComparedTrees:
    """A sentence as it was read from each file.

    Attributes:
        gold: with the gold tree, None if nobody has annotated it.
        systems: with the tree of each system.
        scored: the sentence with a system's distribution, if its scores are read too.
    """

    gold: Block | None
    systems: tuple[Block, ...] = ()
    scored: ScoredSentence | None = None

    @property
    def block(self) -> Block:
        """The first of them."""
        return self.gold or self.systems[0]

    def check_words(self) -> None:
        """Raise unless all have the same words and multiword tokens."""
        ours = rows_as_written(self.block)
        for system in self.systems:
            for own, other in zip(ours, rows_as_written(system), strict=False):
                if own != other:
                    problem = f"the words differ: {_shown(*own)} here, {_shown(*other)} at {system.place}"
                    raise DeptreeError(problem, _REMEDY, place=self.block.place, sent_id=self.block.sent_id)


def _shown(number: str, form: str) -> str:
    return f"{number} is {form!r}"


@dataclass(frozen=True)
class ReadTrees:
    """The same on its way to a worker, under the name that messages call it by."""

    trees: ComparedTrees
    sent_id: str

    @property
    def place(self) -> str:
        """Where the gold tree was read."""
        return self.trees.block.place

    @property
    def names(self) -> Sequence[str]:
        """What the sentence is called in the other files."""
        return self.trees.block.names


def read_compared(gold: str, systems: Sequence[str]) -> Iterator[ReadTrees | DeptreeError]:
    """The sentences of a file of gold trees, each with those of other files, found by name, else by order.

    Raises:
        DeptreeError: the files do not hold the same sentences (`joined`).
    """
    found: Iterator[ReadTrees | DeptreeError] = map(_named, sentences([gold]).in_order(), count(1))
    for path in systems:
        found = joined(Side(found, "sentences", place_of(gold)), sentences([path]), _with_system)
    return found


def _named(block: Block | DeptreeError, number: int) -> ReadTrees | DeptreeError:
    return block if isinstance(block, DeptreeError) else ReadTrees(ComparedTrees(block), block.sent_id or str(number))


def _with_system(read: ReadTrees, block: Block, _: int) -> ReadTrees:
    trees = read.trees
    if block.n != trees.block.n:
        problem = f"{counted(block.n, 'word')} at {block.place}, but {trees.block.n} here"
        raise OutOfStep(problem, _REMEDY)
    return replace(read, trees=replace(trees, systems=(*trees.systems, block)))


@dataclass(frozen=True)
class WithScores:
    """Makes the trees that belong to a record, with its distribution; it travels to worker processes."""

    prepare: Callable[[Record], ScoredSentence]

    def __call__(self, record: Record) -> ComparedTrees:
        """The trees of the sentence, whose own one is the system's."""
        assert record.block is not None  # the sentences are read beside the scores
        return ComparedTrees(record.gold, (record.block,), self.prepare(record))
