"""Parses of sentences without trees, found by a search or drawn: tags and derivations."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.configurations import read_actions, read_tree
from deptree_cli.hpyp.kernels.filter import draw_parse
from deptree_cli.hpyp.kernels.search import search
from deptree_cli.hpyp.model.training import are_derivations
from tests.hpyp.kernels.toy_models import Toy, as_arrays
from tests.hpyp.model.reference_parser import Configuration, Enumeration
from tests.pearson import chi_square

SampledParse = tuple[tuple[int, ...], tuple[int, ...]]


def unlabelled(actions: list[int], labels: int) -> tuple[int, ...]:
    """Actions without labels: 0 shifts, 1 is a left-arc, 2 a right-arc."""
    return tuple((action > 0) + (action > labels) for action in actions)


def sampled(toy: Toy, words: list[int], size: int, state) -> SampledParse:
    """The tags and the derivation of a parse that is drawn."""
    (numbers,) = as_arrays(words)
    tags, actions = np.full(len(words), 77, np.int32), np.full(2 * len(words), 77, np.int32)
    read_actions(*draw_parse(toy.model, numbers, size, state), actions, tags)
    assert are_derivations(np.array([0, len(words)]), toy.labels, actions)
    return tuple(tags.tolist()), unlabelled(actions.tolist(), toy.labels)


@pytest.mark.slow("statistics")
def test_parses_have_their_posterior(draws, state) -> None:
    """H0: tags and derivations, labels summed out, are drawn by their probabilities given three words.

    5,000 draws (150 in plain Python) with 3,000 particles each, so that what resampling distorts is far below what
    could be noticed; chi-square, parses expected fewer than five times pooled; p < 1e-6 by chance.
    """
    toy = Toy(5)
    words, _ = toy.sentence(3)
    probs: defaultdict[SampledParse, float] = defaultdict(float)
    for one in Enumeration(toy.reference, words, toy.candidates([0, 0, 0])).derivations:
        probs[one.tags, unlabelled(list(one.actions), toy.labels)] += one.prob
    found = Counter(sampled(toy, words, 3000, state) for _ in range(draws // 4))
    assert set(found) <= set(probs)
    expected = np.array(list(probs.values()))
    assert chi_square(np.array([found[parse] for parse in probs]), expected / expected.sum())[2] > 1e-6


@pytest.mark.parametrize("size", [1, 2, 10])
def test_few_particles_are_enough(size: int, state) -> None:
    """`sampled` checks what is drawn."""
    toy = Toy(6)
    assert len({sampled(toy, toy.sentence(n)[0], size, state) for n in (1, 2, 5, 9) for _ in range(5)}) > 4


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_actions_of_the_search_derive_its_tree(n: int) -> None:
    toy = Toy(7)
    (words,) = as_arrays(toy.sentence(n)[0])
    tags, actions = np.full(n, 77, np.int32), np.full(2 * n, 77, np.int32)
    arena, last, _ = search(toy.model, words, np.zeros(n, np.int32), 50, False)
    read_actions(arena, last, actions, tags)
    heads, deprels, expected = np.empty((3, n), np.int32)
    read_tree(arena, last, toy.labels, heads, deprels, expected)
    configuration = Configuration(n, toy.labels)
    for action in actions.tolist():
        configuration = configuration.after(action)
    assert configuration.tree() == tuple(zip(heads.tolist(), (deprels + 1).tolist(), strict=True))
    assert tags.tolist() == expected.tolist()
