"""The beam of fixed size, against all derivations and against the same beam on tuples."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.beam import beam_search, has_place, keep
from deptree_cli.hpyp.kernels.items import new_items
from tests.hpyp.kernels.test_search import CASES, case, enumerated, is_greedy_at_the_end
from tests.hpyp.kernels.test_search import found_by as found_by_search
from tests.hpyp.kernels.toy_models import Known, Toy
from tests.hpyp.model.reference_parser import SHIFT, Configuration

found_by = partial(found_by_search, find=beam_search)


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


@pytest.mark.parametrize(("seed", "lexicalised", "known"), CASES)
def test_with_room_for_all(seed: int, lexicalised: bool, known: Known) -> None:
    """The best of the derivations that end greedily: of the labels of an arc only the best can be part of it."""
    toy, words, tags = case(seed, lexicalised, known)
    exact = enumerated(toy, words, tags)
    best = max((one for one in exact.derivations if is_greedy_at_the_end(toy, words, one)), key=lambda one: one.prob)
    log_prob, tree, found_tags = found_by(toy, words, tags, 10_000)
    assert log_prob == pytest.approx(math.log(best.prob), abs=1e-9)
    assert (tree, tuple(found_tags)) == (best.tree, best.tags)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
@pytest.mark.parametrize(("seed", "lexicalised", "known"), CASES)
def test_with_little_room(seed: int, lexicalised: bool, known: Known, size: int) -> None:
    """Items are left out only where they would end outside of the beam."""
    toy, words, tags = case(seed, lexicalised, known)
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


@pytest.mark.parametrize("known", Known)
def test_long_sentences(known: Known, draws: int) -> None:
    """Records move to larger arrays; what is found has a single root."""
    toy = Toy(1)
    words, tags = toy.sentence(150 if draws > 1000 else 10, known)
    found = [found_by(toy, words, tags, size) for size in (1, 30)]
    assert found[0][0] <= found[1][0] < 0
    for _, tree, _ in found:
        assert sum(head == 0 for head, _ in tree) == 1
        assert all(1 <= label <= toy.labels for _, label in tree)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 64])
def test_the_heaviest_are_kept(size: int) -> None:
    rng = np.random.default_rng(size)
    for count in (1, size, 5 * size):
        weights = rng.normal(size=count).round(1)  # some are equal
        items, kept = new_items(size), 0
        for number, weight in enumerate(weights.tolist()):
            if has_place(items, kept, weight):
                kept = keep(items, kept, number, weight)
            assert items.weights[0] == min(items.weights[:kept])
        assert sorted(items.weights[:kept]) == sorted(weights)[-size:]
        assert (weights[items.tops[:kept]] == items.weights[:kept]).all()
        assert len(set(items.tops[:kept].tolist())) == kept
