"""The tables of `tables.py` as a picture: the four panels of figure 4 of Bouchard-Cote, Petrov and Klein (2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks import pictures
from benchmarks.pruning.races import Race

STYLES = {"informed": "-", "corrupted": "--"}


class AtLength(NamedTuple):
    """What one product of lengths comes to: milliseconds, and errors at half of the exact time."""

    product: int
    exact: float
    step: float
    with_outside: float
    one_mask: float
    randomized: float


def draw(curves: Mapping[str, Sequence[AtLength]], races: Mapping[str, Race]) -> None:
    """Write the picture, where matplotlib is installed.

    Args:
        curves: by grammars.
        races: by heuristics, at one product of lengths.
    """
    pictures.draw("pruning", lambda pyplot: _painted(pyplot, curves, races))


def _painted(pyplot: Any, curves: Mapping[str, Sequence[AtLength]], races: Mapping[str, Race]) -> Any:
    figure, ((times, ratios), (errors, race)) = pyplot.subplots(2, 2, figsize=(10, 8), layout="constrained")
    for number, (name, points) in enumerate(curves.items()):
        _draw_grammar(times, ratios, errors, f"C{number}", name, points)
    _finish(times, "(a) milliseconds", "product of lengths", "log")
    _finish(ratios, "(b) exact sums / sampling step", "product of lengths", "log")
    _finish(errors, "(c) error at half of the exact time", "product of lengths", "linear")
    products = sorted({point.product for points in curves.values() for point in points})
    for panel in (times, ratios, errors):
        panel.set(xscale="log", xticks=products, xticklabels=products)
        panel.minorticks_off()
    _draw_race(race, races)
    return figure


def _draw_grammar(times: Any, ratios: Any, errors: Any, colour: str, name: str, points: Sequence[AtLength]) -> None:
    product, exact, step, with_outside, one_mask, randomized = zip(*points, strict=True)
    times.plot(product, exact, "o-", color=colour, label=f"{name}: exact")
    times.plot(product, step, "s--", color=colour, label="sampling step")
    ratios.plot(product, [a / b for a, b in zip(exact, step, strict=True)], "s--", color=colour, label=name)
    speedup = [a / b for a, b in zip(exact, with_outside, strict=True)]
    ratios.plot(product, speedup, "o:", color=colour, label="soft counts")
    errors.plot(product, one_mask, "x--", color=colour, label=f"{name}: one mask")
    errors.plot(product, randomized, "o-", color=colour, label="randomized")


def _draw_race(panel: Any, races: Mapping[str, Race]) -> None:
    for heuristic, race in races.items():
        for number, (name, points) in enumerate(race.points.items()):
            spent = [point.share * race.exact_ms for point in points]
            label = f"{name}, {heuristic}"
            panel.plot(
                spent, [point.error for point in points], f"o{STYLES[heuristic]}", color=f"C{number}", label=label
            )
        panel.axvline(race.exact_ms, color="0.5", linestyle=STYLES[heuristic])
    panel.set(xscale="log", ylim=(1e-4, 2))
    _finish(panel, "(d) error, three children, pq = 256 (grey: exact)", "milliseconds", "log")
    panel.minorticks_off()


def _finish(panel: Any, title: str, xlabel: str, yscale: str) -> None:
    panel.set(title=title, xlabel=xlabel, yscale=yscale)
    panel.legend(fontsize=7, handlelength=4)
