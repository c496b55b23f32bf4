"""Several files about the same sentences, read side by side: scores in any layouts, and anybody's trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.conllu.beside import sentences, with_gold
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.files.streams import STDIN, lines_of, open_input, place_of
from deptree_cli.io.join import IGNORE, joined
from deptree_cli.io.json_lines import objects
from deptree_cli.io.scores.assumptions import Warn, unheard, with_assumptions
from deptree_cli.io.scores.layout import Layout, words_in
from deptree_cli.io.scores.pairing import read_records, records_side
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sides import Side
from deptree_cli.io.trees import TREE_FORMATS
from deptree_cli.io.trees.jsonl import JSON_LINES
from deptree_cli.io.trees.sets import TreeSet, read_sets

_SAME = "Give the same sentences, with the same words"


@dataclass(frozen=True)
class Member:
    """One of the files.

    Attributes:
        path: as the user gave it.
        scores: the opened score file, None for a file of trees.
        layout: of the scores.
    """

    path: str
    scores: ScoreSource | None = None
    layout: Layout | None = None

    def side(self, conllu: str | None, warn: Warn) -> Side[Any]:
        """Its sentences, at the lengths of those in a CoNLL-U file if there is one."""
        if self.scores is None or self.layout is None:
            return Side(read_sets(self.path), "sentences", place_of(self.path))
        records = with_assumptions(read_records(self.scores, self.layout, conllu), self.scores, self.layout, warn)
        return records_side(records, self.scores, conllu)


@dataclass(frozen=True)
class Members:
    """A sentence as all files have it, in their order.

    Attributes:
        names: what it may be called, likeliest first.
        n: how many words it has.
        block: the CoNLL-U sentence, if there is one.
        gold: the same with its gold tree, if there is one.
        found: a record of scores, or a set of trees, of each file.
    """

    sent_id: str
    names: Sequence[str]
    n: int
    place: str
    block: Block | None = None
    gold: Block | None = None
    found: tuple[Record | TreeSet, ...] = ()

    @property
    def sets(self) -> list[TreeSet]:
        """What files of trees have of it."""
        return [each for each in self.found if isinstance(each, TreeSet)]

    @property
    def records(self) -> list[Record]:
        """What score files have of it."""
        return [each for each in self.found if isinstance(each, Record)]


def is_of_trees(path: str) -> bool:
    """Whether a file has trees rather than scores, by its first bytes; standard input is taken for scores.

    Raises:
        DeptreeError: it cannot be read.
    """
    if path == STDIN:
        return False
    with open_input(path) as file:
        fmt = next((each for each in TREE_FORMATS.known if each.matches(file.head)), None)
        if fmt is JSON_LINES:
            lines = (value for _, value in objects(lines_of(file.stream, file.place), file.place))
            first = next((each for each in lines if isinstance(each, DeptreeError) or "signature" not in each), {})
            return isinstance(first, dict) and "heads" in first and "scores" not in first
        return fmt is not None and file.head.lstrip(b"\xef\xbb\xbf")[:1] in (b"#", b"1")


def read_members(
    members: Sequence[Member], conllu: str | None = None, gold: str | None = None, warn: Warn = unheard
) -> Iterator[Members | DeptreeError]:
    """The sentences of all files, in the order of those in CoNLL-U, else of the first file.

    Raises:
        DeptreeError: the files do not hold the same sentences (`joined`).
    """
    rest = list(members)
    place = place_of(conllu or members[0].path)
    if conllu is not None:
        found = _led(sentences([conllu]), _of_block)
    else:
        first = rest.pop(0)
        found = _led(first.side(None, warn), partial(_of_first, layout=first.layout))
    for member in rest:
        found = joined(Side(found, "sentences", place), member.side(conllu, warn), _adding(member.layout))
    if gold is not None:
        found = with_gold(Side(found, "sentences", place), [gold], lambda each: each.n)
    yield from found


def with_records(
    members: Iterator[Members | DeptreeError], place: str, records: Side[Record], layout: Layout
) -> Iterator[Members | DeptreeError]:
    """The sentences of the file at `place`, each with its scores of this layout, also found by running numbers."""
    by_number = replace(records, names=lambda record: (record.sent_id,))
    return joined(Side(members, "sentences", place), by_number, _adding(layout), leftover=IGNORE)


def _led(side: Side[Any], begun: Callable[[Any], Members]) -> Iterator[Members | DeptreeError]:
    """The sentences of what leads; nameless ones are called by their numbers."""
    for number, item in enumerate(side.in_order(), 1):
        if isinstance(item, DeptreeError):
            yield item
        else:
            members = begun(item)
            yield members if members.sent_id else replace(members, sent_id=str(number))


def _of_block(block: Block) -> Members:
    return Members(block.sent_id, block.names, block.n, block.place, block)


def _of_first(item: Record | TreeSet, layout: Layout | None) -> Members:
    return Members(item.sent_id, item.names, _words(item, layout), item.place, found=(item,))


def _words(item: Record | TreeSet, layout: Layout | None) -> int:
    if isinstance(item, TreeSet):
        return item.n
    assert layout is not None  # scores have one
    return words_in(item.scores.shape, layout)


def _adding(layout: Layout | None) -> Callable[[Members, Record | TreeSet, int], Members]:
    """What adds a file's sentence to those of the files before."""

    def add(members: Members, item: Record | TreeSet, _: int) -> Members:
        if (n := _words(item, layout)) != members.n:
            raise OutOfStep(f"{counted(n, 'word')} at {item.place}, but {members.n} here", _SAME)
        return replace(members, found=(*members.found, item))

    return add
