"""What an object keeps is there for all threads: what one is told never depends on what another asks meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from deptree_cli.core import repair
from deptree_cli.core.constrained import Constrained
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.rule_words import Condition, ForLabels, Mask, Masks, Words
from tests.interrupted import at_every_line

# What was asked before: the same question, so that the answer is known, or another one.
EACH = pytest.mark.parametrize("before", [0, 1], ids=["known", "anew"])


@EACH
def test_powers(graphs, before: int) -> None:
    shared = graphs.distribution(graphs.gaussian(4))
    ask, other = (lambda: shared.raised_to(2.0)), (lambda: shared.raised_to(3.0))
    expected = 2.0 * shared.factorisation.shifted.log_weights
    found = list(at_every_line(TreeDistribution.raised_to, ask, other, first=(ask, other)[before]))
    assert len(found) > 1
    for each in found:
        np.testing.assert_array_equal(each.log_scores, expected)


@EACH
def test_best_trees_under_rules(graphs, before: int) -> None:
    shared = Constrained(graphs.distribution(graphs.gaussian(4)), [])
    ask, other = (lambda: shared.best_trees(2)), (lambda: shared.best_trees(3))
    expected = [tree.heads.tolist() for tree in ask()]
    found = list(at_every_line(Constrained._search, ask, other, first=(ask, other)[before]))
    assert len(found) > 1
    for trees in found:
        assert [tree.heads.tolist() for tree in trees] == expected


@EACH
def test_what_follows_from_labels(before: int) -> None:
    shared = ForLabels[str]()
    ask, other = (lambda: shared.get(("a",), lambda: "of a")), (lambda: shared.get(("b",), lambda: "of b"))
    found = list(at_every_line(ForLabels.get, ask, other, first=(ask, other)[before]))
    assert len(found) > 1
    assert set(found) == {"of a"}


def test_the_table_of_a_shorter_sentence_comes_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread has begun to work it out before that of a longer one was kept, and keeps it while this is asked for."""
    short, long = (Words(("a",), [None] * n, [frozenset()] * n) for n in (2, 12))
    arcs, waits, threads = Mask.arcs, Event(), list[Thread]()

    def late(mask: Mask, words: Words) -> Any:
        begun.set()
        if words.n < 12:
            waits.wait(60)
        return arcs(mask, words)

    def finish() -> None:
        waits.set()
        threads[-1].join()

    def begin() -> None:
        nonlocal masks
        masks, thread = Masks([mask]), Thread(target=lambda: masks.forbidden(short))
        waits.clear()
        begun.clear()
        threads.append(thread)
        thread.start()
        begun.wait(60)
        masks.forbidden(long)

    monkeypatch.setattr(Mask, "arcs", late)
    begun, mask = Event(), Mask("far", Condition(("a",)), distance=(5, 12))
    masks = Masks([mask])
    expected = masks.forbidden(long)
    found = list(at_every_line(Masks._table, lambda: masks.forbidden(long), finish, first=begin))
    finish()
    assert len(found) > 1
    for each in found:
        np.testing.assert_array_equal(each, expected)


@EACH
def test_tables_of_labels_are_given_up(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(repair, "_KEPT", 1)
    shared = repair.Habits()
    shared.add(["DET", "NOUN"], [2, 0], ["det", "root"])
    names: Iterator[str] = map(str, range(1000))
    ask, other = (lambda: shared._label_table(("det", "root"))), (lambda: shared._label_table((next(names), "root")))
    expected = ask()
    for each in at_every_line(repair.Habits._label_table, ask, other, first=(ask, other)[before]):
        np.testing.assert_array_equal(each, expected)
