"""``deptree hpyp surprisal``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from deptree_cli.cli.options import format_option, header_option, seed_option
from deptree_cli.cli.parser_options import ParserOptions, Sentence, filters_option, parser_options
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.report import talk
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import choose_format, write_chunks
from deptree_cli.core.errors import counted
from deptree_cli.io.json_lines import dump
from deptree_cli.io.signature import signature

# The comments that are written anew or go. They are true whatever the tree, so commands that change it leave them.
COMMENTS = frozenset({b"end_surprisal", b"evidence_log2", b"evidence_error"})


@command(epilog="\b\nTry: deptree hpyp surprisal model.npz sentences.conllu --tags predict --seed 1")
@parser_options
@filters_option
@seed_option
@format_option("conllu", "jsonl")
@header_option
@run_options
def surprisal(
    parser: ParserOptions, run: RunOptions, filters: int, seed: int, fmt: str | None, header: bool | None
) -> int:
    """Compute how surprising every word is, in bits: minus log2 of its probability given the words before it, whatever
    their tree.

    With --tags given it is the surprisal of tag and word together, given the words and tags before; with --tags predict
    that of the word, tags summed out. By a model without words (--unlexicalised) it is that of the tag. Words that are
    rare in the treebank are predicted as a class (UNK-LC-ing, ...).

    Writes the sentences as they are, with Surprisal in MISC of every word and comments: end_surprisal, that of the
    sentence's end; evidence_log2, log2 of the probability of the whole sentence, which is minus the sum of all these;
    and evidence_error, its standard error. JSON Lines have these fields, and the error of every surprisal.

    The probabilities are estimates, unbiased for every beginning of a sentence, by --filters particle filters of
    --particles each; nothing that comes after a word has influence on its surprisal. A line on stderr tells how far
    surprisals are off, on average.
    """
    fmt = choose_format(fmt, run.output, parser.sentences[0], "conllu", "jsonl")
    pipeline = Pipeline(parser.source(), parser.prepare, run)
    fields = {**parser.signature_fields, "filters": filters, **run.signature_fields, "seed": seed}
    errors = Errors()
    measured = pipeline.map(Surprisals(parser, filters, fmt), seed)
    write_chunks(errors.counted(measured), fmt, signature("hpyp surprisal", fields), header, run)
    if errors.words and not run.quiet:
        off = sqrt(errors.squares / errors.words)
        words = counted(errors.words, "word")
        talk(f"Monte Carlo error of a surprisal: {off:.4f} bits (root mean square over {words} and ends)")
    return pipeline.exit_code


class Measured(NamedTuple):
    """A sentence's surprisals as bytes, and their standard errors, (n + 1,); none from a single filter."""

    chunk: bytes
    errors: list[float]


@dataclass
class Errors:
    """The errors of all surprisals, squared and added up, and how many there are."""

    squares: float = 0.0
    words: int = 0

    def counted(self, measured: Iterable[Measured]) -> Iterator[bytes]:
        """The sentences as they pass."""
        for chunk, errors in measured:
            self.squares += sum(error * error for error in errors)
            self.words += len(errors)
            yield chunk


@dataclass(frozen=True)
class Surprisals:
    """The surprisals of a sentence's words; it travels to worker processes."""

    parser: ParserOptions
    filters: int
    fmt: str

    def __call__(self, sentence: Sentence, rng: np.random.Generator) -> Measured:
        """The work on one sentence."""
        from deptree_cli.core.hpyp.evidence import evidence  # loads kernels: when there is work

        parser = self.parser
        found = evidence(parser.trained, sentence.annotated, rng, parser.particles, parser.predicts_tags, self.filters)
        *bits, end = found.surprisals.tolist()
        errors = [] if found.surprisal_errors is None else found.surprisal_errors.tolist()
        whole = float(found.log2[-1])
        if self.fmt == "conllu":
            comments = [f"# end_surprisal = {end:z.4f}", f"# evidence_log2 = {whole:z.4f}"]
            comments += [] if found.error is None else [f"# evidence_error = {found.error:.4f}"]
            misc = {word: f"Surprisal={each:z.4f}" for word, each in enumerate(bits, 1)}
            return Measured(sentence.block.with_notes(misc, comments, COMMENTS), errors)
        row = {"sent_id": sentence.annotated.sent_id, "forms": sentence.annotated.forms, "surprisal": bits, "end": end}
        row |= {"error": errors[:-1], "end_error": errors[-1]} if errors else {}
        row |= {"evidence_log2": whole, "evidence_error": found.error}
        return Measured(dump(row | {"particles": parser.particles, "filters": self.filters}), errors)
