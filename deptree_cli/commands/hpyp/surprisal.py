"""``deptree hpyp surprisal``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from deptree_cli.cli.options import format_option, header_option, seed_option
from deptree_cli.cli.parser_options import ParserOptions, Sentence, filters_option, parser_options
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.report import talk
from deptree_cli.cli.rows import TSV, Row, write_rows
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, writing_option
from deptree_cli.cli.writing import choose_format, write_chunks
from deptree_cli.core.errors import counted
from deptree_cli.core.hpyp.notes import WordNote, word_notes
from deptree_cli.io.conllu.surface import surface_tokens
from deptree_cli.io.json_lines import dump
from deptree_cli.io.signature import signature

if TYPE_CHECKING:
    from deptree_cli.core.hpyp.evidence import Evidence  # loads kernels

# The notes that are written anew or go. They are true whatever the tree, so commands that change it leave them.
NOTES = frozenset({b"end_surprisal", b"evidence_log2", b"evidence_error", b"SurprisalClass", b"SurprisalNote"})

# What --tsv has of every token.
COLUMNS = ("sent_id", "position", "id", "form", "words", "surprisal", "error", "class", "note")


@command(epilog="\b\nTry: deptree hpyp surprisal model.npz sentences.conllu --tags predict --seed 1")
@parser_options
@filters_option
@seed_option
@format_option("conllu", "jsonl", "tsv")
@writing_option("--tsv", "as_tsv", is_flag=True, help="The same as --format tsv: a row for every token.")
@header_option
@run_options
def surprisal(
    parser: ParserOptions, run: RunOptions, filters: int, seed: int, fmt: str | None, as_tsv: bool, header: bool | None
) -> int:
    """Compute how surprising every word is, in bits: minus log2 of its probability given the words before it, whatever
    their tree.

    With --tags given it is the surprisal of tag and word together, given the words and tags before; with --tags predict
    that of the word, tags summed out. By a model without words (--unlexicalised) it is that of the tag.

    Words that are rare in the treebank are scored as a class: SurprisalClass=UNK-LC-ing. SurprisalNote says why: a
    rare_form, and perhaps an unseen_class; or that a given tag was summed out: a missing_tag, an unseen_tag.

    Writes the sentences as they are, with these notes and Surprisal in MISC of every word and comments: end_surprisal,
    that of the sentence's end; evidence_log2, log2 of the probability of the whole sentence, which is minus the sum of
    all these; and evidence_error, its standard error. JSON Lines have these fields, and the error of every surprisal.
    --tsv has a row for every token as it is read: the words of a multiword token are one, their surprisals added up.

    The probabilities are estimates, unbiased for every beginning of a sentence, by --filters particle filters of
    --particles each; nothing that comes after a word has influence on its surprisal. A line on stderr tells how far
    surprisals are off, on average.
    """
    if as_tsv and fmt not in (None, TSV):
        raise click.UsageError(f"--tsv and --format {fmt} are two formats. Remove one.")
    fmt = choose_format(TSV if as_tsv else fmt, run.output, parser.sentences[0], "conllu", "jsonl", TSV)
    pipeline = Pipeline(parser.source(), parser.prepare, run)
    fields = {**parser.signature_fields, "filters": filters, **run.signature_fields, "seed": seed}
    errors = Errors()
    measured = errors.counted(pipeline.map(Surprisals(parser, filters, fmt), seed))
    made_by = signature("hpyp surprisal", fields)
    if fmt == TSV:
        write_rows((row for each in measured for row in each.rows), COLUMNS, TSV, made_by, header, run)
    else:
        write_chunks((each.chunk for each in measured), fmt, made_by, header, run)
    if errors.words and not run.quiet:
        off = sqrt(errors.squares / errors.words)
        words = counted(errors.words, "word")
        talk(f"Monte Carlo error of a surprisal: {off:.4f} bits (root mean square over {words} and ends)")
    parser.tell_unknown_tags(run)
    return pipeline.exit_code


class Measured(NamedTuple):
    """A sentence's surprisals as bytes or rows, and their standard errors, (n + 1,); none from a single filter."""

    chunk: bytes
    rows: list[Row]
    errors: list[float]


@dataclass
class Errors:
    """The errors of all surprisals, squared and added up, and how many there are."""

    squares: float = 0.0
    words: int = 0

    def counted(self, measured: Iterable[Measured]) -> Iterator[Measured]:
        """The sentences as they pass."""
        for each in measured:
            self.squares += sum(error * error for error in each.errors)
            self.words += len(each.errors)
            yield each


@dataclass(frozen=True)
class Surprisals:
    """The surprisals of a sentence's words; it travels to worker processes."""

    parser: ParserOptions
    filters: int
    fmt: str

    def __call__(self, sentence: Sentence, rng: np.random.Generator) -> Measured:
        """The work on one sentence."""
        from deptree_cli.core.hpyp.evidence import evidence  # loads kernels: when there is work

        parser, words = self.parser, sentence.annotated
        found = evidence(parser.trained, words, rng, parser.particles, parser.predicts_tags, self.filters)
        notes = word_notes(parser.trained.symbols, words, parser.predicts_tags)
        errors = [] if found.surprisal_errors is None else found.surprisal_errors.tolist()
        if self.fmt == TSV:
            return Measured(b"", list(_rows(sentence, found, notes)), errors)
        chunk = _conllu(sentence, found, notes) if self.fmt == "conllu" else self._json(sentence, found, notes, errors)
        return Measured(chunk, [], errors)

    def _json(self, sentence: Sentence, found: Evidence, notes: list[WordNote], errors: list[float]) -> bytes:
        """The sentence as a line of JSON."""
        *bits, end = found.surprisals.tolist()
        row = {"sent_id": sentence.annotated.sent_id, "forms": sentence.annotated.forms, "surprisal": bits, "end": end}
        row |= {"error": errors[:-1], "end_error": errors[-1]} if errors else {}
        row |= {"class": [note.word_class for note in notes], "note": [_joined(note.reasons) for note in notes]}
        row |= {"evidence_log2": float(found.log2[-1]), "evidence_error": found.error}
        return dump(row | {"particles": self.parser.particles, "filters": self.filters})


def _conllu(sentence: Sentence, found: Evidence, notes: list[WordNote]) -> bytes:
    """The sentence as it was, with its surprisals."""
    *bits, end = found.surprisals.tolist()
    comments = [f"# end_surprisal = {end:z.4f}", f"# evidence_log2 = {found.log2[-1]:z.4f}"]
    comments += [] if found.error is None else [f"# evidence_error = {found.error:.4f}"]
    misc = {}
    for word, (each, note) in enumerate(zip(bits, notes, strict=True), 1):
        entries = {
            "Surprisal": f"{each:z.4f}",
            "SurprisalClass": note.word_class,
            "SurprisalNote": _joined(note.reasons),
        }
        misc[word] = "|".join(f"{key}={value}" for key, value in entries.items() if value)
    return sentence.block.with_notes(misc, comments, NOTES)


def _rows(sentence: Sentence, found: Evidence, notes: list[WordNote]) -> Iterator[Row]:
    """A row for every token; what its words have to be noted for, all of them have."""
    tokens = surface_tokens(sentence.block)
    ends = [token.last - 1 for token in tokens]
    bits, errors = found.surprisals_to(ends).tolist(), found.errors_to(ends)
    for position, token in enumerate(tokens, 1):
        own = notes[token.first - 1 : token.last]
        yield {
            "sent_id": sentence.annotated.sent_id,
            "position": position,
            "id": token.id,
            "form": token.form,
            "words": len(own),
            "surprisal": bits[position - 1],
            "error": None if errors is None else float(errors[position - 1]),
            "class": _joined(note.word_class for note in own if note.word_class),
            "note": _joined(dict.fromkeys(reason for note in own for reason in note.reasons)),
        }


def _joined(names: Iterable[str]) -> str | None:
    """The names in one, None for none."""
    return ",".join(names) or None
