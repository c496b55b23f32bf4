"""Files of trees beside gold trees: counts of the smallest groups of sentences that all of them cut alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.evaluation.classes import ByClass, Class, Classes
from deptree_cli.core.evaluation.counts import METRICS, Comparison
from deptree_cli.core.evaluation.words import DEPREL, FEATS, LEMMA, MISSING, UPOS, XPOS, Words, refused, starts_of
from deptree_cli.io.evaluation.pairing import Pairing, paired
from deptree_cli.io.evaluation.tree_file import TreeFile, read_trees
from deptree_cli.io.evaluation.vocabulary import Vocabulary

# Columns that a gold file may not have, by the metrics that compare them.
OPTIONAL = {"UPOS": UPOS, "XPOS": XPOS, "UFeats": FEATS, "Lemmas": LEMMA}


@dataclass(frozen=True, eq=False)
class Unit:
    """What is counted of a gold sentence, or of several that a system has cut otherwise.

    Attributes:
        sent_id, place: of the first of them.
        sentences, words: how many there are in the gold file.
        scores: (systems, metrics, 4), of `METRICS`.
        filled: (4,), how many gold words have something in the columns of `OPTIONAL`.
        classes: for each system the words of each class: right, gold, predicted.
        refused: (3,), how many trees are `refused`, those of systems too.
        of: how many sentences the gold file has, how many words, and whether more that cannot be read.
    """

    sent_id: str
    place: str
    sentences: int
    words: int
    scores: Integers
    filled: Int
    classes: Sequence[Sequence[Counter[Class]]]
    refused: Int
    of: tuple[int, int, bool]

    @property
    def weight(self) -> int:
        """How many numbers it has."""
        return self.scores.size


@dataclass
class _Joined:
    """The units of a gold file and several systems.

    Attributes:
        unit_of: (sentences,), of the gold file.
        errors: what is wrong with gold sentences that are left out, all of their units.
        kept: (units,), which are not.
    """

    unit_of: Int
    errors: Mapping[int, DeptreeError]
    kept: Bool

    @classmethod
    def of(cls, gold: TreeFile, pairings: Sequence[Pairing]) -> _Joined:
        """The smallest units with a cut on both sides that all files have."""
        n = len(gold.names)
        cuts, errors = np.ones(n, dtype=bool), dict[int, DeptreeError]()
        for pairing in pairings:
            own = np.zeros(n + 1, dtype=bool)
            own[[group.first for group in pairing.groups]] = True
            cuts &= own[:n]
            for group in pairing.groups:
                if group.error and group.end > group.first:
                    errors.setdefault(group.first, group.error)
        unit_of = np.cumsum(cuts) - 1
        kept = np.ones(int(unit_of.max(initial=-1)) + 1, dtype=bool)
        kept[unit_of[[*errors]]] = False
        for number in np.flatnonzero(~kept[unit_of]).tolist():
            errors.setdefault(number, gold.errors.get(number) or _left_out(gold, number))
        return cls(unit_of, errors, kept)

    def chosen(self, pairing: Pairing) -> tuple[Int, Int]:
        """The sentences of a system's file in the order of the gold file, and their units among those kept."""
        sentences: list[int] = []
        units: list[int] = []
        kept, unit_of = self.kept.tolist(), self.unit_of.tolist()
        for group in pairing.groups:
            if group.end > group.first and kept[unit := unit_of[group.first]]:
                sentences += group.system
                units += [unit] * len(group.system)
        number = np.cumsum(self.kept) - 1
        return np.array(sentences, dtype=np.int64), number[np.array(units, dtype=np.int64)]


def _left_out(gold: TreeFile, number: int) -> DeptreeError:
    problem = "a system cuts the text otherwise here, and another sentence of this stretch is left out"
    return DeptreeError(problem, "Correct that one", place=gold.at(number), sent_id=gold.sent_id(number))


def compared(
    gold: TreeFile, systems: Sequence[TreeFile], kinds: Sequence[Classes] = (), no_punct: bool = False
) -> Iterator[Unit | DeptreeError]:
    """Compare files of trees with gold trees.

    Args:
        kinds: of classes, in which words are counted too.
        no_punct: as of `Comparison`.

    Yields:
        units in the order of the gold file; errors in place of gold sentences that cannot be compared; at the end those
        of sentences that only a system has.
    """
    pairings = [paired(gold, system) for system in systems]
    joined = _Joined.of(gold, pairings)
    sentences = np.flatnonzero(joined.kept[joined.unit_of])
    words = gold.words.taken(sentences)
    units = (np.cumsum(joined.kept) - 1)[joined.unit_of[sentences]]
    size = int(joined.kept.sum())
    word_starts, relations = _starts(words, units, size), gold.vocabulary.relations
    counts, classes, wrong = [], [], _refused(words, units, size)
    for system, pairing in zip(systems, pairings, strict=True):
        own, own_units = joined.chosen(pairing)
        comparison = Comparison(words, system.words.taken(own), relations, no_punct)
        counts.append(comparison.counts(units, own_units))
        wrong += _refused(comparison.system, own_units, size)
        if kinds:
            labels = gold.vocabulary.columns[DEPREL].names
            own_starts = _starts(comparison.system, own_units, size)
            classes.append(ByClass(comparison, labels, kinds, word_starts, own_starts))
    found = _units(gold, sentences, units, (np.stack(counts, axis=1), _filled(words, word_starts), wrong), classes)
    first = {int(unit): number for number, unit in reversed([*enumerate(joined.unit_of.tolist())])}
    for unit, kept in enumerate(joined.kept.tolist()):
        if kept:
            yield next(found)
        else:
            end = first.get(unit + 1, len(gold.names))
            yield from (joined.errors[number] for number in range(first[unit], end))
    for pairing in pairings:
        yield from pairing.beyond


def _units(
    gold: TreeFile, sentences: Int, units: Int, counted: tuple[Integers, Int, Int], classes: Sequence[ByClass]
) -> Iterator[Unit]:
    """The units that are compared, in order; `counted`: of each its scores, and what it has of `filled`, `refused`."""
    counts, filled, wrong = counted
    sizes = np.bincount(units, minlength=len(counts)).tolist()
    firsts = sentences[starts_of(np.array(sizes, dtype=np.int64))[:-1]].tolist() if len(sentences) else []
    words = counts[:, 0, METRICS.index("Words"), 1].tolist()
    of = len(gold.names), len(gold.words.heads), not gold.words.sizes.all()
    for unit, (first, size) in enumerate(zip(firsts, sizes, strict=True)):
        place, own = gold.at(first), [each.of_unit(unit) for each in classes]
        facts = counts[unit], filled[unit], own, wrong[unit], of
        yield Unit(gold.sent_id(first), place, size, words[unit], *facts)


def _starts(words: Words, units: Int, size: int) -> Int:
    """Where the words of each unit begin, and where the last end."""
    return starts_of(np.bincount(units, weights=words.sizes, minlength=size).astype(np.int64))


def _refused(words: Words, units: Int, size: int) -> Int:
    """How many trees of each unit are `refused`, (units, 3)."""
    return np.stack([np.bincount(units[each], minlength=size) for each in refused(words)], axis=1)


def _filled(words: Words, starts: Int) -> Int:
    """How many words of each unit have something in the columns of `OPTIONAL`, (units, 4)."""
    found = np.array([starts_of(words.columns[column] != MISSING)[starts] for column in OPTIONAL.values()])
    return (found[:, 1:] - found[:, :-1]).T


def compared_files(
    gold: str, systems: Sequence[str], kinds: Sequence[Classes] = (), no_punct: bool = False
) -> Iterator[Unit | DeptreeError]:
    """Compare files of CoNLL-U, by their paths, as `compared`."""
    vocabulary = Vocabulary()
    first = read_trees(gold, vocabulary)
    yield from compared(first, [read_trees(each, vocabulary, True) for each in systems], kinds, no_punct)
