"""``deptree inspect``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.cli.folds import OneRow
from deptree_cli.cli.job import Job
from deptree_cli.cli.report import talk
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, gold_option, score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import Writing, bare_row_options
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.peakedness import Peakedness, peakedness
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.scores.fits import Fits, better_layout, fits, mean_fits
from deptree_cli.io.scores.layout import CHOICES, Layout
from deptree_cli.io.scores.records import ScoredSentence

# Behind an answer that nobody gave.
_ASSUMED = " (assumed)"


@command(epilog="\b\nTry: deptree inspect scores.npz --from natasha --conllu gold.conllu")
@score_options
@gold_option("The report shows how well they fit.")
@bare_row_options
@run_options
def inspect(scores: ScoreOptions, run: RunOptions, writing: Writing) -> int:
    """Report how a score file is interpreted: shapes, orientation, scale; how certain it is; how probable trees with
    one root, and without crossing arcs, are (single-root and projective mass).

    With --gold, or heads in --conllu, it also reports how well these heads fit under each orientation and position of
    ROOT that the matrices allow (mean log-probability of the sentences' trees per word): the right layout is far ahead.
    If another layout fits better, a line on stderr names its options, and the exit status is 1. Prints a table on a
    terminal, otherwise JSON.
    """
    looks = Looks(scores.how.layout)
    empty = DeptreeError("there are no sentences to look at", "Check the file", place=scores.name)
    job = Job("inspect", scores.source(run), run, replace(writing, single=True))
    code = job.summarise(Look.of, OneRow(looks, empty), Sheet(title=scores.name))
    advice = better_layout(looks.means, scores.how.layout)
    if advice:
        talk(advice)
    return 1 if advice else code


@dataclass(frozen=True)
class Seen:
    """What there is to report of one sentence; `longer_axis`: rows less columns."""

    n: int
    shape: str
    longer_axis: int
    type: str
    numbers: Peakedness
    fits: Fits


class Look(NamedTuple):
    """A sentence as it is counted."""

    counted: tuple[Seen]

    @classmethod
    def of(cls, sentence: ScoredSentence, _: None) -> Look:
        """The work on one sentence."""
        return cls((_seen(sentence),))


class Looks:
    """What was seen of the sentences of a file that is laid out so."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._seen: list[Seen] = []

    def add(self, seen: Seen) -> None:
        """Note a sentence."""
        self._seen.append(seen)

    @property
    def means(self) -> Fits:
        """How well gold heads fit under other layouts too."""
        return mean_fits([each.fits for each in self._seen])

    def row(self) -> dict[str, Any]:
        """One entry per fact for the whole file."""
        return _summary(self._seen, self.means, self._layout)


def _seen(sentence: ScoredSentence) -> Seen:
    n, array, layout = sentence.distribution.n, sentence.record.scores, sentence.interpretation.layout
    rows, columns = layout.arcs(array.shape)
    shape = _shape(array.shape, n, layout)
    return Seen(n, shape, rows - columns, str(array.dtype), peakedness(sentence.distribution), fits(sentence))


def _shape(shape: tuple[int, ...], n: int, layout: Layout) -> str:
    """An array's shape in letters, such as (n, n+1) or (L, n+1, n+1)."""
    sides = ["n+1" if side > n else "n" for side in layout.arcs(shape)]
    first, last = ["L"] * (layout.labels == "first"), ["L"] * (layout.labels == "last")
    return f"({', '.join([*first, *sides, *last])})"


def _summary(seen: list[Seen], means: Fits, layout: Layout) -> dict[str, Any]:
    """One line per fact for the whole file."""
    every: Callable[[str], list[Any]] = lambda name: [getattr(each.numbers, name) for each in seen]  # noqa: E731
    return {
        "sentences": len(seen),
        "words": sum(each.n for each in seen),
        "longest": max(each.n for each in seen),
        "shapes": ", ".join(sorted({each.shape for each in seen})),
        "type": ", ".join(sorted({each.type for each in seen})),
        "preset": layout.name or "none",
        "orient": _orient(seen, layout),
        "root": layout.root + _ASSUMED * ("root" in layout.assumed()),
        "scale": layout.scale + _ASSUMED * ("scale" in layout.assumed()),
        "lowest_log_score": min(every("lowest")),
        "highest_log_score": max(every("highest")),
        "forbidden_arcs": sum(every("forbidden")),
        "weights_sum_to_1": all(every("normalised")),
        "mean_best_head_probability": float(np.mean(every("best_head"))),
        "mean_entropy_per_word": float(np.mean(every("entropy"))),
        **_masses("single_root_mass", every("single_root_mass")),
        **_masses("projective_mass", every("projective_mass")),
        **{name: fit if np.isfinite(fit) else None for name, fit in means.items()},
    }


def _masses(name: str, masses: list[float]) -> dict[str, float]:
    """What there is to say of one share per sentence."""
    mean, median = float(np.mean(masses)), float(np.median(masses))
    return {f"{name}_mean": mean, f"{name}_median": median, f"{name}_min": min(masses)}


def _orient(seen: list[Seen], layout: Layout) -> str:
    longer = {each.longer_axis for each in seen}
    by_shape = {-1: "dep-head (by shape)", 1: "head-dep (by shape)"}
    own = (layout.orient or CHOICES["orient"][0]) + _ASSUMED * ("orient" in layout.assumed())
    return by_shape.get(longer.pop() if len(longer) == 1 else 0, own)
