"""What evaluated sentences come to: scores with intervals and tests, tables by class, and a line to quote."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.cli.folds import Fold
from deptree_cli.core.dtypes import Int
from deptree_cli.core.errors import DeptreeError, counted, counted_thousands
from deptree_cli.core.evaluation.attachment import CORRECT, GOLD, PREDICTED, TAGS
from deptree_cli.core.evaluation.classes import Class, Classes, in_order
from deptree_cli.core.evaluation.intervals import bootstrap, f1, normal_interval, percentiles, randomisation_test
from deptree_cli.core.streams import stream_of
from deptree_cli.io.encoders.base import Row, Sheet

SCORES = ("system", "metric", "value", "low", "high", "p", "correct", "gold", "predicted")
BY_CLASS = ("system", "by", "class", "metric", "f1", "precision", "recall", "correct", "gold", "predicted")

# What tables show of these, behind the system if there are two.
_SCORES, _DIFFERENCES = ("metric", "value", "low", "high", "correct", "gold", "predicted"), SCORES[1:6]
_CLASSES = ("by", "class", "metric", "f1", "precision", "recall", "gold")

# Metrics of the expected score, and of the second system less the first.
EXPECTED, DIFFERENCE = "expected UAS", "{} difference"

# So many words with the right head would hardly all get the right label from a parser: at 97 %, one time in twenty.
SUSPICIOUS = 100

# Of fewer sentences than these nothing can be resampled.
_ENOUGH = 2


class Expected(NamedTuple):
    """How many heads are right under a parser's distribution: the mean, and the variance."""

    mean: float
    variance: float


class SentenceCounts(NamedTuple):
    """What a sentence counts for.

    Attributes:
        words: how many it has.
        scores: (systems, metrics, 3), CORRECT, GOLD and PREDICTED; None without a gold tree.
        classes: for each system these three by class.
        several_roots: how many of its trees have several roots.
        expected: of the system's heads, if its scores are read too.
    """

    words: int
    scores: Int | None
    classes: Sequence[Sequence[Counter[Class]]] = ()
    several_roots: int = 0
    expected: Expected | None = None


@dataclass(frozen=True)
class EvaluationSettings:
    """What is evaluated, and how.

    Attributes:
        systems: the paths of their files.
        metrics: what is counted of each sentence and system.
        kinds: of classes, for tables of these.
        confidence, resamples, seed: of intervals and of the test.
        missing: what is to be said of metrics that cannot be counted, or nothing.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    kinds: tuple[Classes, ...]
    confidence: float
    resamples: int
    seed: int
    missing: str = ""

    @property
    def sheet(self) -> Sheet:
        """How the rows are laid out."""
        several = len(self.systems) > 1
        shown = _CLASSES if self.kinds else _DIFFERENCES if several else _SCORES
        names = ("system",) * several + shown
        return Sheet(BY_CLASS if self.kinds else SCORES, "", dict(zip(names, names, strict=True)))


class Evaluation(Fold[SentenceCounts]):
    """Keeps the counts of each sentence, which are resampled in the end.

    Args:
        signature: of the run, for the line to quote.
    """

    attribute = ""

    def __init__(self, settings: EvaluationSettings, signature: str) -> None:
        self._settings = settings
        self._signature = signature
        self._flat = array("i")
        self._classes = [[Counter[Class](), Counter[Class](), Counter[Class]()] for _ in settings.systems]
        self._sentences = self._words = self._several_roots = 0
        self._expected: Expected | None = None

    def add(self, counts: SentenceCounts) -> None:
        self._sentences += 1
        self._words += counts.words
        self._several_roots += counts.several_roots
        if counts.scores is not None:
            self._flat.extend(counts.scores.ravel().tolist())
        for ours, theirs in zip(self._classes, counts.classes, strict=False):
            for total, each in zip(ours, theirs, strict=True):
                total.update(each)
        if counts.expected is not None:
            before = self._expected or Expected(0.0, 0.0)
            self._expected = Expected(*map(sum, zip(before, counts.expected, strict=True)))

    def rows(self) -> list[Row]:
        """Return classes if they are asked for, else scores."""
        if not self._sentences:
            raise DeptreeError("there is no sentence to evaluate", "Give files, or a shard, with sentences")
        return self._by_class() if self._settings.kinds else self._scores

    def lines(self) -> Iterator[str]:
        if self._several_roots:
            trees = f"{counted(self._several_roots, 'tree')} with several roots"
            yield f"{trees}: counted as they are; the script of the CoNLL 2018 shared task refuses them"
        yield from self._without_wrong_labels()
        if self._settings.missing:
            yield self._settings.missing
        yield self._quoted

    def _without_wrong_labels(self) -> Iterator[str]:
        """A line for each system whose LAS is its UAS, word by word, although heads are wrong."""
        uas, las = map(self._settings.metrics.index, ("UAS", "LAS"))
        for system, sums in zip(self._settings.systems, self._counts.sum(axis=0), strict=True):
            right = int(sums[uas, CORRECT])
            if SUSPICIOUS <= right == sums[las, CORRECT] and right < sums[uas, GOLD]:
                all_words = f"all {counted_thousands(right, 'word')} with the right head have the right label"
                yield f"{system}: LAS equals UAS: {all_words}, as if labels were copied from the gold trees"

    @property
    def _counts(self) -> Int:
        """Of all sentences, (sentences, systems, metrics, 3); none of these without gold trees."""
        found = np.frombuffer(self._flat, dtype=np.intc) if self._flat else np.empty(0, dtype=np.intc)
        return found.reshape(-1, len(self._settings.systems), len(self._settings.metrics), 3).astype(np.int64)

    @cached_property
    def _scores(self) -> list[Row]:
        """Every system's scores, and their differences."""
        return [*self._resampled(self._counts), *self._expectation()]

    def _resampled(self, counts: Int) -> Iterator[Row]:
        if not len(counts):
            return
        settings, rng = self._settings, stream_of(None, self._settings.seed)
        total = counts.sum(axis=0)
        there = [number for number, name in enumerate(settings.metrics) if name not in TAGS or total[0, number, GOLD]]
        counts, total = counts[:, :, there], total[:, there]
        metrics = [settings.metrics[number] for number in there]
        drawn = bootstrap(counts, settings.resamples, rng) if len(counts) >= _ENOUGH else None
        for number, system in enumerate(settings.systems):
            found = None if drawn is None else drawn[:, number]
            for row, sums in zip(self._valued(metrics, f1(total[number]), found), total[number].tolist(), strict=True):
                yield {"system": system, **row, **_sums(sums)}
        if len(settings.systems) > 1:
            p = randomisation_test(counts[:, 0], counts[:, 1], settings.resamples, rng)
            found = None if drawn is None else drawn[:, 1] - drawn[:, 0]
            less = self._valued(metrics, f1(total[1]) - f1(total[0]), found)
            for row, each in zip(less, p.tolist(), strict=True):
                yield {"system": settings.systems[1], **row, "metric": DIFFERENCE.format(row["metric"]), "p": each}

    def _valued(self, metrics: Sequence[str], values: Any, drawn: Any) -> Iterator[dict[str, Any]]:
        """The metrics with their values, and intervals from resampled ones if there are some."""
        ends = [[None] * len(values)] * 2
        if drawn is not None:
            ends = [each.tolist() for each in percentiles(drawn, self._settings.confidence, self._sentences)]
        for row in zip(metrics, values.tolist(), *ends, strict=True):
            yield dict(zip(("metric", "value", "low", "high"), row, strict=True))

    def _expectation(self) -> Iterator[Row]:
        if self._expected is None:
            return
        low, high = normal_interval(*self._expected, self._settings.confidence)
        row = {"system": self._settings.systems[0], "metric": EXPECTED, "value": self._expected.mean / self._words}
        yield {**row, "low": max(low / self._words, 0.0), "high": min(high / self._words, 1.0)}

    def _by_class(self) -> list[Row]:
        return [
            {
                "system": system,
                **dict(zip(("by", "class", "metric"), each, strict=True)),
                **_shares(sums := [counter[each] for counter in found]),
                **_sums(sums),
            }
            for system, found in zip(self._settings.systems, self._classes, strict=True)
            for each in in_order(found, self._settings.kinds)
        ]

    @cached_property
    def _quoted(self) -> str:
        """All scores in a line, in percent, and how they were made."""
        systems = groupby(self._scores, lambda row: f"{row['system']}: " * (len(self._settings.systems) > 1))
        scores = "; ".join(name + ", ".join(map(_quoted, rows)) for name, rows in systems)
        sizes = f"{counted_thousands(self._sentences, 'sentence')}, {counted_thousands(self._words, 'word')}"
        return f"{scores} (n = {sizes}) | {self._signature}"


def _sums(sums: Sequence[int]) -> dict[str, int]:
    return {"correct": sums[CORRECT], "gold": sums[GOLD], "predicted": sums[PREDICTED]}


def _shares(sums: Sequence[int]) -> dict[str, float | None]:
    """F1, precision and recall of a class; None where there are no words to be a share of."""
    correct, gold, predicted = sums
    return {
        "f1": float(f1(np.array(sums))),
        "precision": correct / predicted if predicted else None,
        "recall": correct / gold if gold else None,
    }


def _quoted(row: Row) -> str:
    """A score in percent with its interval, and the p-value of a difference."""
    sign = "+" if "p" in row else ""
    text = f"{row['metric']} {100 * row['value']:{sign}.2f}"
    if row["low"] is not None:
        text += f" [{100 * row['low']:.2f}, {100 * row['high']:.2f}]"
    return f"{text} p = {row['p']:.2g}" if "p" in row else text
