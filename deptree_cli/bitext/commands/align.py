"""``deptree bitext align``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import click
import numpy as np

from deptree_cli.bitext.files import ScoredPair, pharaoh_line
from deptree_cli.bitext.options import GONE_OF_PAIRS, LISTING, BitextOptions, Estimate, Estimating, PruningOptions
from deptree_cli.bitext.scores import LinkCounts, Links, links_of
from deptree_cli.cli.options import INPUT, OUTPUT, FloatRange, check_effect, command, opt, reading, use
from deptree_cli.cli.run import Fold, Job, Run
from deptree_cli.cli.terminal import Table
from deptree_cli.cli.write import Out
from deptree_cli.io.encoders.base import JSONL, Page, also
from deptree_cli.io.json_lines import dump

_COLUMNS = ("pairs", "links", "sure", "precision", "recall", "alignment error rate")


@command(listing=LISTING, gone=GONE_OF_PAIRS)
def align(
    bitext: BitextOptions = use(BitextOptions),
    above: float | None = opt(
        "--above",
        type=FloatRange(0, 1),
        metavar="P",
        help="Write all links more probable than P.  [default: the best alignment]",
    ),
    gold: tuple[str, ...] = reading(
        "--gold",
        type=INPUT,
        many=True,
        often=True,
        help="Gold links in the Pharaoh format: 0-0 is sure, 0?1 possible. Reports precision, recall and alignment"
        " error rate.",
    ),
    report: str | None = opt(
        "--report", type=OUTPUT, needs=["gold"], help="Write the comparison with --gold as JSON; - is stdout."
    ),
    pruning: PruningOptions = use(PruningOptions),
    out: Out = use(Out, formats=("pharaoh", "jsonl")),
    run: Run = use(Run),
) -> int:
    """Write the best alignment of every sentence pair, or all probable links.

    Reads a matrix of link scores per pair, a row per source word and a column per target word. Writes the Pharaoh
    format, a line per pair: i-j links source word i with target word j, counted from 0. --format jsonl (or -o
    FILE.jsonl) writes sent_id and links as pairs of numbers.

    The best alignment links words one to one. With --above P, words may have several links; above 0.5 they have at most
    one. JSON Lines then have the probabilities too. A skipped pair (--on-error skip) leaves an empty line.
    """
    if above is None and pruning.is_asked:
        raise click.UsageError("--method needs --above P: the best alignment is found without probabilities.")
    if above is None:
        check_effect(["temperature"], "--above P: the best alignment is the same at any")
    estimating, agreement = Estimating(pruning.method, pruning.settings, run), LinkAgreement(shown=not report)

    sums = 1 if above is None else 0 if pruning.is_asked else 2
    chosen = bitext.announcing(estimating.until_stopped, run, sums)
    probable = {} if above is None else {"above": repr(above), **pruning.signature_fields}
    job = Job("bitext align", bitext.source(run, gold), run, out, last=probable, select=chosen)
    work = best_links if above is None else partial(links_above, above, estimating.estimate)
    write = also(report, JSONL, Page(job.signature, out.header))
    code = estimating.write(job, work, pruning.stream_seed, *[agreement] * bool(gold))
    write([agreement.counts.summary()])
    return code


@dataclass
class LinkAgreement(Fold[LinkCounts]):
    """The agreement of links with gold links, summed over pairs; `shown` as a table."""

    shown: bool
    counts: LinkCounts = field(default_factory=LinkCounts)
    attribute = "agreement"

    def add(self, counts: LinkCounts) -> None:
        self.counts += counts

    def lines(self) -> Iterator[Table]:
        if not self.shown:
            return
        *counts, precision, recall, error = self.counts.summary().values()
        rates = ("-" if rate is None else f"{rate:.4f}" for rate in (precision, recall, error))
        yield Table("agreement with gold links", _COLUMNS, [[*counts, *rates]])


@dataclass(frozen=True)
class Aligned:
    """The links of a sentence pair; their probabilities in this order and the r_hat of an estimate, if computed."""

    pair: ScoredPair
    links: Links
    probabilities: tuple[float, ...] | None = None
    r_hat: float = 0.0

    @property
    def agreement(self) -> LinkCounts | None:
        known = self.pair.record.known
        return LinkCounts.of(self.links, known) if known else None

    def to_pharaoh(self) -> bytes:
        return pharaoh_line(self.links)

    def to_jsonl(self) -> bytes:
        row: dict[str, Any] = {"sent_id": self.pair.id, "links": sorted(self.links)}
        return dump(row if self.probabilities is None else {**row, "probabilities": self.probabilities})


def best_links(pair: ScoredPair, _: None) -> Aligned:
    return Aligned(pair, links_of(pair.distribution.argmax()))


def links_above(above: float, estimate: Estimate, pair: ScoredPair, rng: np.random.Generator) -> Aligned:
    estimated = estimate(pair.distribution.program(), rng)
    found = np.argwhere(estimated.expectations > above)
    links = frozenset((int(source), int(target)) for source, target in found)
    return Aligned(pair, links, tuple(estimated.expectations[tuple(found.T)].tolist()), estimated.r_hat or 0.0)
