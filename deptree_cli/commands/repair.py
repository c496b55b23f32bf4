"""``deptree repair``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deptree_cli.cli.help import WRITING
from deptree_cli.cli.options import INPUT, OUTPUT, FloatRange, command, flag, opt, reading, use, writing
from deptree_cli.cli.rule_options import SPACE, RelaxedSentences, Search, Space, met, rules, signature_of
from deptree_cli.cli.run import Fold, Job, Pipeline, Run, Source
from deptree_cli.cli.score_options import Scores, beside
from deptree_cli.cli.terminal import Counted, Table
from deptree_cli.cli.write import Out
from deptree_cli.core.errors import DeptreeError, counted_thousands
from deptree_cli.core.repair import FREE, ONE_EACH, Aims, Costs, Given, Habits, Repaired, nearest, ties
from deptree_cli.core.rule_search import GivenUp
from deptree_cli.io.checking import AnnotatedTree, Asked, BrokenRules, Counts, noted, possible_names, read_known
from deptree_cli.io.conllu.blocks import read_blocks_or_errors
from deptree_cli.io.conllu.splicing import NOTHING, Change, changes_of, mended, not_written
from deptree_cli.io.conllu.trees import YES_NO, Style, relaxed_notes
from deptree_cli.io.encoders import encoder_of
from deptree_cli.io.encoders.base import CONLLU, JSONL, TSV, Page, Row, Sheet
from deptree_cli.io.files.streams import Reread, rereadable, share_of
from deptree_cli.io.read import sentence_of
from deptree_cli.io.rules.reading import successors
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.sentence import Sentence, Side

if TYPE_CHECKING:
    from deptree_cli.core.spaces import TreeSpace
    from deptree_cli.io.rules.constraints import Constraints

# The columns of changes.
CHANGES = ("sent_id", "word", "form", "old_head", "new_head", "old_deprel", "new_deprel", "rules", "file", "line")

_HEADER = flag("--header/--no-header", section=WRITING, help="Write the run signature as first comment.")

# The role of what is known of a sentence before it is repaired: that nothing is wrong with it.
FINE = "fine"


def _costs(text: str) -> Costs:
    match = re.fullmatch(r"([1-9]\d*):([1-9]\d*)", text)
    if not match or max(map(int, match.groups())) > 1000:
        raise click.BadParameter(f"{text!r} is not HEAD:LABEL, two numbers from 1 to 1000 such as 3:1.")
    return Costs(int(match[1]), int(match[2]))


@command()
def repair(
    trees: tuple[str, ...] = opt(metavar="TREES...", many=True, type=INPUT),
    rules: Constraints = rules("Rules that trees must obey", ["ud"]),
    cost: Costs = opt(
        "--cost",
        default="1:1",
        metavar="HEAD:LABEL",
        convert=_costs,
        help="Costs of changing a head, and of changing a label; both cost HEAD + LABEL.  [default: 1:1]",
    ),
    worth: float = opt(
        "--worth",
        type=FloatRange(0),
        default=inf,
        metavar="NATS",
        help="Also make changes that gain more than NATS per unit of cost; 0: the best tree.  [default: inf]",
    ),
    search: Search = use(Search),
    like: str | None = reading(
        "--like", type=INPUT, often=True, help="A treebank to learn how words attach.  [default: TREES]"
    ),
    known: str | None = reading(
        "--known", type=INPUT, often=True, help="Violations that are meant: their words stay if they can."
    ),
    scores: Scores | None = beside("Arc scores, to choose among equally near trees.", lacks=["lengths"], but=SPACE),
    space: Space = use(Space),
    changes: str | None = writing(
        "--changes", type=OUTPUT, often=True, help="Write a row for each changed word (.tsv or .jsonl)."
    ),
    out: Out = use(Out, formats=(CONLLU.name,), header=_HEADER),
    run: Run = use(Run),
) -> int:
    """Change as few heads and labels as possible so that heads are trees and obey rules.

    TREES is CoNLL-U. Heads may form cycles, have several roots or not be words; filling a missing head or label (_)
    costs nothing. Valid sentences are copied byte for byte. MISC of a changed word keeps its old head and label
    (OldHead, OldDeprel); comments say how much was changed, and whether fewer changes might do. To find mistakes that
    break no rule, use deptree doubt.

    Among equally near trees it takes the most probable one: by how words attach in the valid sentences, in --like FILE,
    or by --scores.

    Exit status: 0 all trees obey now, 1 not all (--relax), or not certain, or sentences were skipped, 2 unusable input.
    """
    if like is not None and scores is not None and scores.how.labels is not None:
        raise click.UsageError("--like cannot be combined with --scores, which rank heads and labels. Remove one.")
    wanted = scores.how.space if scores else space.trees
    meant = {} if known is None else read_known(known)
    asked = Asked(rules, wanted, mends=True, known=meant.keys())
    before, habits, suspects = BrokenRules(rules), Habits(), None
    fields = {
        **({"scores": scores.name, **scores.signature_fields} if scores else {}),
        **signature_of(wanted),
        "rules": rules.name,
        "known": known,
        "like": like,
        "cost": None if cost == ONE_EACH else "{}-{}".format(*cost),
        "worth": None if worth == inf else worth,
        **search.signature_fields,
    }
    told = run.also(
        changes, encoder_of(None, changes, (TSV.name, JSONL.name), TSV.name), "rows", Page("", False, Sheet(CHANGES))
    )
    with rereadable(trees) as files:
        if like is not None:
            with rereadable([like]) as treebank:
                habits, _ = _learn(treebank, asked, run, BrokenRules(rules))
        elif scores is None or scores.how.labels is None:
            habits, suspects = _learn(files, asked, run, before)
        items = _read(files, asked, None if suspects is None or worth < inf else suspects)
        if scores is not None:
            lead = Side(items, "sentences", ", ".join(each.place for each in files))
            items = scores.files[0].read(scores.how.layout, warn=run.warn, lead=lead)
        total, share = len(suspects) if suspects else None, share_of([each.path for each in files])
        read = Counted(met(items, rules, possible_names), lambda: total, share)
        aims = Aims(cost, worth, search.budget, search.relax)
        work = Repair(habits, aims, asked, wanted, scores.how if scores else None, suspects is not None, bool(told))
        repairs = Repairs(before, scores is None and not habits, None if known is None else len(meant))
        job: Job[Sentence, Sentence] = Job("repair", Source(read, signature_fields=fields), run, out)
        code = job.write(work, folds=[repairs, *told, *([RelaxedSentences(run)] if search.relax else [])])
    return max(code, repairs.exit_code)


def _read(files: Sequence[Reread], asked: Asked, suspects: Sequence[int] | None) -> Iterator[Sentence | DeptreeError]:
    """The sentences, noted if they have other tags; `suspects`: by their numbers, whether something is wrong."""
    numbers, rules = count(1), asked.constraints.rules
    for each in files:
        with each.opened() as file:
            blocks = read_blocks_or_errors(file.stream, file.place, any_heads=True, feats=rules.ask_feats)
            for sentence in noted(map(sentence_of, blocks, numbers), rules.upos):
                if suspects is not None and isinstance(sentence, Sentence):
                    sentence.companions[FINE] = not suspects[sentence.number - 1]
                yield sentence


class Looked(NamedTuple):
    """What is found of a sentence before any is repaired; `habits`: how words attach in it, if it is valid."""

    number: int
    suspect: bool
    counts: Counts | None
    habits: Habits


def look(asked: Asked, skips: bool, sentence: Sentence, _: None) -> Looked:
    """Look at a sentence's tree; `skips`: one that is malformed is only called suspect, and told of later."""
    habits = Habits()
    try:
        tree = asked(sentence)
        if not tree.broken:
            habits.add(tree.asked.words.all_tags, tree.heads, tree.labels)
        return Looked(sentence.number, tree.is_suspect, tree.counts, habits)
    except DeptreeError:
        if not skips:
            raise
        return Looked(sentence.number, True, None, habits)


def _learn(files: Sequence[Reread], asked: Asked, run: Run, before: BrokenRules) -> tuple[Habits, bytes]:
    """How words attach in the valid sentences; and of each sentence whether there is something to repair."""
    habits, suspects, skips = Habits(), bytearray(), run.messages.skips
    read = (each for each in _read(files, asked, None) if not (skips and isinstance(each, DeptreeError)))
    share = share_of([each.path for each in files])
    source = Source[Any, Any](Counted(read, share=share, note=lambda: "looked at"))
    results: Iterator[Looked] = Pipeline(source, replace(run, shard=(1, 1))).map(partial(look, asked, skips))
    for looked in results:
        suspects += bytes(looked.number - 1 - len(suspects))  # of those that are malformed
        suspects.append(looked.suspect)
        habits += looked.habits
        if looked.counts is not None:
            before.add(looked.counts)
    return habits, bytes(suspects)


class Done(NamedTuple):
    """What was done to a sentence; `left_out` has no column in the file, `before` is None where it was counted before.

    `numbers`: how many words have another head (`heads`), another label, a head or label where there was none
    (`filled`), lost arcs of DEPS (`reduced`), or are those of known violations and changed all the same (`unkept`); and
    1 for what it is: `repaired`, `unsure` if a nearer tree may obey, `invalid` if it breaks rules that were given up.
    """

    numbers: Mapping[str, int] = {}
    left_out: Sequence[str] = ()
    before: Counts | None = None


def _summary(numbers: Mapping[str, int]) -> str:
    heads, labels = (counted_thousands(numbers.get(f"{each}s", 0), each) for each in ("head", "label"))
    filled = numbers.get("filled")
    return f"{heads}, {labels}, {filled:,} filled" if filled else f"{heads}, {labels}"


class Outcome(NamedTuple):
    """A sentence as it is written; what was done to it, told word by word in rows, and which rules were given up."""

    data: bytes
    counted: Done = Done()
    rows: list[Row] | None = None
    relaxed: tuple[str, str, GivenUp] | None = None

    def to_conllu(self, _: Style) -> bytes:
        return self.data


@dataclass(frozen=True)
class Repair:
    """Repairs a sentence, if something is wrong with it.

    `counted`: its broken rules were counted before; `told`: changes are told word by word.
    """

    habits: Habits
    aims: Aims
    asked: Asked
    space: TreeSpace
    how: Interpretation | None
    counted: bool
    told: bool

    def __call__(self, sentence: Sentence, _: None) -> Outcome:
        if self.how is None and sentence.companions.get(FINE):
            return Outcome(sentence.sentence.raw)
        tree = self.asked(sentence)
        distribution = self.how(sentence).distribution if self.how else None
        try:
            before = None if self.counted else tree.counts
            if self.aims.worth == inf and not tree.is_suspect:
                return Outcome(tree.block.raw, Done(before=before))
            beyond, tags = tree.block.n + 1, tree.asked.words.all_tags
            # a head that is not a number becomes a number of no word, which somebody meant to be one
            heads = [FREE if head is None else beyond if head < 0 else head for head in tree.block.heads]
            given = Given(heads, tree.labels, [*map(successors, tree.labels, tags)], tree.kept)
            labels, scores = ties(self.habits, given, tags, distribution, tree.asked_labels)
            asked = tree.excused if tree.known else tree.asked
            found = nearest(given, asked.with_labels(labels), scores, self.space, self.aims)
        except DeptreeError as error:
            raise error.at(tree.block.place, sentence.sent_id) from None
        return self._written(tree, found, before)

    def _written(self, tree: AnnotatedTree, found: Repaired, before: Counts | None) -> Outcome:
        """The sentence with changes and notes; without changes it stays as it is, but for what was given up."""
        block, comments, numbers = tree.block, dict[str, str](), dict[str, int]()
        if changes := changes_of(block, found.heads.tolist(), found.labels):
            numbers["heads"] = sum(each.moved for each in changes)
            numbers["labels"] = sum(each.renamed for each in changes)
            numbers["filled"] = sum(each.filled for each in changes)
            comments = {"repaired": _summary(numbers), "certified": YES_NO[found.certified]}
            if not found.certified and isfinite(found.gap):
                comments["gap"] = str(found.gap)
        if self.aims.relax:
            comments |= {str(note.key): note.texts[0] for note in relaxed_notes(found.given_up, 1) if note.is_known}
        data, reduced, left_out = mended(block, changes, comments)
        given_up = None if found.given_up is None else (block.place, tree.read.sent_id, found.given_up)
        numbers |= {"repaired": bool(changes), "reduced": reduced}
        numbers |= {"unsure": not found.certified, "invalid": given_up is not None}
        numbers["unkept"] = sum(each.word in tree.kept for each in changes)
        rows = _rows(tree, changes) if self.told and changes else None
        return Outcome(data, Done(numbers, left_out, before), rows, given_up)


def _rows(tree: AnnotatedTree, changes: Sequence[Change]) -> list[Row]:
    block, rows = tree.block, list[Row]()
    forms = block.column("form")
    for each in changes:
        heads, labels = (as_value(each.old_head), each.head), (as_value(each.old_label), each.label or None)
        rules = dict.fromkeys(broken.rule for broken in tree.broken if each.word in broken.words)
        place = tuple(rules), block.file, block.line_of(each.word)
        row = (tree.read.sent_id, each.word, forms[each.word - 1], *heads, *labels, *place)
        rows.append(dict(zip(CHANGES, row, strict=True)))
    return rows


def as_value(text: str) -> int | str | None:
    """What stood in a column, as JSON has it: a number, None where it said nothing, else the text."""
    if text in NOTHING:
        return None
    number = text.removeprefix("-")
    return int(text) if number.isascii() and number.isdigit() else text


class Repairs(Fold[Done]):
    """What was repaired, and which rules were broken before.

    `untaught`: nothing tells how words attach: no scores, and no sentence without mistakes. `meant`: how many
    violations are known.
    """

    def __init__(self, before: BrokenRules, untaught: bool, meant: int | None) -> None:
        self._before, self._untaught, self._meant, self._sentences = before, untaught, meant, 0
        self._numbers, self._left_out = Counter[str](), dict[str, None]()

    def add(self, counts: Done) -> None:
        self._sentences += 1
        self._numbers.update(counts.numbers)
        self._left_out |= dict.fromkeys(counts.left_out)
        if counts.before is not None:
            self._before.add(counts.before)

    def lines(self) -> Iterator[Table | str]:
        if rules := self._before.found:
            yield Table("", ("rule broken before", "places", "sentences"), rules)
        yield from self._before.notices(labels=False)  # they are filled
        found = self._numbers
        if self._meant is not None:
            changed = counted_thousands(found["unkept"], "word")
            but = f", but for {changed} that no tree keeps" if found["unkept"] else ""
            kept = f": their words keep head and label{but}" if self._before.known else ""
            yield f"{len(self._before.known):,} of {self._meant:,} known violations found{kept}"
        if self._untaught and found["repaired"]:
            yield "no sentence is valid, so ties are broken by distance; --like TREEBANK or --scores FILE does better"
        if found["reduced"]:
            words = counted_thousands(found["reduced"], "word")
            yield f"DEPS of {words} had several arcs; only the new arc is kept"
        yield from map(not_written, self._left_out)
        if found["unsure"]:
            unsure = counted_thousands(found["unsure"], "sentence")
            yield f"{unsure} not certified: a nearer tree may obey (raise --budget)"
        sentences = counted_thousands(self._sentences, "sentence")
        repaired = f"{found['repaired']:,} of {sentences} repaired: {_summary(found)}"
        yield repaired if found["repaired"] else f"nothing to repair in {sentences}"

    @property
    def exit_code(self) -> int:
        return 1 if self._numbers["unsure"] or self._numbers["invalid"] else 0
