"""``deptree bitext align``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from deptree_cli.cli.bitext_options import BitextOptions, bitext_options
from deptree_cli.cli.estimating import Estimating, Estimator
from deptree_cli.cli.gold_report import GoldReport, only_count, report_options
from deptree_cli.cli.link_report import Aligned, LinkReport, link_gold_option
from deptree_cli.cli.options import format_option, header_option
from deptree_cli.cli.pipeline import Numbered, Pipeline
from deptree_cli.cli.pruning_options import PruningOptions, methods, pruning_options
from deptree_cli.cli.ranges import FloatRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import choose_format, write_chunks
from deptree_cli.core.bitext.links import links_of
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.bitext.pharaoh import pharaoh_line
from deptree_cli.io.bitext.record import PairRecord, ScoredPair
from deptree_cli.io.json_lines import dump
from deptree_cli.io.signature import signature

HELP = """Write the best alignment of every sentence pair, one to one, or all links that are probable.

Writes the Pharaoh format, a line for each pair: i-j links source word i with target word j, counted from 0. A pair that
is skipped (--on-error skip) leaves an empty line. Or JSON Lines (--format jsonl, -o FILE.jsonl): sent_id and links as
pairs of numbers.

With --threshold P the links are all those that are more probable than P; above .5 no two share a word. JSON Lines then
have their probabilities too. The methods to compute these:

"""


@command(
    help=HELP,
    listing=methods(by_merits=True),
    epilog="\b\nTry: deptree bitext align bitext.npz --gold bitext_gold.align -o links.align",
)
@bitext_options
@option(
    "--threshold",
    type=FloatRange(0, 1),
    metavar="P",
    help="Links that are more probable than this.  [default: those of the best alignment]",
)
@link_gold_option
@report_options("links", plot=False)
@pruning_options(by_merits=True)
@format_option("pharaoh", "jsonl")
@header_option
@run_options
def align(
    bitext: BitextOptions,
    pruning: PruningOptions,
    run: RunOptions,
    threshold: float | None,
    gold: tuple[str, ...],
    report: GoldReport,
    fmt: str | None,
    header: bool | None,
) -> int:
    """Write the best links of every sentence pair."""
    if threshold is None and pruning.is_asked:
        raise click.UsageError("--method is for --threshold: the best alignment needs no probabilities.")
    fmt = choose_format(fmt, run.output, None, "pharaoh", "jsonl", usual="pharaoh")
    estimating = Estimating(pruning.method, pruning.settings, run)
    report.check(bool(gold))
    counts = LinkReport(gold, run) if gold else None

    def chosen(tasks: Iterator[Numbered[PairRecord] | DeptreeError]) -> Iterator[Numbered[PairRecord] | DeptreeError]:
        beside = estimating.until_stopped(counts.beside(tasks) if counts else tasks)
        return bitext.announced(beside, run, 1 if threshold is None else 0 if pruning.is_asked else 2)

    pipeline = Pipeline(bitext.pairs(), bitext.interpretation, run, chosen)
    work = BestLinks() if threshold is None else LinksAbove(threshold, estimating.work)
    results = pipeline.map(work, pruning.stream_seed, instead=[Aligned()])
    found = estimating.watched((each.estimate, each) for each in results)
    probable = {} if threshold is None else {"threshold": repr(threshold), **pruning.signature_fields}
    made_by = signature("bitext align", {**bitext.signature_fields, **run.signature_fields, **probable})
    found = counts.counted(found) if counts else found
    if report.takes_output(run):
        only_count(found, made_by, run)
    else:
        _write(found, fmt, made_by, header, run)
    if counts:
        counts.show(report)
    return estimating.exit_code(pipeline.exit_code)


def _write(found: Iterator[Aligned], fmt: str, made_by: str, header: bool | None, run: RunOptions) -> None:
    """Write the links."""
    if fmt == "pharaoh":
        write_chunks((pharaoh_line(each.links or frozenset()) for each in found), fmt, made_by, header, run)
    else:
        write_chunks((dump(_row(each)) for each in found if each.links is not None), fmt, made_by, header, run)


def _row(aligned: Aligned) -> dict[str, Any]:
    """A pair as JSON has it."""
    row: dict[str, Any] = {"sent_id": aligned.name, "links": sorted(aligned.links or ())}
    return row if aligned.probabilities is None else {**row, "probabilities": aligned.probabilities}


@dataclass(frozen=True)
class BestLinks:
    """The links of a pair's best alignment."""

    def __call__(self, pair: ScoredPair, _: None) -> Aligned:
        """The work on one pair."""
        return Aligned(pair.id, links_of(pair.distribution.argmax()))


@dataclass(frozen=True)
class LinksAbove:
    """The links of a pair that are more probable than a threshold."""

    threshold: float
    work: Estimator

    def __call__(self, pair: ScoredPair, rng: np.random.Generator) -> Aligned:
        """The work on one pair."""
        estimate = self.work(pair.distribution.program(), rng)
        probabilities = estimate.expectations
        found = np.argwhere(probabilities > self.threshold)
        links = frozenset((int(source), int(target)) for source, target in found)
        return Aligned(pair.id, links, tuple(probabilities[tuple(found.T)].tolist()), estimate)
