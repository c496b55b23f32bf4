"""What the audit finds and how often it errs: tables of benchmarks/README.md and docs/auditing.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.audits.control import SwappedPairs
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points, times
from deptree_cli.core.audit import Audit, Enumerated, Summed, Tally, Tests, combine, detectable_tvs
from deptree_cli.core.binomials import binomial_p_values
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float
from tests.pearson import chi_square

ALPHA = 0.001
RUNS, SLOW_RUNS = times(1000, 10), times(20, 4)
MOVED = 0.02

# Numbers of trees.
SIZES = (100, 1_000, 10_000)
CONTROLLED = points(2_000, 5_000, 20_000, 100_000)
DETECTED = points(1, 10, 100, 1_000, 10_000, 100_000)

LEVELS = {f"alpha = 1e-{k}": 10.0**-k for k in points(*range(2, 10))}
EXPECTED = points(1, 2, 3, 5, 7, 10, 20, 30, 50)


def run() -> Iterator[Table]:
    """Power of the tests, the detectable distance, and the level, exactly and by simulation."""
    audits = "chi-square, k = 2,000", "audit, k = 2,000", "audit, k = 20,000"
    name = f"power at alpha {ALPHA}: {MOVED} moved to the rarest tree"
    yield Table(name, ("distribution", "trees", "its probability", *audits), _rarest())
    name = "power: the probability of every tree times 1.3 or 0.7 by chance"
    yield Table(name, ("distribution", "trees", "distance", *audits), _everywhere())
    name = "power: right marginals, wrong pairs of arcs"
    yield Table(name, ("n", "scale", "moved", *headings("k", CONTROLLED)), _pairs())
    yield Table(
        "distance that is found in a single sentence (detectable_tv)",
        ("n", "scale", *headings("k", DETECTED)),
        _detectable(),
    )
    name = "level of two trees, exact, over alpha, at worst of k = 100, 1,000, 10,000"
    yield Table(name, ("expected", *LEVELS), _two_trees())
    yield Table("share of files of 200 sentences called biased, alpha 0.05", ("files", "share"), _files(times(100)))


def gaussian(n: int, scale: float, seed: int = 0) -> TreeDistribution:
    """Normal log-scores times a scale; 0 for the uniform distribution."""
    return TreeDistribution(np.random.default_rng(seed).normal(size=(n + 1, n + 1)) * scale)


def graphs() -> Iterator[tuple[str, TreeDistribution]]:
    """Small distributions by name."""
    yield "Figure 1", TreeDistribution(np.load("sample_data/figure1.npy"), "weight")
    yield "uniform, n = 4", gaussian(4, 0.0)
    yield "scale 1, n = 4", gaussian(4, 1.0)
    yield "scale 2, n = 4", gaussian(4, 2.0)
    yield "scale 1, n = 5", gaussian(5, 1.0)
    yield "uniform, n = 6", gaussian(6, 0.0)


def _power(tests: Enumerated, probs: Float, size: int, runs: int) -> tuple[float, float]:
    """How often samples by these probabilities are rejected: by chi-square, and by the audit."""
    rng, found, exact = np.random.default_rng(1), np.zeros(2), tests.probs / tests.probs.sum()
    for _ in range(runs):
        counts = rng.multinomial(size, probs / probs.sum())
        possible = exact > 0
        found[0] += chi_square(counts[possible], exact[possible])[2] < ALPHA
        found[1] += combine(tests.findings(counts, size)).p_value < ALPHA
    return float(found[0]) / runs, float(found[1]) / runs


def _rarest() -> Iterator[list[Cell]]:
    for name, distribution in graphs():
        tests = Enumerated(distribution)
        rarest = int(np.argmin(np.where(tests.probs > 0, tests.probs, np.inf)))
        others = 1.0 - tests.probs[rarest]
        probs = tests.probs * (1.0 - MOVED / others)
        probs[rarest] = tests.probs[rarest] + MOVED
        runs = RUNS if len(probs) < 1000 else RUNS // 5
        before, after = _power(tests, probs, 2_000, runs)
        many = _power(tests, probs, 20_000, runs)[1]
        yield [name, int((probs > 0).sum()), float(tests.probs[rarest]), before, after, many]


def _everywhere() -> Iterator[list[Cell]]:
    for name, distribution in graphs():
        tests = Enumerated(distribution)
        signs = np.random.default_rng(2).permutation(np.arange(len(tests.probs)) % 2) * 2 - 1
        probs = tests.probs * (1.0 + 0.3 * signs)
        probs /= probs.sum()
        runs = RUNS if len(probs) < 1000 else RUNS // 5
        before, after = _power(tests, probs, 2_000, runs)
        distance = 0.5 * float(np.abs(probs - tests.probs).sum())
        yield [name, int((probs > 0).sum()), distance, before, after, _power(tests, probs, 20_000, runs)[1]]


def _pairs() -> Iterator[list[Cell]]:
    for n in points(8, 10, 12):
        for scale in points(1.0, 2.0, 4.0):
            for moved in points(0.02, 0.03, 0.05):
                rng = np.random.default_rng(3)
                control = SwappedPairs(gaussian(n, scale, n), moved, rng)
                yield [n, scale, moved, *(_caught(control, size, rng) for size in CONTROLLED)]


def _caught(control: SwappedPairs, size: int, rng: np.random.Generator) -> float:
    runs = SLOW_RUNS if size <= 20_000 else SLOW_RUNS // 4
    return sum(_audit(control, size, rng).p_value < ALPHA for _ in range(runs)) / runs


def _audit(control: SwappedPairs, size: int, rng: np.random.Generator) -> Audit:
    tally = Tally(control.distribution)
    tally.add(control.draw(size, rng))
    return tally.audit()


def _detectable() -> Iterator[list[Cell]]:
    for n, scale in ((2, 0.0), (4, 1.0), (6, 1.0), (6, 4.0), (10, 1.0), (10, 4.0), (25, 1.0), (25, 4.0), (40, 4.0)):
        distribution, row = gaussian(n, scale, n), list[Cell]()
        for size in DETECTED:
            tally = Tally(distribution)
            tally.add(distribution.factorisation.sample(size, np.random.default_rng(4)))
            row.append(detectable_tvs([tally.audit()], ALPHA)[0])
        yield [n, scale, *row]


def _two_trees() -> Iterator[list[Cell]]:
    """The probability of all counts that are rejected at a level, over the level; no simulation."""
    for expected in EXPECTED:
        ratios = ([two_trees(size, expected / size, level) / level for size in SIZES] for level in LEVELS.values())
        yield [expected, *map(max, ratios)]


def two_trees(size: int, prob: float, level: float) -> float:
    """The probability that size draws of two trees are rejected."""
    counts = np.arange(size + 1)
    tests = Enumerated(TreeDistribution([[0, np.log(prob), np.log1p(-prob)], [0, 0, 0], [0, 0, 0]]))
    pair = np.flatnonzero(tests.probs)[np.argsort(tests.probs[np.flatnonzero(tests.probs)])]
    assert len(pair) == 2
    rejected = np.zeros(size + 1, dtype=bool)
    near = binomial_p_values(counts, size, prob) < 10 * level  # of all others the audit's p-value is larger still
    for count in counts[near].tolist():
        drawn = np.zeros(len(tests.probs), dtype=np.int64)
        drawn[pair] = count, size - count
        rejected[count] = combine(tests.findings(drawn, size)).p_value < level
    return float(_binomial(size, prob)[rejected].sum())


def _binomial(size: int, prob: float) -> Float:
    """The probabilities of 0 to size successes, by the recurrence in logarithms."""
    counts = np.arange(size)
    steps = np.log(size - counts) - np.log(counts + 1) + np.log(prob) - np.log1p(-prob)
    return np.exp(np.concatenate(([0.0], np.cumsum(steps))) + size * np.log1p(-prob))


def _files(files: int) -> Iterator[list[Cell]]:
    p_values = file_p_values(files, 200, np.random.default_rng(5))
    yield [files, float((p_values.min(axis=1) < 0.05 / 200).mean())]


def file_p_values(files: int, sentences: int, rng: np.random.Generator) -> Float:
    """P-values of exact samples, (files, sentences): 2 to 12 words, scales 0.5 to 4, 200 to 500 trees each.

    The sentences are drawn from 88 distributions whose exact probabilities are worked out once.
    """
    pool = [gaussian(n, scale, seed) for n in range(2, 13) for scale in (0.5, 1.0, 2.0, 4.0) for seed in (n, n + 100)]
    tests: list[Tests] = [(Enumerated if one.n <= 6 else Summed)(one) for one in pool]
    found = np.ones((files, sentences))
    for place in np.ndindex(found.shape):
        which = int(rng.integers(len(pool)))
        found[place] = _null_p_value(pool[which], tests[which], int(rng.integers(200, 501)), rng)
    return found


def _null_p_value(distribution: TreeDistribution, tests: Tests, size: int, rng: np.random.Generator) -> float:
    if isinstance(tests, Enumerated):
        counts = rng.multinomial(size, tests.probs / tests.probs.sum())
    else:
        counts = tests.empty()
        tests.add(counts, distribution.factorisation.sample(size, rng), np.ones(size, dtype=np.int64))
    return combine(tests.findings(counts, size)).p_value
