"""`python -m benchmarks combine`: scores of two parsers of English, one by one, multiplied, and mixed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import deptree_cli
from benchmarks.corpora import corpus
from benchmarks.table import Table
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.combination import consensus, fit_mixture, fit_product, mixture, product
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.monte_carlo import MonteCarloEstimate

# Sentences 1, 3, 5, ... and 2, 4, 6, ...: weights are fitted to one half and judged on the other, both ways round.
HALVES = (0, 1)


class Sentence(NamedTuple):
    """A sentence: both parsers' distributions over projective trees, and its gold heads, (n,)."""

    members: tuple[ArcFactored, ArcFactored]
    heads: Heads


def run() -> Iterator[Table]:
    """Right heads, of all sentences by the other half's weights."""
    with tempfile.TemporaryDirectory() as folder:
        sentences = list(_sentences(Path(folder)))
    equal = np.array([0.5, 0.5])
    products, mixtures, rows = [], [], []
    for half in HALVES:
        told = [each for each in sentences[half::2] if _possible(each)]
        products.append(fit_product(told).weights)
        log_probs = np.array([[member.log_prob(each.heads) for member in each.members] for each in told])
        mixtures.append(fit_mixture(log_probs).weights)
    ways: dict[str, tuple[Callable[[Sentence, Float], Heads], Sequence[Float]]] = {
        "biaffine": (_mixed, [np.array([1.0, 0.0])] * 2),
        "hpyp": (_mixed, [np.array([0.0, 1.0])] * 2),
        "product, equal weights": (_multiplied, [equal] * 2),
        "product, fitted": (_multiplied, products),
        "mixture, equal weights": (_mixed, [equal] * 2),
        "mixture, fitted": (_mixed, mixtures),
    }
    for name, (decode, weights) in ways.items():
        right = [_right(sentences[1 - half :: 2], decode, weights[half]) for half in HALVES]
        shown = [f"{first:.2f}, {second:.2f}" for first, second in weights]
        words = [sum(len(each.heads) for each in sentences[1 - half :: 2]) for half in HALVES]
        rows.append(
            (name, *shown, *(100 * r / w for r, w in zip(right, words, strict=True)), 100 * sum(right) / sum(words))
        )
    columns = ("combined", "weights by half 1", "weights by half 2", "UAS of half 2", "UAS of half 1", "UAS")
    yield Table("two parsers of English: MBR trees without crossing arcs", columns, rows)


def _sentences(folder: Path) -> Iterator[Sentence]:
    """Those that both parsers read: the generative one is trained on EWT, and given UPOS."""
    texts, model, scores = corpus("real_en"), folder / "model.npz", folder / "scores.npz"
    _deptree("hpyp", "train", corpus("ewt") / "train.conllu.gz", "-o", model, "--seed", 1)
    _deptree(
        "hpyp",
        "parse",
        model,
        texts / "sentences.conllu",
        "--to-scores",
        scores,
        "--seed",
        1,
        "-o",
        folder / "out.conllu",
    )
    gold = str(texts / "gold.conllu")
    ours = deptree_cli.read(str(texts / "scores.npz"), gold, preset="natasha", space="projective")
    theirs = deptree_cli.read(str(scores), gold)
    for one, other in zip(ours, theirs, strict=True):
        yield Sentence((one.distribution, other.distribution), one.record.known_heads)


def _deptree(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "deptree_cli", *map(str, arguments), "--quiet"], check=True)


def _possible(sentence: Sentence) -> bool:
    """Whether both parsers give the gold tree a probability."""
    return all(np.isfinite(each.log_prob(sentence.heads)) for each in sentence.members)


def _mixed(sentence: Sentence, weights: Float) -> Heads:
    found = mixture([MonteCarloEstimate(each.marginals()) for each in sentence.members], weights)
    return consensus(found.expectations, sentence.members[0].space)


def _multiplied(sentence: Sentence, weights: Float) -> Heads:
    space = sentence.members[0].space
    return consensus(ArcFactored(product(sentence.members, weights), space=space).marginals(), space)


def _right(sentences: Sequence[Sentence], decode: Callable[[Sentence, Float], Heads], weights: Float) -> int:
    return sum(int((decode(each, weights) == each.heads).sum()) for each in sentences)
