"""Claims of the papers, measured again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.samplers.speeds import trees_per_second
from benchmarks.scores import peaked, uniform
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points, times
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT

LENGTHS = points(5, 20, 100)
GRAPHS = times(200)
TREES = times(100_000, 100)


def run() -> Iterator[Table]:
    """Trials of Wilson-Reject, slopes of two samplers, and the bias of Wilson-RC on Figure 1."""
    name = "expected trials of Wilson-Reject (Stanojevic 2022, 4.3.1: less than e = 2.72 for random weights)"
    yield Table(name, ("weights", *headings("n", LENGTHS)), _trials())
    name = "slope of log time per tree in log n, n = 10 to 100 (Zmigrod et al. 2021a, Fig. 6: 1.42 and 1.14)"
    yield Table(name, ("sampler", "slope"), _slopes())
    yield Table("root marginals on Figure 1 (Stanojevic 2022, 4.1)", ("", "P(ROOT -> A)"), _figure1())


def _trials() -> Iterator[list[Cell]]:
    rng = np.random.default_rng(0)
    draws = {
        "uniform": lambda n: np.log(rng.random((n + 1, n + 1))),
        "exponential": lambda n: np.log(rng.exponential(size=(n + 1, n + 1))),
        "log-normal(0, 3)": lambda n: rng.normal(0.0, 3.0, (n + 1, n + 1)),
        "peaked": lambda n: peaked(n, int(rng.integers(2**31))).log_scores,
    }
    for name, draw in draws.items():
        yield [name, *(float(np.mean([_ratio(draw(n)) for _ in range(GRAPHS)])) for n in LENGTHS)]


def _ratio(log_scores: np.ndarray) -> float:
    """Z_T / Z_D."""
    scores = TreeDistribution(log_scores).log_scores
    return float(np.exp(MULTI_ROOT.factorise(scores).log_z - SINGLE_ROOT.factorise(scores).log_z))


def _slopes() -> Iterator[list[Cell]]:
    lengths = (10, 20, 40, 100)
    for name in ("colbourn", "wilson-rc", "elimination"):
        times = [1 / trees_per_second(name, uniform(n), 100) for n in lengths]
        yield [name, float(np.polyfit(np.log(lengths), np.log(times), 1)[0])]


def _figure1() -> Iterator[list[Cell]]:
    distribution = TreeDistribution(np.load("sample_data/figure1.npy"), "weight")
    rng = np.random.default_rng(0)
    yield ["exact", float(distribution.root_marginals[1])]
    for name in ("auto", "wilson-rc"):
        yield [name, float((SAMPLERS.get(name).draw(distribution, TREES, rng)[:, 0] == 0).mean())]
