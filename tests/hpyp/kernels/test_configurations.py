"""Linked records against the reference's tuples, in every configuration of short sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import BELOW, INDEX, RECORD, ROOT, SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    Arena,
    context_of,
    legal,
    new_arena,
    read_actions,
    read_tree,
    reduce,
    shift,
    tidied,
    with_room,
)
from deptree_cli.hpyp.kernels.search import new_particles, put
from deptree_cli.hpyp.model.sentences import ELEMENTS
from tests.hpyp.model.reference_parser import Configuration

WORDS, TAGS = [11, 12, 13, 14], [21, 22, 23, 24]
SIZES = pytest.mark.parametrize(("n", "labels"), [(1, 2), (2, 2), (3, 2), (4, 1)])


class Walk:
    """All derivations side by side in one arena, as they share what they have in common."""

    def __init__(self, n: int, labels: int) -> None:
        self.labels = labels
        self.arena = new_arena(20_000)
        self.start = Configuration(n, labels)

    def steps(
        self, configuration: Configuration | None = None, top: int = ROOT, actions: tuple[int, ...] = ()
    ) -> Iterator[tuple[Configuration, int, tuple[int, ...]]]:
        """Every configuration, its record, and the actions that led to it."""
        configuration = configuration or self.start
        yield configuration, top, actions
        for action in configuration.legal():
            if action == SHIFT:
                word = configuration.shifted
                new = shift(self.arena, top, word + 1, TAGS[word], WORDS[word])
            else:
                new = reduce(self.arena, top, action, self.labels)
            yield from self.steps(configuration.after(action), new, (*actions, action))


def stack_of(arena: Arena, top: int) -> tuple[int, ...]:
    """The positions of the words on a stack, top last."""
    found: list[int] = []
    while arena.records[top, INDEX] >= 0:
        found.insert(0, int(arena.records[top, INDEX]))
        top = arena.records[top, BELOW]
    return tuple(found)


@SIZES
def test_stacks_and_contexts(n: int, labels: int) -> None:
    """Every element in every configuration, with the next tag if there is a next word."""
    walk, names = Walk(n, labels), list(ELEMENTS)
    codes, found = np.array(list(ELEMENTS.values())), np.empty(len(names), dtype=np.int32)
    seen = set()
    for configuration, top, _ in walk.steps():
        assert stack_of(walk.arena, top) == configuration.stack
        next_tag = TAGS[configuration.shifted] if configuration.shifted < n else 0
        context_of(walk.arena, top, codes, next_tag, found)
        assert tuple(found.tolist()) == configuration.context(names, WORDS, TAGS)
        seen |= set(found.tolist())
    assert seen == {0, 1, *WORDS[:n], *TAGS[:n]}


@SIZES
def test_legal_actions(n: int, labels: int) -> None:
    walk = Walk(n, labels)
    for configuration, top, _ in walk.steps():
        expected = configuration.legal()
        kinds = SHIFT in expected, 1 in expected, labels + 1 in expected
        assert tuple(map(bool, legal(walk.arena, top, configuration.shifted < n))) == kinds


@SIZES
def test_derivations_are_read_backwards(n: int, labels: int) -> None:
    """The tree, the tags and the actions of complete derivations, after all others have been written too."""
    walk = Walk(n, labels)
    for configuration, top, actions in list(walk.steps()):
        found_actions, found_tags = np.full(len(actions), 77), np.full(configuration.shifted, 77)
        read_actions(walk.arena, top, found_actions, found_tags)
        assert found_actions.tolist() == list(actions)
        assert found_tags.tolist() == TAGS[: configuration.shifted]
        if not configuration.legal():
            heads, deprels, tags = np.full((3, n), 77)
            read_tree(walk.arena, top, labels, heads, deprels, tags)
            assert tuple(zip(heads.tolist(), (deprels + 1).tolist(), strict=True)) == configuration.tree()
            assert tags.tolist() == TAGS[:n]


def test_records_keep_their_places_when_they_move() -> None:
    arena = Arena(np.arange(10 * RECORD, dtype=np.int32).reshape(10, RECORD), np.array([6]))
    assert np.shares_memory(with_room(arena, 4).records, arena.records)
    arena.used[0] = 9
    larger = with_room(arena, 2)
    assert larger.records.shape[0] >= 11
    assert larger.used[0] == 9
    np.testing.assert_array_equal(larger.records[:9], arena.records[:9])


@SIZES
def test_tidied_records_keep_the_derivations_under_way(n: int, labels: int) -> None:
    """Every third derivation stays, twice even, with its actions and its stack; there is room for twice as many."""
    walk = Walk(n, labels)
    kept = [(top, actions) for _, top, actions in walk.steps()][::3] * 2
    stacks, particles = [stack_of(walk.arena, top) for top, _ in kept], new_particles(len(kept))
    for top, _ in kept:
        put(particles, top, 1, 0.0)
    full = Arena(walk.arena.records[: walk.arena.used[0]].copy(), walk.arena.used.copy())
    arena = tidied(full, particles)
    assert arena.used[0] <= walk.arena.used[0]
    assert len(arena.records) >= 3 * arena.used[0]
    for top, stack, (_, actions) in zip(particles.tops.tolist(), stacks, kept, strict=True):
        found = np.empty(len(actions), dtype=np.int32)
        read_actions(arena, top, found, np.empty(n, dtype=np.int32))
        assert tuple(found.tolist()) == actions
        assert stack_of(arena, top) == stack


def test_records_stay_as_they_are_while_there_is_room() -> None:
    arena, particles = Walk(2, 1).arena, new_particles(1)
    put(particles, ROOT, 1, 0.0)
    assert np.shares_memory(tidied(arena, particles).records, arena.records)
    assert particles.tops[0] == ROOT
