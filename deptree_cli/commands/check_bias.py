"""``deptree check-bias``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import numpy as np

from deptree_cli.commands.inputs import Inputs, input_options
from deptree_cli.commands.options import completes, header_option, output_option, seed_option, size_option
from deptree_cli.commands.pipeline import Pipeline
from deptree_cli.commands.writing import choose_format, write_chunks
from deptree_cli.core.audit import BIASED, ENUMERATED_N, UNBIASED, Audit, Tally, holm
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.samplers import SAMPLERS, Sampler, sampler
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.inputs import STDIN
from deptree_cli.io.jsonl import dump
from deptree_cli.io.pairing import Record
from deptree_cli.io.report import table, talk
from deptree_cli.io.samples import DrawnTree, read_samples
from deptree_cli.io.signature import signature

Row = dict[str, Any]

# field -> its heading in the table
COLUMNS = {
    "sent_id": "sent_id",
    "n": "n",
    "method": "method",
    "size": "trees",
    "p_value": "p-value",
    "tv_distance": "distance",
    "tv_expected_by_chance": "by chance",
    "verdict": "verdict",
}


HELP = f"""Hold a sampler, or somebody else's samples, against the exact distribution.

Sentences of up to {ENUMERATED_N} words are enumerated and tested by chi-square; longer ones by exact tests of every
root and arc frequency against the exact marginals, corrected for their number. The verdicts are corrected for the
number of sentences (Holm): an unbiased sampler is called biased with probability --alpha at most.

Writes JSON Lines, on a terminal a table. Exit status: 0 no bias found, 1 bias found, 2 could not tell.
"""


@click.command(
    help=HELP,
    epilog="\b\nTry: deptree check-bias scores.npz --from natasha --sampler wilson-rc -k 2000 --seed 7",
)
@input_options
@size_option(2000, "Trees per sentence.")
@click.option(
    "--sampler",
    "name",
    default="auto",
    metavar="NAME",
    shell_complete=completes(SAMPLERS),
    help="See deptree sample --help.  [default: auto]",
)
@click.option("--samples", metavar="FILE", help="Audit these trees (CoNLL-U or JSON Lines of heads) instead.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, True, True),
    default=0.001,
    help="How often an unbiased sampler may be called biased.  [default: 0.001]",
)
@seed_option
@output_option
@header_option
def check_bias(
    inputs: Inputs,
    size: int,
    name: str,
    samples: str | None,
    alpha: float,
    seed: int,
    output: str | None,
    header: bool | None,
) -> int:
    """Hold a sampler, or somebody else's samples, against the exact distribution."""
    line = None if samples else sampler(name)
    if line:
        line.check_serves(inputs.single_root)
    fields = {"sampler": name, **inputs.signature_fields, "size": size, "seed": seed, "alpha": f"{alpha:g}"}
    if samples:
        fields |= {"sampler": None, "samples": samples, "size": None, "seed": None}
    if samples == STDIN and STDIN in (inputs.scores, inputs.conllu, inputs.lengths):
        raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
    form = choose_format(None, output, inputs, "jsonl")
    pipeline = Pipeline(inputs)
    audited = list(_drawn(pipeline, line, size, seed) if line else _given(pipeline, str(samples)))
    rows = _with_verdicts(audited, line.name if line else None, alpha)
    made = signature("check-bias", fields)
    if output is None and sys.stdout and sys.stdout.isatty():
        if not inputs.quiet:
            talk(made)
        title = f"check-bias: {name if line else samples}"
        table(title, list(COLUMNS.values()), ([row[key] for key in COLUMNS] for row in rows))
    else:
        write_chunks(map(dump, rows), form, output, made, header, inputs.quiet)
    return _conclude(rows, len(pipeline.skipped), inputs.quiet)


@dataclass(frozen=True)
class Audited:
    """A sentence's audit, and the exact bias of the sampler where it has a closed form."""

    sent_id: str
    n: int
    audit: Audit
    tv_closed_form: float | None = None


def _drawn(pipeline: Pipeline, line: Sampler, size: int, seed: int) -> Iterator[Audited]:
    """The audit of a sampler of the register, sentence by sentence."""
    return pipeline.map(partial(_audited, line, size), seed)


def _audited(line: Sampler, size: int, sentence: Sentence, record: Record, rng: np.random.Generator) -> Audited:
    tally = Tally(sentence)
    tally.add(line.draw(sentence, size, rng))
    return Audited(record.sent_id, sentence.n, tally.audit(), line.bias(sentence))


def _given(pipeline: Pipeline, path: str) -> Iterator[Audited]:
    """The audit of the trees in a file, which may come in any order."""
    tallies: dict[str, Tally] = {}
    for tally in pipeline.map(_empty):
        if tally.sentence.id in tallies:
            problem = "there are two sentences of this name, so samples cannot tell which they are of"
            raise DeptreeError(problem, "Give every sentence a sent_id of its own", sent_id=tally.sentence.id)
        tallies[tally.sentence.id] = tally
    for tree in read_samples(path):
        if not any(name in pipeline.skipped for name in tree.names):
            _tally_of(tree, tallies).add(np.array([tree.heads]), np.array([tree.times]))
    for sent_id, tally in tallies.items():
        yield Audited(sent_id, tally.sentence.n, tally.audit())


def _empty(sentence: Sentence, record: Record, _: np.random.Generator) -> Tally:
    return Tally(sentence)


def _tally_of(tree: DrawnTree, tallies: dict[str, Tally]) -> Tally:
    tally = next((tallies[name] for name in tree.names if name in tallies), None)
    if tally is None:
        raise DeptreeError("the scores have no such sentence", "Name samples as their sentences", **_where(tree))
    if tally.sentence.n != len(tree.heads):
        problem = f"the sample has {len(tree.heads)} words, its scores have {tally.sentence.n}"
        raise DeptreeError(problem, "Check that both belong together", **_where(tree))
    return tally


def _where(tree: DrawnTree) -> dict[str, str]:
    return {"place": tree.place, "sent_id": tree.sent_id}


def _with_verdicts(audited: list[Audited], name: str | None, alpha: float) -> list[Row]:
    levels = holm([one.audit.p_value for one in audited], alpha)
    rows = []
    for one, level in zip(audited, levels, strict=True):
        audit = one.audit
        row: Row = {"sent_id": one.sent_id, "n": one.n, "sampler": name, "method": audit.method, "size": audit.size}
        row |= {"statistic": audit.statistic, "dof": audit.dof, "p_value": audit.p_value}
        row |= {"tv_distance": audit.tv_distance, "tv_expected_by_chance": audit.tv_expected_by_chance}
        row |= {"impossible": audit.impossible, "verdict": audit.verdict(level)}
        rows.append(row if one.tv_closed_form is None else row | {"tv_closed_form": one.tv_closed_form})
    return rows


def _conclude(rows: list[Row], skipped: int, quiet: bool) -> int:
    """The verdict on all sentences together as exit status."""
    verdicts = [row["verdict"] for row in rows]
    biased, passed = verdicts.count(BIASED), verdicts.count(UNBIASED)
    if not quiet:
        undecided = len(verdicts) - biased - passed
        talk(f"{biased} of {len(verdicts)} sentences biased, {passed} without a sign of bias, {undecided} undecided")
    if biased:
        return 1
    return 0 if passed == len(verdicts) and verdicts and not skipped else 2
