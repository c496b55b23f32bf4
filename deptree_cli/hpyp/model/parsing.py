"""What a trained model says of sentences: parses, surprisals, joint probabilities; and sentences of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.errors import DeptreeError, Setting, counted
from deptree_cli.core.streams import kernel_state
from deptree_cli.hpyp.kernels.configurations import generate, read_tree, replay
from deptree_cli.hpyp.kernels.filter import filter_trees
from deptree_cli.hpyp.kernels.search import search
from deptree_cli.hpyp.model.sentences import FILTERS, LONGEST, MOST_WORDS, PARTICLES, UNKNOWN, Annotated
from deptree_cli.hpyp.model.training import Trained, derivations, treebank_of
from deptree_cli.hpyp.model.unknown import NO_TREE, UNKNOWN_TAG, UNSEEN_LABEL

# Parsing with a trained parser: the best derivation found, and weighted trees from a particle filter.


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
    """The most probable derivation that is found with this many particles (Buys and Blunsom 2015, algorithm 1).

    With `beam`, its size, a beam finds it instead (`hpyp/kernels/search.py`).

    Of a parser with several states it is found in each; the one whose heads most of the others share is returned, the
    first of those that are alike: the highest expected attachment score, where every state counts the same.
    """
    (words, tags), symbols, found = _numbers(trained, sentence, predicts_tags), trained.symbols, []
    for state in trained.states:
        arena, last, log_prob = search(state.model, words, tags, beam or particles, bool(beam))
        heads, deprels, found_tags = np.empty((3, sentence.n), dtype=np.int32)
        read_tree(arena, last, len(symbols.labels), heads, deprels, found_tags)
        labels = tuple(symbols.labels[label] for label in deprels.tolist())
        named = tuple(map(symbols.tags.symbol, found_tags.tolist())) if predicts_tags else sentence.tags
        found.append(Parse(heads, labels, named, float(log_prob)))
    every = np.array([each.heads for each in found])
    return found[int((every[:, None] == every).sum(axis=(1, 2)).argmax())]


def filtered(
    trained: Trained,
    sentence: Annotated,
    rng: np.random.Generator,
    particles: int = PARTICLES,
    predicts_tags: bool = False,
    draws: int = 0,
) -> Filtered:
    """Filter a sentence: weighted trees, some of them drawn, and the evidence of every word (`hpyp/kernels/filter.py`).

    Of a parser with several states there is a filter for each, with this many particles. Evidence is their mean, which
    is the probability of the words under the mixture of the states. The weights of trees are such that every
    state has the same share of them, however probable it finds the words: a mean of parsers, measured to be better
    calibrated than the mixture given the words, in which one state or two outweigh the others.
    """
    words, tags = _numbers(trained, sentence, predicts_tags)
    found = [
        Filtered(*filter_trees(state.model, words, tags, particles, draws, kernel_state(rng)))
        for state in trained.states
    ]
    return found[0] if len(found) == 1 else _averaged(found, rng.integers(len(found), size=draws))


def _averaged(found: Sequence[Filtered], chosen: Int) -> Filtered:
    """The trees and the evidence of filters, each with the same share; the i-th draw is that of filter `chosen[i]`."""
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


# How probable a sentence is, word by word: independent particle filters and the error of their mean.


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimates of the probability of every beginning of a sentence, by R independent particle filters.

    Each filter's estimate is unbiased, and so is their mean, from which all values are computed. The values of a word
    do not depend on the words after it.

    Attributes:
        log_prefixes: (R, n + 1), the logarithms of the filters' estimates: of the first word, the first two, ..., all
            n, and of the whole sentence with its end.
    """

    log_prefixes: Float

    @cached_property
    def log2(self) -> Float:
        """The estimated log2-probability of each beginning and of the whole sentence, (n + 1,)."""
        found: Float = (np.logaddexp.reduce(self.log_prefixes) - np.log(len(self.log_prefixes))) / BIT
        return found

    @property
    def surprisals(self) -> Float:
        """The surprisals of the words and of the end, (n + 1,), in bits; their sum is ``-log2[-1]``."""
        return self.surprisals_to(range(len(self.log2)))

    @property
    def surprisal_errors(self) -> Float | None:
        """The standard error of each surprisal, (n + 1,), in bits; None for a single filter."""
        return self.errors_to(range(len(self.log2)))

    def surprisals_to(self, ends: Sequence[int]) -> Float:
        """The surprisals of consecutive regions of words, (regions,), in bits, each given all words before it.

        Args:
            ends: the index of the last word of each region, in order; a region begins after the one before.
        """
        return -np.diff(self.log2[list(ends)], prepend=0.0)

    def errors_to(self, ends: Sequence[int]) -> Float | None:
        """The standard errors of `surprisals_to`, (regions,), in bits; None for a single filter.

        A surprisal is minus the logarithm of a ratio of means; by the delta method its variance is that of the mean of
        u = Z_i / mean Z_i - Z_{i-1} / mean Z_{i-1} over filters. Two filters give it one degree of freedom: it says
        little of one word, and much on the (quadratic) average of many.
        """
        return self._errors(np.diff(self._shares[:, list(ends)], prepend=1.0, axis=1))

    @property
    def error(self) -> float | None:
        """The standard error of ``log2[-1]``, of the whole sentence; None for a single filter."""
        found = self._errors(self._shares[:, -1:])
        return None if found is None else float(found[0])

    @property
    def _shares(self) -> Float:
        """Each filter's estimates by their mean, (R, n + 1)."""
        found: Float = np.exp(self.log_prefixes - BIT * self.log2)
        return found

    def _errors(self, deviations: Float) -> Float | None:
        """The standard error in bits of the mean of each column of relative deviations (R, columns)."""
        filters = len(deviations)
        return None if filters == 1 else deviations.std(axis=0, ddof=1) / (np.sqrt(filters) * BIT)


def evidence(
    trained: Trained,
    sentence: Annotated,
    rng: np.random.Generator,
    particles: int = PARTICLES,
    predicts_tags: bool = False,
    filters: int = FILTERS,
) -> Evidence:
    """The evidence of a sentence by this many filters of this many particles each.

    It is the probability of words and tags where tags are given, and of words alone where they are predicted: then they
    are summed out. By a parser without words it is that of tags.
    """
    found = [filtered(trained, sentence, rng, particles, predicts_tags).log_evidence for _ in range(filters)]
    return Evidence(np.cumsum(found, axis=1))


# The joint probability of a sentence with its tree: of words, tags and the actions that build the tree.


class Joint(NamedTuple):
    """What a sentence and its tree cost: `bits` (3,) of the actions, the tags and the words, 0 for words not generated.

    `lifted`: arcs crossed, which were lifted: the parser builds projective trees only.
    """

    bits: Float
    lifted: bool


def joint(trained: Trained, sentence: Annotated) -> Joint | str:
    """The bits of a sentence with its tags and its tree, by the derivation that makes every arc as soon as it can.

    If there are none, one of `UNSCORED`, which says why.
    """
    try:
        sentence.check_tree()
    except DeptreeError:
        return NO_TREE
    if UNKNOWN in sentence.deprels:
        return NO_TREE
    symbols = trained.symbols
    if symbols.unseen_labels(sentence):
        return UNSEEN_LABEL
    (treebank, lifted), log_probs = treebank_of([sentence], symbols), np.zeros(3)
    if not treebank.tags.all():
        return UNKNOWN_TAG
    replay(trained.model, treebank.words, treebank.tags, derivations(treebank, symbols), log_probs)
    return Joint(-log_probs / BIT, lifted > 0)


# Sentences with their trees, drawn from a trained parser.


# How many sentences that are too long may be drawn in a row.
TRIALS = 1000


def generated(trained: Trained, sent_id: str, rng: np.random.Generator, longest: int = LONGEST) -> Annotated:
    """Sample a sentence of at most `longest` words from the model; rare words are replaced by their classes."""
    symbols, state = trained.symbols, kernel_state(rng)
    words, tags, heads, deprels = np.empty((4, longest), dtype=np.int32)
    for _ in range(TRIALS):
        size = symbols.lexicon.vocabulary.size
        n = generate(trained.model, longest, size, state, words, tags, heads, deprels)
        if n:
            break
    else:
        problem = f"{TRIALS} sentences in a row had more than {counted(longest, 'word')}"
        raise DeptreeError(problem, "Allow longer sentences, or train on more data", sent_id=sent_id)
    forms = map(symbols.lexicon.vocabulary.symbol, words[:n].tolist())
    return Annotated(
        sent_id,
        "",
        tuple(forms) if symbols.is_lexicalised else (UNKNOWN,) * n,
        tuple(map(symbols.tags.symbol, tags[:n].tolist())),
        heads[:n].copy(),
        tuple(symbols.labels[label] for label in deprels[:n].tolist()),
    )
