"""The inner step of a training loop: log Z of a batch and its gradient, beside peers, and how right gradients are.

Everything is float32, single-root and non-projective, in batches of 32, as users of these libraries call them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import installed
from benchmarks.peers.batches import CONTENDERS, Contender
from benchmarks.scores import saturated
from benchmarks.sums import exact
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import by_turns, points
from deptree_cli.core.distribution import TreeDistribution

Float = NDArray[np.float64]
Single = NDArray[np.float32]
Contenders = dict[str, Contender | None]

LENGTHS = points(5, 10, 20, 40, 100)
BATCH = 32

SCALES = points(1, 2, 5, 10, 20, 50, 100, 200)
WORDS = 10  # of sentences whose gradients are checked
GRAPHS = 5  # for each scale

IN_FLOAT64 = ("deptree, kernels",)


def run() -> Iterator[Table]:
    """Microseconds of a sentence by one thread, and worst errors of gradients."""
    columns: tuple[str, ...] = ("", *headings("n", LENGTHS))
    unit = "microseconds a sentence"
    with _one_core():  # for JAX too, which has as many threads as cores where it starts
        contenders = installed(CONTENDERS)
        _use_threads(1)
        yield Table("log Z and its gradient", columns, _speeds(contenders, _gradient), unit)
        name = "log Z, its gradient and the gradient of that"
        yield Table(name, columns, _speeds(contenders, _second), unit)
    for kind, graph in {"Gaussian logits": _gaussian, "pairs of words that choose each other": _saturated}.items():
        columns = "scale", *contenders, *(f"{name}, float64" for name in IN_FLOAT64)
        name = f"worst error of a gradient, n = {WORDS}, {kind} times a scale"
        yield Table(name, columns, _errors(contenders, graph)).turned()


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep this thread, and those that it starts, on one core where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _use_threads(count: int) -> None:
    """Set the number of threads of PyTorch, where it is installed."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(count)


def _speeds(contenders: Contenders, step: Callable[[Contender, int], Callable[[], object]]) -> Iterator[list[Cell]]:
    by_length = [_microseconds({name: step(one, n) for name, one in contenders.items() if one}) for n in LENGTHS]
    for name in contenders:
        yield [name, *(found.get(name) for found in by_length)]


def _microseconds(steps: dict[str, Callable[[], object]]) -> dict[str, float | str]:
    """Of a sentence, by contenders, or how one failed."""
    found: dict[str, float | str] = {}
    for name, action in steps.items():
        try:
            action()
        except (ArithmeticError, AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            found[name] = type(error).__name__
    sound = {name: action for name, action in steps.items() if name not in found}
    return found | {name: spent * 1e6 / BATCH for name, spent in by_turns(sound).items()}


def _batch(n: int) -> tuple[Single, Single]:
    """Log-scores and weights, (b, n+1, n+1) each."""
    rng = np.random.default_rng(n)
    scores, weights = rng.normal(size=(2, BATCH, n + 1, n + 1)).astype(np.float32)
    return 2 * scores, weights


def _gradient(contender: Contender, n: int) -> Callable[[], object]:
    given = contender.given(_batch(n)[0])
    return lambda: contender.gradient(given)


def _second(contender: Contender, n: int) -> Callable[[], object]:
    scores, weights = map(contender.given, _batch(n))
    return lambda: contender.second(scores, weights)


def _errors(contenders: Contenders, graph: Callable[[float, int], Float]) -> Iterator[list[Cell]]:
    """Against multi-precision arithmetic, of the scores as float32 rounds them."""
    for scale in SCALES:
        rounded = [graph(scale, seed).astype(np.float32) for seed in range(GRAPHS)]
        distributions = [TreeDistribution(scores) for scores in rounded]
        truth = np.array([exact.marginals(each) for each in distributions])
        scores = np.array([each.log_scores for each in distributions])
        in_float32 = [
            contender and _worst(contender, scores.astype(np.float32), truth) for contender in contenders.values()
        ]
        in_float64 = [contender and _worst(contender, scores, truth) for contender in map(contenders.get, IN_FLOAT64)]
        yield [scale, *in_float32, *in_float64]


def _gaussian(scale: float, seed: int) -> Float:
    return np.random.default_rng(seed).normal(size=(WORDS + 1, WORDS + 1)) * scale


def _saturated(scale: float, seed: int) -> Float:
    """All other heads are worse by the scale; noise makes no two graphs alike."""
    noise = np.random.default_rng(seed).normal(size=(WORDS + 1, WORDS + 1))
    scores: Float = saturated(WORDS, scale).log_scores + noise
    return scores


def _worst(contender: Contender, scores: NDArray[np.floating], truth: Float) -> float | str:
    """The largest error of an arc's gradient, NaN where there is one, or how it failed."""
    try:
        found = contender.by_arc(contender.gradient(contender.given(scores)))
    except (ArithmeticError, RuntimeError, ValueError) as error:
        return type(error).__name__
    arcs = ~np.eye(WORDS + 1, dtype=bool)
    arcs[:, 0] = False
    return float(np.abs(found - truth)[:, arcs].max())
