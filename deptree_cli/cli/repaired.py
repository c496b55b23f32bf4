"""What becomes of sentences that are repaired: their bytes, what is told of each, and what is counted of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from deptree_cli.cli.broken_rules import BrokenRules, Counts
from deptree_cli.cli.folds import Fold
from deptree_cli.cli.tables import Table
from deptree_cli.core.constraints.relaxation import GivenUp
from deptree_cli.core.errors import counted_thousands
from deptree_cli.core.repair.nearest import Repaired
from deptree_cli.io.conllu import mending
from deptree_cli.io.conllu.mending import Change, changes_of
from deptree_cli.io.conllu.splicing import not_written
from deptree_cli.io.conllu.trees import Note, Style, relaxed_notes
from deptree_cli.io.encoders import encoder_of
from deptree_cli.io.encoders.base import Encoder, Page, Row, Sheet, Write
from deptree_cli.io.encoders.text import JSONL, TSV
from deptree_cli.io.trees.mended import as_value, mended_line
from deptree_cli.io.trees.written import Written, WrittenLine

if TYPE_CHECKING:
    from deptree_cli.core.constraints.checking import Violation

# The columns of changes.
CHANGES = ("sent_id", "word", "form", "old_head", "new_head", "old_deprel", "new_deprel", "rules")


class Sums(NamedTuple):
    """How many words have another head, another label, and a head or label where there was none."""

    heads: int = 0
    labels: int = 0
    filled: int = 0

    def __str__(self) -> str:
        filled = f", {self.filled:,} filled" if self.filled else ""
        return f"{counted_thousands(self.heads, 'head')}, {counted_thousands(self.labels, 'label')}{filled}"


class Done(NamedTuple):
    """What was done to a sentence.

    Attributes:
        before: what it counted for before; None where that was counted by itself.
        sums: of its changes; None where there are none.
        reduced: how many words lost arcs of DEPS.
        unsure: whether a nearer tree is possible.
        invalid: whether it breaks rules that were given up.
        left_out: what has no column in the file.
    """

    before: Counts | None = None
    sums: Sums | None = None
    reduced: int = 0
    unsure: bool = False
    invalid: bool = False
    left_out: tuple[str, ...] = ()


NOTHING_DONE = Done()


@dataclass(frozen=True, eq=False)
class Kept:
    """A sentence that stays as it is."""

    written: Written
    counted: Done
    relaxed: None = None
    rows: Sequence[Row] = ()

    def to_conllu(self, _: Style) -> bytes:
        """Its bytes."""
        return self.written.chunk.data

    def to_jsonl(self) -> bytes:
        """The same."""
        return self.written.chunk.data


@dataclass(frozen=True, eq=False)
class Mended:
    """A sentence with the nearest tree.

    Attributes:
        written: with the tree that it was given.
        found: the nearest.
        broken: what was wrong with the given one, where that is told.
        relax: whether rules could be given up.
        told: whether changes are told word by word.
        before: what it counted for before, if nobody has counted that yet.
    """

    written: Written
    found: Repaired
    broken: Sequence[Violation]
    relax: bool
    told: bool
    before: Counts | None

    @cached_property
    def changes(self) -> list[Change]:
        """The words that have another head or label."""
        return changes_of(self.written.block, self.found.heads.tolist(), self.found.labels)

    @property
    def relaxed(self) -> tuple[str, str, GivenUp] | None:
        """Its place and id with the rules that were given up for it, if some were."""
        given_up = self.found.given_up
        return None if given_up is None else (self.written.block.place, self.written.name, given_up)

    @property
    def counted(self) -> Done:
        """What was done to it."""
        reduced, left_out = (0, ()) if isinstance(self.written, WrittenLine) else self._mended[1:]
        unsure, invalid = not self.found.certified, self.found.given_up is not None
        return Done(self.before, self._sums if self.changes else None, reduced, unsure, invalid, left_out)

    @property
    def _sums(self) -> Sums:
        return Sums(*(sum(getattr(each, kind) for each in self.changes) for kind in ("moved", "renamed", "filled")))

    @property
    def rows(self) -> list[Row]:
        """A row for each word that has another head or label."""
        return [self._row(each) for each in self.changes] if self.told else []

    def _row(self, change: Change) -> Row:
        name, form = self.written.name, self.written.block.column("form")[change.word - 1]
        heads = as_value(change.old_head), change.head
        labels = as_value(change.old_label), change.label or None
        rules = dict.fromkeys(each.rule for each in self.broken if change.word in each.words)
        return dict(zip(CHANGES, (name, change.word, form, *heads, *labels, tuple(rules)), strict=True))

    @property
    def _notes(self) -> list[Note]:
        """What there is to tell about the tree."""
        gap = self.found.gap if isfinite(self.found.gap) else None
        certified, relaxed = self.found.certified, relaxed_notes(self.found.given_up, 1) if self.relax else []
        return [Note("certified", "certified", [certified]), Note("gap", None if certified else "gap", [gap]), *relaxed]

    @cached_property
    def _mended(self) -> mending.Mended:
        """The sentence with changes and notes; without changes it stays as it is, but for what was given up."""
        notes = self._notes if self.changes else self._notes[2:]
        comments = {note.key: note.texts[0] for note in notes if note.key and note.is_known}
        if self.changes:
            return mending.mended(self.written.block, self.changes, {"repaired": str(self._sums), **comments})
        return mending.Mended(mending.with_comments(self.written.block, comments), 0)

    def to_conllu(self, _: Style) -> bytes:
        """The sentence as CoNLL-U."""
        return self._mended.data

    def to_jsonl(self) -> bytes:
        """The sentence as a line of JSON."""
        assert isinstance(self.written, WrittenLine)
        notes: dict[str, Any] = {note.field: note.values[0] for note in self._notes if note.field}
        return mended_line(self.written, self.changes, notes) if self.changes else self.written.chunk.data


class Repairs(Fold[Done]):
    """What was repaired, and which rules were broken before.

    Args:
        before: counts these.

    Attributes:
        untaught: whether nothing tells how words attach: no scores, and no sentence without mistakes.
    """

    untaught = False

    def __init__(self, before: BrokenRules) -> None:
        self.before = before
        self._sentences = self._repaired = self._reduced = self._unsure = self._invalid = 0
        self._sums = Sums()
        self._left_out: dict[str, None] = {}

    def add(self, counts: Done) -> None:
        self._sentences += 1
        if counts is NOTHING_DONE:
            return
        self._repaired += counts.sums is not None
        self._sums = Sums(*map(sum, zip(self._sums, counts.sums or Sums(), strict=True)))
        self._reduced += counts.reduced
        self._unsure += counts.unsure
        self._invalid += counts.invalid
        self._left_out.update(dict.fromkeys(counts.left_out))
        if counts.before is not None:
            self.before.add(counts.before)

    def lines(self) -> Iterator[Table | str]:
        yield from self.before.tables()
        yield from self.before.notices(labels=False)  # they are filled
        if self.untaught and self._repaired:
            yield "no sentence is right, so ties go to near heads; --like TREEBANK or --scores FILE breaks ties better"
        if self._reduced:
            words = counted_thousands(self._reduced, "word")
            yield f"DEPS of {words} had several arcs; only the new arc is kept"
        yield from map(not_written, self._left_out)
        if self._unsure:
            unsure = counted_thousands(self._unsure, "sentence")
            yield f"{unsure} not certified: a nearer tree may obey (raise --budget)"
        sentences = counted_thousands(self._sentences, "sentence")
        repaired = f"{self._repaired:,} of {sentences} repaired: {self._sums}"
        yield repaired if self._repaired else f"nothing to repair in {sentences}"

    @property
    def exit_code(self) -> int:
        """1 where rules were given up, or fewer changes may be enough, else 0."""
        return 1 if self._unsure or self._invalid else 0


class Rows(Fold[Sequence[Row]]):
    """Writes the rows of changes as they come."""

    attribute = "rows"

    def __init__(self, encoder: Encoder, write: Write) -> None:
        self._encoder, self._write = encoder, write

    def add(self, counts: Sequence[Row]) -> None:
        self._write(self._encoder.encode(list(counts), None))


@contextmanager
def changes_file(path: str | None) -> Iterator[list[Fold[Any]]]:
    """What writes changes into a file, which gets its name at the end of the block; nothing without a path.

    Raises:
        DeptreeError: its suffix is none of a table.
    """
    if path is None:
        yield []
        return
    encoder = encoder_of(None, path, (TSV.name, JSONL.name), TSV.name)
    with encoder.open(path, Page("", False, Sheet(CHANGES))) as write:
        yield [Rows(encoder, write)]
