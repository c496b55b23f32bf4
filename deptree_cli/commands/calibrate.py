"""``deptree calibrate``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING

import click
import numpy as np

from deptree_cli.cli.options import FloatRange, command, opt, use
from deptree_cli.cli.run import Fold, Job, Run
from deptree_cli.cli.score_options import Scores, gold
from deptree_cli.cli.terminal import Table
from deptree_cli.cli.write import Out
from deptree_cli.core.calibration import COLUMNS, CRITERIA, ArcEvidence, Fit, GoldArcs, HeadSets, LabelEvidence
from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.encoders.base import JSONL, Row
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.core.spaces import TreeSpace

# Sentence i is in part i modulo this number; each part is judged by what fits the others.
PARTS = 5


@command(gone={"--plot": "before.bins has how often heads of each probability are right; deptree report draws it"})
def calibrate(
    scores: Scores = use(
        Scores, lacks=["fix_heads", "temperature"], gold=gold("Needed, unless --conllu has the heads.")
    ),
    criterion: str = opt(
        "--criterion",
        type=click.Choice(list(CRITERIA)),
        default="likelihood",
        help="What to fit: the likelihood of gold trees, which may raise the calibration error, or that error itself."
        "  [default: likelihood]",
    ),
    coverage: tuple[float, ...] = opt(
        "--coverage",
        type=FloatRange(0, 1, min_open=True, max_open=True),
        many=True,
        metavar="SHARE",
        help="Also find sets of heads that contain the right head this often, such as 0.9; may be repeated.",
    ),
    out: Out = use(Out, formats=(JSONL.name,)),
    run: Run = use(Run, lacks=["shard"]),
) -> int:
    """Find the temperature at which probabilities fit gold trees; other commands read it with --temperature FILE.

    Writes a JSON object: temperature, with --labels label_temperature (of labels given the arc), and before and after:
    log-likelihood per word, expected calibration error, and how often heads in each tenth of probability are right.
    `after` is cross-validated: every fifth of the sentences is judged by a fit to the others. --coverage adds
    thresholds of sets of heads, for deptree marginals --head-sets.

    Sentences that lack heads (_) or whose gold tree is impossible do not count for the likelihood of arcs. Scores are
    kept in memory: 8 bytes per arc.
    """
    if not (scores.gold or scores.conllu):
        raise click.UsageError("calibrate needs gold heads. Add --gold FILE.")
    fields = {"gold": scores.files[0].gold, "criterion": criterion, "coverage": ",".join(map(str, coverage)) or None}
    job = Job("calibrate", scores.source(run), run, replace(out, single=True), last=fields)
    return job.summarise(evidence_of, Calibrating(criterion, coverage, scores.how.space, job.signature))


# Of words of a sentence whose gold label is possible on their gold arc: see `LabelEvidence`.
GoldLabels = tuple[Float, Int]


def evidence_of(sentence: ScoredSentence, _: None) -> tuple[GoldArcs, GoldLabels | None]:
    heads = sentence.record.known_heads
    arcs = GoldArcs.of(sentence.distribution, heads)
    labels, block = sentence.distribution.labels, sentence.record.gold or sentence.record.block
    if labels is None or block is None:
        return arcs, None
    numbers = {name: number for number, name in enumerate(labels.names)}
    gold = np.array([numbers.get(deprel, -1) for deprel in block.deprels])
    known = np.flatnonzero((heads > 0) & (gold >= 0))
    rows, gold = labels.log_probs[heads[known], known + 1], gold[known]
    possible = np.isfinite(rows[np.arange(len(rows)), gold])
    return arcs, (rows[possible], gold[possible])


class Calibrating(Fold[tuple[GoldArcs, GoldLabels | None]]):
    """Keeps the sentences, and fits temperatures and sets of heads to them at the end."""

    attribute = ""

    def __init__(self, criterion: str, coverages: Sequence[float], space: TreeSpace, signature: str) -> None:
        self._criterion, self._coverages, self._space, self._signature = criterion, coverages, space, signature
        self._arcs: list[GoldArcs] = []
        self._labels: list[GoldLabels] = []

    def add(self, counts: tuple[GoldArcs, GoldLabels | None]) -> None:
        arcs, labels = counts
        if (arcs.heads >= 0).any():
            self._arcs.append(arcs)
            self._labels += [labels] if labels is not None else []

    @cached_property
    def _parts(self) -> list[ArcEvidence]:
        if not self._arcs:
            raise DeptreeError("no word of --gold has a head", "Give sentences with HEADs")
        if len(self._arcs) == 1:
            raise DeptreeError("only one sentence has gold heads", "Give at least two, better hundreds")
        parts = min(PARTS, len(self._arcs))
        return [ArcEvidence(self._arcs[part::parts], self._space) for part in range(parts)]

    @cached_property
    def arcs(self) -> Fit:
        return Fit.of(self._parts, self._criterion)

    @cached_property
    def labels(self) -> Fit | None:
        if not any(len(labels) for _, labels in self._labels):
            return None
        parts = [zip(*self._labels[part :: len(self._parts)], strict=True) for part in range(len(self._parts))]
        return Fit.of([LabelEvidence(*map(np.concatenate, part)) for part in parts], self._criterion)

    @cached_property
    def _sets(self) -> list[HeadSets]:
        return HeadSets.of(self._parts, self.arcs, self._coverages)

    def rows(self) -> list[Row]:
        fits = {"arcs": self.arcs, "labels": self.labels}
        return [
            {
                "temperature": self.arcs.temperature,
                "label_temperature": self.labels.temperature if self.labels else None,
                "criterion": self._criterion,
                "sentences": len(self._arcs),
                "complete_trees": sum(each.is_tree for each in self._arcs),
                "words": sum(int((each.heads >= 0).sum()) for each in self._arcs),
                "labels": sum(len(labels) for _, labels in self._labels),
                "before": {name: fit.before.row() if fit else None for name, fit in fits.items()},
                "after": {name: fit.after.row() if fit else None for name, fit in fits.items()},
                "head_sets": [asdict(each) for each in self._sets],
                "signature": self._signature,
            }
        ]

    def lines(self) -> Iterator[Table | str]:
        fits = {"arcs": self.arcs} | ({"labels": self.labels} if self.labels else {})
        before = self.arcs.before.calibration
        yield Table("calibration of heads before", COLUMNS, before.rows())
        yield f"attachment score {before.accuracy:.4f}, expected by the parser {before.mean_confidence:.4f}"
        headings = ["", "temperature", "log-likelihood per word", "calibration error"]
        rows: list[list[object]] = []
        for name, fit in fits.items():
            times = ("before", 1.0, fit.before), ("after, cross-validated", fit.temperature, fit.after)
            for when, temperature, found in times:
                rows.append([f"{name} {when}", temperature, found.log_likelihood, found.calibration.error])
        yield Table("calibration", headings, rows)
        if self._sets:
            sets = [list(asdict(each).values()) for each in self._sets]
            yield Table("sets of heads", ["coverage", "threshold", "covered", "heads per word"], sets)
        if left := sum(not each.is_tree for each in self._arcs):
            yield f"{counted(left, 'sentence')} without a complete, possible gold tree do not count for the likelihood"
        for name in (name for name, fit in fits.items() if fit.at_the_end):
            yield f"the temperature of {name} is at the end of its range: check --from, or give more gold sentences"
