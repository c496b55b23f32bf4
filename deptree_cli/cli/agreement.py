"""What compared sets of trees come to: agreement by pair of files, by label; a test of two files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import isnan
from typing import NamedTuple

import numpy as np

from deptree_cli.cli.folds import Fold
from deptree_cli.core.agreement import Distances, LabelCounts, kappa, label_chance, total
from deptree_cli.core.agreement_of_many import SingleTrees
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.two_samples import STATISTICS, Tested, p_values
from deptree_cli.io.encoders.base import Row

PAIR = ("a", "b")
AGREEMENT = tuple(f"{what}{each}" for what in ("attachment", "labelled") for each in ("", "_chance", "_kappa"))
COLUMNS = (*PAIR, "sentences", "words", *AGREEMENT)
BY_SENTENCE = ("sent_id", *PAIR, "words", *AGREEMENT)
BY_LABEL = (*PAIR, "label", "words_a", "words_b", "words_both", "dice")
P_VALUES = (*(f"p_{name}" for name in STATISTICS), "p")
TEST = (*PAIR, "sentences", "trees_a", "trees_b", *P_VALUES, "verdict")
TEST_BY_SENTENCE = ("sent_id", "words", "trees_a", "trees_b", *P_VALUES)

DIFFERENT, ALIKE = "different", "no difference found"

# How many trees a sentence needs so that permuting them changes anything.
_ENOUGH = 3


class SentenceAgreement(NamedTuple):
    """What a sentence counts for; agreement is in words.

    Attributes:
        words: how many it has.
        attachment: of each pair of files.
        labelled: of each pair, NaN where trees have no labels.
        distances: (2 words + 1,), of heads from their words, of all files together.
        labels: how often each is there, in words of all files together.
        by_label: of each pair, by label.
        chance: how many heads agree by chance under the scores; None without scores.
    """

    words: int
    attachment: Float
    labelled: Float
    distances: Float
    labels: Counter[str]
    by_label: Sequence[dict[str, LabelCounts]]
    chance: float | None = None


class Agreement(Fold[SentenceAgreement | SingleTrees]):
    """Sums of agreement; chance is from the distances and labels of all files unless there are scores."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._pairs, self._files = list(combinations(paths, 2)), len(paths)
        self._sentences = self._words = 0
        self._attachment, self._labelled = np.zeros(len(self._pairs)), np.zeros(len(self._pairs))
        self._distances, self._labels = Distances(), Counter[str]()
        self._chance: float | None = None

    def add(self, counts: SentenceAgreement | SingleTrees) -> None:
        if isinstance(counts, SingleTrees):
            self._add_many(counts)
            return
        self._sentences += 1
        self._words += counts.words
        self._attachment += counts.attachment
        self._labelled += counts.labelled
        self._labels.update(counts.labels)
        self._distances.add(counts.distances, self._files)
        if counts.chance is not None:
            self._chance = (self._chance or 0.0) + counts.chance

    def _add_many(self, trees: SingleTrees) -> None:
        self._sentences += len(trees.sizes)
        self._words += int(trees.sizes.sum())
        self._attachment = total(self._attachment, trees.attachment)
        self._labelled = total(self._labelled, trees.labelled_too)
        self._distances.add_many(trees.sizes, trees.roots, trees.distances(), self._files)
        for label, count in trees.label_counts():
            self._labels[label] += count

    def rows(self) -> list[Row]:
        check_some(self._sentences)
        heads = (self._distances.chance() if self._chance is None else self._chance) / self._words
        labels = label_chance(self._labels) if self._labels else None
        return [
            {
                **dict(zip(PAIR, pair, strict=True)),
                "sentences": self._sentences,
                "words": self._words,
                **agreement_row(attachment, labelled, self._words, heads, labels),
            }
            for pair, attachment, labelled in zip(
                self._pairs, self._attachment.tolist(), self._labelled.tolist(), strict=True
            )
        ]


def agreement_row(
    attachment: float, labelled: float, words: int, chance: float | None, labels: float | None = None
) -> dict[str, float | None]:
    """Agreement per word, with what chance does to it; a label is chosen independently of the head then.

    Args:
        attachment, labelled: how many words agree; NaN if there are no labels.
        chance: of heads, per word; None if nothing is known of it.
        labels: the same of labels.
    """
    row: dict[str, float | None] = {}
    both = None if chance is None or labels is None else chance * labels
    for name, sums, each in (("attachment", attachment, chance), ("labelled", labelled, both)):
        if isnan(sums):
            continue
        observed = sums / words
        row[name] = observed
        if each is not None:
            row |= {f"{name}_chance": each, f"{name}_kappa": kappa(observed, each)}
    return row


class LabelAgreement(Fold[SentenceAgreement | SingleTrees]):
    """Agreement by label, for each pair of files."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._pairs = list(combinations(paths, 2))
        self._counts: list[dict[str, LabelCounts]] = [{} for _ in self._pairs]

    def add(self, counts: SentenceAgreement | SingleTrees) -> None:
        pairs = counts.by_label() if isinstance(counts, SingleTrees) else [each.items() for each in counts.by_label]
        for sums, found in zip(self._counts, pairs, strict=True):
            for label, each in found:
                before = sums.get(label, LabelCounts(0.0, 0.0, 0.0))
                sums[label] = LabelCounts(*(a + b for a, b in zip(before, each, strict=True)))

    def rows(self) -> list[Row]:
        if not any(self._counts):
            raise DeptreeError("no two files have labels", "Leave out --per label, or give trees with labels")
        return [
            {
                **dict(zip(PAIR, pair, strict=True)),
                "label": label,
                **dict(zip(BY_LABEL[3:], (*each, 2 * each.both / (each.first + each.second)), strict=True)),
            }
            for pair, found in zip(self._pairs, self._counts, strict=True)
            for label, each in sorted(found.items(), key=lambda item: (-item[1].first - item[1].second, item[0]))
        ]


class SentenceTest(NamedTuple):
    """What a sentence counts for in the test: statistics, (1 + permutations, ...), and how many trees there are."""

    statistics: Float
    trees: tuple[int, int]


class TwoFiles(Fold[SentenceTest]):
    """The test of two files: the statistics of all sentences, whose permutations are independent, are added up."""

    def __init__(self, paths: Sequence[str], alpha: float) -> None:
        self._paths, self._alpha = paths, alpha
        self._sentences, self._most = 0, 0
        self._trees = (0, 0)
        self._statistics: Float | None = None

    def add(self, counts: SentenceTest) -> None:
        self._sentences += 1
        self._most = max(self._most, sum(counts.trees))
        self._trees = self._trees[0] + counts.trees[0], self._trees[1] + counts.trees[1]
        self._statistics = counts.statistics if self._statistics is None else self._statistics + counts.statistics

    @cached_property
    def _tested(self) -> Tested:
        assert self._statistics is not None
        return p_values(self._statistics)

    @property
    def differ(self) -> bool:
        """Whether a difference was found."""
        return self._tested.p <= self._alpha

    def rows(self) -> list[Row]:
        check_some(self._sentences)
        if self._most < _ENOUGH:
            problem = "no sentence has more than a tree in each file, so there is nothing to permute"
            raise DeptreeError(problem, "Test sets of samples; eval tests whether a parser is better than another")
        row = {"sentences": self._sentences, **dict(zip(("trees_a", "trees_b"), self._trees, strict=True))}
        verdict = DIFFERENT if self.differ else ALIKE
        return [{**dict(zip(PAIR, self._paths, strict=True)), **row, **test_row(self._tested), "verdict": verdict}]

    def lines(self) -> Iterator[str]:
        verdict = DIFFERENT if self.differ else ALIKE
        yield f"{verdict}: p = {self._tested.p:.3g} over {counted(self._sentences, 'sentence')}"


def test_row(tested: Tested) -> dict[str, float]:
    """The p-values by name."""
    return dict(zip(P_VALUES, (*tested.each.tolist(), tested.p), strict=True))


def check_some(sentences: int) -> None:
    """Raise where there is none."""
    if not sentences:
        raise DeptreeError("there is no sentence to compare", "Give files, or a shard, with sentences")
