"""``deptree inspect``."""

from __future__ import annotations

from array import array
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.cli.folds import OneRow
from deptree_cli.cli.job import Job
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, gold_option, score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.status_line import message
from deptree_cli.cli.work import Work
from deptree_cli.cli.writing import ROWS, Writing, format_options
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.peakedness import Peakedness, peakedness, peakednesses
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.files.rereading import is_rereadable
from deptree_cli.io.scores.files import ScoreStream
from deptree_cli.io.scores.fits import Fits, better_layout, fits, fits_of_many
from deptree_cli.io.scores.layout import CHOICES, Layout, to_head_dep
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

# What is kept of each sentence.
SHARES = Peakedness._fields[-4:]


@command()
@score_options
@gold_option("The report shows how well they fit.")
@format_options(*ROWS, header=False)
@run_options
def inspect(scores: ScoreOptions, run: RunOptions, writing: Writing) -> int:
    """Report how a score file is interpreted (shape, orientation, scale), how certain its heads are, and the share of
    trees with one root and without crossing arcs (single-root and projective mass).

    With --gold, or heads in --conllu, it also reports how well these heads fit under each orientation and position of
    ROOT that the matrices allow (mean log-probability of the sentences' trees per word): the right layout is far ahead.
    If another layout fits better, a line on stderr names its options, and the exit status is 1. Prints a table on a
    terminal, otherwise JSON.
    """
    if why := _not_weights(scores):
        scores = replace(scores, how=replace(scores.how, layout=replace(scores.how.layout, scale="log")))
        run.warn(why, f"{why}: reading as log-scores. For other commands pass --from log")
    layout, found = scores.how.layout, Overview(scores.how.layout, why)
    empty = DeptreeError("there are no sentences to look at", "Check the file", place=scores.name)
    job = Job("inspect", scores.source(run), run, replace(writing, single=True))
    code = job.summarise(Inspect(scores.how), OneRow(found, empty), Sheet(title=scores.name))
    if advice := better_layout(found.means, layout):
        message(advice)
    return 1 if advice else code


def _not_weights(scores: ScoreOptions) -> str:
    """Why these are no weights, if nobody said what they are; nothing if they may be, or cannot be read twice."""
    layout, files = scores.how.layout, [replace(each, source=ScoreSource(each.source.path)) for each in scores.files]
    if not layout.scale and all(is_rereadable(path) for each in files for path in each.paths):
        with suppress(DeptreeError):  # told where they are read again
            for each in ScoreStream(files, layout):
                if isinstance(each, Sentence) and to_head_dep(each.scores, layout).min() < 0:
                    return f"{each.place} has negative numbers, which weights cannot be"
    return ""


class SentenceFacts(NamedTuple):
    """What there is to report of one sentence; `longer_axis`: rows less columns."""

    n: int
    shape: str
    longer_axis: int
    type: str
    numbers: Peakedness
    fits: Fits

    @classmethod
    def of(cls, record: Sentence, layout: Layout, numbers: Peakedness, fitting: Fits) -> SentenceFacts:
        """Those of a record that is laid out so."""
        n, (rows, columns) = record.n, layout.arcs(record.scores.shape)
        shape = _shape_of(rows > n, columns > n, layout.labels)
        return cls(n, shape, rows - columns, _name_of(record.scores.dtype), numbers, fitting)


@cache
def _shape_of(root_in_rows: bool, root_in_columns: bool, labels: str | None) -> str:
    """A shape in words, of arcs with ROOT among the rows or the columns and an axis of labels somewhere."""
    arcs = ["n+1" if root else "n" for root in (root_in_rows, root_in_columns)]
    return f"({', '.join(['L'] * (labels == 'first') + arcs + ['L'] * (labels == 'last'))})"


_name_of = cache(str)  # of dtypes: NumPy takes ten microseconds over it


@dataclass(frozen=True)
class Inspect(Work[tuple[SentenceFacts]]):
    """What sentences count for.

    Attributes:
        how: they are read.
    """

    how: Interpretation

    @property
    def in_batches(self) -> bool:
        """Whether many sentences are looked at at once."""
        return True

    def one(self, sentence: ScoredSentence, _: None) -> tuple[SentenceFacts]:
        """The work on one sentence."""
        numbers = peakedness(sentence.distribution)
        return (SentenceFacts.of(sentence.record, self.how.layout, numbers, fits(sentence)),)

    def batch(self, sentences: ScoredBatch, _: None) -> list[tuple[SentenceFacts]]:
        """The work on many sentences."""
        found = peakednesses(sentences.trees), fits_of_many(sentences, self.how)
        facts = map(SentenceFacts.of, sentences.records, repeat(self.how.layout), *found)
        return [(each,) for each in facts]


class Overview:
    """The sentences of a file that is laid out so: of each what is needed for means and medians, as numbers."""

    def __init__(self, layout: Layout, not_weights: str) -> None:
        self._layout, self._scale = layout, f"log (assumed: {not_weights})" if not_weights else None
        self._words = self._longest = self._forbidden = 0
        self._lowest, self._highest, self._normalised = np.inf, -np.inf, True
        self._shapes, self._types, self._longer_axes = set[str](), set[str](), set[int]()
        self._shares = {name: array("d") for name in SHARES}
        self._fits: dict[str, array[float]] = {}

    def add(self, facts: SentenceFacts) -> None:
        """Note a sentence."""
        numbers = facts.numbers
        self._words, self._longest = self._words + facts.n, max(self._longest, facts.n)
        self._lowest, self._highest = min(self._lowest, numbers.lowest), max(self._highest, numbers.highest)
        self._forbidden, self._normalised = self._forbidden + numbers.forbidden, self._normalised and numbers.normalised
        self._shapes.add(facts.shape)
        self._types.add(facts.type)
        self._longer_axes.add(facts.longer_axis)
        for shares, share in zip(self._shares.values(), numbers[-len(SHARES) :], strict=True):
            shares.append(share)
        for name, fit in facts.fits.items():
            if name not in self._fits:
                self._fits[name] = array("d")
            self._fits[name].append(fit)

    @property
    def means(self) -> Fits:
        """The mean of each fit of gold heads over the sentences that have it; -inf where one cannot have its tree."""
        return {name: float(np.mean(found)) for name, found in self._fits.items()}

    def row(self) -> dict[str, Any]:
        """One entry per fact for the whole file."""
        layout, shares = self._layout, self._shares
        return {
            "sentences": len(shares["entropy"]),
            "words": self._words,
            "longest": self._longest,
            "shapes": ", ".join(sorted(self._shapes)),
            "type": ", ".join(sorted(self._types)),
            "preset": layout.name or "none",
            **_answers(self._longer_axes, layout) | ({"scale": self._scale} if self._scale else {}),
            "lowest_log_score": self._lowest,
            "highest_log_score": self._highest,
            "forbidden_arcs": self._forbidden,
            "weights_sum_to_1": self._normalised,
            "mean_best_head_probability": float(np.mean(shares["best_head"])),
            "mean_entropy_per_word": float(np.mean(shares["entropy"])),
            **_masses("single_root_mass", shares["single_root_mass"]),
            **_masses("projective_mass", shares["projective_mass"]),
            **{name: fit if np.isfinite(fit) else None for name, fit in self.means.items()},
        }


def _answers(longer_axes: set[int], layout: Layout) -> dict[str, str]:
    """How the matrices are read; what nobody said is marked."""
    found = {name: getattr(layout, name) or f"{answers[0]} (assumed)" for name, answers in CHOICES.items()}
    by_shape = {-1: "dep-head (by shape)", 1: "head-dep (by shape)"}
    return found | {"orient": by_shape.get(max(longer_axes), found["orient"])} if len(longer_axes) == 1 else found


def _masses(name: str, masses: array[float]) -> dict[str, float]:
    """What there is to say of one share per sentence."""
    mean, median = float(np.mean(masses)), float(np.median(masses))
    return {f"{name}_mean": mean, f"{name}_median": median, f"{name}_min": min(masses)}
