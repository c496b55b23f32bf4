"""``deptree marginals``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
import numpy as np

from deptree_cli.cli.estimating import Estimating, Estimator, convergence
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, size_option
from deptree_cli.cli.pruning_options import PruningOptions, methods, pruning_options, random_methods
from deptree_cli.cli.rule_options import KEPT
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.constraints.shares import shares
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import counted
from deptree_cli.core.head_sets import head_sets
from deptree_cli.core.pruning.estimate import Estimate
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.conllu.misc import probability
from deptree_cli.io.conllu.trees import Style, rounded
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.encoders.text import CONLLU, JSONL
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.layout import from_head_dep
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

HELP = """Compute the probability of every arc. Those of a word's heads sum to 1, whatever the scores.

Writes JSON Lines; arrays as they were read (-o FILE.npz, .npy, .safetensors); or with --conllu the sentences with
HeadProb in MISC of words that have a HEAD, and the comments tree_logprob, tree_prob and entropy (nats). With --labels
it writes the probability of every arc with every label, on the last axis (the first, if the scores have it there), and
LabelProb in MISC: the probability of HEAD with DEPREL.

If rules need whole trees (--rules, --spans), they are shares of -k sampled trees that obey. JSON Lines then have
standard_errors and acceptance, the share of sampled trees that obey; CoNLL-U lacks the comments.

For long sentences with second-order scores there are methods that approximate. JSON Lines then have standard_errors of
the marginals of arcs, iterations (of each chain), effective_size (the effective sample size) and r_hat (how far chains
differ, 1 at best); CoNLL-U lacks the comments, which would be exact. Ctrl-C stops early and uses the iterations so
far. The methods:

"""

# How many trees that obey marginals are shares of, unless told otherwise.
SIZE = 1000


@command(
    help=HELP,
    listing=methods(by_merits=False),
    epilog="\b\nTry: deptree marginals scores.npz --from natasha -o marginals.npz",
)
@score_options
@pruning_options(by_merits=False)
@option(
    "--head-sets",
    "with_sets",
    is_flag=True,
    help="Write the set of heads of each word, by the threshold of --calibrated.",
)
@option(
    "--coverage", type=float, often=False, metavar="SHARE", help="For --head-sets: one of FILE.  [default: the first]"
)
@size_option(None, "Under rules that need whole trees: how many to draw.", str(SIZE), often=False)
@format_options("jsonl", "conllu", ARRAYS)
@run_options
def marginals(
    scores: ScoreOptions,
    pruning: PruningOptions,
    with_sets: bool,
    coverage: float | None,
    size: int | None,
    run: RunOptions,
    writing: Writing,
) -> int:
    """Compute the probability of every arc."""
    size = _size(size, scores.need_trees, pruning)
    sets = _head_sets(scores, with_sets, coverage)
    estimating = Estimating(pruning.method, pruning.settings, run)
    last = pruning.signature_fields if pruning.is_asked else {"size": size, "seed": pruning.seed if size else None}
    last = {**last, "coverage": sets and sets[0], "threshold": sets and repr(sets[1])}
    told = f"where rules need whole trees, marginals are shares of {counted(size, 'drawn tree')} (-k)" if size else KEPT
    job = Job("marginals", scores.source(told), run, writing, last=last, choose=estimating.until_stopped)
    if sets and job.encoder not in (JSONL, CONLLU):
        raise click.UsageError("--head-sets are written to JSON Lines or CoNLL-U, not to arrays.")
    limit = sets and sets[1]
    work = Marginals(estimating.work if pruning.is_asked else None, job.encoder is not CONLLU, size, limit)
    with estimating.listening():
        code = job.write(work, pruning.seed if size else pruning.stream_seed, folds=[estimating])
    return estimating.exit_code(code)


def _size(size: int | None, need_trees: bool, pruning: PruningOptions) -> int | None:
    """How many trees to draw: none unless there are rules that need whole trees."""
    if need_trees and pruning.is_asked:
        raise click.UsageError(
            f"--method {pruning.method.name} cannot be combined with rules that only whole trees decide."
        )
    if size and not need_trees:
        raise click.UsageError("-k needs rules that only whole trees decide. Remove it: these marginals are exact.")
    if not (need_trees or pruning.method.is_random):
        check_effect(["seed"], f"{random_methods(by_merits=False)}, or rules that only whole trees decide")
    return (size or SIZE) if need_trees else None


def _head_sets(scores: ScoreOptions, asked: bool, coverage: float | None) -> tuple[float, float] | None:
    """The coverage and the threshold of the sets of heads that are asked for."""
    if not asked:
        if coverage is not None:
            raise click.UsageError("--coverage is that of --head-sets. Add --head-sets, or remove it.")
        return None
    if scores.tempering.calibrated is None:
        raise click.UsageError("--head-sets needs the threshold that deptree calibrate found: --calibrated FILE.")
    return scores.tempering.calibrated.head_set(coverage)


@dataclass(frozen=True, eq=False)
class ArcMarginals:
    """The marginals of a sentence.

    Attributes:
        arcs: (n+1, n+1).
        labelled: of arcs with labels, (n+1, n+1, L), if there are labels.
        estimate: what they are from, if they are not exact.
        acceptance: the share of drawn trees that obey, if they are shares of such trees.
        limit: the threshold of sets of heads, if these are asked for.
    """

    sentence: ScoredSentence
    arcs: Float
    labelled: Float | None
    estimate: Estimate | None = None
    acceptance: float | None = None
    limit: float | None = None

    @property
    def head_sets(self) -> list[list[int]] | None:
        """The set of heads of each word, if these are asked for."""
        return None if self.limit is None else head_sets(self.arcs, self.limit)

    @property
    def r_hat(self) -> float:
        """The R-hat of an estimate; 0 where there is none."""
        return (self.estimate and self.estimate.r_hat) or 0.0

    def arrays(self) -> list[tuple[str, Float, str]]:
        """The marginals with the shape and orientation read, of labels that have scores, and their standard errors."""
        sentence, labels, found = self.sentence, self.sentence.scored.labels, self.arcs
        if labels is not None and self.labelled is not None:
            found = self.labelled[..., : len(labels.scored)]
        return [(sentence.record.key or sentence.id, _as_read(sentence, found), "")]

    def to_jsonl(self) -> bytes:
        """A line of JSON, rows in the orientation read."""
        sentence, estimate = self.sentence, self.estimate
        row: dict[str, object] = {"sent_id": sentence.id, "n": sentence.scored.n}
        if sentence.scored.labels:
            row["labels"] = sentence.scored.labels.names
        row["marginals"] = _as_read(sentence, self.arcs if self.labelled is None else self.labelled).tolist()
        if self.head_sets is not None:
            row["head_sets"] = self.head_sets
        if estimate is None:
            return dump(row)
        told = convergence(estimate)
        if estimate.standard_errors is not None:
            told["standard_errors"] = _as_read(sentence, estimate.standard_errors).tolist()
        if self.acceptance is not None:
            told["acceptance"] = rounded(self.acceptance)
        return dump(row | told)

    def to_conllu(self, _: Style) -> bytes:
        """The sentence as it is, with HeadProb (and LabelProb) in MISC, comments on its tree and its distribution."""
        block = self.sentence.record.sentence
        comments = [] if self.estimate else _comments(self.sentence)
        return block.with_misc(self._probs(block.heads, block.deprels), comments)

    def _probs(self, heads: list[int | None], deprels: list[str]) -> dict[int, str]:
        """The notes in MISC of the words that have a HEAD; all words have a set of heads."""
        labels, sets = self.sentence.scored.labels, self.head_sets or []
        misc = {word: f"HeadSet={','.join(map(str, heads))}" for word, heads in enumerate(sets, 1)}
        for word, (head, deprel) in enumerate(zip(heads, deprels, strict=True), 1):
            if head is not None:
                prob = f"HeadProb={probability(self.arcs[head, word])}"
                misc[word] = f"{prob}|{misc[word]}" if word in misc else prob
                if labels and self.labelled is not None and deprel in labels.names:
                    given = self.labelled[head, word, labels.names.index(deprel)]
                    misc[word] += f"|LabelProb={probability(given)}"
        return misc


@dataclass(frozen=True, eq=False, slots=True)
class MatrixAsRead:
    """The marginals of one of many sentences, with the shape and orientation read."""

    record: Record
    n: int
    matrix: Float
    r_hat = 0.0

    def arrays(self) -> list[tuple[str, Float, str]]:
        """See `ArcMarginals`."""
        return [(self.record.key or self.record.sent_id, self.matrix, "")]

    def to_jsonl(self) -> bytes:
        """See `ArcMarginals`."""
        return dump({"sent_id": self.record.sent_id, "n": self.n, "marginals": self.matrix.tolist()})


@dataclass(frozen=True)
class Marginals:
    """Marginals of one sentence: by a method, None for the sentence's own sums; `as_read`, and not as CoNLL-U.

    Attributes:
        size: how many drawn trees they are shares of where rules need whole trees; None without such rules.
        limit: the threshold of sets of heads, if these are asked for.
    """

    work: Estimator | None
    as_read: bool
    size: int | None = None
    limit: float | None = None

    @property
    def in_batches(self) -> bool:
        """Whether many sentences are summed at once."""
        return self.work is None and self.as_read and self.limit is None

    def batch(self, sentences: ScoredBatch, _: None) -> list[MatrixAsRead]:
        """The work on many sentences."""
        trees = sentences.trees
        return list(map(MatrixAsRead, sentences.records, trees.lengths.tolist(), sentences.as_read(trees.marginals)))

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> ArcMarginals:
        """The work on one sentence."""
        return replace(self._found(sentence, rng), limit=self.limit)

    def _found(self, sentence: ScoredSentence, rng: np.random.Generator) -> ArcMarginals:
        if self.size is not None and sentence.constrained.finders:
            return _of_drawn(sentence, self.size, rng)
        labels = sentence.scored.labels
        if self.work is None:
            arcs = sentence.scored.marginals()
            return ArcMarginals(sentence, arcs, labels.marginals(arcs) if labels else None)
        from deptree_cli.core.pruning.arcs import arc_program  # loads kernels: when there is work

        estimate = self.work(arc_program(sentence.scored), rng)
        arcs = estimate.expectations
        return ArcMarginals(sentence, arcs, labels.marginals(arcs) if labels else None, estimate)


def _of_drawn(sentence: ScoredSentence, size: int, rng: np.random.Generator) -> ArcMarginals:
    """The shares of so many drawn trees that obey which have each arc."""
    found, labels = sentence.constrained.draw(size, rng, SAMPLERS.get("auto")), sentence.scored.labels
    arcs = shares(found.heads)
    if labels is None:
        return ArcMarginals(sentence, arcs.expectations, None, arcs, found.acceptance)
    labelled = shares(found.heads, found.labels, len(labels.names))
    return ArcMarginals(sentence, arcs.expectations, labelled.expectations, labelled, found.acceptance)


def _comments(sentence: ScoredSentence) -> list[str]:
    comments = [] if sentence.entropy is None else [f"# entropy = {sentence.entropy:.6f}"]
    heads = sentence.record.sentence.heads
    tree = np.array([[-1 if head is None else head for head in heads]], dtype=np.int32)
    log_prob = float(sentence.scored.log_probs(tree)[0])
    if np.isfinite(log_prob):
        comments = [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {probability(np.exp(log_prob), 6)}", *comments]
    return comments


def _as_read(sentence: ScoredSentence, matrix: Float) -> Float:
    """A matrix of arcs, or of arcs with labels, with the shape and orientation read."""
    how, shape = sentence.interpretation, sentence.record.scores.shape
    if matrix.ndim == 2:
        return from_head_dep(matrix, how.layout, shape)
    joint = how.layout.labels is not None
    return from_head_dep(matrix, how.label_layout, shape if joint else (*shape, matrix.shape[-1]))
