"""What trees that were counted make probable."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from deptree_cli.core.repair import ADDED, FREE, KINDS, STAYS, Costs, Given, Habits, distances

TAGS = ["DET", "NOUN", "VERB"]


def counted() -> Habits:
    """Two trees: the cat sleeps, twice."""
    found = Habits()
    for _ in range(2):
        found.add(TAGS, [2, 3, 0], ["det", "nsubj", "root"])
    return found


def test_an_arc_is_as_probable_as_it_was_counted() -> None:
    """Of DET: its head was a NOUN next to it on the right, 2 times of 2."""
    scores = counted().arcs(TAGS)
    assert scores[2, 1] == pytest.approx(np.log((2 + ADDED) / (2 + KINDS * ADDED)))
    assert scores[3, 1] == pytest.approx(np.log(ADDED / 2 / (2 + KINDS * ADDED)))
    assert scores[0, 3] == pytest.approx(np.log((2 + ADDED) / (2 + KINDS * ADDED)))


def test_a_label_is_as_probable_as_it_was_counted_and_more_if_it_was_given() -> None:
    names = ("det", "nsubj", "obj", "root")
    free = Given([FREE] * 3, [""] * 3)
    scores = counted().label_scores(TAGS, names, free)
    assert np.exp(scores[2, 1]).sum() == pytest.approx(1)
    assert scores[3, 2].argmax() == 1
    given = counted().label_scores(TAGS, names, Given([FREE] * 3, ["", "dobj", ""], [(), ["obj"], ()]))
    np.testing.assert_allclose(given[:, 2, 2] - scores[:, 2, 2], STAYS - 1)
    np.testing.assert_array_equal(given[:, 1], scores[:, 1])


def test_near_heads_are_likelier_where_nothing_was_counted() -> None:
    scores = Habits().arcs(["NOUN"] * 5)
    assert scores[2, 1] > scores[3, 1] > scores[5, 1]


def test_counts_add_up_and_travel() -> None:
    """Counts of parts are those of the whole, in any order, also after pickling; an unknown tag has no habits."""
    whole, part = counted(), Habits()
    part.add(TAGS, [2, 3, 0], ["det", "nsubj", "root"])
    sum_of_parts = Habits()
    for each in (part, pickle.loads(pickle.dumps(part))):
        sum_of_parts += each
    np.testing.assert_array_equal(sum_of_parts.arcs([*TAGS, "X", None]), whole.arcs([*TAGS, "X", None]))
    assert sum_of_parts.names(Given([0], [""])) == ("dep", "det", "nsubj", "root")
    assert whole
    assert not Habits()
    side_by_side = Habits()
    side_by_side.add([*TAGS, *TAGS], [2, 3, 0, 5, 6, 0], ["det", "nsubj", "root"] * 2)
    np.testing.assert_array_equal(side_by_side.arcs(TAGS), whole.arcs(TAGS))
    np.testing.assert_array_equal(side_by_side._arrays[3], whole._arrays[3])


def test_what_is_counted_later_counts() -> None:
    """Also by habits that were asked before."""
    later, added = Habits(), Habits()
    empty = later.arcs(TAGS), added.arcs(TAGS)
    later.add(TAGS, [2, 3, 0], ["det", "nsubj", "root"])
    added += later
    for found, before in zip((later, added), empty, strict=True):
        assert found.arcs(TAGS)[2, 1] > before[2, 1]
        assert found.names(Given([0], [""])) == ("dep", "det", "nsubj", "root")


def test_labels_are_those_counted_given_asked_for_and_meant() -> None:
    """A label of UD v1 means one of v2 if rules name that; without labels at all there are none, or what rules name."""
    given = Given([0], ["dobj"], [["obj"]])
    assert counted().names(given, ["obj"]) == ("dep", "det", "dobj", "nsubj", "obj", "root")
    passive = Given([2, 0], ["nsubjpass", "root"], [["nsubj:pass", "nsubj"], []])
    assert Habits().names(passive, ["nsubj"]) == ("dep", "nsubj", "nsubj:pass", "nsubjpass", "root")
    assert Habits().names(passive) == ("dep", "nsubjpass", "root")
    assert Habits().names(Given([0], [""])) == ("",)
    assert Habits().names(Given([0], [""]), ["obj"]) == ("dep", "obj", "root")
    assert Habits().names(Given([0, 0], ["root", "root"])) == ("dep", "root")


def test_dep_is_the_label_of_last_resort() -> None:
    """Likelier than what was not counted, less likely than what was, once, of the same part of speech."""
    names, free = ("acl", "dep", "det", "nsubj", "root"), Given([FREE] * 3, [""] * 3)
    scores = counted().label_scores(TAGS, names, free)
    assert scores[3, 1].argmax() == names.index("det")
    assert counted().label_scores(["ADJ"] * 3, names, free)[3, 1].argmax() == names.index("dep")
    assert Habits().label_scores(TAGS, names, free)[3, 1].argmax() == names.index("dep")


def test_meanings_of_given_labels() -> None:
    """Itself first, each once; nothing where no label is given."""
    others = [["obj", "obj"], ["obl:tmod", "obl"], ["", ""]]
    given = Given([FREE] * 3, ["dobj", "obl", ""], others)
    assert list(given.meanings) == [["dobj", "obj"], ["obl", "obl:tmod"], []]
    assert list(Given([FREE] * 2, ["a", ""]).meanings) == [["a"], []]


def test_classes_of_distance() -> None:
    """1, 2-3, 4-7, 8-15 and beyond, on each side; and ROOT."""
    heads = np.array([0, 2, 3, 5, 9, 17, 40])
    assert distances(heads, np.ones_like(heads)).tolist() == [10, 0, 1, 2, 3, 4, 4]
    assert distances(np.array([8, 7, 5]), np.array([9, 9, 9])).tolist() == [5, 6, 7]


def test_what_changes_cost() -> None:
    """Another head and another label, each, of a word; of one whose head is free; and of one whose head is no node."""
    given = Given([2, FREE, 9], ["a", "b", ""])
    costs = given.costs(Costs(3, 1), ("a", "b"))
    assert costs[:, 1].tolist() == [[3, 4], [3, 4], [0, 1], [3, 4]]
    assert costs[:, 2].tolist() == [[1, 0]] * 4
    assert costs[:, 3].tolist() == [[3, 3]] * 4
