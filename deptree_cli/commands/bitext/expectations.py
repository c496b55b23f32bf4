"""``deptree bitext expectations``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.cli.bitext_options import BitextOptions, bitext_options
from deptree_cli.cli.estimating import Estimating, Estimator, convergence
from deptree_cli.cli.options import format_option, header_option
from deptree_cli.cli.pipeline import Numbered, Pipeline
from deptree_cli.cli.pruning_options import PruningOptions, methods, pruning_options
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import choose_format, write_arrays, write_chunks
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.pruning.estimate import Estimate
from deptree_cli.io.bitext.record import PairRecord, ScoredPair
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.keys import STANDARD_ERRORS
from deptree_cli.io.signature import signature

HELP = """Compute the probability of every link: how often each source word is linked with each target word.

Writes JSON Lines: sent_id, p and q (the numbers of words) and expectations, a row for each source word; log_z, the log
partition function, where it is exact. Methods that are random, and go on for as long as they are told to, add
standard_errors, iterations (of each chain), effective_size (as good as how many independent iterations) and, with
chains, r_hat: how far these differ, 1 at best. Or .npz (-o FILE.npz): the expectations under the names read, and
standard errors under NAME.standard_errors.

Ctrl-C makes do with the iterations so far: what is done is written whole, the exit code is 130.

Where there is time for it the exact method is best; it takes O(p^3 q^3), some 8 milliseconds for two sentences of 20
words. The methods:

"""


@command(
    help=HELP,
    listing=methods(by_merits=True),
    epilog="\b\nTry: deptree bitext expectations bitext.npz --method randomized --iterations 500 --seed 7",
)
@bitext_options
@pruning_options(by_merits=True)
@format_option("jsonl", "npz")
@header_option
@run_options
def expectations(
    bitext: BitextOptions, pruning: PruningOptions, run: RunOptions, fmt: str | None, header: bool | None
) -> int:
    """Compute the probability of every link."""
    fmt = choose_format(fmt, run.output, None, "jsonl", "npz")
    estimating = Estimating(pruning.method, pruning.settings, run)

    def chosen(tasks: Iterator[Numbered[PairRecord] | DeptreeError]) -> Iterator[Numbered[PairRecord] | DeptreeError]:
        return bitext.announced(estimating.until_stopped(tasks), run, 0 if pruning.is_asked else 2)

    pipeline = Pipeline(bitext.pairs(), bitext.interpretation, run, chosen)
    fields = {**bitext.signature_fields, **run.signature_fields, **pruning.signature_fields}
    made_by = signature("bitext expectations", fields)
    found = estimating.watched(
        (each.estimate, each) for each in pipeline.map(LinkExpectations(estimating.work), pruning.stream_seed)
    )
    if fmt == "npz":
        write_arrays(_arrays(found), made_by, run)
    else:
        write_chunks((dump(_row(each)) for each in found), fmt, made_by, header, run)
    return estimating.exit_code(pipeline.exit_code)


@dataclass(frozen=True)
class Expected:
    """What there is to write of one pair."""

    name: str
    key: str | None
    estimate: Estimate


@dataclass(frozen=True)
class LinkExpectations:
    """The expectations of one pair."""

    work: Estimator

    def __call__(self, pair: ScoredPair, rng: np.random.Generator) -> Expected:
        """The work on one pair."""
        return Expected(pair.id, pair.record.key, self.work(pair.distribution.program(), rng))


def _row(expected: Expected) -> dict[str, Any]:
    """One pair as JSON has it; fields that a method does not tell are left out."""
    found = expected.estimate
    p, q = found.expectations.shape
    row: dict[str, Any] = {"sent_id": expected.name, "p": p, "q": q}
    if found.log_partition is not None:
        row["log_z"] = found.log_partition
    return {**row, "expectations": found.expectations.tolist(), **convergence(found)}


def _arrays(found: Iterable[Expected]) -> Iterator[tuple[str, Float, str]]:
    for each in found:
        key = each.key or each.name
        yield key, each.estimate.expectations, ""
        if each.estimate.standard_errors is not None:
            yield key, each.estimate.standard_errors, STANDARD_ERRORS
