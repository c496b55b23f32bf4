"""``deptree marginals``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.cli.estimating import Estimating, Estimator, convergence
from deptree_cli.cli.options import format_option, header_option
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.pruning_options import PruningOptions, methods, pruning_options
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, label_scores_option, score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import format_of_trees, write_arrays, write_chunks
from deptree_cli.core.dtypes import Float
from deptree_cli.core.labels import Labels
from deptree_cli.core.pruning.estimate import Estimate
from deptree_cli.io.conllu.misc import probability
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.layout import from_head_dep
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature

HELP = """Compute the probability of every arc. Those of a word's heads sum to 1, whatever the scores.

Writes JSON Lines, or .npz with the keys, shapes and orientation read (-o FILE.npz), or with --conllu the sentences as
they are with HeadProb in MISC of every word that has a HEAD and the comments tree_logprob, tree_prob and entropy
(nats). With --labels the probability of every arc with every label, on a last axis (the first, if the scores have it
there), and LabelProb in MISC beside HeadProb: the probability of HEAD with DEPREL.

For long sentences with second-order scores there are methods that approximate. JSON Lines then have standard_errors of
the marginals of arcs, iterations (of each chain), effective_size (as good as how many independent iterations) and r_hat
(how far chains differ, 1 at best); CoNLL-U lacks the comments, which would be exact. Ctrl-C makes do with the
iterations so far. The methods:

"""


@command(
    help=HELP,
    listing=methods(by_merits=False),
    epilog="\b\nTry: deptree marginals scores.npz --from natasha -o marginals.npz",
)
@score_options
@label_scores_option
@pruning_options(by_merits=False)
@format_option("conllu", "jsonl", "npz")
@header_option
@run_options
def marginals(
    scores: ScoreOptions, pruning: PruningOptions, run: RunOptions, fmt: str | None, header: bool | None
) -> int:
    """Compute the probability of every arc."""
    fmt = format_of_trees(fmt, run.output, scores, "conllu", "jsonl", "npz")
    estimating = Estimating(pruning.method, pruning.settings, run)
    pipeline = Pipeline(scores.records(), scores.interpretation, run, estimating.until_stopped)
    fields = {**scores.signature_fields, **run.signature_fields}
    made_by = signature("marginals", fields | (pruning.signature_fields if pruning.is_asked else {}))
    work = Marginals(estimating.work if pruning.is_asked else None, fmt)
    found = estimating.watched(pipeline.map(work, pruning.stream_seed))
    if fmt == "npz":
        write_arrays(found, made_by, run)
    else:
        write_chunks(found, fmt, made_by, header, run)
    return estimating.exit_code(pipeline.exit_code)


@dataclass(frozen=True)
class Marginals:
    """Marginals of one sentence in a format: by a method, None for the sentence's own sums."""

    work: Estimator | None
    fmt: str

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> tuple[Estimate | None, Any]:
        """The estimate, if it is one, and what is written."""
        distribution, estimate = sentence.scored, None
        if self.work is not None:
            from deptree_cli.core.pruning.arcs import arc_program  # loads kernels: when there is work

            estimate = self.work(arc_program(distribution), rng)
        arcs = distribution.marginals() if estimate is None else estimate.expectations
        return estimate, WRITERS[self.fmt](sentence, arcs, estimate)


def _as_array(sentence: ScoredSentence, arcs: Float, _: Estimate | None) -> tuple[str, Float]:
    """The sentence's name and its marginals with the shape and orientation read, of labels that have scores."""
    labels = sentence.scored.labels
    return sentence.record.key or sentence.id, _as_read(sentence, arcs, len(labels.scored) if labels else None)


def _as_json(sentence: ScoredSentence, arcs: Float, estimate: Estimate | None) -> bytes:
    """A line of JSON, rows in the orientation read."""
    distribution = sentence.scored
    row: dict[str, object] = {"sent_id": sentence.id, "n": distribution.n}
    if distribution.labels:
        row["labels"] = distribution.labels.names
    row["marginals"] = _as_read(sentence, arcs).tolist()
    if estimate is None:
        return dump(row)
    told = convergence(estimate)
    if estimate.standard_errors is not None:
        how, shape = sentence.interpretation.layout, sentence.record.scores.shape
        told["standard_errors"] = from_head_dep(estimate.standard_errors, how, shape).tolist()
    return dump(row | told)


def _as_conllu(sentence: ScoredSentence, arcs: Float, estimate: Estimate | None) -> bytes:
    """The sentence as it is, with HeadProb (and LabelProb) in MISC and comments on its tree and its distribution."""
    distribution, block = sentence.scored, sentence.record.sentence
    comments = [] if estimate else _comments(sentence)
    return block.with_misc(_probs(distribution.labels, arcs, block.heads, block.deprels), comments)


def _comments(sentence: ScoredSentence) -> list[str]:
    comments = [] if sentence.entropy is None else [f"# entropy = {sentence.entropy:.6f}"]
    heads = sentence.record.sentence.heads
    tree = np.array([[-1 if head is None else head for head in heads]], dtype=np.int32)
    log_prob = float(sentence.scored.log_probs(tree)[0])
    if np.isfinite(log_prob):
        comments = [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {probability(np.exp(log_prob), 6)}", *comments]
    return comments


# By the name of the format: sentence, marginals of arcs and the estimate behind them -> what is written.
WRITERS: dict[str, Callable[[ScoredSentence, Float, Estimate | None], Any]] = {
    "npz": _as_array,
    "jsonl": _as_json,
    "conllu": _as_conllu,
}


def _as_read(sentence: ScoredSentence, arcs: Float, count: int | None = None) -> Float:
    """Marginals with the shape and orientation read; those of labels, or of the first so many, behind arcs without."""
    distribution, how, shape = sentence.scored, sentence.interpretation, sentence.record.scores.shape
    if distribution.labels is None:
        return from_head_dep(arcs, how.layout, shape)
    labelled = distribution.labels.marginals(arcs)[..., :count]
    joint = how.layout.labels is not None
    return from_head_dep(labelled, how.label_layout, shape if joint else (*shape, labelled.shape[-1]))


def _probs(labels: Labels | None, arcs: Float, heads: list[int | None], deprels: list[str]) -> dict[int, str]:
    """The notes in MISC of the words that have a HEAD."""
    labelled = labels.marginals(arcs) if labels else None
    misc = {}
    for word, (head, deprel) in enumerate(zip(heads, deprels, strict=True), 1):
        if head is not None:
            misc[word] = f"HeadProb={probability(arcs[head, word])}"
            if labels and labelled is not None and deprel in labels.names:
                misc[word] += f"|LabelProb={probability(labelled[head, word, labels.names.index(deprel)])}"
    return misc
