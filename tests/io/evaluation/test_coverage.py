"""Intervals of ``evaluate`` cover what a parser of raw text has in the long run, its cuts between sentences too."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.dtypes import Int
from deptree_cli.core.evaluation import METRICS
from deptree_cli.core.intervals import bootstrap, percentiles, shares
from deptree_cli.io.evaluation import compared
from tests.tree_files import tree_files, word

# Of sentences and of words: how many the parser joins with the next, or splits.
JOINED, SPLIT = 0.15, 0.03

CORPORA, SENTENCES, RESAMPLES = 500, 100, 300

# F1 of these, and precision and recall of one.
WATCHED = {"Words": 0, "LAS": 0, "Sentences": 0, "UAS": 1, "MLAS": 2}


def corpus(sentences: int, rng: np.random.Generator) -> tuple[str, str]:
    """Gold chains of 3 to 12 words and a system's: some words split, some heads wrong, more in some sentences."""
    gold, system, open_ = [], [], 0
    for size, share in zip(rng.integers(3, 13, sentences), rng.beta(2, 8, sentences), strict=True):
        gold.append("".join(word(at, "ab", at - 1, "root" if at == 1 else "obj") for at in range(1, size + 1)))
        rows, last = [], open_
        for _ in range(size):
            number = open_ + len(rows) + 1
            head = last if rng.random() > share else int(number > 1)
            pieces = ["a", "b"] if rng.random() < SPLIT else ["ab"]
            rows += [word(number, pieces[0], head if head < number else 0, "root" if not head else "obj")]
            rows += [word(number + 1, each, number, "dep") for each in pieces[1:]]
            last = number
        system.append("".join(rows))
        open_ = open_ + len(rows) if rng.random() < JOINED else 0
        system.append("\n" * (not open_))
    return "\n".join(gold) + "\n", "".join(system) + "\n"


def units(sentences: int, rng: np.random.Generator) -> Int:
    """The counts of a corpus, (units, 1, metrics, 4)."""
    gold, system = tree_files(*corpus(sentences, rng))
    return np.concatenate([each.scores for each in compared(gold, [system])])  # type: ignore[union-attr]


def watched(values: np.ndarray) -> np.ndarray:
    return np.stack([values[..., METRICS.index(name), of] for name, of in WATCHED.items()], axis=-1)


@pytest.mark.slow("statistics")
def test_intervals_cover() -> None:
    """Hypothesis: 95 % intervals of 500 corpora of 100 sentences cover each score of 250 times as many sentences.

    475 are expected; 4 standard deviations are 19.5, and bootstrap intervals of some 85 units cover 1 % less often
    (measured in benchmarks/README.md), so the least is 450 (90 %), the most 495. As a control, intervals that resample
    gold sentences alone, each with the system's sentences that begin in it, must fail for Sentences: a cut that is
    missing makes two of them wrong.
    """
    rng = np.random.default_rng(47)
    truth = watched(shares(units(CORPORA * SENTENCES // 2, rng).sum(axis=0))[0])
    covered, apart = np.zeros(len(WATCHED), dtype=int), 0
    for _ in range(CORPORA):
        counts = units(SENTENCES, rng)
        low, high = percentiles(watched(bootstrap(counts, RESAMPLES, rng, shares)[:, 0]), 0.95, len(counts))
        covered += (low <= truth) & (truth <= high)
        low, high = percentiles(bootstrap(_alone(counts), RESAMPLES, rng), 0.95, SENTENCES)
        apart += int(low <= truth[2] <= high)
    assert (covered >= 450).all(), covered
    assert (covered <= 495).all(), covered
    assert apart < 450


def _alone(counts: Int) -> Int:
    """Sentences as if each gold one were drawn by itself, (sentences, 3): right, gold, those of the system's."""
    found = []
    for right, gold, predicted, _ in counts[:, 0, METRICS.index("Sentences")].tolist():
        found += [(right, 1, predicted)] + [(0, 1, 0)] * (gold - 1)
    return np.array(found)
