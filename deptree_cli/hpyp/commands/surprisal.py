"""``deptree hpyp surprisal``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from math import sqrt
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import command, opt, use
from deptree_cli.cli.run import Fold, Job, Run
from deptree_cli.cli.write import Out
from deptree_cli.core.errors import counted
from deptree_cli.hpyp.model.unknown import WordNote, word_notes
from deptree_cli.hpyp.options import REPEATED, AnnotatedBlock, ParserOptions
from deptree_cli.io.conllu.blocks import REGIONS, Region
from deptree_cli.io.conllu.trees import Style
from deptree_cli.io.encoders.base import JSONL, TSV, Row, Sheet
from deptree_cli.io.json_lines import dump

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.parsing import Evidence  # loads kernels

# The comments and MISC entries that are replaced or removed. They do not depend on trees, so other commands keep them.
NOTES = frozenset({b"end_surprisal", b"evidence_log2", b"evidence_error", b"SurprisalClass", b"SurprisalNote"})

WORDS = "words"  # the default of --regions
COLUMNS = ("sent_id", "position", "id", "form", "words", "surprisal", "error", "class", "note")


@command()
def surprisal(
    parser: ParserOptions = use(ParserOptions),
    filters: int = REPEATED,
    regions: str = opt(
        "--regions",
        type=click.Choice([*REGIONS]),
        default=WORDS,
        help="A row per word, per token (sums over multiword tokens), or per stretch between two spaces; the last two"
        " for TSV and JSON Lines.  [default: words]",
    ),
    seed: int = options.seed(),
    out: Out = use(Out, formats=("conllu", "jsonl", "tsv")),
    run: Run = use(Run),
) -> int:
    """Compute the surprisal of every word, in bits: how unexpected it is given the words before it.

    Surprisal is minus log2 of a word's probability, summed over all trees of the words so far. With --tags given, it is
    the surprisal of tag and word together; with --tags predict, of the word alone. Reads CoNLL-U and writes it back
    with Surprisal in MISC of every word; -o FILE.jsonl writes JSON Lines, -o FILE.tsv a row per word. For a study of
    reading times pass --regions spaces: a row is then what a reader sees as one word, with the punctuation attached to
    it.

    Words that are rare in the treebank are scored as a class (SurprisalClass=UNK-LC-ing). SurprisalNote gives the
    reasons: rare_form, and unseen_class if the class is rare too; missing_tag or unseen_tag if the word's tag was
    summed over. A model without words (--unlexicalised) gives the surprisals of tags.

    The comments are end_surprisal, the surprisal of the end of the sentence; evidence_log2, log2 of the probability of
    the whole sentence, which is minus the sum of all surprisals; and evidence_error, its standard error. JSON Lines
    have these as fields, and the standard error of every surprisal.

    Probabilities are estimated by --filters particle filters of --particles each. The estimate for every beginning of a
    sentence is unbiased. Words that come later have no influence. A line on stderr gives the typical error of a
    surprisal.
    """
    if regions != WORDS:
        out = out.narrowed("regions of several words", TSV.name, JSONL.name)
    last = {"regions": None if regions == WORDS else regions, "seed": seed}
    job = Job("hpyp surprisal", parser.source(run, parser.particles * filters), run, out, last=last)
    return job.write(partial(surprisals, parser, filters, regions), seed, Sheet(COLUMNS), [Errors(regions)])


@dataclass
class Errors(Fold[tuple[list[float], bool]]):
    """The root mean square of the standard errors of all surprisals; whether any sentence says where its spaces are."""

    regions: str
    squares: float = 0.0
    count: int = 0
    tells_spaces: bool = False

    def add(self, counts: tuple[list[float], bool]) -> None:
        errors, tells_spaces = counts
        self.squares += sum(error * error for error in errors)
        self.count += len(errors)
        self.tells_spaces |= tells_spaces

    def lines(self) -> Iterator[str]:
        if self.count:
            off = sqrt(self.squares / self.count)
            regions = counted(self.count, "word" if self.regions == WORDS else "region")
            yield f"Monte Carlo error of a surprisal: {off:.4f} bits (root mean square over {regions} and ends)"
        if self.regions == "spaces" and not self.tells_spaces:
            yield "no sentence has SpaceAfter=No or # text: every token was assumed to stand between spaces"


@dataclass(frozen=True, eq=False)
class Measured:
    """The surprisals of a sentence, notes on its words, and the regions in order, which together have all words.

    `bits` are those of the regions and of the end, (regions + 1,), with their standard `errors`; none from one filter.
    """

    sentence: AnnotatedBlock
    found: Evidence
    notes: list[WordNote]
    regions: Sequence[Region]
    bits: list[float]
    errors: list[float]
    effort: dict[str, int]

    @property
    def counted(self) -> tuple[list[float], bool]:
        block = self.sentence.block
        return self.errors, b"SpaceAfter=No" in block.raw or block.comment("text") is not None

    def to_jsonl(self) -> bytes:
        columns = {name: [entry[name] for entry in self.entries] for name in ("id", "form", "class", "note")}
        (*bits, end), errors = self.bits, self.errors
        row = {"sent_id": self.sentence.annotated.sent_id, "forms": columns.pop("form"), "surprisal": bits, "end": end}
        row |= {"error": errors[:-1], "end_error": errors[-1]} if errors else {}
        of_all = {"evidence_log2": float(self.found.log2[-1]), "evidence_error": self.found.error}
        return dump(row | columns | of_all | self.effort)

    def to_conllu(self, _: Style) -> bytes:
        found = self.found
        *bits, end = found.surprisals.tolist()
        comments = [f"# end_surprisal = {end:z.4f}", f"# evidence_log2 = {found.log2[-1]:z.4f}"]
        comments += [] if found.error is None else [f"# evidence_error = {found.error:.4f}"]
        misc = {}
        for word, (each, note) in enumerate(zip(bits, self.notes, strict=True), 1):
            of_class = f"|SurprisalClass={note.word_class}" if note.word_class else ""
            reasons = f"|SurprisalNote={','.join(note.reasons)}" if note.reasons else ""
            misc[word] = f"Surprisal={each:z.4f}{of_class}{reasons}"
        return self.sentence.block.with_notes(misc, comments, NOTES)

    def rows(self) -> Iterator[Row]:
        sent_id, errors = self.sentence.annotated.sent_id, self.errors or repeat(None)
        for place, (entry, bits, error) in enumerate(zip(self.entries, self.bits, errors, strict=False), 1):
            yield {"sent_id": sent_id, **entry, "position": place, "surprisal": bits, "error": error}

    @property
    def entries(self) -> Iterator[dict[str, Any]]:
        """What does not depend on surprisals of every region, with the notes of all its words."""
        for region in self.regions:
            own = self.notes[region.first - 1 : region.last]
            classes, reasons = (note.word_class for note in own), (reason for note in own for reason in note.reasons)
            notes = {"class": ",".join(filter(None, classes)), "note": ",".join(dict.fromkeys(reasons))}
            entry = {"id": region.id, "form": region.form, "words": len(own)}
            yield entry | {name: text or None for name, text in notes.items()}


def surprisals(
    parser: ParserOptions, filters: int, how: str, sentence: AnnotatedBlock, rng: np.random.Generator
) -> Measured:
    """The surprisals of a sentence by regions; `how` these are found."""
    from deptree_cli.hpyp.model.parsing import evidence  # loads kernels: when there is work

    words, regions = sentence.annotated, REGIONS[how](sentence.block)  # before the work: it may be refused
    found = evidence(parser.trained, words, rng, parser.particles, parser.predicts_tags, filters)
    notes = word_notes(parser.trained.symbols, words, parser.predicts_tags)
    ends = [*(region.last - 1 for region in regions), len(notes)]  # of the last word of each, and of the sentence
    bits, errors = found.surprisals_to(ends).tolist(), found.errors_to(ends)
    effort = {"particles": parser.particles, "filters": filters}
    return Measured(sentence, found, notes, regions, bits, [] if errors is None else errors.tolist(), effort)
