"""``deptree repair``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deptree_cli.cli.given_trees import Asked, BrokenRules, Counts, GivenTree, noted
from deptree_cli.cli.options import INPUT, OUTPUT, FloatRange, apply, command, option, reading_option, writing_option
from deptree_cli.cli.run import Fold, Job, Pipeline, RunOptions, Source, Work, run_options
from deptree_cli.cli.score_options import (
    LABEL_SCORES,
    RelaxedSentences,
    asked_space,
    companion,
    companion_options,
    met,
    rule_option,
    search_options,
    signature_of,
)
from deptree_cli.cli.terminal import Counted, Table
from deptree_cli.cli.write import Writing
from deptree_cli.core.errors import DeptreeError, counted_thousands
from deptree_cli.core.repair import FREE, ONE_EACH, Aims, Costs, Given, Habits, Repaired, nearest, ties
from deptree_cli.core.rule_search import BUDGET, GivenUp
from deptree_cli.io.conllu import splicing
from deptree_cli.io.conllu.splicing import NOTHING, Change, changes_of, not_written
from deptree_cli.io.conllu.trees import Note, Style, relaxed_notes
from deptree_cli.io.encoders import encoder_of
from deptree_cli.io.encoders.base import CONLLU, JSONL, TSV, Encoder, Page, Row, Sheet, Write
from deptree_cli.io.files.streams import Reread, rereadable, share_of
from deptree_cli.io.rules.reading import successors
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.sentence import Sentence, Side
from deptree_cli.io.trees import names_of
from deptree_cli.io.trees.written import Written, read_written

if TYPE_CHECKING:
    from deptree_cli.core.ruleset import Violation
    from deptree_cli.io.rules.constraints import Constraints

# The columns of changes.
CHANGES = ("sent_id", "word", "form", "old_head", "new_head", "old_deprel", "new_deprel", "rules", "file", "line")

# Which trees are meant: with or without scores.
_SPACE = ("space", "multi_root", "projective")

# The role of the sentence as it is written beside its scores.
WRITTEN = "written"


def _costs(context: click.Context, parameter: click.Parameter, text: str) -> Costs:
    match = re.fullmatch(r"([1-9]\d*):([1-9]\d*)", text)
    if not match or max(map(int, match.groups())) > 1000:
        raise click.BadParameter(f"{text!r} is not HEAD:LABEL, two numbers from 1 to 1000 such as 3:1.")
    return Costs(int(match[1]), int(match[2]))


@command()
@click.argument("trees", metavar="TREES...", nargs=-1, required=True, type=INPUT)
@rule_option("Rules that trees must obey", ["ud"])
@option(
    "--cost",
    default="1:1",
    metavar="HEAD:LABEL",
    callback=_costs,
    help="Costs of changing a head, and of changing a label; both cost HEAD + LABEL.  [default: 1:1]",
)
@option(
    "--worth",
    type=FloatRange(0),
    default=inf,
    metavar="NATS",
    help="Also make changes that gain more than NATS per unit of cost; 0: the best tree.  [default: inf]",
)
@search_options
@reading_option(
    "--like", type=INPUT, often=True, help="A treebank from which to learn how words attach.  [default: TREES]"
)
@partial(apply, [*companion_options("Arc scores, to choose among equally near trees."), LABEL_SCORES])
@writing_option("--changes", type=OUTPUT, often=True, help="Write a row for each changed word (.tsv or .jsonl).")
@writing_option("--header", is_flag=True, help="Write the run signature as first comment.")
@run_options
def repair(
    trees: tuple[str, ...],
    rules: Constraints,
    cost: Costs,
    worth: float,
    budget: int,
    relax: bool,
    like: str | None,
    scores: str | None,
    changes: str | None,
    header: bool,
    run: RunOptions,
    **how: Any,
) -> int:
    """Change as few heads and labels as possible so that heads are trees and obey rules.

    TREES is CoNLL-U. Heads may form cycles, have several roots or be no words; filling a missing head or label (_)
    costs nothing. Valid sentences are copied byte for byte. MISC of a changed word keeps its old head and label
    (OldHead, OldDeprel); comments say how much was changed, and whether fewer changes might do. To find mistakes that
    break no rule, use deptree doubt.

    Among equally near trees it takes the most probable one: by how words attach in the valid sentences, in --like FILE,
    or by --scores.

    Exit status: 0 all trees obey now, 1 not all (--relax), or not certain, or sentences were skipped, 2 unusable input.
    """
    scored = companion(scores=scores, also=_SPACE, **how)
    if like is not None and scored is not None and scored.how.labels is not None:
        raise click.UsageError("--like cannot be combined with --scores, which rank heads and labels. Remove one.")
    asked = Asked(rules, scored.how.space if scored else asked_space(*(how[name] for name in _SPACE)), mends=True)
    before, habits, suspects = BrokenRules(rules, "rule broken before"), Habits(), None
    fields = {
        **({"scores": scored.name, **scored.signature_fields} if scored else {}),
        **signature_of(asked.space),
        "rules": rules.name,
        "like": like,
        "cost": None if cost == ONE_EACH else "{}-{}".format(*cost),
        "worth": None if worth == inf else worth,
        "budget": None if budget == BUDGET else budget,
        "relax": "yes" if relax else None,
    }
    with rereadable(trees) as files, changes_file(changes) as rows:
        if like is not None:
            with rereadable([like]) as treebank:
                habits, _ = _learn(treebank, asked, run, BrokenRules(rules))
        elif scored is None or scored.how.labels is None:
            habits, suspects = _learn(files, asked, run, before)
        work = Repair(habits, Aims(cost, worth, budget, relax), suspects is not None, bool(rows))
        if suspects is not None and worth < inf:
            suspects = bytes(len(suspects) * [1])
        items: Iterator[Any] = _read(files, asked, suspects)
        if scored is not None:
            lead = Side(map(_lead, items), "sentences", ", ".join(each.place for each in files))
            items = scored.files[0].read(scored.how.layout, warn=run.warn, lead=lead)
        read = _counted(files, met(items, rules, _names_of), len(suspects) if suspects else None)
        repairs = Repairs(before, untaught=scored is None and not habits)
        prepared = Prepared(asked, scored.how if scored else None)
        job = Job("repair", Source(read, prepared, fields), run, Writing((CONLLU.name,), header=header))
        code = job.write(work, folds=[repairs, *rows, *([RelaxedSentences(run)] if relax else [])])
    return max(code, repairs.exit_code)


def _read(files: Sequence[Reread], asked: Asked, suspects: Sequence[int] | None = None) -> Iterator[Written]:
    """The sentences, noted if they have other tags; see `read_written`."""
    number = 1
    for each in files:
        with each.opened() as file:
            found = read_written(file.stream, file.place, first=number, suspects=suspects)
            for written in noted(found, asked.constraints.rules.upos):
                yield written
                number = written.number + 1


def _counted(files: Sequence[Reread], items: Iterator[Any], total: int | None = None, note: str = "") -> Counted[Any]:
    return Counted(items, lambda: total, share_of([each.path for each in files]), note=lambda: note)


def _names_of(item: Written | Sentence | DeptreeError) -> Sequence[str]:
    if isinstance(item, DeptreeError):
        return [item.sent_id]
    written = item if isinstance(item, Written) else item.companions[WRITTEN]
    with suppress(DeptreeError):  # malformed: an error of the sentence, raised where it is worked on
        return [*names_of(written.block.sent_id), written.sent_id]
    return [written.sent_id]


def _lead(written: Written) -> Sentence | DeptreeError:
    """A sentence that has scores; the error of one that is malformed."""
    try:
        block = written.block
    except DeptreeError as error:
        return error
    number, named = written.number, bool(block.sent_id)
    return Sentence(written.name, number, block.n, written.place, block, named=named, companions={WRITTEN: written})


class Looked(NamedTuple):
    """What is found of a sentence before any is repaired; what nobody can read is suspect, and counts for nothing.

    `habits`: how words attach in it, if it breaks no rule.
    """

    suspect: bool
    counts: Counts | None = None
    habits: Habits | None = None


@dataclass(frozen=True)
class Look(Work[Looked]):
    """Looks at a sentence's tree; `skip`: one that is malformed is only called suspect, and told of later."""

    asked: Asked
    skip: bool

    def one(self, written: Written, _: None) -> Looked:
        try:
            tree = self.asked(written)
            suspect, counts = tree.is_suspect, tree.counts
        except DeptreeError as error:
            if self.skip:
                return Looked(suspect=True)
            raise _placed(error, written) from None
        habits = Habits()
        if not tree.broken:
            habits.add(tree.asked.words.all_tags, tree.heads, tree.labels)
        return Looked(suspect, counts, habits)


def _learn(files: Sequence[Reread], asked: Asked, run: RunOptions, before: BrokenRules) -> tuple[Habits, bytes]:
    """How words attach in the sentences without mistakes; and of each sentence whether it has some."""
    habits, suspects = Habits(), bytearray()
    source = Source(_counted(files, _read(files, asked), note="looked at"), Prepared(asked, looks=True))
    pipeline: Pipeline[Written, Any] = Pipeline(source, replace(run, shard=(1, 1)))
    results: Iterator[Looked] = pipeline.map(Look(asked, run.messages.skips))
    for looked in results:
        suspects.append(looked.suspect)
        if looked.counts is not None:
            before.add(looked.counts)
        if looked.habits is not None:
            habits += looked.habits
    return habits, bytes(suspects)


def _placed(error: DeptreeError, written: Written) -> DeptreeError:
    """The error with the sentence's place and own name, if it has one."""
    try:
        return error.at(written.block.place, written.name)
    except DeptreeError:
        return error.at(written.place, written.sent_id)


def given_of(tree: GivenTree) -> Given:
    """Return what is given: a head that is no number is a number of no word, which somebody meant to be one."""
    beyond, tags = tree.block.n + 1, tree.asked.words.all_tags
    heads = [FREE if head is None else beyond if head < 0 else head for head in tree.block.heads]
    return Given(heads, tree.labels, [*map(successors, tree.labels, tags)])


@dataclass(frozen=True)
class Prepared:
    """Looks into the sentences that have to be looked at; it travels to worker processes.

    `looks`: it is for `Look`, which looks into all by itself: one that is malformed may be no error yet.
    """

    asked: Asked
    how: Interpretation | None = None
    looks: bool = False

    def __call__(self, item: Written | Sentence) -> Written | GivenTree:
        if isinstance(item, Written):
            return item if self.looks or item.suspect is False else self.asked(item)
        assert self.how is not None  # there are scores
        return replace(self.asked(item.companions[WRITTEN]), distribution=self.how(item).distribution)


@dataclass(frozen=True)
class Repair(Work["Kept | Mended"]):
    """Repairs a sentence, if something is wrong with it.

    `counted`: its broken rules were counted before; `told`: changes are told word by word.
    """

    habits: Habits
    aims: Aims
    counted: bool = False
    told: bool = False

    def one(self, tree: Written | GivenTree, _: None) -> Kept | Mended:
        if isinstance(tree, Written):
            return Kept(tree, NOTHING_DONE)
        written: Written = tree.read
        try:
            before = None if self.counted else tree.counts
            if self.aims.worth == inf and not written.suspect and not tree.is_suspect:
                return Kept(written, Done(before))
            given = given_of(tree)
            tags = tree.asked.words.all_tags
            labels, scores = ties(self.habits, given, tags, tree.distribution, tree.asked_labels)
            found = nearest(given, tree.asked.with_labels(labels), scores, tree.of.space, self.aims)
        except DeptreeError as error:
            raise _placed(error, written) from None
        return Mended(written, found, tree.broken if self.told else (), self.aims.relax, self.told, before)


class Sums(NamedTuple):
    """How many words have another head, another label, and a head or label where there was none."""

    heads: int = 0
    labels: int = 0
    filled: int = 0

    def __str__(self) -> str:
        filled = f", {self.filled:,} filled" if self.filled else ""
        return f"{counted_thousands(self.heads, 'head')}, {counted_thousands(self.labels, 'label')}{filled}"


class Done(NamedTuple):
    """What was done to a sentence; `before` is None where it was counted before, `sums` where nothing was changed.

    `reduced`: how many words lost arcs of DEPS; `unsure`: a nearer tree is possible; `invalid`: it breaks rules that
    were given up; `left_out`: what has no column in the file.
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
    written: Written
    counted: Done
    relaxed: None = None
    rows: Sequence[Row] = ()

    def to_conllu(self, _: Style) -> bytes:
        return self.written.chunk.data


@dataclass(frozen=True, eq=False)
class Mended:
    """A sentence with the nearest tree; `broken`: what was wrong with the given one, where that is told."""

    written: Written
    found: Repaired
    broken: Sequence[Violation]
    relax: bool
    told: bool
    before: Counts | None

    @cached_property
    def changes(self) -> list[Change]:
        return changes_of(self.written.block, self.found.heads.tolist(), self.found.labels)

    @property
    def relaxed(self) -> tuple[str, str, GivenUp] | None:
        """Its place and id with the rules that were given up for it, if some were."""
        given_up = self.found.given_up
        return None if given_up is None else (self.written.block.place, self.written.name, given_up)

    @property
    def counted(self) -> Done:
        unsure, invalid, written = not self.found.certified, self.found.given_up is not None, self._mended
        sums = self._sums if self.changes else None
        return Done(self.before, sums, written.reduced, unsure, invalid, written.left_out)

    @property
    def _sums(self) -> Sums:
        return Sums(*(sum(getattr(each, kind) for each in self.changes) for kind in ("moved", "renamed", "filled")))

    @property
    def rows(self) -> list[Row]:
        if not self.told or not self.changes:
            return []
        name, block = self.written.name, self.written.block
        forms, found = block.column("form"), list[Row]()
        for each in self.changes:
            heads = as_value(each.old_head), each.head
            labels = as_value(each.old_label), each.label or None
            rules = dict.fromkeys(broken.rule for broken in self.broken if each.word in broken.words)
            place = block.file, block.line_of(each.word)
            row = (name, each.word, forms[each.word - 1], *heads, *labels, tuple(rules), *place)
            found.append(dict(zip(CHANGES, row, strict=True)))
        return found

    @cached_property
    def _mended(self) -> splicing.Mended:
        """The sentence with changes and notes; without changes it stays as it is, but for what was given up."""
        certified, gap = self.found.certified, self.found.gap
        notes = [Note(None, "certified", [certified])] if self.changes else []
        if self.changes and not certified:
            notes.append(Note(None, "gap", [gap if isfinite(gap) else None]))
        notes += relaxed_notes(self.found.given_up, 1) if self.relax else []
        comments = {note.key: note.texts[0] for note in notes if note.key and note.is_known}
        if self.changes:
            return splicing.mended(self.written.block, self.changes, {"repaired": str(self._sums), **comments})
        return splicing.Mended(splicing.with_comments(self.written.block, comments))

    def to_conllu(self, _: Style) -> bytes:
        return self._mended.data


def as_value(text: str) -> int | str | None:
    """What stood in a column, as JSON has it: a number, None where it said nothing, else the text."""
    if text in NOTHING:
        return None
    number = text.removeprefix("-")
    return int(text) if number.isascii() and number.isdigit() else text


class Repairs(Fold[Done]):
    """What was repaired, and which rules were broken before.

    `untaught`: nothing tells how words attach: no scores, and no sentence without mistakes.
    """

    def __init__(self, before: BrokenRules, untaught: bool) -> None:
        self._before, self._untaught = before, untaught
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
            self._before.add(counts.before)

    def lines(self) -> Iterator[Table | str]:
        yield from self._before.tables()
        yield from self._before.notices(labels=False)  # they are filled
        if self._untaught and self._repaired:
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
    """What writes changes into a file, which gets its name at the end of the block; nothing without a path."""
    if path is None:
        yield []
        return
    encoder = encoder_of(None, path, (TSV.name, JSONL.name), TSV.name)
    with encoder.open(path, Page("", False, Sheet(CHANGES))) as write:
        yield [Rows(encoder, write)]
