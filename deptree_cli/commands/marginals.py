"""``deptree marginals``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deptree_cli.cli.options import format_option, header_option
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, label_scores_option, score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import choose_format, write_arrays, write_chunks
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.second_order import SecondOrder
from deptree_cli.io.conllu.misc import probability
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.layout import from_head_dep
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature


@command(epilog="\b\nTry: deptree marginals scores.npz --from natasha -o marginals.npz")
@score_options
@label_scores_option
@format_option("conllu", "jsonl", "npz")
@header_option
@run_options
def marginals(scores: ScoreOptions, run: RunOptions, fmt: str | None, header: bool | None) -> int:
    """Compute the probability of every arc. Those of a word's heads sum to 1, whatever the scores.

    Writes JSON Lines, or .npz with the keys, shapes and orientation read (-o FILE.npz), or with --conllu the sentences
    as they are with HeadProb in MISC of every word that has a HEAD and the comments tree_logprob, tree_prob and entropy
    (nats). With --labels the probability of every arc with every label, on a last axis (the first, if the scores have
    it there), and LabelProb in MISC beside HeadProb: the probability of HEAD with DEPREL.
    """
    fmt = choose_format(fmt, run.output, scores.conllu, "conllu", "jsonl", "npz")
    pipeline = Pipeline(scores.records(), scores.interpretation, run)
    made_by = signature("marginals", {**scores.signature_fields, **run.signature_fields})
    if fmt == "npz":
        write_arrays(pipeline.map(_as_array), made_by, run)
    else:
        write_chunks(pipeline.map(AsBytes(fmt)), fmt, made_by, header, run)
    return pipeline.exit_code


@dataclass(frozen=True)
class AsBytes:
    """Marginals as JSON or CoNLL-U."""

    fmt: str

    def __call__(self, sentence: ScoredSentence, _: np.random.Generator) -> bytes:
        """The work on one sentence."""
        return _as_conllu(sentence) if self.fmt == "conllu" else _as_json(sentence)


def _as_array(sentence: ScoredSentence, _: np.random.Generator) -> tuple[str, Float]:
    """The sentence's name and its marginals with the shape and orientation read."""
    return sentence.record.key or sentence.id, _as_read(sentence)


def _as_json(sentence: ScoredSentence) -> bytes:
    """A line of JSON, rows in the orientation read."""
    distribution = sentence.scored
    row: dict[str, object] = {"sent_id": sentence.id, "n": distribution.n}
    if distribution.labels:
        row["labels"] = distribution.labels.names
    return dump({**row, "marginals": _as_read(sentence).tolist()})


def _as_conllu(sentence: ScoredSentence) -> bytes:
    """The sentence as it is, with HeadProb (and LabelProb) in MISC and comments on its tree and its distribution."""
    distribution, block = sentence.scored, sentence.record.sentence
    comments = [] if sentence.entropy is None else [f"# entropy = {sentence.entropy:.6f}"]
    tree = np.array([[-1 if head is None else head for head in block.heads]], dtype=np.int32)
    log_prob = float(distribution.log_probs(tree)[0])
    if np.isfinite(log_prob):
        comments = [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {probability(np.exp(log_prob), 6)}", *comments]
    return block.with_misc(_probs(distribution, block.heads, block.deprels), comments)


def _as_read(sentence: ScoredSentence) -> Float:
    """Marginals with the shape and orientation read; those of labels behind arcs that came without."""
    distribution, how, shape = sentence.scored, sentence.interpretation, sentence.record.scores.shape
    arcs = distribution.marginals()
    if distribution.labels is None:
        return from_head_dep(arcs, how.layout, shape)
    labelled = distribution.labels.marginals(arcs)
    joint = how.layout.labels is not None
    return from_head_dep(labelled, how.label_layout, shape if joint else (*shape, labelled.shape[-1]))


def _probs(distribution: ArcFactored | SecondOrder, heads: list[int | None], deprels: list[str]) -> dict[int, str]:
    """The notes in MISC of the words that have a HEAD."""
    arcs, labels = distribution.marginals(), distribution.labels
    labelled = labels.marginals(arcs) if labels else None
    misc = {}
    for word, (head, deprel) in enumerate(zip(heads, deprels, strict=True), 1):
        if head is not None:
            misc[word] = f"HeadProb={probability(arcs[head, word])}"
            if labels and labelled is not None and deprel in labels.names:
                misc[word] += f"|LabelProb={probability(labelled[head, word, labels.names.index(deprel)])}"
    return misc
