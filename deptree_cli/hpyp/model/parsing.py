"""Parsing with a trained parser: the best derivation found, and weighted trees from a particle filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.streams import kernel_state
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.defaults import MOST_WORDS, PARTICLES
from deptree_cli.hpyp.model.trained import Trained

# Evidence and surprisal are in bits.
BIT = np.log(2.0)

LEXICALISED = Setting("lexicalised", True)


@dataclass(frozen=True, eq=False)
class Parse:
    """The best derivation that a search found for a sentence.

    Attributes:
        heads: (n,) int32, 0 for ROOT.
        deprels: the n labels.
        tags: the n tags, as given or predicted.
        log_prob: the log-probability of the derivation with its words, in nats.
    """

    heads: Heads
    deprels: tuple[str, ...]
    tags: tuple[str, ...]
    log_prob: float


@dataclass(frozen=True, eq=False)
class Filtered:
    """Weighted trees of a sentence and its evidence, by a particle filter: an approximation.

    Attributes:
        heads, tags: of its m weighted trees, (m, n) int32, tags by number. Trees may be equal.
        weights: (m,), with sum 1.
        drawn: (k,), the indices of k trees sampled by weight.
        deprels: (k, n) int32, their labels, by number.
        log_evidence: (n + 1,), the logarithm of the estimated probability of each word (with its tag, if that was
            given), given those before, and of the end of the sentence. The estimate of their product is unbiased.
    """

    heads: Heads
    tags: Heads
    weights: Float
    drawn: Int
    deprels: Heads
    log_evidence: Float

    @property
    def n(self) -> int:
        """The number of words."""
        return self.heads.shape[1]

    @cached_property
    def marginals(self) -> Float:
        """The weight of trees with each arc, (n+1, n+1) ``[head, dependent]``; the columns of words sum to 1."""
        found = np.zeros((self.n + 1, self.n + 1))
        for word in range(1, self.n + 1):
            found[:, word] = np.bincount(self.heads[:, word - 1], self.weights, self.n + 1)
        return found

    @property
    def effective_size(self) -> float:
        """The effective sample size, 1 / sum w^2 over distinct trees."""
        trees, index = np.unique(self.heads, axis=0, return_inverse=True)
        return float(1.0 / np.square(np.bincount(index.ravel(), self.weights, len(trees))).sum())


def parse(
    trained: Trained,
    sentence: Annotated,
    particles: int = PARTICLES,
    predicts_tags: bool = False,
    beam: int | None = None,
) -> Parse:
    """The most probable derivation that is found with so many particles (Buys and Blunsom 2015, algorithm 1).

    Of a parser with several states it is found in each; the one whose heads most of the others share is returned, the
    first of those that are alike: the highest expected attachment score, where every state counts the same.

    Args:
        beam: the size of a beam that finds it instead (`hpyp/kernels/beam.py`).

    Raises:
        DeptreeError: tags are to be predicted by a parser without words; the sentence is too long.
    """
    found = [_parse(state, sentence, particles, predicts_tags, beam) for state in trained.states]
    heads = np.array([each.heads for each in found])
    return found[int((heads[:, None] == heads).sum(axis=(1, 2)).argmax())]


def _parse(trained: Trained, sentence: Annotated, particles: int, predicts_tags: bool, beam: int | None) -> Parse:
    """See `parse`; by the last state alone."""
    from deptree_cli.hpyp.kernels.beam import beam_search  # these load kernels: when there is work
    from deptree_cli.hpyp.kernels.configurations import read_tree
    from deptree_cli.hpyp.kernels.search import search

    words, tags = _numbers(trained, sentence, predicts_tags)
    find, size = (beam_search, beam) if beam else (search, particles)
    arena, last, log_prob = find(trained.model, words, tags, size)
    heads, deprels, found_tags = np.empty((3, sentence.n), dtype=np.int32)
    symbols = trained.symbols
    read_tree(arena, last, len(symbols.labels), heads, deprels, found_tags)
    return Parse(
        heads,
        tuple(symbols.labels[label] for label in deprels.tolist()),
        tuple(map(symbols.tags.symbol, found_tags.tolist())) if predicts_tags else sentence.tags,
        float(log_prob),
    )


def filtered(
    trained: Trained,
    sentence: Annotated,
    rng: np.random.Generator,
    particles: int = PARTICLES,
    predicts_tags: bool = False,
    draws: int = 0,
) -> Filtered:
    """Filter a sentence: weighted trees and the evidence of every word (`hpyp/kernels/filter.py`).

    Of a parser with several states there is a filter for each, with so many particles. Evidence is the mean of theirs,
    which is the probability of the words under the mixture of the states. The weights of trees are such that every
    state has the same share of them, however probable it finds the words: a mean of parsers, measured to be better
    calibrated than the mixture given the words, in which one state or two outweigh the others.

    Args:
        draws: how many trees to draw by weight.

    Raises:
        DeptreeError: tags are to be predicted by a parser without words; the sentence is too long.
    """
    from deptree_cli.hpyp.kernels.filter import filter_trees

    words, tags = _numbers(trained, sentence, predicts_tags)
    found = [
        Filtered(*filter_trees(state.model, words, tags, particles, draws, kernel_state(rng)))
        for state in trained.states
    ]
    return found[0] if len(found) == 1 else _averaged(found, rng.integers(len(found), size=draws))


def _averaged(found: Sequence[Filtered], chosen: Int) -> Filtered:
    """The trees and the evidence of several filters, each with the same share.

    Args:
        chosen: (k,), by number, the filter whose i-th draw becomes the i-th.
    """
    starts = np.cumsum([0, *(len(each.weights) for each in found[:-1])])
    drawn = np.stack([start + each.drawn for start, each in zip(starts, found, strict=True)])
    prefixes = np.logaddexp.reduce([each.log_evidence.cumsum() for each in found]) - np.log(len(found))
    draws = np.arange(len(chosen))
    return Filtered(
        heads=np.concatenate([each.heads for each in found]),
        tags=np.concatenate([each.tags for each in found]),
        weights=np.concatenate([each.weights for each in found]) / len(found),
        drawn=drawn[chosen, draws],
        deprels=np.stack([each.deprels for each in found])[chosen, draws],
        log_evidence=np.diff(prefixes, prepend=0.0),
    )


def _numbers(trained: Trained, sentence: Annotated, predicts_tags: bool) -> tuple[Heads, Heads]:
    """The numbers of a sentence's words and tags: null for a tag that is not known, to be predicted or summed out."""
    symbols = trained.symbols
    if sentence.n > MOST_WORDS:
        problem = f"the sentence has {sentence.n:,} words, but the parser reads at most {MOST_WORDS:,}"
        raise DeptreeError(problem, "Split it: is a blank line between sentences missing?")
    if predicts_tags and not symbols.is_lexicalised:
        remedy = f"Use sentences with tags, or train with {LEXICALISED}"
        raise DeptreeError("a parser without words cannot predict tags", remedy, options=[LEXICALISED])
    tags = np.zeros(sentence.n, dtype=np.int32) if predicts_tags else symbols.tags_of(sentence)
    return symbols.words_of(sentence), tags
