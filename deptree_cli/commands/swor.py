"""``deptree swor``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import FloatRange, command, entry, flag, opt, use
from deptree_cli.cli.run import Fold, Job, NamedSentences, Run
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import Out
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
def swor(
    scores: Scores = use(Scores),
    size: int = options.size(None, "Distinct trees per sentence at most.", f"{SIZE}, or {SIZE_FOR_MASS:,} with --mass"),
    mass: float | None = opt(
        "--mass",
        type=FloatRange(0, 1, min_open=True),
        metavar="P",
        help="Stop when the trees of a sentence cover this probability, and add a few that represent the rest.",
    ),
    sampler: Algorithm = entry(ALGORITHMS, "--sampler"),
    labelled: bool = flag("--labelled", needs=["labels"], help="Count two labelings of one tree as two trees."),
    seed: int = options.seed(),
    out: Out = use(Out, formats=("jsonl", "conllu"), of_trees=True),
    run: Run = use(Run),
) -> int:
    size = size or (SIZE_FOR_MASS if mass else SIZE)
    last = {"size": size, "mass": mass, "seed": seed, "unit": "labelled" if labelled else None, **out.signature_fields}
    job = Job("swor", scores.source(run), run, out, {"sampler": sampler.name}, last)
    work = partial(draw_distinct, sampler, size, mass or 1.0, labelled)
    return job.write(work, seed, folds=[IncompleteSamples(size, mass)])


class IncompleteSamples(Fold[tuple[str, int, float, bool]]):
    """Which sentences gave less than was asked for: `size` trees, or `mass`."""

    def __init__(self, size: int, mass: float | None) -> None:
        self._size, self._mass, self._sentences = size, mass, NamedSentences()

    def add(self, counts: tuple[str, int, float, bool]) -> None:
        sent_id, trees, mass, exhausted = counts
        if trees < self._size if self._mass is None else mass < self._mass and not exhausted:
            self._sentences.add(sent_id)

    def lines(self) -> Iterator[str]:
        trees = counted(self._size, "tree")
        if self._sentences.count and self._mass is None:
            yield f"{self._sentences} with fewer than {trees} of positive weight: all were drawn"
        elif self._sentences.count:
            yield f"{self._sentences} below --mass {self._mass:g} after {trees}: raise -k"


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
