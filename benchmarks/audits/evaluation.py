"""What `deptree eval` is good for: how often its intervals cover and its test errs, and what scores expect of trees."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache

import numpy as np

import deptree_cli
from benchmarks.corpora import corpus
from benchmarks.program.whole import measure
from benchmarks.table import Cell, Table
from benchmarks.timing import points, seconds, times
from deptree_cli.core.dtypes import Int
from deptree_cli.core.expectations import risk, risk_variance
from deptree_cli.core.intervals import bootstrap, f1, percentiles, randomisation_test

SPACES = {"all trees": "single-root", "projective": "projective"}
TREEBANKS = {"English": "real_en", "Russian": "real_ru"}
SIZES = points(10, 20, 50, 100, 500)
RUNS, RESAMPLES = times(1000, 5), times(500, 50)


def run() -> Iterator[Table]:
    """Coverage of intervals, level of the test, expected scores beside real ones, time."""
    columns = "sentences", *(f"{name}, {what}" for name in TREEBANKS for what in ("UAS", "difference", "words drawn"))
    yield Table("coverage of 95 % intervals", columns, _coverage())
    yield Table("share of p-values up to 0.05 without a difference", ("sentences", *TREEBANKS), _level())
    yield Table("UAS in percent, real and expected", ("trees", "real", "expected", "interval"), _expected())
    yield Table("processor time of a treebank", ("program", *TREEBANKS), _times(), "s")


@cache
def _read(folder: str) -> tuple[Int, dict[str, tuple[float, float]]]:
    """Counts of UAS of both spaces' best trees, (sentences, 2, 3); the mean and variance of right heads in each."""
    path = corpus(folder)
    counts, sums = [], {}
    for name, space in SPACES.items():
        found = deptree_cli.read(str(path / "scores.npz"), str(path / "gold.conllu"), preset="natasha", space=space)
        right, mean, variance = [], 0.0, 0.0
        for sentence in found:
            heads = sentence.distribution.argmax()
            assert sentence.record.block is not None
            right.append((int((heads == np.array(sentence.record.block.heads)).sum()), len(heads), len(heads)))
            mean += len(heads) - risk(sentence.distribution, heads)
            variance += risk_variance(sentence.distribution, heads)
        counts.append(right)
        sums[name] = (mean, variance)
    return np.array(counts, dtype=np.int64).transpose(1, 0, 2), sums


def _coverage() -> Iterator[list[Cell]]:
    """Sentences drawn from a treebank, whose own scores are the true ones; also as if words were independent."""
    random = np.random.default_rng(1)
    for size in SIZES:
        row: list[Cell] = [size]
        for folder in TREEBANKS.values():
            population, _ = _read(folder)
            truth = f1(population.sum(axis=0))
            covered = np.zeros(3)
            for _ in range(RUNS):
                counts = population[random.integers(len(population), size=size)]
                drawn = bootstrap(counts, RESAMPLES, random)
                both = np.column_stack([drawn[:, 0], drawn[:, 1] - drawn[:, 0]])
                low, high = percentiles(both, 0.95, size)
                true = np.array([truth[0], truth[1] - truth[0]])
                share, words = f1(counts.sum(axis=0))[0], counts[:, 0, 1].sum()
                by_words = abs(share - truth[0]) <= 1.96 * np.sqrt(share * (1 - share) / words)
                covered += [*((low <= true) & (true <= high)), by_words]
            row += (covered / RUNS).tolist()
        yield row


def _level() -> Iterator[list[Cell]]:
    """Two systems that are one: each sentence has the two spaces' trees, in any order."""
    random = np.random.default_rng(2)
    for size in SIZES:
        found = [size, *(_share_below(_read(folder)[0], size, random) for folder in TREEBANKS.values())]
        yield list(found)


def _share_below(population: Int, size: int, random: np.random.Generator) -> float:
    p = []
    for _ in range(RUNS):
        counts = population[random.integers(len(population), size=size)]
        swapped = np.where(random.random(size)[:, None, None] < 0.5, counts[:, ::-1], counts)[:, :, None]
        p.append(float(randomisation_test(swapped[:, 0], swapped[:, 1], RESAMPLES, random)[0]))
    return float(np.mean(np.array(p) <= 0.05))


def _expected() -> Iterator[list[Cell]]:
    for language, folder in TREEBANKS.items():
        counts, sums = _read(folder)
        words = counts[:, 0, 1].sum()
        for number, name in enumerate(SPACES):
            mean, variance = sums[name]
            width = 196 * np.sqrt(variance) / words
            real, expected = 100 * float(f1(counts.sum(axis=0))[number]), 100 * mean / words
            yield [f"{language}, {name}", real, expected, f"{expected - width:.1f} to {expected + width:.1f}"]


def _times() -> Iterator[list[Cell]]:
    """Gold trees beside themselves; udeval without its start."""
    golds = [str(corpus(folder) / "gold.conllu") for folder in TREEBANKS.values()]
    for options in ([], ["--resamples", "1000"]):
        found = [measure(["eval", each, each, "--seed", "1", "-q", *options])[0] for each in golds]
        yield [" ".join(["deptree eval", *options]), *found]
    with suppress(ImportError):
        from udtools.udeval import evaluate, load_conllu_file

        actions = [lambda each=each: evaluate(load_conllu_file(each), load_conllu_file(each)) for each in golds]
        yield ["udeval", *map(seconds, actions)]
