"""``deptree inspect``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deptree_cli.cli.folds import OneRow
from deptree_cli.cli.job import Job
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, gold_option, score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.status_line import message
from deptree_cli.cli.writing import ROWS, Writing, format_options
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.peakedness import Peakedness, peakedness
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.scores.fits import Fits, better_layout, fits, mean_fits
from deptree_cli.io.scores.layout import CHOICES, Layout
from deptree_cli.io.scores.records import ScoredSentence


@command()
@score_options
@gold_option("The report shows how well they fit.")
@format_options(*ROWS, header=False)
@run_options
def inspect(scores: ScoreOptions, run: RunOptions, writing: Writing) -> int:
    """Report how a score file is interpreted: shapes, orientation, scale; how certain it is; how probable trees with
    one root, and without crossing arcs, are (single-root and projective mass).

    With --gold, or heads in --conllu, it also reports how well these heads fit under each orientation and position of
    ROOT that the matrices allow (mean log-probability of the sentences' trees per word): the right layout is far ahead.
    If another layout fits better, a line on stderr names its options, and the exit status is 1. Prints a table on a
    terminal, otherwise JSON.
    """
    layout, found = scores.how.layout, Overview(scores.how.layout)
    empty = DeptreeError("there are no sentences to look at", "Check the file", place=scores.name)
    job = Job("inspect", scores.source(run), run, replace(writing, single=True))
    code = job.summarise(SentenceFacts.counted, OneRow(found, empty), Sheet(title=scores.name))
    if advice := better_layout(found.means, layout):
        message(advice)
    return 1 if advice else code


@dataclass(frozen=True)
class SentenceFacts:
    """What there is to report of one sentence; `longer_axis`: rows less columns."""

    n: int
    shape: str
    longer_axis: int
    type: str
    numbers: Peakedness
    fits: Fits

    @classmethod
    def counted(cls, sentence: ScoredSentence, _: None) -> tuple[SentenceFacts]:
        """The work on one sentence: what it counts for."""
        n, array, layout = sentence.distribution.n, sentence.record.scores, sentence.interpretation.layout
        rows, columns = layout.arcs(array.shape)
        arcs = ["n+1" if side > n else "n" for side in (rows, columns)]
        axes = ["L"] * (layout.labels == "first") + arcs + ["L"] * (layout.labels == "last")
        shape = f"({', '.join(axes)})"
        numbers = peakedness(sentence.distribution)
        return (cls(n, shape, rows - columns, str(array.dtype), numbers, fits(sentence)),)


class Overview:
    """The sentences of a file that is laid out so."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._found: list[SentenceFacts] = []

    def add(self, facts: SentenceFacts) -> None:
        """Note a sentence."""
        self._found.append(facts)

    @property
    def means(self) -> Fits:
        """How well gold heads fit under other layouts too."""
        return mean_fits([each.fits for each in self._found])

    def row(self) -> dict[str, Any]:
        """One entry per fact for the whole file."""
        found, layout = self._found, self._layout
        every: Callable[[str], list[Any]] = lambda name: [getattr(each.numbers, name) for each in found]  # noqa: E731
        return {
            "sentences": len(found),
            "words": sum(each.n for each in found),
            "longest": max(each.n for each in found),
            "shapes": ", ".join(sorted({each.shape for each in found})),
            "type": ", ".join(sorted({each.type for each in found})),
            "preset": layout.name or "none",
            **_answers({each.longer_axis for each in found}, layout),
            "lowest_log_score": min(every("lowest")),
            "highest_log_score": max(every("highest")),
            "forbidden_arcs": sum(every("forbidden")),
            "weights_sum_to_1": all(every("normalised")),
            "mean_best_head_probability": float(np.mean(every("best_head"))),
            "mean_entropy_per_word": float(np.mean(every("entropy"))),
            **_masses("single_root_mass", every("single_root_mass")),
            **_masses("projective_mass", every("projective_mass")),
            **{name: fit if np.isfinite(fit) else None for name, fit in self.means.items()},
        }


def _answers(longer_axes: set[int], layout: Layout) -> dict[str, str]:
    """How the matrices are read; what nobody said is marked."""
    found = {name: getattr(layout, name) or f"{answers[0]} (assumed)" for name, answers in CHOICES.items()}
    by_shape = {-1: "dep-head (by shape)", 1: "head-dep (by shape)"}
    return found | {"orient": by_shape.get(max(longer_axes), found["orient"])} if len(longer_axes) == 1 else found


def _masses(name: str, masses: list[float]) -> dict[str, float]:
    """What there is to say of one share per sentence."""
    mean, median = float(np.mean(masses)), float(np.median(masses))
    return {f"{name}_mean": mean, f"{name}_median": median, f"{name}_min": min(masses)}
