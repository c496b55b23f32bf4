"""Real sentences and their noisy copies: alignment error rates, and what a file of sentence pairs costs by each method.

The sentences are those of UD_English-EWT's development set, read where they are (`$DEPTREE_DATA`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import add
from statistics import mean
from typing import Any

import numpy as np

from benchmarks.corpora import corpus
from benchmarks.pruning.generated import NOISE, noisy_copy, similarity
from benchmarks.table import Cell, Table
from benchmarks.timing import points, times
from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.bitext.scores import KnownLinks, LinkCounts, Links, links_of
from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.treebank import read_treebank
from deptree_cli.pruning.methods import expectations

SEED = 1
SENTENCES, SHORTEST, LONGEST = times(300, 10), 5, 20

# Standard deviations of the noise in scores by form.
NOISES = points(NOISE, 6 * NOISE)
NULLS = points(0.0, -1.0)
PROBABILITIES = tuple(k / 10 for k in range(1, 10))
SCORES = tuple(k / 2 for k in range(-8, 17))

FILE = times(100, 5)
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "exact": ("exact", {}),
    "randomized, 4 chains of 250": ("randomized", {"chains": 4, "iterations": 250}),
    "fixed": ("fixed", {}),
    "tic-tac-toe, margin 5": ("tic-tac-toe", {"margin": 5.0}),
    "tic-tac-toe, margin 10": ("tic-tac-toe", {"margin": 10.0}),
    "tic-tac-toe, margin 20": ("tic-tac-toe", {"margin": 20.0}),
    "rdp, 10 kept, 1 run": ("rdp", {"kept": 10, "iterations": 1}),
    "rdp, 10 kept, 10 runs": ("rdp", {"kept": 10, "iterations": 10}),
}


@dataclass(frozen=True)
class Pair:
    """A sentence pair with its true links and log-scores of links, (p, q)."""

    known: KnownLinks
    scores: Float

    def distribution(self, null: float) -> AlignmentDistribution:
        """All unlinked words have one log-score."""
        return AlignmentDistribution(self.scores, "log", null, null)


def run() -> Iterator[Table]:
    """Rates in per cent; processor time."""
    name = f"{SENTENCES} sentences of EWT ({SHORTEST} to {LONGEST} words) and their noisy copies"
    yield Table(name, ("noise of scores", "null", "links", "error rate", "precision", "recall"), _rates(), "%")
    columns = ("noise of scores", "method", "seconds", "longest, ms", "error", "worst error", "pairs refused")
    name = f"{FILE} such pairs, null 0: seconds in all, of the pair that takes longest, errors a pair"
    yield Table(name, columns, _costs())


@cache
def sentences() -> tuple[tuple[str, ...], ...]:
    """Some of the sentences that have so many words, in the order of a fixed seed."""
    treebank = read_treebank([str(corpus("ewt") / "dev.conllu.gz")], "upos")
    fitting = [each.forms for each in treebank if SHORTEST <= each.n <= LONGEST]
    chosen = np.random.default_rng(SEED).permutation(len(fitting))[:SENTENCES]
    return tuple(fitting[k] for k in chosen)


def pairs(noise: float) -> list[Pair]:
    """The sentences with their copies; scores have some noise already."""
    return [_pair(words, number, noise) for number, words in enumerate(sentences())]


def _pair(words: Sequence[str], number: int, noise: float) -> Pair:
    rng = np.random.default_rng([SEED, number])
    copy, links = noisy_copy(rng, words)
    scores = similarity(words, copy, rng)
    added = np.sqrt(max(noise**2 - NOISE**2, 0.0))
    return Pair(KnownLinks(links, links), scores + added * rng.normal(size=scores.shape))


def _rates() -> Iterator[list[Cell]]:
    for noise in NOISES:
        made = pairs(noise)
        for null in NULLS:
            distributions = [each.distribution(null) for each in made]
            best = [links_of(each.argmax()) for each in distributions]
            yield [noise, null, "the best alignment", *_shown(_counts(best, made))]
            posteriors = [each.marginals() for each in distributions]
            above = {limit: _counts([_above(each, limit) for each in posteriors], made) for limit in PROBABILITIES}
            limit = _lowest(above)
            yield [noise, null, "posteriors above 0.5", *_shown(above[0.5])]
            yield [noise, null, f"posteriors above {limit} (best)", *_shown(above[limit])]
        yield from ([noise, None, *row] for row in _without_grammar(made))


def _without_grammar(made: list[Pair]) -> Iterator[list[Cell]]:
    """What scores alone can do, thresholds chosen on these very pairs."""
    above = {limit: _counts([_above(each.scores, limit) for each in made], made) for limit in SCORES}
    limit = _lowest(above)
    yield ["scores above 0", *_shown(above[0.0])]
    yield [f"scores above {limit} (best)", *_shown(above[limit])]
    yield ["mutual best scores", *_shown(_counts([_mutual(each.scores, -np.inf) for each in made], made))]
    above = {limit: _counts([_mutual(each.scores, limit) for each in made], made) for limit in SCORES}
    limit = _lowest(above)
    yield [f"mutual best scores above {limit} (best)", *_shown(above[limit])]


def _above(array: Float, limit: float) -> Links:
    return _links(array > limit)


def _mutual(scores: Float, limit: float) -> Links:
    """The links that are the best of both their words, and above a limit."""
    is_best = (scores == scores.max(axis=0)) & (scores == scores.max(axis=1, keepdims=True))
    return _links(is_best & (scores > limit))


def _links(found: Bool) -> Links:
    return frozenset((int(i), int(j)) for i, j in np.argwhere(found))


def _counts(found: Sequence[Links], made: Sequence[Pair]) -> LinkCounts:
    return reduce(add, (LinkCounts.of(links, pair.known) for links, pair in zip(found, made, strict=True)))


def _lowest(counts: dict[float, LinkCounts]) -> float:
    """The limit with the lowest error rate."""
    return min(counts, key=lambda limit: _percent(counts[limit].alignment_error_rate))


def _shown(counts: LinkCounts) -> list[Cell]:
    rates = counts.alignment_error_rate, counts.precision, counts.recall
    return [f"{_percent(rate):.1f}" for rate in rates]


def _percent(rate: float | None) -> float:
    return float("nan") if rate is None else 100 * rate


def _costs() -> Iterator[list[Cell]]:
    """Each pair from bare scores."""
    for noise in NOISES:
        made = pairs(noise)[:FILE]
        exact = [each.distribution(0.0).marginals() for each in made]
        for name, (method, settings) in METHODS.items():
            _estimate(made[0], method, settings)
            spent, found = zip(*(_estimate(each, method, settings) for each in made), strict=True)
            errors = [float(np.linalg.norm(a - b)) for a, b in zip(found, exact, strict=True) if a is not None]
            refused = len(made) - len(errors)
            yield [noise, name, sum(spent), 1e3 * max(spent), mean(errors), max(errors), refused]


def _estimate(pair: Pair, method: str, settings: dict[str, Any]) -> tuple[float, Float | None]:
    """Seconds, and the probabilities of links; None where the method comes to nothing."""
    begin = time.process_time()
    try:
        found = expectations(pair.distribution(0.0).program(), method, SEED, **settings).expectations
    except DeptreeError:
        return time.process_time() - begin, None
    return time.process_time() - begin, found
