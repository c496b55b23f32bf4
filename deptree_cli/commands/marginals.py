"""``deptree marginals``."""

from __future__ import annotations

from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.options import Inputs, format_option, header_option, input_options, output_option
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_arrays, write_chunks
from deptree_cli.core.expectations import entropy
from deptree_cli.core.oracle import are_trees
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.layout import Layout, from_head_dep
from deptree_cli.io.pairing import Record
from deptree_cli.io.signature import signature

Float = NDArray[np.float64]


@click.command(epilog="\b\nTry: deptree marginals scores.npz --from natasha -o marginals.npz")
@input_options
@output_option
@format_option("conllu", "jsonl", "npz")
@header_option
def marginals(inputs: Inputs, output: str | None, form: str | None, header: bool | None) -> int:
    """Compute the probability of every arc, by elimination: each word's probabilities sum to 1 whatever the scores.

    Writes JSON Lines, or .npz with the keys, shapes and orientation read (-o FILE.npz), or with --conllu the sentences
    as they are with HeadProb in MISC of every word that has a HEAD and the comments tree_logprob, tree_prob and entropy
    (nats).
    """
    form = choose_format(form, output, inputs, "conllu", "jsonl", "npz")
    pipeline = Pipeline(inputs)
    made = signature("marginals", inputs.signature_fields)
    if form == "npz":
        write_arrays(pipeline.map(AsArray(inputs.layout)), output, made, inputs.quiet)
    else:
        write_chunks(pipeline.map(AS_BYTES[form](inputs.layout)), form, output, made, header, inputs.quiet)
    return pipeline.exit_code


@dataclass(frozen=True)
class AsArray:
    """Marginals with the shape and orientation read, and the sentence's name."""

    layout: Layout

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> tuple[str, Float]:
        """The work on one sentence."""
        return record.key or record.sent_id, from_head_dep(
            sentence.elimination.marginals(), self.layout, record.scores.shape
        )


@dataclass(frozen=True)
class AsJson:
    """Marginals as a line of JSON, rows in the orientation read."""

    layout: Layout

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> bytes:
        """The work on one sentence."""
        rows = from_head_dep(sentence.elimination.marginals(), self.layout, record.scores.shape)
        return dump({"sent_id": record.sent_id, "n": sentence.n, "marginals": rows.tolist()})


@dataclass(frozen=True)
class AsConllu:
    """The sentence as it is, with HeadProb in MISC and comments on its tree and its distribution."""

    layout: Layout

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> bytes:
        """The work on one sentence."""
        assert record.block is not None  # choose_format asks for --conllu
        probs = sentence.elimination.marginals()
        heads = record.block.heads
        misc = {word: f"HeadProb={probs[head, word]:.4g}" for word, head in enumerate(heads, 1) if head is not None}
        comments = [f"# entropy = {entropy(sentence):.6f}"]
        tree = np.array([[-1 if head is None else head for head in heads]])
        if are_trees(tree, sentence.single_root)[0] and np.isfinite(sentence.log_weights(tree)[0]):
            log_prob = float(sentence.log_probs(tree)[0])
            comments = [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {np.exp(log_prob):.6g}", *comments]
        return record.block.with_misc(misc, comments)


AS_BYTES: dict[str, type[AsJson | AsConllu]] = {"jsonl": AsJson, "conllu": AsConllu}
