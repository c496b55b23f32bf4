"""``deptree swor``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import click
import numpy as np

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import (
    entry_option,
    format_option,
    header_option,
    seed_option,
    size_option,
    style_fields,
    style_options,
)
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.ranges import FloatRange
from deptree_cli.cli.report import talk
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, label_scores_option, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import format_of_trees, write_chunks
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import counted
from deptree_cli.core.estimate import weights
from deptree_cli.core.labels import label_stream
from deptree_cli.core.swor import ALGORITHMS, Algorithm, Draws
from deptree_cli.io.conllu.misc import probability
from deptree_cli.io.conllu.trees import TO_BYTES, Note, Style, Trees, label_notes, log_prob_note
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature

HELP = """Draw up to K distinct trees per sentence, in the order in which sampling meets them.

Writes CoNLL-U if --conllu is given, else JSON Lines. Where a sentence has fewer trees, all come. Each tree carries what
`deptree estimate` needs: its weight and, in JSON Lines, its arrival time; the last of a sentence carries the time when
the next tree would have come (tau), the probability of all drawn (mass) and whether there are no others (exhausted).

With --mass the trees that reach the mass are followed by a tenth as many, at least 5, so that the weights stay
unbiased: the first are `certain` and weigh what their probability is, the others stand for all that is left. Where
half of K trees (of fewer than 10: K - 5) do not reach the mass, K are drawn.

Algorithms, with the cost of k trees of n words:

"""

SIZE = 10
SIZE_FOR_MASS = 10_000


@command(
    help=HELP,
    listing=Listing("algorithms", ALGORITHMS, lambda entry: f"{entry.name}: {entry.cost}\n  {entry.source}"),
    epilog="\b\nTry: deptree swor scores.npz --from natasha -k 10 --seed 7",
)
@score_options
@label_scores_option
@size_option(None, "Distinct trees per sentence at most.", f"{SIZE}, or {SIZE_FOR_MASS:,} with --mass")
@option(
    "--mass",
    type=FloatRange(0, 1, min_open=True),
    metavar="P",
    help="Stop once the trees of a sentence have this probability together, and a few more have come for the rest.",
)
@entry_option(ALGORITHMS, "--sampler", "algorithm")
@option("--labelled", "by_label", is_flag=True, help="Two labelings of one tree are two trees.")
@seed_option
@format_option("conllu", "jsonl")
@header_option
@style_options
@run_options
def swor(
    scores: ScoreOptions,
    run: RunOptions,
    size: int | None,
    mass: float | None,
    algorithm: Algorithm,
    by_label: bool,
    seed: int,
    fmt: str | None,
    header: bool | None,
    style: Style,
) -> int:
    """Draw up to K distinct trees per sentence."""
    if by_label and scores.how.labels is None:
        raise click.UsageError("--labelled needs the names of labels: --labels FILE.")
    fmt = format_of_trees(fmt, run.output, scores, "conllu", "jsonl")
    size = size or (SIZE_FOR_MASS if mass else SIZE)
    pipeline = Pipeline(scores.records(), scores.interpretation, run)
    fields = {"sampler": algorithm.name, **scores.signature_fields, **run.signature_fields}
    fields |= {"size": size, "mass": mass, "seed": seed}
    fields |= {"unit": "labelled" if by_label else None, **style_fields(style)}
    short: list[str] = []
    results = pipeline.map(DrawDistinct(algorithm, size, mass or 1.0, by_label, fmt, style), seed)
    chunks = (_noted(drawn, size, mass, short) for drawn in results)
    write_chunks(chunks, fmt, signature("swor", fields), header, run)
    if short and not run.quiet:
        _report(short, size, mass)
    return pipeline.exit_code


class Drawn(NamedTuple):
    """A sentence's trees as bytes, how many they are, and the probability of all."""

    sent_id: str
    trees: int
    mass: float
    exhausted: bool
    chunk: bytes


@dataclass(frozen=True)
class DrawDistinct:
    """Distinct trees as the bytes of an output format."""

    algorithm: Algorithm
    size: int
    mass: float
    by_label: bool
    fmt: str
    style: Style

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> Drawn:
        """The work on one sentence."""
        distribution = sentence.distribution
        draws, labels = self._drawn(distribution, rng)
        trees = _trees(sentence, draws, labels, self.mass < 1)
        if not self.by_label:
            trees = replace(trees, notes=[*trees.notes, *label_notes(distribution, draws.heads, labels)])
        chunk = TO_BYTES[self.fmt](trees, self.style)
        return Drawn(sentence.id, len(draws.heads), draws.mass, draws.exhausted, chunk)

    def _drawn(self, distribution: ArcFactored, rng: np.random.Generator) -> tuple[Draws, Heads | None]:
        """The trees and their labels."""
        if self.by_label:
            from deptree_cli.core.swor import labelled  # loads kernels: when there is work

            draws = labelled.draw(self.algorithm, distribution, self.size, rng, self.mass)
            return draws, draws.labels
        draws = self.algorithm.draw(distribution, self.size, rng, self.mass)
        return draws, distribution.labels.draw_by(draws.heads, label_stream(rng)) if distribution.labels else None


def _noted(drawn: Drawn, size: int, mass: float | None, short: list[str]) -> bytes:
    """The bytes; the sentence's name goes into `short` where they are not what was asked for."""
    if drawn.trees < size if mass is None else drawn.mass < mass and not drawn.exhausted:
        short.append(drawn.sent_id)
    return drawn.chunk


def _report(short: list[str], size: int, mass: float | None) -> None:
    """How many sentences gave less than was asked for, and the first of them."""
    names = ", ".join(short[:3]) + ", ..." * (len(short) > 3)
    sentences = f"{counted(len(short), 'sentence')} ({names})"
    if mass is None:
        talk(f"{sentences} with fewer than {size} trees of positive weight: all were drawn")
    else:
        talk(f"{sentences} below --mass {mass:g} after {counted(size, 'tree')}: raise -k")


def _trees(sentence: ScoredSentence, draws: Draws, labels: Heads | None, to_mass: bool) -> Trees:
    weight = weights(draws.log_probs, draws.window, draws.certain)
    notes = [
        log_prob_note(draws.log_probs),
        Note(None, "swor_rank", range(1, len(draws.heads) + 1)),
        Note("arrival", None, _finite(draws.arrivals)),
        Note("weight", "swor_weight", weight.tolist(), "{:.9g}"),
        Note("weight_normalised", "swor_weight_normalised", (weight / weight.sum()).tolist(), "{:.9g}"),
    ]
    reached = [
        Note("certain", "swor_certain", [draws.certain]),
        Note("since", "swor_since", _finite(np.array([draws.since])), "{:.17g}"),
    ]
    closing = [
        Note("tau", "swor_tau", _finite(np.array([draws.tau])), "{:.17g}" if to_mass else "{:.9g}"),
        *(reached if to_mass else []),
        Note("mass", "swor_mass", [draws.mass], _mass),
        Note("exhausted", "swor_exhausted", [draws.exhausted]),
    ]
    return sentence.as_trees(draws.heads, labels, notes, closing)


def _mass(mass: float) -> str:
    """To six places; more where that would be all or nothing without being it."""
    text = f"{mass:.6f}"
    return probability(mass, 6) if float(text) in (0, 1) and 0 < mass < 1 else text


def _finite(times: Float) -> list[float | None]:
    """Times, None for those beyond all numbers."""
    return [time if np.isfinite(time) else None for time in times.tolist()]
