"""``deptree swor``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import click
import numpy as np

from deptree_cli.commands.options import (
    Inputs,
    format_option,
    header_option,
    input_options,
    output_option,
    seed_option,
    size_option,
)
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_chunks
from deptree_cli.core.sentence import Sentence
from deptree_cli.core.swor import ALGORITHMS, Algorithm, Draws, algorithm
from deptree_cli.io.pairing import Record
from deptree_cli.io.report import talk
from deptree_cli.io.signature import signature
from deptree_cli.io.trees import TO_BYTES, Note, Trees, log_prob_note

HELP = """Draw up to K different trees per sentence, in the order in which a sampler with replacement meets them.

Where a sentence has fewer trees of positive weight, all of them come, and a line on stderr says so. Writes CoNLL-U if
--conllu is given, else JSON Lines; on the last tree of a sentence stand the probability of all drawn (mass) and whether
there are no others (exhausted).

Algorithms, with the cost of k trees of n words:

"""

LISTING = "\n\n".join(f"\b\n{line.name}: {line.cost}\n  {line.source}" for line in ALGORITHMS.values())


@click.command(help=HELP + LISTING, epilog="\b\nTry: deptree swor scores.npz --from natasha -k 10 --seed 7")
@input_options
@size_option(10, "Different trees per sentence.")
@click.option("--sampler", "name", default="trie", metavar="NAME", help="See above.  [default: trie]")
@seed_option
@output_option
@format_option("conllu", "jsonl")
@header_option
def swor(
    inputs: Inputs, size: int, name: str, seed: int, output: str | None, form: str | None, header: bool | None
) -> int:
    """Draw up to K different trees per sentence."""
    line = algorithm(name)
    form = choose_format(form, output, inputs, "conllu", "jsonl")
    pipeline = Pipeline(inputs)
    fields = {"sampler": line.name, **inputs.signature_fields, "size": size, "seed": seed}
    results = pipeline.map(Draw(line, size, form), seed)
    chunks = (_said(draw, size, inputs.quiet) for draw in results)
    write_chunks(chunks, form, output, signature("swor", fields), header, inputs.quiet)
    return pipeline.exit_code


class Drawn(NamedTuple):
    """A sentence's trees as bytes, and how many they are."""

    sent_id: str
    trees: int
    chunk: bytes


@dataclass(frozen=True)
class Draw:
    """Different trees as the bytes of an output format."""

    line: Algorithm
    size: int
    form: str

    def __call__(self, sentence: Sentence, record: Record, rng: np.random.Generator) -> Drawn:
        """The work on one sentence."""
        draws = self.line.draw(sentence, self.size, rng)
        return Drawn(record.sent_id, len(draws.heads), TO_BYTES[self.form](_trees(record, draws)))


def _said(drawn: Drawn, size: int, quiet: bool) -> bytes:
    """The bytes, once the user knows where fewer trees came than were asked for."""
    if drawn.trees < size and not quiet:
        talk(f"{drawn.sent_id} has {drawn.trees} trees of positive weight, fewer than {size}; all were drawn")
    return drawn.chunk


def _trees(record: Record, draws: Draws) -> Trees:
    notes = [log_prob_note(draws.log_probs), Note(None, "swor_rank", range(1, len(draws.heads) + 1))]
    closing = [
        Note("mass", "swor_mass", [draws.mass], "{:.6f}"),
        Note("exhausted", "swor_exhausted", [draws.exhausted]),
    ]
    return Trees(record, draws.heads, notes, closing)
