"""Stochastic beam search in JAX: Figures 4 and 6 of Stanojevic 2022, and how right log-probabilities are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import pictures
from benchmarks.corpora import UnavailableError
from benchmarks.scores import fresh, uniform
from benchmarks.table import Cell, Table
from benchmarks.timing import points, seconds, times
from deptree_cli.core.distribution import TreeDistribution

Float = NDArray[np.float64]

# A number of trees to what JAX compiles for it: a seed and log-scores (N, N) to heads (k, n) and log-probabilities.
Draw = Callable[[int, Float], tuple[Any, Any]]
Search = Callable[[int], Draw]

SIZES = points(10, 30, 100, 300, 1000)
LENGTHS = points(20, 40, 60, 80, 100)
SCALES = points(1, 5, 10, 20, 40, 100)
TREES = times(100, 10)
LONGEST = LENGTHS[-1]

NONE_HERE = "no accelerator here"


def run() -> Iterator[Table]:
    """Milliseconds by number of trees and by length, seconds to compile, nats of error; and the picture of these."""
    if find_spec("jax") is None:
        raise UnavailableError("JAX is not installed. Run: pip install 'deptree-cli[jax]'")
    searches = _searches()
    columns = (*(f"JAX, {name}" for name in searches), "kernels, beam", "kernels, auto")
    rows = ([size, *_times(LONGEST, size, searches)] for size in SIZES)
    by_size = Table(f"distinct trees by k, n = {LONGEST}, uniform scores", ("k", *columns), rows, "ms")
    yield by_size
    rows = ([n, *_times(n, TREES, searches)] for n in LENGTHS)
    by_length = Table(f"{TREES} distinct trees by n, uniform scores", ("n", *columns), rows, "ms")
    yield by_length
    rows = ([n, *(_compiling(n, search) for search in searches.values())] for n in LENGTHS)
    yield Table(f"until JAX has compiled it, k = {TREES}", ("n", *columns[: len(searches)]), rows, "seconds")
    draws = {name: search and search(20) for name, search in searches.items() if not isinstance(search, str)}
    checked = tuple(f"{name}, {which}" for name in draws for which in ("first tree", "all trees"))
    rows = ([scale, *(error for draw in draws.values() for error in _worst(draw, scale))] for scale in SCALES)
    name = "worst error of a log-probability, 20 trees of 10 words, Gaussian logits times a scale, float32"
    errors = Table(name, ("scale", *checked), rows, "nats")
    yield errors
    numbers = [number for number, search in enumerate(searches.values()) if not isinstance(search, str)]
    styles = [f"C{number}o{line}" for number in numbers for line in ("--", "-")]  # in their columns' colours
    pictures.draw("beam", lambda pyplot: _painted(pyplot, by_size, by_length, errors, styles))


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


def _times(n: int, k: int, searches: dict[str, Search | str | None]) -> list[Cell]:
    """Milliseconds of each: of processor time, on an accelerator of the clock."""
    distribution = uniform(n)
    found: list[Cell] = []
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


def _compiling(n: int, search: Search | str | None) -> Cell:
    """Seconds of processor time until the first trees are there, forgetting what was compiled before."""
    if search is None or isinstance(search, str):
        return search
    import jax

    jax.clear_caches()
    start = time.process_time()
    search(TREES)(1, uniform(n).log_scores)
    return time.process_time() - start


def _worst(draw: Draw | None, scale: float) -> list[Cell]:
    """The largest errors of ten random graphs, of the first tree and of all; infinite where one is not finite."""
    if draw is None:
        return [None, None]
    errors = []
    for seed in range(times(10)):
        log_scores = (np.random.default_rng(seed).normal(size=(11, 11)) * scale).astype(np.float32).astype(np.float64)
        heads, log_probs = draw(seed, log_scores)
        truth = TreeDistribution(log_scores).log_probs(np.asarray(heads, np.int32))
        found = np.abs(np.asarray(log_probs, np.float64) - truth)
        errors.append(np.where(np.isnan(found), np.inf, found))
    return [float(np.max(errors, axis=0)[0]), float(np.max(errors))]


def _painted(pyplot: Any, by_size: Table, by_length: Table, errors: Table, styles: Sequence[str]) -> Any:
    """Their Figure 4, a cut through their Figure 6, and the errors, whose lines have these styles."""
    figure, panels = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
    colours = [f"C{number}o-" for number in range(len(by_size.columns))]
    lengths = "processor time in ms, compiled, k = 100", "words"
    sizes = f"processor time in ms, compiled, n = {LONGEST}", "k (a line ends where it was not run)"
    scales = "worst error of a log-probability, nats", "logit scale, n = 10 (a line ends where it is infinite)"
    shown = (by_size, colours, sizes), (by_length, colours, lengths), (errors, styles, scales)
    for panel, (table, lines, (title, xlabel)) in zip(panels, shown, strict=True):
        ticks, *values = zip(*table.rows, strict=True)
        for name, style, column in zip(table.columns[1:], lines, values, strict=False):
            _plot(panel, ticks, column, name, style)
        panel.set(title=title, xlabel=xlabel, xticks=ticks, xticklabels=ticks)
        panel.minorticks_off()
        panel.legend(fontsize=7, handlelength=4)
    return figure


def _plot(panel: Any, ticks: Sequence[Cell], values: Sequence[Cell], name: str, style: str) -> None:
    """A line, unless nothing was measured; it ends where there is no number."""
    numbers = [value if isinstance(value, (int, float)) else np.nan for value in values]
    if not np.isnan(numbers).all():
        panel.loglog(ticks, numbers, style, label=name)
