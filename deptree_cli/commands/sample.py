"""``deptree sample``."""

from __future__ import annotations

from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs, input_options, label_scores_option
from deptree_cli.commands.options import (
    completes,
    format_option,
    header_option,
    output_option,
    seed_option,
    size_option,
    style_fields,
    style_options,
)
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_arrays, write_chunks
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.samplers import SAMPLERS, Sampler, sampler
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.pairing import Record
from deptree_cli.io.report import talk
from deptree_cli.io.signature import signature
from deptree_cli.io.trees import TO_BYTES, Note, Style, Trees, deprels_of, label_notes, log_prob_note

Heads = NDArray[np.int32]

HELP = """Draw K independent trees per sentence from the exact distribution.

Writes CoNLL-U (each sentence K times, as X/sample_1 ...) if --conllu is given, else JSON Lines; the suffix of -o and
--format override; npz holds an array (K, n) of heads per sentence.

Samplers, with the cost of k trees of n words (h: mean hitting time of the walk):

"""

LISTING = "\n\n".join(
    f"\b\n{line.name}{'' if line.exact else ' (biased)'}: {'/'.join(line.roots)} root; {line.cost}\n  {line.source}"
    for line in SAMPLERS.values()
)


@click.command(
    help=HELP + LISTING,
    epilog="\b\nTry: deptree sample scores.npz --from natasha --conllu sentences.conllu -k 10 --seed 7",
)
@input_options
@label_scores_option
@size_option(1, "Trees per sentence.")
@click.option(
    "--sampler",
    "name",
    default="auto",
    metavar="NAME",
    shell_complete=completes(SAMPLERS),
    help="See above.  [default: auto]",
)
@click.option("--unique", is_flag=True, help="Each different tree once, with its count, most frequent first.")
@seed_option
@output_option
@format_option("conllu", "jsonl", "npz")
@header_option
@style_options
def sample(
    inputs: Inputs,
    size: int,
    name: str,
    unique: bool,
    seed: int,
    output: str | None,
    form: str | None,
    header: bool | None,
    style: Style,
) -> int:
    """Draw K independent trees per sentence."""
    line = sampler(name)
    line.check_serves(inputs.single_root)
    form = choose_format(form, output, inputs, "conllu", "jsonl", "npz")
    if unique and form == "npz":
        raise DeptreeError("an .npz of heads has no place for counts", "Leave out --unique or choose --format jsonl")
    if not line.exact and not inputs.quiet:
        talk(f"the sampler {name} is biased ({line.source}); it is kept for audits")
    pipeline = Pipeline(inputs)
    made = _signature(line, inputs, size, unique, seed, style)
    if form == "npz":
        write_arrays(pipeline.map(DrawHeads(line, size), seed), output, made, inputs.quiet)
    else:
        draws = pipeline.map(Draw(line, size, unique, form, style), seed)
        write_chunks(draws, form, output, made, header, inputs.quiet)
    return pipeline.exit_code


@dataclass(frozen=True)
class DrawHeads:
    """Trees as an array of heads, (k, n), with the sentence's name."""

    line: Sampler
    size: int

    def __call__(self, sentence: Sentence, record: Record, rng: np.random.Generator) -> tuple[str, Heads]:
        """The work on one sentence."""
        return record.sent_id, self.line.draw(sentence, self.size, rng)


@dataclass(frozen=True)
class Draw:
    """Trees as the bytes of an output format."""

    line: Sampler
    size: int
    unique: bool
    form: str
    style: Style

    def __call__(self, sentence: Sentence, record: Record, rng: np.random.Generator) -> bytes:
        """The work on one sentence."""
        heads = self.line.draw(sentence, self.size, rng)
        labels = sentence.labels.draw(heads, rng) if sentence.labels else None
        return TO_BYTES[self.form](_trees(sentence, record, heads, labels, self.unique), self.style)


def _trees(sentence: Sentence, record: Record, heads: Heads, labels: Heads | None, unique: bool) -> Trees:
    counts: list[int] | None = None
    if unique:
        heads, labels, counts = _counted(heads, labels)
    notes = [log_prob_note(sentence.log_probs(heads)), *label_notes(sentence, heads, labels)]
    if counts is not None:
        notes.append(Note("count", "tree_count", counts))
    return Trees(record, heads, notes, deprels=deprels_of(sentence, labels))


def _counted(heads: Heads, labels: Heads | None) -> tuple[Heads, Heads | None, list[int]]:
    """Each different tree, with its labels if there are any, once; how often it was there, most frequent first."""
    rows = heads if labels is None else np.concatenate([heads, labels], axis=1)
    rows, tallies = np.unique(rows, axis=0, return_counts=True)
    order = np.argsort(-tallies, kind="stable")
    heads, others = np.split(rows[order], [heads.shape[1]], axis=1)
    return heads, None if labels is None else others, tallies[order].tolist()


def _signature(line: Sampler, inputs: Inputs, size: int, unique: bool, seed: int, style: Style) -> str:
    used = f"{line.name}={line.uses if inputs.single_root else 'wilson+elimination'}" if line.uses else line.name
    fields = {
        "sampler": used,
        **inputs.signature_fields,
        "size": size,
        "seed": seed,
        "unique": "yes" if unique else None,
        **style_fields(style),
    }
    return signature("sample", fields)
