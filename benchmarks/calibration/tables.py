"""`python -m benchmarks calibrate`: what temperatures improve, and how often sets of heads contain the right one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.corpora import corpus
from benchmarks.table import Cell, Table
from benchmarks.timing import times
from deptree_cli import read
from deptree_cli.core.calibration import CRITERIA, ArcEvidence, Fit, GoldArcs, gold_scores, threshold, tried_on
from deptree_cli.core.dtypes import Float

TREEBANKS = ("real_ru", "real_en")
PARTS = 5
COVERAGES = (0.9, 0.95)
HALVES, SENTENCES = times(20, 2), times(10_000, 40)


def run() -> Iterator[Table]:
    """Both criteria on both treebanks; coverage over random halves."""
    evidence = {name: _evidence(name) for name in TREEBANKS}
    headings = ("likelihood before", "likelihood after", "calibration error before", "calibration error after")
    name = "temperatures, cross-validated in fifths (log-likelihood per word, expected calibration error)"
    yield Table(name, ("fit", "temperature", *headings), _fits(evidence))
    name = f"sets of heads: thresholds of one half on the other, {HALVES} random halves"
    yield Table(name, ("asked", "mean coverage", "least", "most", "heads a word"), _sets(evidence))


def _evidence(name: str) -> ArcEvidence:
    """The sentences of a treebank with its parser's scores."""
    folder = corpus(name)
    sentences = read(str(folder / "scores.npz"), str(folder / "gold.conllu"), preset="natasha")
    some = [each for each, _ in zip(sentences, range(SENTENCES), strict=False)]
    found = [GoldArcs.of(each.distribution, each.record.known_heads) for each in some]
    return ArcEvidence(found, some[0].distribution.space)


def _fits(evidence: dict[str, ArcEvidence]) -> Iterator[list[Cell]]:
    for name, every in evidence.items():
        parts = [ArcEvidence(every.sentences[part::PARTS], every.space) for part in range(PARTS)]
        for criterion in CRITERIA:
            fit = Fit.of(parts, criterion)
            likelihoods = [fit.before.log_likelihood, fit.after.log_likelihood]
            errors = [fit.before.calibration.error, fit.after.calibration.error]
            yield [f"{name}, {criterion}", fit.temperature, *likelihoods, *errors]


def _sets(evidence: dict[str, ArcEvidence]) -> Iterator[list[Cell]]:
    for name, every in evidence.items():
        rng = np.random.default_rng(1)
        counts = np.array([_half(every, rng) for _ in range(HALVES)])
        for place, coverage in enumerate(COVERAGES):
            words, covered, heads = counts[:, place].T
            shares = covered / words
            sizes = float(heads.sum() / words.sum())
            yield [f"{name}, {coverage}", float(shares.mean()), float(shares.min()), float(shares.max()), sizes]


def _half(every: ArcEvidence, rng: np.random.Generator) -> Float:
    """Words, those covered, and heads in their sets, for each coverage: on one half, by the other half."""
    order = rng.permutation(len(every.sentences))
    fitted, tried = (
        ArcEvidence([every.sentences[at] for at in half], every.space) for half in np.array_split(order, 2)
    )
    scores = gold_scores(fitted, 1.0)
    return tried_on(tried, 1.0, [threshold(scores, each) for each in COVERAGES])
