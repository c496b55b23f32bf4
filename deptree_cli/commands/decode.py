"""``deptree decode``."""

from __future__ import annotations

from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.options import Inputs, format_option, header_option, input_options, output_option
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_arrays, write_chunks
from deptree_cli.core.decoding import METHODS, best_trees
from deptree_cli.core.expectations import entropy
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.pairing import Record
from deptree_cli.io.signature import signature
from deptree_cli.io.trees import Note, Trees, log_prob_note, to_jsonl

Heads = NDArray[np.int32]

K_BEST = "k-best"


@click.command(epilog="\b\nTry: deptree decode scores.npz --from natasha --conllu sentences.conllu")
@input_options
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="mst",
    help="The most probable tree (mst) or the one with most right heads to expect (mbr).  [default: mst]",
)
@click.option(
    "--k-best", "size", type=click.IntRange(1), metavar="K", help="The K most probable trees, the best first."
)
@output_option
@format_option("conllu", "jsonl", "npz")
@header_option
def decode(
    inputs: Inputs, method: str, size: int | None, output: str | None, form: str | None, header: bool | None
) -> int:
    """Find the best tree of each sentence, or the K best: always valid, with a single root unless --multi-root.

    Writes CoNLL-U if --conllu is given, with HeadProb in MISC of every word (the probability of its head) and the
    comments tree_logprob, tree_prob and entropy (nats); else JSON Lines; npz holds the heads, (n,) or (K, n).
    """
    if size and method != "mst":
        raise click.UsageError("--k-best goes with --method mst.")
    form = choose_format(form, output, inputs, "conllu", "jsonl", "npz")
    pipeline = Pipeline(inputs)
    made = signature("decode", {"method": K_BEST if size else method, **inputs.signature_fields, "size": size})
    if form == "npz":
        write_arrays(pipeline.map(DecodeHeads(method, size)), output, made, inputs.quiet)
    else:
        work = DecodeConllu(method, size) if form == "conllu" else DecodeJson(method, size)
        write_chunks(pipeline.map(work), form, output, made, header, inputs.quiet)
    return pipeline.exit_code


@dataclass(frozen=True)
class Decoder:
    """Which trees are looked for."""

    method: str
    size: int | None

    def trees(self, sentence: Sentence) -> Heads:
        """One, or up to K: (k, n)."""
        return best_trees(sentence, self.size) if self.size else METHODS[self.method](sentence)[None]


class DecodeHeads(Decoder):
    """Heads as an array, with the sentence's name."""

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> tuple[str, Heads]:
        """The work on one sentence."""
        heads = self.trees(sentence)
        return record.sent_id, heads if self.size else heads[0]


class DecodeJson(Decoder):
    """Trees as JSON Lines, with what is known of them."""

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> bytes:
        """The work on one sentence."""
        heads = self.trees(sentence)
        return to_jsonl(
            Trees(record, heads, [log_prob_note(sentence.log_probs(heads)), _entropy_note(sentence, heads)])
        )


class DecodeConllu(Decoder):
    """Trees as CoNLL-U; a single one keeps the sentence's name."""

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> bytes:
        """The work on one sentence."""
        assert record.block is not None  # choose_format asks for --conllu
        heads, marginals = self.trees(sentence), sentence.elimination.marginals()
        log_probs = sentence.log_probs(heads)
        words = np.arange(1, sentence.n + 1)
        chunks = []
        for rank, (tree, log_prob) in enumerate(zip(heads, log_probs, strict=True), 1):
            misc = {word: f"HeadProb={p:.4g}" for word, p in enumerate(marginals[tree, words].tolist(), 1)}
            sent_id = f"{record.sent_id}/sample_{rank}" if self.size else record.sent_id
            comments = {"tree_logprob": f"{log_prob:.6f}", "tree_prob": f"{np.exp(log_prob):.6g}"}
            comments["entropy"] = f"{entropy(sentence):.6f}"
            block = record.block.noting(misc)
            chunks.append(block.with_trees(tree[None], [sent_id], {key: [text] for key, text in comments.items()}))
        return b"".join(chunks)


def _entropy_note(sentence: Sentence, heads: Heads) -> Note:
    return Note("entropy", "entropy", [entropy(sentence)] * len(heads), "{:.6f}")
