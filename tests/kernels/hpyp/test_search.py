"""The search for the most probable derivation, against all derivations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deptree_cli.kernels.hpyp.search import find_tree
from tests.core.hpyp.reference_parser import Configuration, Derivation, Enumeration, Tree
from tests.kernels.hpyp.toy_models import Toy, as_arrays

MANY = 200_000  # particles: as many as none of the derivations of a toy's sentence ends without one


def found_by(toy: Toy, words: list[int], tags: list[int], predicts: bool, size: int) -> tuple[float, Tree, list[int]]:
    """The log-probability, the tree and the tags that the kernel finds."""
    heads, deprels, found_tags = np.full((3, len(words)), 77, dtype=np.int32)
    log_prob = find_tree(toy.model, *as_arrays(words, tags), predicts, size, heads, deprels, found_tags)
    tree = tuple(zip(heads.tolist(), (deprels + 1).tolist(), strict=True))
    return log_prob, tree, found_tags.tolist()


def enumerated(toy: Toy, words: list[int], tags: list[int], predicts: bool) -> Enumeration:
    """All derivations, with the tags given or with all tags."""
    candidates = toy.candidates(len(words)) if predicts else [[tag] for tag in tags]
    return Enumeration(toy.reference, words, candidates)


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


CASES = [(seed, lexicalised, predicts) for seed in range(8) for lexicalised, predicts in ((1, 0), (1, 1), (0, 0))]


def case(seed: int, lexicalised: int, predicts: int) -> tuple[Toy, list[int], list[int], bool]:
    """A model, a sentence with tags, and whether these are to be predicted."""
    toy = Toy(seed, lexicalised=bool(lexicalised))
    words, tags = toy.sentence(3 if predicts else 4)
    return toy, words, tags, bool(predicts)


@pytest.mark.parametrize(("seed", "lexicalised", "predicts"), CASES)
def test_with_very_many_particles(seed: int, lexicalised: int, predicts: int) -> None:
    """The best of the derivations that end greedily: of the labels of an arc only the best can be part of it."""
    toy, words, tags, predicts = case(seed, lexicalised, predicts)
    exact = enumerated(toy, words, tags, predicts)
    best = max((one for one in exact.derivations if is_greedy_at_the_end(toy, words, one)), key=lambda one: one.prob)
    log_prob, tree, found_tags = found_by(toy, words, tags, predicts, MANY)
    assert log_prob == pytest.approx(math.log(best.prob), abs=1e-9)
    assert (tree, tuple(found_tags)) == (best.tree, best.tags)


def test_the_best_derivation_of_all_is_found_most_times() -> None:
    """In most toys it is one that ends greedily."""
    found = 0
    for seed, lexicalised, predicts in CASES:
        toy, words, tags, predicts = case(seed, lexicalised, predicts)
        best = enumerated(toy, words, tags, predicts).best()
        found += found_by(toy, words, tags, predicts, MANY)[1] == best.tree
    assert found > 0.8 * len(CASES)


@pytest.mark.parametrize(("seed", "lexicalised", "predicts"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 100])
def test_with_few_particles(seed: int, lexicalised: int, predicts: int, size: int) -> None:
    """What is found is a derivation of that tree with those tags, and its probability is the one returned."""
    toy, words, tags, predicts = case(seed, lexicalised, predicts)
    exact = enumerated(toy, words, tags, predicts)
    log_prob, tree, found_tags = found_by(toy, words, tags, predicts, size)
    probs = [one.prob for one in exact.derivations if (one.tree, one.tags) == (tree, tuple(found_tags))]
    assert any(log_prob == pytest.approx(math.log(prob), abs=1e-9) for prob in probs)
    assert log_prob <= math.log(exact.best().prob) + 1e-9


@pytest.mark.parametrize("predicts", [False, True])
def test_long_sentences(predicts: bool, draws: int) -> None:
    """Records and items move to larger arrays; what is found has a single root."""
    toy = Toy(1)
    words, tags = toy.sentence(150 if draws > 1000 else 10)
    for size in (1, 1000):
        log_prob, tree, _ = found_by(toy, words, tags, predicts, size)
        assert -math.inf < log_prob < 0
        assert sum(head == 0 for head, _ in tree) == 1
        assert all(1 <= label <= toy.labels for _, label in tree)
