"""``deptree hpyp surprisal``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import seed_option
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.errors import counted
from deptree_cli.hpyp.model.notes import WordNote, word_notes
from deptree_cli.hpyp.options.parser_options import ParserOptions, Sentence, filters_option, parser_options
from deptree_cli.io.conllu.surface import surface_tokens
from deptree_cli.io.conllu.trees import Style
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.json_lines import dump

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.evidence import Evidence  # loads kernels

# The comments and MISC entries that are replaced or removed. They do not depend on trees, so other commands keep them.
NOTES = frozenset({b"end_surprisal", b"evidence_log2", b"evidence_error", b"SurprisalClass", b"SurprisalNote"})

# What TSV has of every token.
COLUMNS = ("sent_id", "position", "id", "form", "words", "surprisal", "error", "class", "note")


@command()
@parser_options
@filters_option
@seed_option
@format_options("conllu", "jsonl", "tsv")
@run_options
def surprisal(parser: ParserOptions, run: RunOptions, filters: int, seed: int, writing: Writing) -> int:
    """Compute the surprisal of every word, in bits: how unexpected it is given the words before it.

    Surprisal is minus log2 of a word's probability, summed over all trees of the words so far. With --tags given, it is
    the surprisal of tag and word together; with --tags predict, of the word alone. Reads CoNLL-U and writes it back
    with Surprisal in MISC of every word; -o FILE.jsonl writes JSON Lines, -o FILE.tsv a row per token.

    Words that are rare in the treebank are scored as a class (SurprisalClass=UNK-LC-ing). SurprisalNote gives the
    reasons: rare_form, and unseen_class if the class is rare too; missing_tag or unseen_tag if the word's tag was
    summed over. A model without words (--unlexicalised) gives the surprisals of tags.

    The comments are end_surprisal, the surprisal of the end of the sentence; evidence_log2, log2 of the probability of
    the whole sentence, which is minus the sum of all surprisals; and evidence_error, its standard error. JSON Lines
    have these as fields, and the standard error of every surprisal. TSV has a row per token; a multiword token has
    the sum over its words.

    Probabilities are estimated by --filters particle filters of --particles each. The estimate for every beginning of a
    sentence is unbiased. Words that come later have no influence. A line on stderr gives the typical error of a
    surprisal.
    """
    job = Job("hpyp surprisal", parser.source(run), run, writing, last={"filters": filters, "seed": seed})
    return job.write(Surprisals(parser, filters), seed, Sheet(COLUMNS), [Errors()])


@dataclass
class Errors(Fold[list[float]]):
    """The errors of all surprisals, squared and added up, and how many there are."""

    attribute = "errors"

    squares: float = 0.0
    words: int = 0

    def add(self, counts: list[float]) -> None:
        self.squares += sum(error * error for error in counts)
        self.words += len(counts)

    def lines(self) -> Iterator[str]:
        if self.words:
            off = sqrt(self.squares / self.words)
            words = counted(self.words, "word")
            yield f"Monte Carlo error of a surprisal: {off:.4f} bits (root mean square over {words} and ends)"


@dataclass(frozen=True, eq=False)
class Measured:
    """A sentence's surprisals, and what there is to note on its words; `how`: particles and filters."""

    sentence: Sentence
    found: Evidence
    notes: list[WordNote]
    how: dict[str, int]

    @property
    def errors(self) -> list[float]:
        """The standard errors of the surprisals, (n + 1,); none from a single filter."""
        return [] if self.found.surprisal_errors is None else self.found.surprisal_errors.tolist()

    def to_jsonl(self) -> bytes:
        """The sentence as a line of JSON."""
        *bits, end = self.found.surprisals.tolist()
        words, errors, notes = self.sentence.annotated, self.errors, self.notes
        row = {"sent_id": words.sent_id, "forms": words.forms, "surprisal": bits, "end": end}
        row |= {"error": errors[:-1], "end_error": errors[-1]} if errors else {}
        row |= {"class": [note.word_class for note in notes], "note": [_joined(note.reasons) for note in notes]}
        return dump(row | {"evidence_log2": float(self.found.log2[-1]), "evidence_error": self.found.error} | self.how)

    def to_conllu(self, _: Style) -> bytes:
        """The sentence as it was, with its surprisals."""
        found = self.found
        *bits, end = found.surprisals.tolist()
        comments = [f"# end_surprisal = {end:z.4f}", f"# evidence_log2 = {found.log2[-1]:z.4f}"]
        comments += [] if found.error is None else [f"# evidence_error = {found.error:.4f}"]
        misc = {}
        for word, (each, note) in enumerate(zip(bits, self.notes, strict=True), 1):
            entries = {
                "Surprisal": f"{each:z.4f}",
                "SurprisalClass": note.word_class,
                "SurprisalNote": _joined(note.reasons),
            }
            misc[word] = "|".join(f"{key}={value}" for key, value in entries.items() if value)
        return self.sentence.block.with_notes(misc, comments, NOTES)

    def rows(self) -> Iterator[Row]:
        """A row for every token; what its words have to be noted for, all of them have."""
        tokens = surface_tokens(self.sentence.block)
        ends = [token.last - 1 for token in tokens]
        bits, errors = self.found.surprisals_to(ends).tolist(), self.found.errors_to(ends)
        for position, token in enumerate(tokens, 1):
            own = self.notes[token.first - 1 : token.last]
            yield {
                "sent_id": self.sentence.annotated.sent_id,
                "position": position,
                "id": token.id,
                "form": token.form,
                "words": len(own),
                "surprisal": bits[position - 1],
                "error": None if errors is None else float(errors[position - 1]),
                "class": _joined(note.word_class for note in own if note.word_class),
                "note": _joined(dict.fromkeys(reason for note in own for reason in note.reasons)),
            }


@dataclass(frozen=True)
class Surprisals:
    """The surprisals of a sentence's words; it travels to worker processes."""

    parser: ParserOptions
    filters: int

    def __call__(self, sentence: Sentence, rng: np.random.Generator) -> Measured:
        """The work on one sentence."""
        from deptree_cli.hpyp.model.evidence import evidence  # loads kernels: when there is work

        parser, words = self.parser, sentence.annotated
        found = evidence(parser.trained, words, rng, parser.particles, parser.predicts_tags, self.filters)
        notes = word_notes(parser.trained.symbols, words, parser.predicts_tags)
        return Measured(sentence, found, notes, {"particles": parser.particles, "filters": self.filters})


def _joined(names: Iterable[str]) -> str | None:
    """The names in one, None for none."""
    return ",".join(names) or None
