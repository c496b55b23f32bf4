"""``deptree marginals``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli.arc_marginals import COLUMNS, LABELLED, ArcMarginals, MatrixAsRead
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, seed_option, size_option
from deptree_cli.cli.params import FloatRange
from deptree_cli.cli.rule_options import rule_option
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.work import Work, unchanged
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.constraints.shares import shares
from deptree_cli.core.errors import counted
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.encoders.base import Encoder, Sheet
from deptree_cli.io.encoders.text import CONLLU, JSONL, TSV
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.io.rules.constraints import Constraints
    from deptree_cli.io.scores.batches import ScoredBatch

HELP = """Compute the probability of every arc. The probabilities of a word's heads sum to 1.

Writes JSON Lines: a matrix per sentence, with rows for heads if `orient` is head-dep, else for dependents. TSV has a
row per arc: sent_id, word, form, head, head_form, prob. -o FILE.npz (.npy, .safetensors) writes arrays in the layout of
the scores. --conllu adds HeadProb to MISC of words that have a HEAD, and the comments tree_logprob, tree_prob and
entropy (nats).

With --labels it writes the probability of every arc with every label, on the last axis (the first, if the scores have
it there), and LabelProb in MISC: the probability of HEAD with DEPREL.

If rules need whole trees, probabilities are shares of -k sampled trees that obey. JSON Lines then have standard_errors,
iterations (the number of trees) and acceptance, the share of sampled trees that obey; CoNLL-U lacks the comments."""

# How many trees that obey marginals are shares of, unless told otherwise.
SIZE = 1000


@command(help=HELP)
@score_options
@rule_option("Only trees that obey these rules")
@option(
    "--head-sets",
    "with_sets",
    is_flag=True,
    help="Write the set of heads of each word, by the threshold in the FILE of --temperature.",
)
@option(
    "--coverage",
    type=FloatRange(0, 1, min_open=True, max_open=True),
    often=False,
    metavar="SHARE",
    help="For --head-sets: one of the coverages in FILE.  [default: the first]",
)
@option("--above", type=FloatRange(0, 1, max_open=True), metavar="P", help="Write rows of arcs more probable than P.")
@size_option(None, "Under rules that need whole trees: trees to sample.", str(SIZE), often=False)
@seed_option
@format_options("jsonl", "conllu", "tsv", ARRAYS)
@run_options
def marginals(
    scores: ScoreOptions,
    with_sets: bool,
    coverage: float | None,
    above: float | None,
    size: int | None,
    seed: int,
    run: RunOptions,
    writing: Writing,
) -> int:
    """Compute the probability of every arc."""
    size = _size(size, scores.how.constraints)
    sets = _head_sets(scores, with_sets, coverage)
    drawn = {"size": size, "seed": seed if size else None}
    last = {**drawn, "coverage": sets and sets[0], "threshold": sets and repr(sets[1]), "above": above}
    job = Job("marginals", scores.source(run), run, writing, last=last)
    if size:
        shown = counted(size, "drawn tree")
        run.warn("shares", f"where rules need whole trees, marginals are shares of {shown} (-k)")
    work = Marginals(_shown(job.encoder, above, sets is not None), size, sets and sets[1])
    return job.write(work, drawn["seed"], Sheet(LABELLED if scores.how.labels else COLUMNS))


def _size(size: int | None, rules: Constraints | None) -> int | None:
    """How many trees to draw: none unless there may be rules that need whole trees."""
    need_trees = rules is not None and (rules.need_trees or rules.in_misc)
    if size and not need_trees:
        raise click.UsageError("-k needs rules that only whole trees decide. Remove it: these marginals are exact.")
    if not need_trees:
        check_effect(["seed"], "rules that only whole trees decide")
    return (size or SIZE) if need_trees else None


def _head_sets(scores: ScoreOptions, asked: bool, coverage: float | None) -> tuple[float, float] | None:
    """The coverage and the threshold of the sets of heads that are asked for."""
    if not asked:
        if coverage is not None:
            raise click.UsageError("--coverage is that of --head-sets. Add --head-sets, or remove it.")
        return None
    if not scores.how.temperature.place:
        raise click.UsageError("--head-sets needs the threshold that deptree calibrate found: --temperature FILE.")
    return scores.how.temperature.head_set(coverage)


# What is written of a sentence's marginals.
Shown = Callable[[ArcMarginals], Any]


def _shown(encoder: Encoder, above: float | None, sets: bool) -> Shown:
    """What a format has of marginals: rows of arcs, the sentence, or a matrix; `sets`: with sets of heads.

    Raises:
        UsageError: it has no place for what is asked for.
    """
    if encoder not in (JSONL, TSV):
        check_effect(["above"], f"TSV or JSON Lines, but the output is {encoder.name}")
    in_rows = encoder is TSV or above is not None
    if sets and (in_rows or encoder not in (JSONL, CONLLU)):
        raise click.UsageError("--head-sets are written to JSON Lines or CoNLL-U, not to arrays or rows of arcs.")
    if in_rows:
        return partial(ArcMarginals.rows, above=above)
    return {JSONL: ArcMarginals.in_json, CONLLU: unchanged}.get(encoder, ArcMarginals.in_arrays)


@dataclass(frozen=True)
class Marginals(Work[Any]):
    """Marginals of one sentence.

    Attributes:
        shown: what is written of them.
        size: how many drawn trees they are shares of where rules need whole trees; None without such rules.
        limit: the threshold of sets of heads, if these are asked for.
    """

    shown: Shown
    size: int | None = None
    limit: float | None = None

    @property
    def in_batches(self) -> bool:
        """Whether many sentences are summed at once."""
        return self.shown in (ArcMarginals.in_json, ArcMarginals.in_arrays) and self.limit is None

    def batch(self, sentences: ScoredBatch, _: None) -> list[MatrixAsRead]:
        """The work on many sentences."""
        trees, layouts = sentences.trees, sentences.layout.fields()
        before = ({"n": n, **layout} for n, layout in zip(trees.lengths.tolist(), layouts, strict=True))
        return list(map(MatrixAsRead, sentences.records, sentences.as_read(trees.marginals), before))

    def one(self, sentence: ScoredSentence, rng: np.random.Generator) -> Any:
        """The work on one sentence."""
        return self.shown(self._found(sentence, rng))

    def _found(self, sentence: ScoredSentence, rng: np.random.Generator) -> ArcMarginals:
        if self.size is not None and sentence.constrained.finders:
            return self._of_drawn(sentence, self.size, rng)
        arcs, labels = sentence.distribution.marginals(), sentence.distribution.labels
        return ArcMarginals(sentence, arcs, labels.marginals(arcs) if labels else None, limit=self.limit)

    def _of_drawn(self, sentence: ScoredSentence, size: int, rng: np.random.Generator) -> ArcMarginals:
        """The shares of so many drawn trees that obey which have each arc."""
        found, labels = sentence.constrained.draw(size, rng, SAMPLERS.get("auto")), sentence.distribution.labels
        arcs = shares(found.heads)
        both = shares(found.heads, found.labels, len(labels.names)) if labels else None
        of_labels = both.expectations if both else None
        return ArcMarginals(sentence, arcs.expectations, of_labels, both or arcs, found.acceptance, self.limit)
