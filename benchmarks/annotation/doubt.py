"""`python -m benchmarks doubt`: errors planted in gold trees, and how early a ranking of words comes to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import deptree_cli
from benchmarks.corpora import corpus
from benchmarks.table import Table
from benchmarks.timing import times
from deptree_cli.core.doubt import doubts_of_heads, expected_errors
from deptree_cli.core.dtypes import Bool, Float, Heads

# As many of a treebank's words get a wrong head: 202 of 11,709.
SHARE = 202 / 11_709

SEEDS = times(20, 2)

# What words are ranked by, each the greater the more doubtful.
TREES, SOFTMAX, MARGIN = "1 - P(head), trees", "1 - P(head), softmax", "margin, trees"

MEASURES = ("average precision", "precision in the first 1 %", "recall at 5 %", "recall at 10 %")


@dataclass(frozen=True)
class Sentence:
    """A sentence: its gold heads, (n,), and the probabilities of heads, (n+1, n+1), by trees and word by word."""

    heads: Heads
    marginals: Float
    softmax: Float


def run() -> Iterator[Table]:
    """For each treebank a table of words, of all kinds of errors and rankings, and one of sentences."""
    for language, name in (("Russian", "real_ru"), ("English", "real_en")):
        yield from _tables(language, list(_sentences(corpus(name))))


def _sentences(folder: Path) -> Iterator[Sentence]:
    for each in deptree_cli.read(str(folder / "scores.npz"), str(folder / "gold.conllu"), preset="natasha"):
        scores = each.distribution.log_scores[:, 1:]
        softmax = np.zeros_like(each.distribution.log_scores)
        softmax[:, 1:] = np.exp(scores - np.logaddexp.reduce(scores, axis=0))
        yield Sentence(each.record.known_heads, each.distribution.marginals(), softmax)


def _tables(language: str, sentences: Sequence[Sentence]) -> Iterator[Table]:
    words = [(at, word) for at, sentence in enumerate(sentences) for word in range(len(sentence.heads))]
    size = round(SHARE * len(words))
    of_words, of_sentences = [], []
    for kind, move in KINDS.items():
        measured: dict[str, list[list[float]]] = {name: [] for name in (TREES, SOFTMAX, MARGIN)}
        areas: dict[str, list[float]] = {TREES: [], SOFTMAX: []}
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            heads = _planted([each.heads for each in sentences], words, size, move, rng)
            wrong = [found != each.heads for found, each in zip(heads, sentences, strict=True)]
            ties = rng.random(len(words))
            for name, values in _rankings(sentences, heads).items():
                measured[name].append(_found(np.concatenate(values), np.concatenate(wrong), ties))
                if name in areas:
                    errors = np.array([np.nan_to_num(expected_errors(each)) for each in values])
                    areas[name].append(_area(errors, np.array([each.any() for each in wrong])))
        of_words += [(f"{kind}; {name}", *_mean_and_deviation(rows)) for name, rows in measured.items()]
        of_sentences.append((kind, *(_mean_and_deviation([[area] for area in each])[0] for each in areas.values())))
    planted = f"{size:,} of {len(words):,} words"
    yield Table(f"{language}: {planted} with a wrong head", ("errors; ranked by", *MEASURES), of_words)
    yield Table(f"{language}: area under the curve of sentences with errors", ("errors", *areas), of_sentences)


def _mean_and_deviation(rows: Sequence[Sequence[float]]) -> list[str]:
    values = np.array(rows)
    return [
        f"{mean:.3f} ± {deviation:.3f}" for mean, deviation in zip(values.mean(0), values.std(0, ddof=1), strict=True)
    ]


# A word's wrong head, one of those that it could have; None where there is none.
Move = Callable[[Heads, int, np.random.Generator], int | None]


def _planted(
    gold: Sequence[Heads], words: Sequence[tuple[int, int]], size: int, move: Move, rng: np.random.Generator
) -> list[Heads]:
    """Gold heads but for so many words, drawn from those that can be moved, one after another."""
    heads, moved = [each.copy() for each in gold], 0
    for place in rng.permutation(len(words)):
        at, word = words[place]
        if (head := move(heads[at], word, rng)) is not None and head != gold[at][word]:
            heads[at][word], moved = head, moved + 1
            if moved == size:
                break
    return heads


def _random(heads: Heads, word: int, rng: np.random.Generator) -> int | None:
    """Any other head, whether or not there is a tree then."""
    others = [head for head in range(len(heads) + 1) if head not in (word + 1, heads[word])]
    return int(rng.choice(others)) if others else None


def _sibling(heads: Heads, word: int, rng: np.random.Generator) -> int | None:
    """Another dependent of its head: it stays a tree."""
    siblings = [other + 1 for other in np.flatnonzero(heads == heads[word]).tolist() if other != word]
    return int(rng.choice(siblings)) if heads[word] and siblings else None


def _grandparent(heads: Heads, word: int, _: np.random.Generator) -> int | None:
    """The head of its head, unless that is ROOT: it stays a tree with one root."""
    head = int(heads[word])
    return int(heads[head - 1]) or None if head else None


KINDS: dict[str, Move] = {"random head": _random, "a sibling": _sibling, "the grandparent": _grandparent}


def _rankings(sentences: Sequence[Sentence], heads: Sequence[Heads]) -> dict[str, list[Float]]:
    """By each ranking the doubts about every sentence's words."""
    pairs = list(zip(sentences, heads, strict=True))
    by_trees = [doubts_of_heads(each.marginals, found) for each, found in pairs]
    return {
        TREES: [each.doubts for each in by_trees],
        SOFTMAX: [doubts_of_heads(each.softmax, found).doubts for each, found in pairs],
        MARGIN: [-_margins(each.marginals, found) for each, found in pairs],
    }


def _margins(marginals: Float, heads: Heads) -> Float:
    """P(annotated head) - P(most probable other head) of each word."""
    words, others = np.arange(len(heads)), marginals[:, 1:].copy()
    others[heads, words] = 0.0
    return marginals[heads, words + 1] - others.max(axis=0)


def _found(doubts: Float, wrong: Bool, ties: Float) -> list[float]:
    """The measures of a ranking; of equal doubts the order is random."""
    hits = wrong[np.lexsort((ties, -doubts))]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    shares = [round(share * len(hits)) for share in (0.01, 0.05, 0.1)]
    recall = [hits[:first].sum() / hits.sum() for first in shares[1:]]
    return [float(precision[hits].mean()), float(hits[: shares[0]].mean()), *map(float, recall)]


def _area(values: Float, positive: Bool) -> float:
    """The probability that one of the positive has a greater value than one of the others, half of ties."""
    high, low = values[positive], np.sort(values[~positive])
    below, up_to = np.searchsorted(low, high, "left"), np.searchsorted(low, high, "right")
    return float((below + up_to).mean() / 2 / len(low))
