"""``deptree swor``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import FloatRange, command, entry, flag, opt, use
from deptree_cli.cli.run import Job, NamedSentences, Run
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


COSTS = "Algorithms, with the cost of k trees of n words"


@command(help=HELP, listing=Listing(COSTS, ALGORITHMS, lambda each: f"{each.name}: {each.cost}\n  {each.source}"))
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
    trees = counted(size, "tree")
    few = f" below --mass {mass:g} after {trees}: raise -k" if mass else ""
    told = NamedSentences("incomplete", few or f" with fewer than {trees} of positive weight: all were drawn")
    return job.write(partial(draw_distinct, sampler, size, mass, labelled), seed, folds=[told])


@dataclass(frozen=True, eq=False)
class Drawn(AsTrees):
    """A sentence's distinct trees with numbers of labels, if there are any.

    `to_mass`: drawn until they had a mass; `incomplete`: the sentence's name if they are less than what was asked for.
    """

    sentence: ScoredSentence
    draws: Draws
    labels: Heads | None
    to_mass: bool
    by_label: bool
    incomplete: str | None

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
        tau, since = ([each] for each in finite(np.array([draws.tau, draws.since])))
        digits = "{:.17g}" if self.to_mass else "{:.9g}"
        reached = [Note("certain", "swor_certain", [draws.certain]), Note("since", "swor_since", since, digits)]
        closing = [
            Note("tau", "swor_tau", tau, digits),
            *(reached if self.to_mass else []),
            Note("mass", "swor_mass", [draws.mass], _mass),
            Note("exhausted", "swor_exhausted", [draws.exhausted]),
        ]
        return self.sentence.as_trees(draws.heads, self.labels, notes, closing=closing)


def draw_distinct(
    algorithm: Algorithm,
    size: int,
    mass: float | None,
    by_label: bool,
    sentence: ScoredSentence,
    rng: np.random.Generator,
) -> Drawn:
    distribution, most = sentence.distribution, mass or 1.0
    if by_label:
        from deptree_cli.core import conditionals  # loads kernels: when there is work

        draws = conditionals.draw_labelled(algorithm, distribution, size, rng, most)
    else:
        draws = algorithm.draw(distribution, size, rng, most)
    labels = draws.labels
    if distribution.labels and not by_label:
        labels = distribution.labels.draw_by(draws.heads, label_stream(rng))
    few = len(draws.heads) < size if mass is None else draws.mass < most and not draws.exhausted
    return Drawn(sentence, draws, labels, most < 1, by_label, sentence.id if few else None)


def _mass(mass: float) -> str:
    """To six places; more where that would be all or nothing without being it."""
    text = f"{mass:.6f}"
    return probability(mass, 6) if float(text) in (0, 1) and 0 < mass < 1 else text
