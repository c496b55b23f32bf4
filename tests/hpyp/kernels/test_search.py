"""The search for the most probable derivation, against all derivations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import ACTION, ROOT
from deptree_cli.hpyp.kernels.configurations import begin, read_tree, shift
from deptree_cli.hpyp.kernels.items import new_items, put
from deptree_cli.hpyp.kernels.model import TRIED, new_workspace
from deptree_cli.hpyp.kernels.search import best_tags, expand, search, share_among_tags
from tests.hpyp.kernels.toy_models import Known, Toy, as_arrays
from tests.hpyp.model.reference_parser import Configuration, Derivation, Enumeration, Tree

MANY = 200_000  # particles: as many as none of the derivations of a toy's sentence ends without one


def found_by(
    toy: Toy, words: list[int], tags: list[int], size: int, find: Callable[..., Any] = search
) -> tuple[float, Tree, list[int]]:
    """The log-probability, the tree and the tags that a kernel finds."""
    heads, deprels, found_tags = np.full((3, len(words)), 77, dtype=np.int32)
    records, last, log_prob = find(toy.model, *as_arrays(words, tags), size)
    read_tree(records, last, toy.labels, heads, deprels, found_tags)
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


KINDS = (True, Known.ALL), (True, Known.NONE), (True, Known.SOME), (False, Known.ALL), (False, Known.SOME)
CASES = [(seed, *kind) for seed in range(8) for kind in KINDS]


def case(seed: int, lexicalised: bool, known: Known) -> tuple[Toy, list[int], list[int]]:
    """A model, and a sentence with tags, null for those that are to be predicted."""
    toy = Toy(seed, lexicalised=lexicalised)
    return toy, *toy.sentence(4 if known is Known.ALL else 3, known)


@pytest.mark.parametrize(("seed", "lexicalised", "known"), CASES)
def test_with_very_many_particles(seed: int, lexicalised: bool, known: Known) -> None:
    """The best of the derivations that end greedily: of the labels of an arc only the best can be part of it."""
    toy, words, tags = case(seed, lexicalised, known)
    exact = enumerated(toy, words, tags)
    best = max((one for one in exact.derivations if is_greedy_at_the_end(toy, words, one)), key=lambda one: one.prob)
    log_prob, tree, found_tags = found_by(toy, words, tags, MANY)
    assert log_prob == pytest.approx(math.log(best.prob), abs=1e-9)
    assert (tree, tuple(found_tags)) == (best.tree, best.tags)


@pytest.mark.slow("statistics")
def test_the_best_derivation_of_all_is_found_most_times() -> None:
    """In most toys it is one that ends greedily."""
    found = 0
    for seed, lexicalised, known in CASES:
        toy, words, tags = case(seed, lexicalised, known)
        best = enumerated(toy, words, tags).best()
        found += found_by(toy, words, tags, MANY)[1] == best.tree
    assert found > 0.8 * len(CASES)


@pytest.mark.parametrize(("seed", "lexicalised", "known"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 100])
def test_with_few_particles(seed: int, lexicalised: bool, known: Known, size: int) -> None:
    """What is found is a derivation of that tree with those tags, and its probability is the one returned."""
    toy, words, tags = case(seed, lexicalised, known)
    exact = enumerated(toy, words, tags)
    log_prob, tree, found_tags = found_by(toy, words, tags, size)
    probs = [one.prob for one in exact.derivations if (one.tree, one.tags) == (tree, tuple(found_tags))]
    assert any(log_prob == pytest.approx(math.log(prob), abs=1e-9) for prob in probs)
    assert log_prob <= math.log(exact.best().prob) + 1e-9


@pytest.mark.parametrize("known", Known)
def test_long_sentences(known: Known, draws: int) -> None:
    """Records and items move to larger arrays; what is found has a single root."""
    toy = Toy(1)
    words, tags = toy.sentence(150 if draws > 1000 else 10, known)
    for size in (1, 1000):
        log_prob, tree, _ = found_by(toy, words, tags, size)
        assert -math.inf < log_prob < 0
        assert sum(head == 0 for head, _ in tree) == 1
        assert all(1 <= label <= toy.labels for _, label in tree)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("seed", range(6))
def test_particles_are_shared_out_by_probability(seed: int) -> None:
    """Of a stack of ROOT and two words: to shift its share, the rest to left-arc and right-arc by their masses."""
    toy, size = Toy(seed), 1000
    words, tags = toy.sentence(3)
    workspace, (records, _) = new_workspace(toy.model), begin(9)
    shift(records, 2, ROOT, 1, tags[0], words[0])
    shift(records, 3, 2, 2, tags[1], words[1])
    waiting, shifted = new_items(size), new_items(size)
    put(waiting, 0, 3, size, 0.0)
    waits, total, used = expand(toy.model, records, 4, 3, words[2], tags[2], workspace, waiting, 0, shifted, 0)
    context = Configuration(3, toy.labels).after(0).after(0).context(toy.reference.action_elements, words, tags)
    probs = np.array(toy.reference.action(context))
    to_shift, to_left, to_right = probs[0], probs[1 : toy.labels + 1].sum(), probs[toy.labels + 1 :].sum()
    found = {"shift" if total else "none": shifted.particles[0]}
    found |= {int(records[waiting.tops[i], ACTION] > toy.labels): waiting.particles[i] for i in range(waits)}
    going = size - found["shift"]
    assert found["shift"] == pytest.approx(size * to_shift, abs=0.51)
    assert found.get(0, 0) == pytest.approx(going * to_left / (to_left + to_right), abs=0.51)
    assert found.get(1, 0) == going - found.get(0, 0)
    assert used == 5 + waits


@pytest.mark.parametrize(
    ("weights", "particles", "expected"),
    [
        ((0.4, 0.3, 0.3), 1, [1]),
        ((0.45, 0.4, 0.15), 1, [1]),
        ((0.58, 0.29, 0.13), 10, [6, 3, 1]),
        ((0.5, 0.5), 3, [2, 1]),
    ],
)
def test_no_worse_tag_gets_more_particles(weights: tuple[float, ...], particles: int, expected: list[int]) -> None:
    (records, _), shifted, best = begin(9), new_items(10), np.empty(TRIED, dtype=np.int64)
    by_tag = np.array([0.0, 0.0, *weights])
    best_tags(by_tag, 2, len(by_tag), best)
    count, used = share_among_tags(records, 2, 1, 5, by_tag, best, ROOT, particles, 0.0, shifted, 0)
    assert shifted.particles[:count].tolist() == expected
    assert used == 2 + count
