"""``deptree marginals``."""

from __future__ import annotations

from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs, input_options, label_scores_option
from deptree_cli.commands.options import format_option, header_option, output_option
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_arrays, write_chunks
from deptree_cli.core.expectations import entropy
from deptree_cli.core.oracle import are_trees
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.layout import from_head_dep
from deptree_cli.io.pairing import Record
from deptree_cli.io.signature import signature

Float = NDArray[np.float64]


@click.command(epilog="\b\nTry: deptree marginals scores.npz --from natasha -o marginals.npz")
@input_options
@label_scores_option
@output_option
@format_option("conllu", "jsonl", "npz")
@header_option
def marginals(inputs: Inputs, output: str | None, form: str | None, header: bool | None) -> int:
    """Compute the probability of every arc, by elimination: each word's probabilities sum to 1 whatever the scores.

    Writes JSON Lines, or .npz with the keys, shapes and orientation read (-o FILE.npz), or with --conllu the sentences
    as they are with HeadProb in MISC of every word that has a HEAD and the comments tree_logprob, tree_prob and entropy
    (nats). With --labels the probability of every arc with every label, on a last axis (the first, if the scores have
    it there), and LabelProb in MISC beside HeadProb: the probability of HEAD with DEPREL.
    """
    form = choose_format(form, output, inputs, "conllu", "jsonl", "npz")
    pipeline = Pipeline(inputs)
    made = signature("marginals", inputs.signature_fields)
    if form == "npz":
        write_arrays(pipeline.map(AsArray(inputs)), output, made, inputs.quiet)
    else:
        write_chunks(pipeline.map(AS_BYTES[form](inputs)), form, output, made, header, inputs.quiet)
    return pipeline.exit_code


def _as_read(sentence: Sentence, record: Record, inputs: Inputs) -> Float:
    """Marginals with the shape and orientation read; those of labels behind arcs that came without."""
    arcs, shape = sentence.elimination.marginals(), record.scores.shape
    if sentence.labels is None:
        return from_head_dep(arcs, inputs.layout, shape)
    joint = inputs.layout.labels is not None
    labelled = sentence.labels.marginals(arcs)
    return from_head_dep(labelled, inputs.label_layout, shape if joint else (*shape, labelled.shape[-1]))


@dataclass(frozen=True)
class AsArray:
    """Marginals with the shape and orientation read, and the sentence's name."""

    inputs: Inputs

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> tuple[str, Float]:
        """The work on one sentence."""
        return record.key or record.sent_id, _as_read(sentence, record, self.inputs)


@dataclass(frozen=True)
class AsJson:
    """Marginals as a line of JSON, rows in the orientation read."""

    inputs: Inputs

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> bytes:
        """The work on one sentence."""
        row = {"sent_id": record.sent_id, "n": sentence.n}
        if sentence.labels:
            row["labels"] = sentence.labels.names
        return dump({**row, "marginals": _as_read(sentence, record, self.inputs).tolist()})


@dataclass(frozen=True)
class AsConllu:
    """The sentence as it is, with HeadProb (and LabelProb) in MISC and comments on its tree and its distribution."""

    inputs: Inputs

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> bytes:
        """The work on one sentence."""
        heads = record.sentence.heads
        comments = [f"# entropy = {entropy(sentence):.6f}"]
        tree = np.array([[-1 if head is None else head for head in heads]], dtype=np.int32)
        if are_trees(tree, sentence.single_root)[0] and np.isfinite(sentence.log_weights(tree)[0]):
            log_prob = float(sentence.log_probs(tree)[0])
            comments = [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {np.exp(log_prob):.6g}", *comments]
        return record.sentence.with_misc(_probs(sentence, heads, record.sentence.deprels), comments)


def _probs(sentence: Sentence, heads: list[int | None], deprels: list[str]) -> dict[int, str]:
    """What is noted in MISC of the words that have a HEAD."""
    arcs, labels = sentence.elimination.marginals(), sentence.labels
    labelled = labels.marginals(arcs) if labels else None
    misc = {}
    for word, (head, deprel) in enumerate(zip(heads, deprels, strict=True), 1):
        if head is not None:
            misc[word] = f"HeadProb={arcs[head, word]:.4g}"
            if labels and labelled is not None and deprel in labels.names:
                misc[word] += f"|LabelProb={labelled[head, word, labels.names.index(deprel)]:.4g}"
    return misc


AS_BYTES: dict[str, type[AsJson | AsConllu]] = {"jsonl": AsJson, "conllu": AsConllu}
