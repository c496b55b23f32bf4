"""Three sentence pairs and score files of them; distributions of brute-force grammars, and what their draws must be."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.bitext.files import PairLayout, PairSource
from deptree_cli.core.errors import DeptreeError
from tests.arrays import npy, npz
from tests.brute_itg import targets_of
from tests.pearson import chi_square

TOLERANCE = 1e-10

RNG = np.random.default_rng(5)
LENGTHS = {"a": (2, 3), "b/č": (4, 2), "c": (1, 1)}

# Log-scores by name, and those of the other direction; some links are forbidden.
MATRICES = {name: RNG.normal(size=lengths) for name, lengths in LENGTHS.items()}
MATRICES["a"][0, 1] = MATRICES["b/č"][3, 0] = -np.inf
REVERSE = {name: RNG.normal(size=lengths[::-1]) for name, lengths in LENGTHS.items()}
REVERSE["a"][2, 1] = -np.inf

WORDS = [("das Haus", "the old house"), ("es ist so spät", "how late"), ("ja", "yes")]
TEXT = "".join(f"{source} ||| {target}\n" for source, target in WORDS).encode()


def batch(matrices, fill=-np.inf):
    sizes = np.max([each.shape for each in matrices.values()], axis=0)
    found = np.full((len(matrices), *sizes), fill)
    for padded, each in zip(found, matrices.values(), strict=True):
        padded[: each.shape[0], : each.shape[1]] = each
    return found


def jsonl(matrices, words=(), names=True):
    """A line each, -inf as null; words: (source, target) of each pair."""
    lines = []
    for number, (name, scores) in enumerate(matrices.items()):
        rows = [[None if np.isneginf(score) else score for score in row] for row in scores.tolist()]
        record = ({"sent_id": name} if names else {}) | {"scores": rows}
        if words:
            record |= {side: each.split() for side, each in zip(("source", "target"), words[number], strict=True)}
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def contents(kind, matrices=MATRICES):
    """The bytes of a score file: a container, or `batch` for padded matrices in one array."""
    if kind == "safetensors":
        library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
        return library.save({name: np.ascontiguousarray(scores) for name, scores in matrices.items()})
    return {
        "npz": lambda: npz(**matrices),
        "npy": lambda: npy(*matrices.values()),
        "batch": lambda: npy(batch(matrices)),
        "jsonl": lambda: jsonl(matrices),
        "jsonl.gz": lambda: gzip.compress(jsonl(matrices)),
    }[kind]()


def pair_of(grammar, **settings):
    nulls = grammar.source_nulls, grammar.target_nulls
    return AlignmentDistribution(grammar.scores, "log", *nulls, bispans=grammar.bispans, **settings)


def check_law(targets, exact):
    """Chi-square, rare alignments pooled, fails by chance once in a million seeds; one of probability 0 at once."""
    probs = {targets_of(links, targets.shape[1]): each for links, each in exact.probabilities().items()}
    counts = Counter(map(tuple, targets.tolist()))
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[2] > 1e-6


def read(path, symmetric=None, text=None, **layout):
    """Everything in score files."""
    return list(PairSource(path, symmetric, text).read(PairLayout(**layout), 1))


@contextmanager
def says(*parts, error=DeptreeError):
    """A context in which an error with all these parts in its one line must be raised."""
    with pytest.raises(error) as caught:
        yield
    line = str(caught.value)
    assert [part for part in parts if part not in line] == [], line
    assert "\n" not in line
