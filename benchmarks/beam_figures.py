"""Stochastic beam search in JAX: Figures 4 and 6 of Stanojevic 2022, and how right log-probabilities are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scores import fresh, uniform
from benchmarks.timing import print_table, seconds
from deptree_cli.core.distribution import TreeDistribution

Float = NDArray[np.float64]

# A number of trees to what JAX compiles for it: a seed and log-scores (N, N) to heads (k, n) and log-probabilities.
Draw = Callable[[int, Float], tuple[Any, Any]]
Search = Callable[[int], Draw]

SIZES = (10, 30, 100, 300, 1000)
LENGTHS = (20, 40, 60, 80, 100)
SCALES = (1, 5, 10, 20, 40, 100)

NONE_HERE = "no accelerator here"
PICTURE = Path(__file__).with_name("beam.svg")


def run() -> None:
    """Milliseconds by number of trees and by length, seconds to compile, nats of error; and the picture of these."""
    if find_spec("jax") is None:
        print("\nJAX is not installed: no beam search in it.")
        return
    searches = _searches()
    columns = (*(f"JAX, {name}" for name in searches), "kernels, beam", "kernels, auto")
    by_size, by_length = [_times(100, size, searches) for size in SIZES], [_times(n, 100, searches) for n in LENGTHS]
    rows = [[size, *row] for size, row in zip(SIZES, by_size, strict=True)]
    print_table("Milliseconds for k distinct trees, n = 100, uniform scores", ("k", *columns), rows)
    rows = [[n, *row] for n, row in zip(LENGTHS, by_length, strict=True)]
    print_table("Milliseconds for 100 distinct trees, uniform scores", ("n", *columns), rows)
    compiling = ([n, *(_compiling(n, search) for search in searches.values())] for n in LENGTHS)
    print_table("Seconds until JAX has compiled it, k = 100", ("n", *columns[: len(searches)]), compiling)
    draws = {name: search and search(20) for name, search in searches.items() if not isinstance(search, str)}
    checked = tuple(f"{name}, {which}" for name in draws for which in ("first tree", "all trees"))
    errors = [[scale, *(error for draw in draws.values() for error in _worst(draw, scale))] for scale in SCALES]
    title = "Worst error of a log-probability in nats, 20 trees of 10 words, Gaussian logits times a scale, float32"
    print_table(title, ("logit scale", *checked), errors)
    numbers = [number for number, search in enumerate(searches.values()) if not isinstance(search, str)]
    styles = [f"C{number}o{line}" for number in numbers for line in ("--", "-")]  # in their columns' colours
    _draw(columns, by_size, by_length, dict(zip(checked, styles, strict=True)), errors)


def _searches() -> dict[str, Search | str | None]:
    """Ours on the CPU and on what else JAX has; SynJax's, where it is installed."""
    import jax

    others = [device for device in jax.devices() if device.platform != "cpu"]
    accelerator = partial(_ours, others[0]) if others else NONE_HERE
    return {"deptree": partial(_ours, jax.devices("cpu")[0]), "accelerator": accelerator, "SynJax": _synjax()}


def _ours(device: Any, k: int) -> Draw:
    import jax

    from deptree_cli.jax import stochastic_beam_search

    compiled = jax.jit(partial(stochastic_beam_search, k=k))

    def draw(seed: int, log_scores: Float) -> tuple[Any, Any]:
        given = jax.device_put((jax.random.key(seed), log_scores.astype(np.float32)), device)
        found = jax.block_until_ready(compiled(*given))
        return found.heads[:, 1:], found.log_probs

    return draw


def _synjax() -> Search | None:
    import jax

    try:
        from synjax import SpanningTreeCRF
    except ImportError:
        return None

    def search(k: int) -> Draw:
        @jax.jit
        def compiled(key: Any, logits: Any) -> tuple[Any, Any]:
            crf = SpanningTreeCRF(logits, directed=True, single_root_edge=True, projective=False)
            arcs, log_probs, _ = crf.sample_without_replacement(key, k)
            return arcs.argmax(-2)[:, 1:], log_probs

        def draw(seed: int, log_scores: Float) -> tuple[Any, Any]:
            given = jax.random.PRNGKey(seed), np.maximum(log_scores, -1e5).astype(np.float32)
            found: tuple[Any, Any] = jax.block_until_ready(compiled(*jax.device_put(given, jax.devices("cpu")[0])))
            return found

        return draw

    return search


def _times(n: int, k: int, searches: dict[str, Search | str | None]) -> list[object]:
    """Milliseconds of each: of processor time, on an accelerator of the clock."""
    distribution = uniform(n)
    found: list[object] = []
    for name, search in searches.items():
        if search is None or isinstance(search, str):
            found.append(search)
            continue
        clock = time.perf_counter if name == "accelerator" else time.process_time
        found.append(seconds(partial(search(k), 1, distribution.log_scores), 3, clock) * 1e3)
    return [*found, *(_of_kernels(name, distribution, k) for name in ("beam", "auto"))]


def _of_kernels(name: str, distribution: TreeDistribution, k: int) -> float:
    """All preparation of the distribution included."""
    rng = np.random.default_rng(1)
    return seconds(lambda: fresh(distribution).sample_without_replacement(k, rng, name), repeats=3) * 1e3


def _compiling(n: int, search: Search | str | None) -> object:
    """Seconds of processor time until the first trees are there, forgetting what was compiled before."""
    if search is None or isinstance(search, str):
        return search
    import jax

    jax.clear_caches()
    start = time.process_time()
    search(100)(1, uniform(n).log_scores)
    return time.process_time() - start


def _worst(draw: Draw | None, scale: float) -> list[float | None]:
    """The largest errors of ten random graphs, of the first tree and of all; infinite where one is not finite."""
    if draw is None:
        return [None, None]
    errors = []
    for seed in range(10):
        log_scores = (np.random.default_rng(seed).normal(size=(11, 11)) * scale).astype(np.float32).astype(np.float64)
        heads, log_probs = draw(seed, log_scores)
        truth = TreeDistribution(log_scores).log_probs(np.asarray(heads, np.int32))
        found = np.abs(np.asarray(log_probs, np.float64) - truth)
        errors.append(np.where(np.isnan(found), np.inf, found))
    return [float(np.max(errors, axis=0)[0]), float(np.max(errors))]


def _draw(
    columns: Sequence[str],
    by_size: Sequence[Sequence[object]],
    by_length: Sequence[Sequence[object]],
    checked: dict[str, str],
    errors: Sequence[Sequence[object]],
) -> None:
    """Write the picture, where matplotlib is installed: their Figure 4, a cut through their Figure 6, and the errors.

    checked: the style of each error's line.
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    with pyplot.rc_context({"svg.fonttype": "none", "svg.hashsalt": "beam", "font.size": 9, "lines.markersize": 4}):
        figure, panels = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
        for panel, points, rows in ((panels[0], SIZES, by_size), (panels[1], LENGTHS, by_length)):
            for number, (name, values) in enumerate(zip(columns, zip(*rows, strict=True), strict=True)):
                _plot(panel, points, values, name, f"C{number}o-")
        for (name, style), values in zip(checked.items(), list(zip(*errors, strict=True))[1:], strict=True):
            _plot(panels[2], SCALES, values, name, style)
        _finish(panels[0], "processor time in ms, compiled, n = 100", "k (a line ends where it was not run)", SIZES)
        _finish(panels[1], "processor time in ms, compiled, k = 100", "words", LENGTHS)
        _finish(
            panels[2],
            "worst error of a log-probability, nats",
            "logit scale, n = 10 (a line ends where it is infinite)",
            SCALES,
        )
        figure.savefig(PICTURE, metadata={"Date": None})


def _plot(panel: Any, points: Sequence[int], values: Sequence[object], name: str, style: str) -> None:
    """A line, unless nothing was measured; it ends where numbers are infinite."""
    numbers = [value if isinstance(value, float) and np.isfinite(value) else np.nan for value in values]
    if not np.isnan(numbers).all():
        panel.loglog(points, numbers, style, label=name)


def _finish(panel: Any, title: str, xlabel: str, ticks: Sequence[int]) -> None:
    panel.set(title=title, xlabel=xlabel, xticks=ticks, xticklabels=ticks)
    panel.minorticks_off()
    panel.legend(fontsize=7, handlelength=4)
