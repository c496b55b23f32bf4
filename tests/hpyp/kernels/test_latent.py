"""Derivations drawn given their tree, against all derivations of the tree."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.filter import Grammar, Treebank, draw_derivation
from deptree_cli.hpyp.model.training import are_derivations
from tests.hpyp.kernels.toy_models import Toy, as_arrays
from tests.hpyp.model.reference_parser import Configuration, Enumeration, Tree, oracle_derivations
from tests.pearson import chi_square

# Of four words, with three derivations, three, two and one.
TREES: list[Tree] = [
    ((2, 1), (0, 2), (2, 1), (2, 2)),
    ((3, 1), (3, 2), (0, 1), (3, 2)),
    ((2, 1), (0, 1), (4, 2), (2, 2)),
    ((4, 2), (3, 1), (1, 1), (0, 2)),
]


def drawn(toy: Toy, words: list[int], tags: list[int], tree: Tree, size: int, state) -> tuple[int, ...]:
    """The actions of a derivation."""
    heads, deprels = zip(*((head, label - 1) for head, label in tree), strict=True)
    actions = np.full(2 * len(tree), 77, dtype=np.int32)
    codes = tuple(toy.contexts.codes(name) for name in ("action", "tag", "word"))
    treebank = Treebank(np.array([0, len(tree)]), *as_arrays(words, tags, list(heads), list(deprels)))
    draw_derivation(Grammar(toy.restaurants, codes, toy.labels), treebank, 0, size, state, actions)
    return tuple(actions.tolist())


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("lexicalised", [True, False], ids=["lexicalised", "unlexicalised"])
def test_derivations_have_their_posterior(tree: Tree, lexicalised: bool, draws, state) -> None:
    """H0: derivations are drawn by their probabilities given the tree.

    2,500 draws (75 in plain Python) with 1,000 particles each, so that what resampling distorts is far below what could
    be noticed; chi-square, derivations expected fewer than five times pooled; p < 1e-6 by chance.
    """
    toy = Toy(3, lexicalised=lexicalised)
    words, tags = toy.sentence(4)
    exact = Enumeration(toy.reference, words, [[tag] for tag in tags])
    probs = {one.actions: one.prob for one in exact.derivations if one.tree == tree}
    assert set(probs) == {tuple(actions) for actions in oracle_derivations(tree, toy.labels)}
    found = Counter(drawn(toy, words, tags, tree, 1000, state) for _ in range(draws // 8))
    assert set(found) <= set(probs)
    expected = np.array(list(probs.values()))
    assert chi_square(np.array([found[actions] for actions in probs]), expected / expected.sum())[2] > 1e-6


@pytest.mark.parametrize("size", [1, 2, 10])
def test_with_few_particles(size: int, state) -> None:
    """Whatever is drawn derives the tree."""
    toy = Toy(4)
    for tree in TREES:
        words, tags = toy.sentence(4)
        derivations = {tuple(actions) for actions in oracle_derivations(tree, toy.labels)}
        assert {drawn(toy, words, tags, tree, size, state) for _ in range(20)} <= derivations


def is_derivation(n: int, labels: int, actions: tuple[int, ...]) -> bool:
    """Whether every action is legal when its turn comes, and none is left at the end."""
    configuration = Configuration(n, labels)
    for action in actions:
        if action not in configuration.legal():
            return False
        configuration = configuration.after(action)
    return not configuration.legal()


@pytest.mark.parametrize(("n", "labels"), [(1, 2), (2, 1), (2, 2), (3, 1)])
def test_what_is_a_derivation(n: int, labels: int) -> None:
    """Every sequence of 2 n actions, and numbers that are none."""
    cuts, found = np.array([0, n]), 0
    for actions in product(range(-1, 2 * labels + 2), repeat=2 * n):
        expected = is_derivation(n, labels, actions)
        assert are_derivations(cuts, labels, np.array(actions, dtype=np.int32)) == expected, actions
        found += expected
    assert found > 0


def test_derivations_of_several_sentences() -> None:
    """Each by itself: what one shifts too often another cannot make up for."""
    cuts = np.array([0, 1, 3])
    for actions, expected in {(0, 2, 0, 0, 1, 2): True, (0, 0, 2, 2, 0, 2): False, (0, 2, 0, 0, 1, 1): False}.items():
        assert are_derivations(cuts, 1, np.array(actions, dtype=np.int32)) == expected
