"""Every method of the package at equal processor time: which comes nearest to the exact expectations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np

from benchmarks.pruning.cases import Case, Grammar
from benchmarks.pruning.generated import FLAT, PEAKED
from benchmarks.table import Cell, Table, shown
from benchmarks.timing import points, times
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.methods import expectations

PAIRS = times(5)
BUDGETS = (0.01, 0.05, 0.2, 0.5)

# How far a heuristic's scores may be off, a standard deviation.
CORRUPTION = 1.5

SCORES = {"peaked": PEAKED, "flat": FLAT}
HEURISTICS = {"informed": 0.0, "corrupted": CORRUPTION}

ITERATIONS = points(1, 2, 5, 10, 20, 50, 100, 200, 500)
MARGINS = points(1, 2, 3, 5, 7, 10, 15, 20, 25)
RUNS = points(1, 3, 10, 30)
KEPT = points(3, 5, 10, 20, 40)

# What is not waited for, in exact times.
PATIENCE = 1.2

Settings = dict[str, Any]


@dataclass(frozen=True)
class Series:
    """A method with settings that cost the more the later they come."""

    name: str
    method: str
    settings: tuple[Settings, ...]


@dataclass(frozen=True)
class Point:
    """What a setting comes to, means over sentence pairs: its share of the exact time, its error."""

    setting: str
    share: float
    error: float


@dataclass(frozen=True)
class Race:
    """What methods come to beside exact sums, which take so many milliseconds."""

    exact_ms: float
    points: dict[str, list[Point]]


# By scores and heuristic.
Races = dict[tuple[str, str], Race]


def _chain(counts: str) -> tuple[Settings, ...]:
    return tuple({"iterations": n, "chains": 1, "burn_in": 0, "counts": counts} for n in ITERATIONS)


SERIES = (
    Series("randomized, soft", "randomized", _chain("soft")),
    Series("randomized, hard", "randomized", _chain("hard")),
    Series("tic-tac-toe", "tic-tac-toe", tuple({"margin": margin} for margin in MARGINS)),
    *(Series(f"rdp, {kept} kept", "rdp", tuple({"kept": kept, "iterations": runs} for runs in RUNS)) for kept in KEPT),
    Series("fixed", "fixed", ({},)),
)


def races(grammar: Grammar) -> Races:
    """Panel (d): every method with every setting, from bare scores."""
    found: Races = {}
    for scores, strong in SCORES.items():
        for heuristic, corruption in HEURISTICS.items():
            cases = [grammar.pair(grammar.raced, number, strong, corruption) for number in range(PAIRS)]
            found[scores, heuristic] = _race(grammar, cases)
    return found


def race_table(grammar: Grammar, found: Races) -> Table:
    """The least error within shares of the exact time, and with which setting."""
    names = next(iter(found.values())).points
    name = f"error within a share of the exact time, {grammar.name}, pq = {grammar.raced**2}, means over {PAIRS} pairs"
    return Table(name, ("scores", "heuristic", "exact ms", "share", *names, "best"), _rows(found))


def _rows(found: Races) -> Iterator[list[Cell]]:
    for (scores, heuristic), race in found.items():
        for budget in BUDGETS:
            best = {name: _best(points, budget) for name, points in race.points.items()}
            reached = {name: point.error for name, point in best.items() if point}
            winner = min(reached, key=reached.__getitem__) if reached else None
            cells = [f"{shown(point.error)} ({point.setting})" if point else None for point in best.values()]
            yield [scores, heuristic, race.exact_ms, f"{budget:.0%}", *cells, winner]


def _series(grammar: Grammar) -> list[Series]:
    """Those that there are: states that are drawn have weights, which the paper's program does not know."""
    return [series for series in SERIES if not (grammar.is_ternary and series.method == "rdp")]


def _family(series: Series) -> str:
    return "rdp" if series.method == "rdp" else series.name


def _race(grammar: Grammar, cases: list[Case]) -> Race:
    exact = mean(_exact_seconds(case) for case in cases)
    found: dict[str, list[Point]] = {}
    for series in _series(grammar):
        found.setdefault(_family(series), []).extend(_points(series, cases, exact))
    return Race(1e3 * exact, found)


def _exact_seconds(case: Case) -> float:
    case.error(case.exact)  # worked out now, not while others are timed
    return sorted(_timed(case, "exact", {})[0] for _ in range(3))[1]


def _points(series: Series, cases: list[Case], exact: float) -> Iterator[Point]:
    for settings in series.settings:
        spent, errors = zip(*(_timed(case, series.method, settings) for case in cases), strict=True)
        share = mean(spent) / exact
        yield Point(_named(settings), share, mean(errors))
        if share > PATIENCE:
            return


def _timed(case: Case, method: str, settings: Settings) -> tuple[float, float]:
    """Seconds from bare scores, and the error; that of no links at all where the method comes to nothing."""
    begin = time.process_time()
    try:
        found = expectations(case.program(), method, 1, **settings).expectations
    except DeptreeError:
        found = np.zeros_like(case.exact)
    return time.process_time() - begin, case.error(found)


def _named(settings: Settings) -> str:
    if "kept" in settings:
        return f"{settings['kept']} kept x {settings['iterations']}"
    return f"{settings.get('iterations') or settings.get('margin') or 'one mask'}"


def _best(points: list[Point], budget: float) -> Point | None:
    return min((point for point in points if point.share <= budget), key=lambda point: point.error, default=None)
