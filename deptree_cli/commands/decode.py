"""``deptree decode``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs, input_options, label_scores_option
from deptree_cli.commands.options import format_option, header_option, output_option, style_fields, style_options
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_arrays, write_chunks
from deptree_cli.core.calibration import Calibration
from deptree_cli.core.decoding import METHODS, best_trees
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import entropy
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.conllu import read_blocks
from deptree_cli.io.inputs import open_input
from deptree_cli.io.pairing import Record
from deptree_cli.io.plots import check_plot, plot_calibration
from deptree_cli.io.report import table, talk
from deptree_cli.io.signature import signature
from deptree_cli.io.splicing import with_trees
from deptree_cli.io.trees import Note, Style, Trees, deprels_of, label_notes, log_prob_note, to_jsonl

Heads = NDArray[np.int32]

Writer = Callable[[Sentence, Record, Heads, Style], bytes]

K_BEST = "k-best"


# A single tree keeps the sentence's name.
_UNNAMED = "{id}"


@click.command(epilog="\b\nTry: deptree decode scores.npz --from natasha --conllu sentences.conllu")
@input_options
@label_scores_option
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="mst",
    help="The most probable tree (mst) or the one with most right heads to expect (mbr).  [default: mst]",
)
@click.option(
    "--k-best", "size", type=click.IntRange(1), metavar="K", help="The K most probable trees, the best first."
)
@click.option("--calibration", metavar="GOLD", help="Hold heads and their probabilities against these HEADs (a table).")
@click.option("--plot", metavar="FILE", help="The calibration as a picture (.svg, .png, .pdf).")
@output_option
@format_option("conllu", "jsonl", "npz")
@header_option
@style_options
def decode(
    inputs: Inputs,
    method: str,
    size: int | None,
    calibration: str | None,
    plot: str | None,
    output: str | None,
    form: str | None,
    header: bool | None,
    style: Style,
) -> int:
    """Find the best tree of each sentence, or the K best: always valid, with a single root unless --multi-root.

    Writes CoNLL-U if --conllu is given, with HeadProb in MISC of every word (the probability of its head) and the
    comments tree_logprob, tree_prob and entropy (nats); else JSON Lines; npz holds the heads, (n,) or (K, n). With
    --labels every word gets its most probable label given the tree, with LabelProb in MISC. With
    --calibration a table on stderr says how often heads of each tenth of probability are right, the attachment score
    that the parser expects and the one that it has, and the expected calibration error.
    """
    if size and method != "mst":
        raise click.UsageError("--k-best goes with --method mst.")
    if plot and not calibration:
        raise click.UsageError("--plot draws what --calibration GOLD finds.")
    if plot:
        check_plot(plot)
    if size and calibration:
        raise click.UsageError("--calibration is of one tree per sentence, not of --k-best.")
    form = choose_format(form, output, inputs, "conllu", "jsonl", "npz")
    pipeline = Pipeline(inputs)
    said = {"method": K_BEST if size else method, **inputs.signature_fields, "size": size, **style_fields(style)}
    made = signature("decode", said)
    held = Calibration()
    if size is None:
        style = replace(style, sent_id_format=_UNNAMED)
    results = pipeline.map(Decode(WRITERS[form], method, size, style))
    if calibration:
        results = _held_against(results, calibration, held)
    if form == "npz":
        write_arrays(((done.sent_id, done.heads) for done in results), output, made, inputs.quiet)
    else:
        write_chunks((done.chunk for done in results), form, output, made, header, inputs.quiet)
    if calibration:
        _say(held)
    if plot:
        plot_calibration(held.rows(), f"expected calibration error {held.error:.3f}", plot)
    return pipeline.exit_code


def _held_against(results: Iterator[Decoded], path: str, held: Calibration) -> Iterator[Decoded]:
    """The results as they pass, their heads counted in `held` against those in a CoNLL-U file of the same sentences."""
    with open_input(path) as file:
        blocks = enumerate(read_blocks(file.stream, file.place), 1)
        for done in results:
            block = next((block for number, block in blocks if number == done.number), None)
            if block is None or block.n != len(done.probs):
                problem = "has no sentence" if block is None else f"has {block.n} words"
                what = f"{file.place} {problem} where there are scores of {len(done.probs)} words"
                raise DeptreeError(what, SAME, sent_id=done.sent_id)
            if done.sent_id not in (block.sent_id, str(done.number)):
                raise DeptreeError(f"{block.place} is {block.sent_id!r}", SAME, sent_id=done.sent_id)
            known = np.array([head is not None for head in block.heads])
            gold = np.array([-1 if head is None else head for head in block.heads])
            held.add(done.probs[known], (done.heads == gold)[known])
            yield done


SAME = "Give the same sentences in the same order, with the same tokens"


def _say(held: Calibration) -> None:
    table("calibration of heads", ["probability", "words", "confidence", "accuracy"], held.rows())
    talk(f"attachment score {held.attachment:.4f}, expected by the parser {held.mean_confidence:.4f}")
    talk(f"expected calibration error {held.error:.4f} over {int(held.words.sum())} words")


class Decoded(NamedTuple):
    """A sentence's trees: bytes to write, heads (n,) or (K, n), and the probability of each head of a single one."""

    sent_id: str
    number: int
    chunk: bytes
    heads: Heads
    probs: NDArray[np.float64]


@dataclass(frozen=True)
class Decode:
    """One tree of a sentence, or up to K."""

    write: Writer
    method: str
    size: int | None
    style: Style

    def __call__(self, sentence: Sentence, record: Record, _: np.random.Generator) -> Decoded:
        """The work on one sentence."""
        trees = best_trees(sentence, self.size) if self.size else METHODS[self.method](sentence)[None]
        chunk = self.write(sentence, record, trees, self.style)
        heads = trees if self.size else trees[0]
        probs = sentence.elimination.marginals()[trees[0], np.arange(1, sentence.n + 1)]
        return Decoded(record.sent_id, record.number, chunk, heads, probs)


def _to_jsonl(sentence: Sentence, record: Record, trees: Heads, _: Style) -> bytes:
    labels = sentence.labels.best(trees) if sentence.labels else None
    notes = [log_prob_note(sentence.log_probs(trees)), *label_notes(sentence, trees, labels)]
    notes.append(Note("entropy", "entropy", [entropy(sentence)] * len(trees)))
    return to_jsonl(Trees(record, trees, notes, deprels=deprels_of(sentence, labels)))


def _to_conllu(sentence: Sentence, record: Record, trees: Heads, style: Style) -> bytes:
    sent_ids = style.sent_ids(record.sent_id, len(trees))
    chunks = []
    for tree, sent_id, log_prob in zip(trees, sent_ids, sentence.log_probs(trees), strict=True):
        labels = sentence.labels.best(tree[None]) if sentence.labels else None
        comments = {"tree_logprob": [f"{log_prob:.6f}"], "tree_prob": [f"{np.exp(log_prob):.6g}"]}
        comments |= {note.key: note.texts for note in label_notes(sentence, tree[None], labels) if note.key}
        comments["entropy"] = [f"{entropy(sentence):.6f}"]
        block = record.sentence.noting(_probs(sentence, tree, labels))
        deprels = deprels_of(sentence, labels)
        chunks.append(with_trees(block, tree[None], [sent_id], comments, deprels=deprels, deps=style.deps))
    return b"".join(chunks)


def _probs(sentence: Sentence, tree: Heads, labels: Heads | None) -> dict[int, str]:
    """What is noted in MISC of every word."""
    words = np.arange(1, sentence.n + 1)
    arcs = sentence.elimination.marginals()[tree, words]
    misc = [f"HeadProb={prob:.4g}" for prob in arcs.tolist()]
    if sentence.labels and labels is not None:
        probs = arcs * sentence.labels.probs[tree, words, labels[0]]
        misc = [f"{entry}|LabelProb={prob:.4g}" for entry, prob in zip(misc, probs.tolist(), strict=True)]
    return dict(enumerate(misc, 1))


def _nothing(sentence: Sentence, record: Record, trees: Heads, _: Style) -> bytes:
    return b""


WRITERS: dict[str, Writer] = {"conllu": _to_conllu, "jsonl": _to_jsonl, "npz": _nothing}
