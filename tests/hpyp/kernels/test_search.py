"""The search for the most probable derivation, by particles and by a beam, against all derivations."""

import itertools
import math

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import ACTION, NULL_SYMBOL, ROOT
from deptree_cli.hpyp.kernels.configurations import TRIED, new_arena, new_predictor, read_actions, read_tree, shift
from deptree_cli.hpyp.kernels.search import Item, Search, has_place, keep, new_particles, search, step
from tests.hpyp.reference import SHIFT, Configuration, Enumeration
from tests.hpyp.toys import KINDS, Toy, as_arrays

CASES = [(seed, *kind) for seed in range(8) for kind in KINDS]
MORE_CASES = [(seed, *KINDS[seed % len(KINDS)]) for seed in range(20)]


def found_by(toy, words, tags, size, is_beam=False):
    """The log-probability, the tree and the tags that a kernel finds."""
    heads, deprels, found_tags = np.full((3, len(words)), 77, dtype=np.int32)
    arena, last, log_prob = search(toy.model, *as_arrays(words, tags), size, is_beam)
    read_tree(arena, last, toy.labels, heads, deprels, found_tags)
    tree = tuple(zip(heads.tolist(), (deprels + 1).tolist(), strict=True))
    return log_prob, tree, tuple(found_tags.tolist())


def is_greedy_at_the_end(toy, words, derivation):
    """Whether after the last shift every action is the most probable legal one, as the search has it."""
    configuration = Configuration(len(words), toy.labels)
    for action in derivation.actions:
        if configuration.shifted == len(words):
            context = configuration.context(toy.reference.action_elements, words, derivation.tags)
            probs = toy.reference.action(context)
            if probs[action] < max(probs[other] for other in configuration.legal()):
                return False
        configuration = configuration.after(action)
    return True


# As many particles, and as large a beam, as none of the derivations of a toy's sentence ends without one.
@pytest.mark.parametrize(("is_beam", "size"), [(False, 200_000), (True, 10_000)], ids=["particles", "beam"])
@pytest.mark.parametrize(("seed", "lexicalised", "known"), CASES)
def test_with_room_for_all(seed, lexicalised, known, is_beam, size):
    """The best of the derivations that end greedily: of the labels of an arc only the best can be part of it."""
    toy = Toy(seed, lexicalised=lexicalised)
    words, tags = toy.sentence(4 if known == "all tags" else 3, known)
    exact = Enumeration(toy.reference, words, toy.candidates(tags)).derivations
    best = max((one for one in exact if is_greedy_at_the_end(toy, words, one)), key=lambda one: one.prob)
    log_prob, tree, found_tags = found_by(toy, words, tags, size, is_beam)
    assert log_prob == pytest.approx(math.log(best.prob), abs=1e-9)
    assert (tree, found_tags) == (best.tree, best.tags)


@pytest.mark.parametrize(("seed", "lexicalised", "known"), MORE_CASES)
def test_with_few_particles(seed, lexicalised, known):
    """What is found is a derivation of its tree with its tags, and its probability is the one returned."""
    toy = Toy(seed, lexicalised=lexicalised)
    words, tags = toy.sentence(8, known)
    for size in (1, 2, 7, 100):
        log_prob, tree, found_tags = found_by(toy, words, tags, size)
        assert all(given in (NULL_SYMBOL, tag) for given, tag in zip(tags, found_tags, strict=True))
        actions, own_tags = np.full(16, 77, dtype=np.int32), np.full(8, 77, dtype=np.int32)
        read_actions(*search(toy.model, *as_arrays(words, tags), size, False)[:2], actions, own_tags)
        assert Configuration(8, toy.labels).after(*actions.tolist()).tree() == tree
        assert tuple(own_tags.tolist()) == found_tags
        assert log_prob == pytest.approx(toy.reference.log_probs(words, found_tags, actions).sum(), abs=1e-9)


def one_step(toy, word, tag, size, before):
    """The arena and the items that wait and have shifted, after words with tags `before` and one step of the search."""
    arena, waiting, shifted, top = new_arena(20), new_particles(size), new_particles(size), ROOT
    for index, (other, its_tag) in enumerate(before, 1):
        top = shift(arena, top, index, its_tag, other)
    words, tags = as_arrays([*(other for other, _ in before), word], [*(its for _, its in before), tag])
    method = Search(new_predictor(toy.model, words, tags), 2 + TRIED, False, -math.inf, np.full(1, -math.inf))
    step(method, arena, len(words), Item(top, size, 0.0), waiting, shifted)
    return arena, waiting, shifted


def numbers_of(particles):
    """How many particles the items have."""
    return particles.numbers[: particles.used[0]].tolist()


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("seed", range(6))
def test_particles_are_shared_out_by_probability(seed):
    """Of a stack of ROOT and two words: to shift its share, the rest to left-arc and right-arc by their masses."""
    toy, size = Toy(seed), 1000
    words, tags = toy.sentence(3)
    arena, waiting, shifted = one_step(toy, words[2], tags[2], size, list(zip(words[:2], tags[:2], strict=True)))
    context = Configuration(3, toy.labels).after(SHIFT, SHIFT).context(toy.reference.action_elements, words, tags)
    probs = np.array(toy.reference.action(context))
    to_shift, to_left, to_right = probs[0], probs[1 : toy.labels + 1].sum(), probs[toy.labels + 1 :].sum()
    staying, sides = sum(numbers_of(shifted)), arena.records[waiting.tops[: waiting.used[0]], ACTION] > toy.labels
    found = dict(zip(sides.tolist(), numbers_of(waiting), strict=True))
    going = size - staying
    assert staying == pytest.approx(size * to_shift, abs=0.51)
    assert found.get(False, 0) == pytest.approx(going * to_left / (to_left + to_right), abs=0.51)
    assert found.get(True, 0) == going - found.get(False, 0)
    assert arena.used[0] == 5 + waiting.used[0]


@pytest.mark.parametrize("seed", range(6))
def test_no_worse_tag_gets_more_particles(seed):
    """Of the tags of a first word; what is rounded goes to the better ones."""
    toy = Toy(seed)
    for size in (1, 2, 3, 10, 1000):
        _, waiting, shifted = one_step(toy, toy.sentence(1)[0][0], NULL_SYMBOL, size, [])
        numbers, log_weights = numbers_of(shifted), shifted.weights[: shifted.used[0]]
        probs = np.exp(log_weights)
        assert waiting.used[0] == 0
        assert sum(numbers) == size
        assert numbers == sorted(numbers, reverse=True)
        assert (np.diff(log_weights) <= 0).all()
        if len(numbers) == TRIED:
            assert np.cumsum(numbers).tolist() == np.ceil(size * probs.cumsum() / probs.sum()).tolist()


def heaviest(items, size):
    return sorted(items, key=lambda item: -item[0])[:size]


def best_of_beam(toy, words, tags, size):
    """What the beam finds by lists, nothing being left out because it is too light: the probability, the configuration
    and the tags."""

    def after(item, action, *tag):
        prob, at, own = item
        own = (*own, *tag)
        return prob * toy.reference.step(at, action, words, own), at.after(action), own

    def shifts(item):  # the next word with the given tag, or each of the three best
        tags_of_word = candidates[item[1].shifted]
        return heaviest([after(item, SHIFT, tag) for tag in tags_of_word], 3)

    def reductions(item):  # the best left-arc and the best right-arc
        for sides in (range(1, toy.labels + 1), range(toy.labels + 1, 2 * toy.labels + 1)):
            yield from heaviest([after(item, action) for action in item[1].legal() if action in sides], 1)

    def completed(item):  # by the best legal actions
        while legal := item[1].legal():
            (item,) = heaviest([after(item, action) for action in legal], 1)
        return item

    items, candidates = [(1.0, Configuration(len(words), toy.labels), ())], toy.candidates(tags)
    for _ in words:
        shifted = []
        while items:
            shifted += itertools.chain(*map(shifts, items))
            items = heaviest(itertools.chain(*map(reductions, items)), size)
        items = heaviest(shifted, size)
    return heaviest(map(completed, items), 1)[0]


@pytest.mark.parametrize(("seed", "lexicalised", "known"), MORE_CASES)
def test_a_beam_with_little_room(seed, lexicalised, known):
    """Items are left out only where they would end outside of the beam."""
    toy = Toy(seed, lexicalised=lexicalised)
    words, tags = toy.sentence(8, known)
    for size in (1, 2, 7, 20):
        prob, configuration, own_tags = best_of_beam(toy, words, tags, size)
        log_prob, tree, found_tags = found_by(toy, words, tags, size, is_beam=True)
        assert log_prob == pytest.approx(math.log(prob), abs=1e-9)
        assert (tree, found_tags) == (configuration.tree(), own_tags)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 64])
def test_the_heaviest_are_kept(size):
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
