"""Classes of words and arcs by which a score is broken down: labels, lengths, whether arcs cross."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from deptree_cli.core.dtypes import Bool, Integers
from deptree_cli.core.measures.shapes import have_gaps
from deptree_cli.core.evaluation.attachment import CORRECT, GOLD, PREDICTED, Attached, right_words
from deptree_cli.core.register import Register

# The last length of each bucket but the last, which has no end.
ARC_LENGTHS = (1, 2, 3, 6, 10)
SENTENCE_LENGTHS = (10, 20, 30, 40, 50)

# Of a class: the name of its kind, its own, and the metric that is counted in it.
Class = tuple[str, str, str]

_ROOT = "root"


@dataclass(frozen=True)
class Classes:
    """A way to sort the words of a tree.

    Attributes:
        of_words: the class of each word of a tree.
        known: all classes in their order; empty where data decide, and then the most frequent come first.
        metrics: what is counted in each. Words of one head, of LAS also of one label, are of one class in both trees.
    """

    name: str
    of_words: Callable[[Attached], Sequence[str]]
    known: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("UAS", "LAS")


def _labels(tree: Attached) -> Sequence[str]:
    return tree.labels


def _arc_lengths(tree: Attached) -> list[str]:
    words = np.arange(1, len(tree.heads) + 1)
    found = _bucketed(np.abs(words - tree.heads), ARC_LENGTHS)
    return [name if head else _ROOT for name, head in zip(found, tree.heads.tolist(), strict=True)]


def _sentence_lengths(tree: Attached) -> list[str]:
    n = len(tree.heads)
    return _bucketed(np.full(n, n), SENTENCE_LENGTHS)


def _projectivity(tree: Attached) -> list[str]:
    return np.where(have_gaps(tree.heads[None])[0], "non-projective", "projective").tolist()


def _bucketed(lengths: Integers, ends: Sequence[int]) -> list[str]:
    return np.array(buckets(ends))[np.searchsorted(ends, lengths)].tolist()


def buckets(ends: Sequence[int]) -> tuple[str, ...]:
    """The names of buckets that end so: ``1``, ``2``, ``3``, ``4-6``, ..., ``11+``."""
    starts = [1, *(end + 1 for end in ends)]
    closed = (str(end) if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=False))
    return *closed, f"{starts[-1]}+"


CLASSES: Register[Classes] = Register(
    "class of words",
    [
        Classes("label", _labels, metrics=("LAS",)),
        Classes("arc-length", _arc_lengths, (_ROOT, *buckets(ARC_LENGTHS))),
        Classes("sentence-length", _sentence_lengths, buckets(SENTENCE_LENGTHS)),
        Classes("projectivity", _projectivity, ("projective", "non-projective")),
    ],
)


def by_class(
    gold: Attached, system: Attached, kinds: Sequence[Classes], words: Bool | None = None
) -> list[Counter[Class]]:
    """Count the words of classes: CORRECT, GOLD and PREDICTED, a counter each.

    Args:
        words: (n,), which words count; None: all.
    """
    right = right_words(gold, system)
    words = np.ones(len(gold.heads), dtype=bool) if words is None else words
    found: list[Counter[Class]] = [Counter(), Counter(), Counter()]

    def count(number: int, names: Iterable[str], kind: str, metric: str) -> None:
        found[number].update((kind, name, metric) for name in names)

    for kind in kinds:
        ours, theirs = kind.of_words(gold), kind.of_words(system)
        for metric in kind.metrics:
            count(CORRECT, compress(ours, right[metric] & words), kind.name, metric)
            count(GOLD, compress(ours, words), kind.name, metric)
            count(PREDICTED, compress(theirs, words), kind.name, metric)
    return found


def in_order(found: Sequence[Counter[Class]], kinds: Sequence[Classes]) -> list[Class]:
    """Return the classes that have words in either tree: by kind, then as these say, then by metric."""
    _, gold, predicted = found
    there = {*gold, *predicted}

    def place(each: Class) -> tuple[object, ...]:
        number = next(number for number, kind in enumerate(kinds) if kind.name == each[0])
        known, metrics = kinds[number].known, kinds[number].metrics
        where = known.index(each[1]) if known else -gold[each]
        return number, where, each[1], metrics.index(each[2])

    return sorted(there, key=place)
