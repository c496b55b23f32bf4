"""The search for the most probable derivation by particles, and by a beam, against all derivations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import ACTION, NULL_SYMBOL, ROOT, SHIFT
from deptree_cli.hpyp.kernels.configurations import TRIED, Arena, new_arena, new_predictor, read_tree, shift
from deptree_cli.hpyp.kernels.search import Item, Particles, Search, new_particles, search, step
from tests.hpyp.kernels.toy_models import Known, Toy, as_arrays
from tests.hpyp.model.reference_parser import Configuration, Derivation, Enumeration, Tree, oracle_derivations

KINDS = (True, Known.ALL), (True, Known.NONE), (True, Known.SOME), (False, Known.ALL), (False, Known.SOME)
CASES = [(seed, *kind) for seed in range(8) for kind in KINDS]
MORE_CASES = [(seed, *KINDS[seed % len(KINDS)]) for seed in range(20)]

# Particles, and the size of a beam: as many as none of the derivations of a toy's sentence ends without one.
FINDERS = [pytest.param(False, 200_000, id="particles"), pytest.param(True, 10_000, id="beam")]


def found_by(
    toy: Toy, words: list[int], tags: list[int], size: int, is_beam: bool = False
) -> tuple[float, Tree, list[int]]:
    """The log-probability, the tree and the tags that a kernel finds."""
    heads, deprels, found_tags = np.full((3, len(words)), 77, dtype=np.int32)
    arena, last, log_prob = search(toy.model, *as_arrays(words, tags), size, is_beam)
    read_tree(arena, last, toy.labels, heads, deprels, found_tags)
    tree = tuple(zip(heads.tolist(), (deprels + 1).tolist(), strict=True))
    return log_prob, tree, found_tags.tolist()


def enumerated(toy: Toy, words: list[int], tags: list[int]) -> Enumeration:
    """All derivations, with the tags given and with all tags for the other words."""
    return Enumeration(toy.reference, words, toy.candidates(tags))


def is_greedy_at_the_end(toy: Toy, words: list[int], derivation: Derivation) -> bool:
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


def case(seed: int, lexicalised: bool, known: Known) -> tuple[Toy, list[int], list[int]]:
    """A model, and a sentence with tags, null for those that are to be predicted."""
    toy = Toy(seed, lexicalised=lexicalised)
    return toy, *toy.sentence(4 if known is Known.ALL else 3, known)


@pytest.mark.parametrize(("is_beam", "size"), FINDERS)
@pytest.mark.parametrize(("seed", "lexicalised", "known"), CASES)
def test_with_room_for_all(seed: int, lexicalised: bool, known: Known, is_beam: bool, size: int) -> None:
    """The best of the derivations that end greedily: of the labels of an arc only the best can be part of it."""
    toy, words, tags = case(seed, lexicalised, known)
    exact = enumerated(toy, words, tags)
    best = max((one for one in exact.derivations if is_greedy_at_the_end(toy, words, one)), key=lambda one: one.prob)
    log_prob, tree, found_tags = found_by(toy, words, tags, size, is_beam)
    assert log_prob == pytest.approx(math.log(best.prob), abs=1e-9)
    assert (tree, tuple(found_tags)) == (best.tree, best.tags)


@pytest.mark.slow("statistics")
def test_the_best_derivation_of_all_is_found_most_times() -> None:
    """In most toys it is one that ends greedily."""
    found = 0
    for seed, lexicalised, known in CASES:
        toy, words, tags = case(seed, lexicalised, known)
        best = enumerated(toy, words, tags).best()
        found += found_by(toy, words, tags, 200_000)[1] == best.tree
    assert found > 0.8 * len(CASES)


@pytest.mark.parametrize(("seed", "lexicalised", "known"), MORE_CASES)
def test_with_few_particles(seed: int, lexicalised: bool, known: Known) -> None:
    """What is found is a derivation of that tree with those tags, and its probability is the one returned."""
    toy = Toy(seed, lexicalised=lexicalised)
    words, tags = toy.sentence(8, known)
    for size in (1, 2, 7, 100):
        log_prob, tree, found_tags = found_by(toy, words, tags, size)
        assert all(given in (NULL_SYMBOL, tag) for given, tag in zip(tags, found_tags, strict=True))
        derivations = oracle_derivations(tree, toy.labels)
        log_probs = [toy.reference.log_probs(words, found_tags, actions).sum() for actions in derivations]
        assert any(log_prob == pytest.approx(other, abs=1e-9) for other in log_probs)


@pytest.mark.parametrize("is_beam", [False, True], ids=["particles", "beam"])
@pytest.mark.parametrize("known", Known)
def test_long_sentences(known: Known, is_beam: bool, draws: int) -> None:
    """Records move to larger arrays; what is found has a single root."""
    toy = Toy(1)
    words, tags = toy.sentence(150 if draws > 1000 else 10, known)
    for size in (1, 200):
        log_prob, tree, _ = found_by(toy, words, tags, size, is_beam)
        assert -math.inf < log_prob < 0
        assert sum(head == 0 for head, _ in tree) == 1
        assert all(1 <= label <= toy.labels for _, label in tree)


def one_step(toy: Toy, word: int, tag: int, size: int, before: list[tuple[int, int]]) -> tuple[Arena, Any, Any]:
    """The arena and the items that wait and have shifted, after words with tags `before` and one step of the search."""
    arena, waiting, shifted, top = new_arena(20), new_particles(size), new_particles(size), ROOT
    for index, (other, its_tag) in enumerate(before, 1):
        top = shift(arena, top, index, its_tag, other)
    words, tags = as_arrays([*(other for other, _ in before), word], [*(its for _, its in before), tag])
    method = Search(new_predictor(toy.model, words, tags), 2 + TRIED, False, -math.inf, np.full(1, -math.inf))
    step(method, arena, len(words), Item(top, size, 0.0), waiting, shifted)
    return arena, waiting, shifted


def numbers_of(particles: Particles) -> list[int]:
    """How many particles the items have."""
    return particles.numbers[: particles.used[0]].tolist()


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("seed", range(6))
def test_particles_are_shared_out_by_probability(seed: int) -> None:
    """Of a stack of ROOT and two words: to shift its share, the rest to left-arc and right-arc by their masses."""
    toy, size = Toy(seed), 1000
    words, tags = toy.sentence(3)
    before = list(zip(words[:2], tags[:2], strict=True))
    arena, waiting, shifted = one_step(toy, words[2], tags[2], size, before)
    context = Configuration(3, toy.labels).after(SHIFT).after(SHIFT).context(toy.reference.action_elements, words, tags)
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
def test_no_worse_tag_gets_more_particles(seed: int) -> None:
    """Of the tags of a first word; what is rounded goes to the better ones."""
    toy = Toy(seed)
    for size in (1, 2, 3, 10, 1000):
        word = toy.sentence(1)[0][0]
        _, waiting, shifted = one_step(toy, word, NULL_SYMBOL, size, [])
        numbers, log_weights = numbers_of(shifted), shifted.weights[: shifted.used[0]]
        probs = np.exp(log_weights)
        assert waiting.used[0] == 0
        assert sum(numbers) == size
        assert numbers == sorted(numbers, reverse=True)
        assert (np.diff(log_weights) <= 0).all()
        if len(numbers) == TRIED:
            assert np.cumsum(numbers).tolist() == np.ceil(size * probs.cumsum() / probs.sum()).tolist()
