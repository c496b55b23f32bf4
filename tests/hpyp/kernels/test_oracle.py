"""Oracles against the reference, on all trees of short sentences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import space
from deptree_cli.hpyp.kernels.columns import ROOT
from deptree_cli.hpyp.kernels.configurations import (
    choices,
    derive,
    new_arena,
    record_events,
    reduce,
    shift,
    tree_of,
)
from deptree_cli.hpyp.model.sentences import LEXICALISED
from tests.hpyp.model.reference_parser import SHIFT, Configuration, Tree, oracle_derivations, static_oracle

PROJECTIVE = space(single_root=True, projective=True)
SIZES = pytest.mark.parametrize(("n", "labels"), [(1, 3), (2, 2), (3, 2), (4, 1), (5, 1), (6, 1)])


def trees(n: int, labels: int) -> list[Tree]:
    """All labelled projective trees with one root."""
    every = product(all_trees(n, PROJECTIVE).tolist(), product(range(1, labels + 1), repeat=n))
    return [tuple(zip(heads, own, strict=True)) for heads, own in every]


def derivation_of(tree: Tree, labels: int) -> list[int] | None:
    """What the kernel derives, or None."""
    heads = np.array([head for head, _ in tree], dtype=np.int32)
    deprels = np.array([label - 1 for _, label in tree], dtype=np.int32)
    actions = np.full(2 * len(tree), 77, dtype=np.int32)
    return actions.tolist() if derive(np.array([0, len(tree)]), heads, deprels, labels, actions) else None


@SIZES
def test_arcs_are_made_as_soon_as_they_can(n: int, labels: int) -> None:
    for tree in trees(n, labels):
        assert derivation_of(tree, labels) == static_oracle(tree, labels)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_several_roots_have_a_derivation_and_crossing_arcs_have_none(n: int) -> None:
    """Kernels leave it to others to refuse several roots; the derivation is that of a parser which may make them."""
    projective = {tuple(heads) for heads in all_trees(n, space(single_root=False, projective=True)).tolist()}
    for heads in all_trees(n, space(single_root=False)).tolist():
        tree = tuple((head, 1) for head in heads)
        expected = static_oracle(tree, 1, single_root=False) if tuple(heads) in projective else None
        assert derivation_of(tree, 1) == expected


def allowed_derivations(tree: Tree) -> set[tuple[int, ...]]:
    """Every derivation that `choices` lets pass, labels being 1."""
    n = len(tree)
    kernels_tree = tree_of(np.array([head for head, _ in tree], dtype=np.int32), np.zeros(n, dtype=np.int32), 1)
    arena = new_arena(10_000)
    found, waiting = set(), [(ROOT, 0, ())]
    while waiting:
        top, shifted, actions = waiting.pop()
        if len(actions) == 2 * n:
            found.add(actions)
            continue
        may_shift, reduction = choices(arena, top, shifted, kernels_tree)
        assert may_shift or reduction != SHIFT
        if may_shift:
            waiting.append((shift(arena, top, shifted + 1, 0, 0), shifted + 1, (*actions, SHIFT)))
        if reduction != SHIFT:
            waiting.append((reduce(arena, top, reduction, 1), shifted, (*actions, int(reduction))))
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_derivations_that_are_allowed_are_those_of_the_tree(n: int) -> None:
    for tree in trees(n, 1):
        assert allowed_derivations(tree) == {tuple(actions) for actions in oracle_derivations(tree, 1)}


CODES = tuple(LEXICALISED.codes(name) for name in ("action", "tag", "word"))


def expected_events(tree: Tree, words: list[int], tags: list[int], actions: list[int]) -> list[list[tuple[int, ...]]]:
    """The contexts of actions, tags and words along a derivation."""
    configuration, found = Configuration(len(tree), 2), [[], [], []]
    for action in actions:
        found[0].append(configuration.context(LEXICALISED.action, words, tags))
        if action == SHIFT:
            found[1].append(configuration.context(LEXICALISED.tag, words, tags))
            found[2].append(configuration.context(LEXICALISED.word, words, tags))
        configuration = configuration.after(action)
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_events_of_every_derivation(n: int) -> None:
    words, tags = [12, 13, 14, 15][:n], [22, 23, 24, 25][:n]
    for tree in trees(n, 1):
        for actions in oracle_derivations(tree, 2):
            arrays = [np.array(numbers, dtype=np.int32) for numbers in (words, tags, actions)]
            found = record_events(np.array([0, n]), *arrays[:2], 2, arrays[2], CODES)
            expected = expected_events(tree, words, tags, actions)
            assert [list(map(tuple, contexts.tolist())) for contexts in found] == expected


def test_many_sentences_at_once() -> None:
    """The same as one by one; a tree without a derivation does not disturb the others."""
    rng, labels = np.random.default_rng(5), 2
    chosen = [every[int(rng.integers(len(every)))] for every in (trees(n, 2) for n in (3, 1, 4, 2))]
    chosen.insert(2, ((3, 1), (4, 1), (0, 1), (3, 1)))  # 3 -> 1 and 4 -> 2 cross
    cuts = np.cumsum([0, *map(len, chosen)])
    heads = np.array([head for tree in chosen for head, _ in tree], dtype=np.int32)
    deprels = np.array([label - 1 for tree in chosen for _, label in tree], dtype=np.int32)
    actions = np.zeros(2 * cuts[-1], dtype=np.int32)
    assert not derive(cuts, heads, deprels, labels, actions)
    words, tags = rng.integers(2, 9, (2, cuts[-1])).astype(np.int32)
    for number in (0, 1, 3, 4):
        first, last = cuts[number], cuts[number + 1]
        own = actions[2 * first : 2 * last].tolist()
        assert own == static_oracle(chosen[number], labels)
        ids = words[first:last], tags[first:last]
        contexts = record_events(cuts[number : number + 2] - first, *ids, labels, actions[2 * first : 2 * last], CODES)
        expected = expected_events(chosen[number], *(array.tolist() for array in ids), own)
        for rows, events in zip(contexts, expected, strict=True):
            assert list(map(tuple, rows.tolist())) == events
