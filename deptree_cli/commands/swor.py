"""``deptree swor``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs, input_options, label_scores_option
from deptree_cli.commands.options import (
    completes,
    format_option,
    header_option,
    output_option,
    seed_option,
    size_option,
    style_fields,
    style_options,
)
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_chunks
from deptree_cli.core.estimate import weights
from deptree_cli.core.sentence import Sentence
from deptree_cli.core.swor import ALGORITHMS, Algorithm, Draws, algorithm
from deptree_cli.io.pairing import Record
from deptree_cli.io.report import talk
from deptree_cli.io.signature import signature
from deptree_cli.io.splicing import Deprels
from deptree_cli.io.trees import TO_BYTES, Note, Style, Trees, deprels_of, label_notes, log_prob_note

HELP = """Draw up to K different trees per sentence, in the order in which a sampler with replacement meets them.

Where a sentence has fewer trees of positive weight, all of them come; a line on stderr counts such sentences. Writes
CoNLL-U if --conllu is given, else JSON Lines. Each tree carries what `deptree estimate` needs: its weight and, in JSON
Lines, its arrival time; the last of a sentence says when the next tree would have come (tau), the probability of all
drawn (mass) and whether there are no others (exhausted). Weights are unbiased for a given K; with --mass, which looks
at the trees to stop, use the normalised ones.

Algorithms, with the cost of k trees of n words:

"""

SIZE = 10
SIZE_FOR_MASS = 10_000

LISTING = "\n\n".join(f"\b\n{line.name}: {line.cost}\n  {line.source}" for line in ALGORITHMS.values())


@click.command(help=HELP + LISTING, epilog="\b\nTry: deptree swor scores.npz --from natasha -k 10 --seed 7")
@input_options
@label_scores_option
@size_option(None, "Different trees per sentence at most.", f"{SIZE}, or {SIZE_FOR_MASS:,} with --mass")
@click.option(
    "--mass",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="P",
    help="Stop as soon as the trees of a sentence have this probability together.",
)
@click.option(
    "--sampler",
    "name",
    default="auto",
    metavar="NAME",
    shell_complete=completes(ALGORITHMS),
    help="See above.  [default: auto]",
)
@click.option("--labelled", "by_label", is_flag=True, help="Two labelings of one tree are two trees.")
@seed_option
@output_option
@format_option("conllu", "jsonl")
@header_option
@style_options
def swor(
    inputs: Inputs,
    size: int | None,
    mass: float | None,
    name: str,
    by_label: bool,
    seed: int,
    output: str | None,
    form: str | None,
    header: bool | None,
    style: Style,
) -> int:
    """Draw up to K different trees per sentence."""
    if by_label and inputs.labels is None:
        raise click.UsageError("--labelled needs the names of labels: --labels FILE.")
    line = algorithm(name)
    form = choose_format(form, output, inputs, "conllu", "jsonl")
    size = size or (SIZE_FOR_MASS if mass else SIZE)
    pipeline = Pipeline(inputs)
    fields = {"sampler": line.name, **inputs.signature_fields, "size": size, "mass": mass, "seed": seed}
    fields |= {"unit": "labelled" if by_label else None, **style_fields(style)}
    short: list[str] = []
    results = pipeline.map(Draw(line, size, mass or 1.0, by_label, form, style), seed)
    chunks = (_noted(drawn, size, mass, short) for drawn in results)
    write_chunks(chunks, form, output, signature("swor", fields), header, inputs.quiet)
    if short and not inputs.quiet:
        _say(short, size, mass)
    return pipeline.exit_code


class Drawn(NamedTuple):
    """A sentence's trees as bytes, how many they are, and the probability of all."""

    sent_id: str
    trees: int
    mass: float
    exhausted: bool
    chunk: bytes


@dataclass(frozen=True)
class Draw:
    """Different trees as the bytes of an output format."""

    line: Algorithm
    size: int
    mass: float
    by_label: bool
    form: str
    style: Style

    def __call__(self, sentence: Sentence, record: Record, rng: np.random.Generator) -> Drawn:
        """The work on one sentence."""
        draws, labels = self._drawn(sentence, rng)
        trees = _trees(record, draws, deprels_of(sentence, labels))
        if not self.by_label:
            trees = replace(trees, notes=[*trees.notes, *label_notes(sentence, draws.heads, labels)])
        chunk = TO_BYTES[self.form](trees, self.style)
        return Drawn(record.sent_id, len(draws.heads), draws.mass, draws.exhausted, chunk)

    def _drawn(self, sentence: Sentence, rng: np.random.Generator) -> tuple[Draws, NDArray[np.int32] | None]:
        """The trees and their labels."""
        if self.by_label:
            from deptree_cli.core.swor import labelled  # loads kernels: when there is work

            return labelled.draw(self.line, sentence, self.size, rng, self.mass)
        draws = self.line.draw(sentence, self.size, rng, self.mass)
        return draws, sentence.labels.draw(draws.heads, rng) if sentence.labels else None


def _noted(drawn: Drawn, size: int, mass: float | None, short: list[str]) -> bytes:
    """The bytes; the sentence's name goes into `short` where they are not what was asked for."""
    if drawn.trees < size if mass is None else drawn.mass < mass and not drawn.exhausted:
        short.append(drawn.sent_id)
    return drawn.chunk


def _say(short: list[str], size: int, mass: float | None) -> None:
    """How many sentences gave less than was asked for, and the first of them."""
    names = ", ".join(short[:3]) + ", ..." * (len(short) > 3)
    sentences = f"{len(short)} sentence{'s' * (len(short) > 1)} ({names})"
    if mass is None:
        talk(f"{sentences} with fewer than {size} trees of positive weight: all were drawn")
    else:
        talk(f"{sentences} where {size} trees have less probability than --mass {mass:g}: raise -k")


def _trees(record: Record, draws: Draws, deprels: Deprels | None) -> Trees:
    weight = weights(draws.log_probs, draws.tau)
    notes = [
        log_prob_note(draws.log_probs),
        Note(None, "swor_rank", range(1, len(draws.heads) + 1)),
        Note("arrival", None, _finite(draws.arrivals)),
        Note("weight", "swor_weight", weight.tolist(), "{:.9g}"),
        Note("weight_normalised", "swor_weight_normalised", (weight / weight.sum()).tolist(), "{:.9g}"),
    ]
    closing = [
        Note("tau", "swor_tau", _finite(np.array([draws.tau])), "{:.9g}"),
        Note("mass", "swor_mass", [draws.mass], "{:.6f}"),
        Note("exhausted", "swor_exhausted", [draws.exhausted]),
    ]
    return Trees(record, draws.heads, notes, closing, deprels)


def _finite(times: NDArray[np.float64]) -> list[float | None]:
    """Times, None for those beyond all numbers."""
    return [time if np.isfinite(time) else None for time in times.tolist()]
