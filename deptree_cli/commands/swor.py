"""``deptree swor``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import click
import numpy as np

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import FloatRange, command, entry_option, option, seed_option, size_option
from deptree_cli.cli.run import Fold, Job, NamedSentences, RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, score_options
from deptree_cli.cli.write import Writing, format_options
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import counted
from deptree_cli.core.estimate import weights
from deptree_cli.core.labels import label_stream
from deptree_cli.core.swor import ALGORITHMS, Algorithm, Draws
from deptree_cli.io.conllu.columns import probability
from deptree_cli.io.conllu.trees import AsTrees, Note, Trees, label_notes, log_prob_note
from deptree_cli.io.json_lines import finite
from deptree_cli.io.scores.records import ScoredSentence

HELP = """Sample up to K distinct trees per sentence, in the order in which sampling first meets them.

Writes CoNLL-U if you pass --conllu, otherwise JSON Lines. If a sentence has fewer than K possible trees, all are
written. Each tree has the weight that `deptree estimate` needs. The last tree of a sentence has the probability of all
trees written (mass) and says whether there are no others (exhausted).

With --mass, the trees that cover the mass are followed by a tenth as many, at least 5, so that estimates stay unbiased:
the weight of the first trees (`certain`) is their probability, and the others represent the rest. If half of K trees
(for K below 10: K - 5) do not cover the mass, K trees are written.
"""

SIZE = 10
SIZE_FOR_MASS = 10_000


def _described(entry: Algorithm) -> str:
    return f"{entry.name}: {entry.cost}\n  {entry.source}"


@command(help=HELP, listing=Listing("Algorithms, with the cost of k trees of n words", ALGORITHMS, _described))
@score_options
@size_option(None, "Distinct trees per sentence at most.", f"{SIZE}, or {SIZE_FOR_MASS:,} with --mass")
@option(
    "--mass",
    type=FloatRange(0, 1, min_open=True),
    metavar="P",
    help="Stop when the trees of a sentence cover this probability, and add a few that represent the rest.",
)
@entry_option(ALGORITHMS, "--sampler", "algorithm")
@option("--labelled", "by_label", is_flag=True, help="Count two labelings of one tree as two trees.")
@seed_option
@format_options("jsonl", "conllu", style=True)
@run_options
def swor(
    scores: ScoreOptions,
    run: RunOptions,
    size: int | None,
    mass: float | None,
    algorithm: Algorithm,
    by_label: bool,
    seed: int,
    writing: Writing,
) -> int:
    if by_label and scores.how.labels is None:
        raise click.UsageError("--labelled needs the names of labels: --labels FILE.")
    size = size or (SIZE_FOR_MASS if mass else SIZE)
    last = {"size": size, "mass": mass, "seed": seed, "unit": "labelled" if by_label else None, **writing.style_fields}
    job = Job("swor", scores.source(run), run, writing, {"sampler": algorithm.name}, last)
    work = partial(draw_distinct, algorithm, size, mass or 1.0, by_label)
    return job.write(work, seed, folds=[IncompleteSamples(size, mass)])


@dataclass
class IncompleteSamples(Fold[tuple[str, int, float, bool]]):
    """Which sentences gave less than was asked for: `size` trees, or `mass`."""

    size: int
    mass: float | None
    sentences: NamedSentences = field(default_factory=NamedSentences)

    def add(self, counts: tuple[str, int, float, bool]) -> None:
        sent_id, trees, mass, exhausted = counts
        if trees < self.size if self.mass is None else mass < self.mass and not exhausted:
            self.sentences.add(sent_id)

    def lines(self) -> Iterator[str]:
        if self.sentences.count and self.mass is None:
            yield f"{self.sentences} with fewer than {counted(self.size, 'tree')} of positive weight: all were drawn"
        elif self.sentences.count:
            yield f"{self.sentences} below --mass {self.mass:g} after {counted(self.size, 'tree')}: raise -k"


@dataclass(frozen=True, eq=False)
class Drawn(AsTrees):
    """A sentence's distinct trees with numbers of labels, if there are any; `to_mass`: drawn until they had a mass."""

    sentence: ScoredSentence
    draws: Draws
    labels: Heads | None
    to_mass: bool
    by_label: bool

    @property
    def counted(self) -> tuple[str, int, float, bool]:
        """The sentence's name, how many trees it has, their probability, and whether there are no others."""
        return self.sentence.id, len(self.draws.heads), self.draws.mass, self.draws.exhausted

    def trees(self) -> Trees:
        draws = self.draws
        weight = weights(draws.log_probs, draws.window, draws.certain)
        notes = [
            log_prob_note(draws.log_probs),
            Note(None, "swor_rank", range(1, len(draws.heads) + 1)),
            Note("arrival", None, finite(draws.arrivals)),
            Note("weight", "swor_weight", weight.tolist(), "{:.9g}"),
            Note("weight_normalised", "swor_weight_normalised", (weight / weight.sum()).tolist(), "{:.9g}"),
            *([] if self.by_label else label_notes(self.sentence.distribution, draws.heads, self.labels)),
        ]
        reached = [
            Note("certain", "swor_certain", [draws.certain]),
            Note("since", "swor_since", finite(np.array([draws.since])), "{:.17g}"),
        ]
        closing = [
            Note("tau", "swor_tau", finite(np.array([draws.tau])), "{:.17g}" if self.to_mass else "{:.9g}"),
            *(reached if self.to_mass else []),
            Note("mass", "swor_mass", [draws.mass], _mass),
            Note("exhausted", "swor_exhausted", [draws.exhausted]),
        ]
        return self.sentence.as_trees(draws.heads, self.labels, notes, closing=closing)


def draw_distinct(
    algorithm: Algorithm, size: int, mass: float, by_label: bool, sentence: ScoredSentence, rng: np.random.Generator
) -> Drawn:
    distribution = sentence.distribution
    if by_label:
        from deptree_cli.core import conditionals  # loads kernels: when there is work

        draws = conditionals.draw_labelled(algorithm, distribution, size, rng, mass)
        return Drawn(sentence, draws, draws.labels, mass < 1, by_label)
    drawn = algorithm.draw(distribution, size, rng, mass)
    known = distribution.labels
    return Drawn(sentence, drawn, known.draw_by(drawn.heads, label_stream(rng)) if known else None, mass < 1, by_label)


def _mass(mass: float) -> str:
    """To six places; more where that would be all or nothing without being it."""
    text = f"{mass:.6f}"
    return probability(mass, 6) if float(text) in (0, 1) and 0 < mass < 1 else text
