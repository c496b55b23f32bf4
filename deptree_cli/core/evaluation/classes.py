"""Classes of words and arcs by which a score is broken down: labels, lengths, whether arcs cross."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Int, Integers
from deptree_cli.core.evaluation.counts import Comparison
from deptree_cli.core.evaluation.words import DEPREL, Words
from deptree_cli.core.measures import have_gaps
from deptree_cli.core.register import Register
from deptree_cli.core.spaces.rules import are_trees

# The last length of each bucket but the last, which has no end.
ARC_LENGTHS = (1, 2, 3, 6, 10)
SENTENCE_LENGTHS = (10, 20, 30, 40, 50)

# Of a class: the name of its kind, its own, and the metric that is counted in it.
Class = tuple[str, str, str]

# The class of words without an arc: below ROOT; of a system, whose head is no other word, or whose sentence is no tree.
_ROOT, _NONE = "root", "none"


class Attached(NamedTuple):
    """A tree of n words, if a system made one.

    Attributes:
        heads: (n,), 0 = ROOT; of a system anything else too.
        labels: n names, without subtypes.
    """

    heads: Integers
    labels: Sequence[str]


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
    n, words = len(tree.heads), np.arange(1, len(tree.heads) + 1)
    found = np.where(tree.heads, _bucketed(np.abs(words - tree.heads), ARC_LENGTHS), _ROOT)
    return np.where((tree.heads < 0) | (tree.heads > n) | (tree.heads == words), _NONE, found).tolist()


def _sentence_lengths(tree: Attached) -> list[str]:
    n = len(tree.heads)
    return _bucketed(np.full(n, n), SENTENCE_LENGTHS)


def _projectivity(tree: Attached) -> list[str]:
    if not are_trees(tree.heads[None])[0]:
        return [_NONE] * len(tree.heads)
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
        Classes("arc-length", _arc_lengths, (_ROOT, *buckets(ARC_LENGTHS), _NONE)),
        Classes("sentence-length", _sentence_lengths, buckets(SENTENCE_LENGTHS)),
        Classes("projectivity", _projectivity, ("projective", "non-projective", _NONE)),
    ],
)


class ByClass:
    """The words of classes in two files side by side.

    A right word is in the class that it has in the gold file, also among the system's words: in other tokens an arc may
    have another length.

    Args:
        labels: the names of DEPREL, by number.
        gold_words, system_words: (units + 1,), where the words of each unit begin in both files.
    """

    def __init__(
        self, compared: Comparison, labels: Sequence[str], kinds: Sequence[Classes], gold_words: Int, system_words: Int
    ) -> None:
        self._starts = gold_words, system_words
        self._counted = compared.counted_words
        g, s = compared.alignment
        self._names: list[tuple[str, str, list[str], list[str], list[bool]]] = []
        for kind in kinds:
            ours, theirs = (_names_of(words, labels, kind) for words in (compared.gold, compared.system))
            for metric in kind.metrics:
                right, own = np.zeros(len(ours), dtype=bool), [*theirs]
                right[g[compared.right[metric]]] = True
                for at, word in zip(*(side[compared.right[metric]].tolist() for side in (s, g)), strict=True):
                    own[at] = ours[word]
                self._names.append((kind.name, metric, ours, own, (right & self._counted[0]).tolist()))

    def of_unit(self, unit: int) -> list[Counter[Class]]:
        """Count CORRECT, GOLD and PREDICTED of a unit, a counter each."""
        (first, end), (start, stop) = (each[unit : unit + 2].tolist() for each in self._starts)
        counted, predicted = self._counted[0][first:end], self._counted[1][start:stop]
        found: list[Counter[Class]] = [Counter(), Counter(), Counter()]
        for kind, metric, ours, theirs, right in self._names:
            chosen = (
                compress(ours[first:end], right[first:end]),
                compress(ours[first:end], counted),
                compress(theirs[start:stop], predicted),
            )
            for counter, names in zip(found, chosen, strict=True):
                counter.update((kind, name, metric) for name in names)
        return found


def _names_of(words: Words, labels: Sequence[str], kind: Classes) -> list[str]:
    """The class of each word of a file."""
    names = [labels[number] for number in words.columns[DEPREL].tolist()]
    spans = zip(words.words[:-1].tolist(), words.words[1:].tolist(), strict=True)
    return [each for a, b in spans for each in kind.of_words(Attached(words.heads[a:b], names[a:b]))]


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
