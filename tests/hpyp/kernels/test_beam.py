"""The beam of fixed size, against the same beam on tuples."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.search import has_place, keep, new_particles
from tests.hpyp.kernels.test_search import CASES, MORE_CASES, case
from tests.hpyp.kernels.test_search import found_by as found_by_search
from tests.hpyp.kernels.toy_models import Known, Toy
from tests.hpyp.model.reference_parser import SHIFT, Configuration

found_by = partial(found_by_search, is_beam=True)


class Item(NamedTuple):
    """A configuration with its probability and the tags of the words that were shifted."""

    prob: float
    configuration: Configuration
    tags: tuple[int, ...]


def heaviest(items: list[Item], size: int) -> list[Item]:
    """The most probable ones."""
    return sorted(items, key=lambda item: -item.prob)[:size]


class Reference:
    """The same beam by lists, without leaving anything out because it is too light."""

    def __init__(self, toy: Toy, words: list[int], tags: list[int]) -> None:
        self.toy, self.words, self.candidates = toy, words, toy.candidates(tags)

    def best(self, size: int) -> Item:
        """The most probable item at the end."""
        items = [Item(1.0, Configuration(len(self.words), self.toy.labels), ())]
        for _ in self.words:
            shifted: list[Item] = []
            while items:
                shifted += [after for item in items for after in self.shifts(item)]
                items = heaviest([after for item in items for after in self.reductions(item)], size)
            items = heaviest(shifted, size)
        return max(map(self.completed, items), key=lambda item: item.prob)

    def shifts(self, item: Item) -> list[Item]:
        """The next word with the given tag, or each of the three best."""
        tags = self.candidates[item.configuration.shifted]
        return heaviest([self.after(item, SHIFT, (*item.tags, tag)) for tag in tags], 3)

    def reductions(self, item: Item) -> list[Item]:
        """The best left-arc and the best right-arc of those that are legal."""
        labels, legal = self.toy.labels, item.configuration.legal()
        lefts, rights = range(1, labels + 1), range(labels + 1, 2 * labels + 1)
        sides = [[action for action in legal if action in side] for side in (lefts, rights)]
        found = [[self.after(item, action, item.tags) for action in side] for side in sides]
        return [each for side in found for each in heaviest(side, 1)]

    def after(self, item: Item, action: int, tags: tuple[int, ...]) -> Item:
        """The item after an action, a shift with the last of the tags."""
        prob = item.prob * self.toy.reference.step(item.configuration, action, self.words, tags)
        return Item(prob, item.configuration.after(action), tags)

    def completed(self, item: Item) -> Item:
        """The item after the best legal actions up to the end."""
        while legal := item.configuration.legal():
            item = max((self.after(item, action, item.tags) for action in legal), key=lambda each: each.prob)
        return item


@pytest.mark.parametrize(("seed", "lexicalised", "known"), MORE_CASES)
def test_with_little_room(seed: int, lexicalised: bool, known: Known) -> None:
    """Items are left out only where they would end outside of the beam."""
    toy = Toy(seed, lexicalised=lexicalised)
    words, tags = toy.sentence(8, known)
    for size in (1, 2, 7, 20):
        expected = Reference(toy, words, tags).best(size)
        log_prob, tree, found_tags = found_by(toy, words, tags, size)
        assert log_prob == pytest.approx(math.log(expected.prob), abs=1e-9)
        assert (tree, tuple(found_tags)) == (expected.configuration.tree(), expected.tags)


@pytest.mark.slow("statistics")
def test_small_beams_find_less() -> None:
    """Over all cases: else the tests above would not tell sizes apart."""
    totals = [sum(found_by(*case(*each), size)[0] for each in CASES) for size in (1, 2, 3, 100)]
    assert totals == sorted(totals)
    assert len(set(totals)) == len(totals)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 64])
def test_the_heaviest_are_kept(size: int) -> None:
    rng = np.random.default_rng(size)
    for count in (1, size, 5 * size):
        weights = rng.normal(size=count).round(1)  # some are equal
        heap = new_particles(size)
        for number, weight in enumerate(weights.tolist()):
            if has_place(heap, weight):
                keep(heap, number, weight)
            assert heap.weights[0] == heap.weights[: heap.used[0]].min()
        tops, kept = heap.tops[: heap.used[0]], heap.weights[: heap.used[0]]
        assert sorted(kept) == sorted(weights)[-size:]
        assert (weights[tops] == kept).all()
        assert len(set(tops.tolist())) == len(tops)
