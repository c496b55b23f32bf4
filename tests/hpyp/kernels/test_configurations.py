"""Linked records, oracles and lifted arcs against the reference, on all configurations and trees of short sentences."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from numba import config

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import space
from deptree_cli.hpyp.kernels.columns import BELOW, INDEX, RECORD, ROOT
from deptree_cli.hpyp.kernels.configurations import (
    Arena,
    choices,
    context_of,
    derive,
    legal,
    new_arena,
    projectivise,
    read_actions,
    read_tree,
    reduce,
    shift,
    tidied,
    tree_of,
    with_room,
)
from deptree_cli.hpyp.kernels.search import new_particles, put
from deptree_cli.hpyp.model.sentences import ELEMENTS
from tests.hpyp.reference import SHIFT, Configuration, derivations_of, static_derivation
from tests.hpyp.toys import as_arrays

WORDS, TAGS = [11, 12, 13, 14], [21, 22, 23, 24]
SIZES = pytest.mark.parametrize(("n", "labels"), [(1, 2), (2, 2), (3, 2), (4, 1)])


def steps(arena, configuration, top=ROOT, actions=()):
    """Every configuration, its record, and the actions that led to it: all share one arena, and what is common."""
    yield configuration, top, actions
    for action in configuration.legal():
        if action == SHIFT:
            word = configuration.shifted
            new = shift(arena, top, word + 1, TAGS[word], WORDS[word])
        else:
            new = reduce(arena, top, action, configuration.labels)
        yield from steps(arena, configuration.after(action), new, (*actions, action))


def stack_of(arena, top):
    """The positions of the words on a stack, top last."""
    found = []
    while arena.records[top, INDEX] >= 0:
        found.insert(0, int(arena.records[top, INDEX]))
        top = arena.records[top, BELOW]
    return tuple(found)


@SIZES
def test_every_configuration(n, labels):
    """Its stack, every element of contexts, and what is legal; read backwards its actions, its tags, and its tree.

    All projective trees are derived, in all the ways that the reference finds from the tree.
    """
    arena, names, seen, derived = new_arena(20_000), list(ELEMENTS), set(), defaultdict(list)
    codes, found = np.array(list(ELEMENTS.values())), np.empty(len(names), dtype=np.int32)
    for configuration, top, actions in list(steps(arena, Configuration(n, labels))):
        assert stack_of(arena, top) == configuration.stack
        next_tag = TAGS[configuration.shifted] if configuration.shifted < n else 0
        context_of(arena, top, codes, next_tag, found)
        assert tuple(found.tolist()) == configuration.context(names, WORDS, TAGS)
        seen |= set(found.tolist())
        expected = configuration.legal()
        kinds = SHIFT in expected, 1 in expected, labels + 1 in expected
        assert tuple(map(bool, legal(arena, top, configuration.shifted < n))) == kinds
        found_actions, found_tags = np.full(len(actions), 77), np.full(configuration.shifted, 77)
        read_actions(arena, top, found_actions, found_tags)
        assert found_actions.tolist() == list(actions)
        assert found_tags.tolist() == TAGS[: configuration.shifted]
        if not expected:
            heads, deprels, tags = np.full((3, n), 77)
            read_tree(arena, top, labels, heads, deprels, tags)
            assert tuple(zip(heads.tolist(), (deprels + 1).tolist(), strict=True)) == configuration.tree()
            assert tags.tolist() == TAGS[:n]
            derived[configuration.tree()].append(actions)
    assert derived == {tree: [*derivations_of(tree, labels)] for tree in trees(n, labels)}
    assert seen == {0, 1, *WORDS[:n], *TAGS[:n]}


def test_records_keep_their_places_when_they_move():
    arena = Arena(np.arange(10 * RECORD, dtype=np.int32).reshape(10, RECORD), np.array([6]))
    assert np.shares_memory(with_room(arena, 4).records, arena.records)
    arena.used[0] = 9
    larger = with_room(arena, 2)
    assert larger.records.shape[0] >= 11
    assert larger.used[0] == 9
    np.testing.assert_array_equal(larger.records[:9], arena.records[:9])
    roomy, particles = new_arena(20_000), new_particles(1)
    put(particles, ROOT, 1, 0.0)
    assert np.shares_memory(tidied(roomy, particles).records, roomy.records)
    assert particles.tops[0] == ROOT


@SIZES
def test_tidied_records_keep_the_derivations_under_way(n, labels):
    """Every third derivation stays, twice even, with its actions and its stack; there is room for twice as many."""
    walk = new_arena(20_000)
    kept = [(top, actions) for _, top, actions in steps(walk, Configuration(n, labels))][::3] * 2
    stacks, particles = [stack_of(walk, top) for top, _ in kept], new_particles(len(kept))
    for top, _ in kept:
        put(particles, top, 1, 0.0)
    arena = tidied(Arena(walk.records[: walk.used[0]].copy(), walk.used.copy()), particles)
    assert arena.used[0] <= walk.used[0]
    assert len(arena.records) >= 3 * arena.used[0]
    for top, stack, (_, actions) in zip(particles.tops.tolist(), stacks, kept, strict=True):
        found = np.empty(len(actions), dtype=np.int32)
        read_actions(arena, top, found, np.empty(n, dtype=np.int32))
        assert tuple(found.tolist()) == actions
        assert stack_of(arena, top) == stack


def trees(n, labels):
    """All labelled projective trees with one root."""
    every = all_trees(n, space(single_root=True, projective=True)).tolist()
    return [
        tuple(zip(heads, own, strict=True)) for heads, own in product(every, product(range(1, labels + 1), repeat=n))
    ]


def arrays_of(tree):
    """Heads, and labels from 0."""
    return as_arrays([head for head, _ in tree], [label - 1 for _, label in tree])


@pytest.mark.parametrize(("n", "labels"), [(1, 3), (2, 2), (3, 2), (4, 1), (5, 1)])
def test_arcs_are_made_as_soon_as_they_can(n, labels):
    for tree in trees(n, labels):
        actions = np.full(2 * n, 77, dtype=np.int32)
        assert derive(np.array([0, n]), *arrays_of(tree), labels, actions)
        assert tuple(actions.tolist()) == static_derivation(tree, labels)
    crossing = ((3, 1), (4, 1), (0, 1), (3, 1))
    assert not derive(np.array([0, 4]), *arrays_of(crossing), 1, np.zeros(8, dtype=np.int32))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_derivations_that_are_allowed_are_those_of_the_tree(n):
    """Every derivation that `choices` lets pass, labels being 1."""
    for tree in trees(n, 1):
        arena, kernels_tree = new_arena(10_000), tree_of(*arrays_of(tree), 1)
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
        assert found == {*derivations_of(tree, 1)}


def crossed_arcs(heads):
    """(length, dependent) of every arc with a word between its ends that is not below its head: the definition."""
    below = [set() for _ in range(len(heads) + 1)]
    for word in range(1, len(heads) + 1):
        above = word
        while above:
            above = heads[above - 1]
            below[above].add(word)
    return [
        (abs(head - word), word)
        for word, head in enumerate(heads, 1)
        if not set(range(min(head, word) + 1, max(head, word))) <= below[head]
    ]


def check_lifts(heads):
    """The shortest crossing arc goes first, of equally short ones that of the leftmost dependent; how many go."""
    expected, lifts, found = heads.tolist(), 0, heads.copy()
    while arcs := crossed_arcs(expected):
        _, word = min(arcs)
        expected[word - 1] = expected[expected[word - 1] - 1]
        lifts += 1
    assert projectivise(found) == lifts
    assert found.tolist() == expected
    return lifts


def test_every_small_tree_is_made_projective():
    """Every tree of up to 5 words, with one root or more."""
    for n in range(1, 4 if config.DISABLE_JIT else 6):
        lifts = [check_lifts(heads) for heads in all_trees(n, space(single_root=False))]
        assert n < 4 or max(lifts) >= 1


def test_random_trees_are_made_projective():
    """100 trees of 2 to 40 words, each word under a random one of those before it in a random order."""
    rng, lifts = np.random.default_rng(5), 0
    for _ in range(100):
        n = int(rng.integers(2, 41))
        order = rng.permutation(n)
        heads = np.zeros(n, dtype=np.int32)
        for rank in range(1, n):
            heads[order[rank]] = order[rng.integers(rank)] + 1
        lifts += check_lifts(heads)
    assert lifts > 1000
