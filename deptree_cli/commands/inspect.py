"""``deptree inspect``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.report import table, talk
from deptree_cli.cli.rows import TABLE, RowFormat, row_options, write_rows
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, gold_option, label_scores_option, score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import signed
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.peakedness import Peakedness, peakedness
from deptree_cli.io.scores.fits import Fits, better_layout, fits, mean_fits
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature


@command(epilog="\b\nTry: deptree inspect scores.npz --from natasha --conllu gold.conllu")
@score_options
@label_scores_option
@gold_option("How well they fit is shown.")
@row_options
@run_options
def inspect(scores: ScoreOptions, run: RunOptions, row_format: RowFormat) -> int:
    """Report how a score file is interpreted: shapes, orientation, scale, how peaked it is, single-root and
    projective mass.

    With --gold, or --conllu whose words have heads, also how well these fit under each orientation and place of ROOT
    that the matrices allow (mean log-probability of the sentences' trees per word): the right one is far ahead. If that
    is another one than was read, a line on stderr tells what to pass instead, and the exit code is 1. A table on a
    terminal, else JSON.
    """
    fmt = row_format.form(run.output, single=True)
    pipeline = Pipeline(scores.records(), scores.interpretation, run)
    seen = list(pipeline.map(_seen))
    if not seen:
        raise DeptreeError("there are no sentences to look at", "Check the file", place=scores.name)
    means = mean_fits([each.fits for each in seen])
    summary = _summary(seen, means, scores.how.layout)
    made_by = signature("inspect", {**scores.signature_fields, **run.signature_fields})
    if fmt == TABLE:
        table(scores.name, ("what", "value"), list(signed(summary.items(), made_by, run)), sys.stdout)
    else:
        write_rows([summary], list(summary), fmt, made_by, None, run)
    advice = better_layout(means, scores.how.layout)
    if advice:
        talk(advice)
    return 1 if advice else pipeline.exit_code


@dataclass(frozen=True)
class Seen:
    """What there is to report of one sentence; `longer_axis`: rows less columns."""

    n: int
    shape: str
    longer_axis: int
    type: str
    numbers: Peakedness
    fits: Fits


def _seen(sentence: ScoredSentence, _: None) -> Seen:
    """The work on one sentence."""
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
        "root": layout.root,
        "scale": layout.scale,
        "lowest_log_score": min(every("lowest")),
        "highest_log_score": max(every("highest")),
        "forbidden_arcs": sum(every("forbidden")),
        "heads_normalised": all(every("normalised")),
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
    return by_shape.get(longer.pop() if len(longer) == 1 else 0, layout.orient or "head-dep (assumed)")
