"""What is drawn: the tree and what might stand in its place, and what is said of an arc."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.io.pictures.arcs import OTHER, TREE, Arc, Picture, picture_of

# Columns are dependents: word 1 under ROOT, word 2 under 1 or ROOT, word 3 under 2 or hardly 1.
MARGINALS = np.array([[0, 1, 0.25, 0], [0, 0, 0.75, 0.004], [0, 0, 0, 0.996], [0, 0, 0, 0]])
TREE_HEADS = [0, 1, 2]


def arcs_of(marginals, tree, labels, *others, **more):
    return list(picture_of("", [], marginals, tree, labels, "", *others, **more).arcs)


def ends(arcs, kind):
    return [(arc.head, arc.dependent) for arc in arcs if arc.kind == kind]


@pytest.mark.parametrize(
    ("above", "others"), [(0.01, [(0, 2)]), (0.2, [(0, 2)]), (0.25, []), (0.3, []), (0.0, [(0, 2), (1, 3)])]
)
def test_the_tree_and_the_others_above_a_weight(above, others):
    arcs = arcs_of(MARGINALS, TREE_HEADS, {}, above)
    assert ends(arcs, TREE) == [(0, 1), (1, 2), (2, 3)]
    assert ends(arcs, OTHER) == others
    assert all(arc.weight == arc.probability == MARGINALS[arc.head, arc.dependent] for arc in arcs)


def test_the_tree_is_there_however_improbable():
    arcs = arcs_of(MARGINALS, [3, 1, 1], {}, 0.5)
    assert [arc.weight for arc in arcs if arc.kind == TREE] == [0, 0.75, 0.004]
    assert ends(arcs, OTHER) == [(0, 1), (2, 3)]


def test_labels_belong_to_arcs():
    arcs = arcs_of(MARGINALS, TREE_HEADS, {(1, 2): "obj", (0, 2): "root", (3, 1): "none"}, 0.01)
    assert [arc.label for arc in arcs] == ["", "obj", "", "root"]


def test_samples_weigh_by_how_often_they_come():
    samples = np.array([[0, 1, 2], [0, 0, 2], [0, 1, 2], [0, 1, 1]], dtype=np.int32)
    arcs = arcs_of(MARGINALS, TREE_HEADS, {}, 0.01, samples)
    counts = {(arc.head, arc.dependent): arc.count for arc in arcs}
    assert counts == {(0, 1): 4, (1, 2): 3, (2, 3): 3, (0, 2): 1, (1, 3): 1}
    assert all(arc.weight == arc.count / 4 for arc in arcs)
    assert all(arc.probability == MARGINALS[arc.head, arc.dependent] for arc in arcs)


@pytest.mark.parametrize(
    ("arc", "tag"),
    [
        (Arc(2, 1, 0.654), ".65"),
        (Arc(2, 1, 0.654, "obj"), "obj .65"),
        (Arc(2, 1, 0.9951, "obj"), "obj"),
        (Arc(2, 1, 0.99, "obj"), "obj"),
        (Arc(2, 1, 0.9899), ".99"),
        (Arc(2, 1, 0.01), ".01"),
        (Arc(2, 1, 0.0049), "<.01"),
        (Arc(2, 1, 1e-300, "obj"), "obj <.01"),
        (Arc(2, 1, 0.0), "0"),
        (Arc(0, 1, 1.0, "root", TREE, 0, 0.0), "root 0"),
        (Arc(0, 1, 1.0), "ROOT"),
        (Arc(0, 1, 0.5, "root"), "root .50"),
        (Arc(2, 1, 0.654, "obj", TREE, 1, 0.25), "obj .25"),
    ],
)
def test_what_is_written_on_an_arc(arc, tag):
    """Without a number it is certain, never negligible."""
    assert arc.tag == tag


def test_what_is_said_of_an_arc():
    drawn = Picture("s", ["saw", "man"], [], "", samples=100)
    assert drawn.note(Arc(1, 2, 0.99963, "obj")) == "saw -> man (obj): 0.9996"
    assert drawn.note(Arc(0, 1, 0.25, count=30, share=0.3)) == "ROOT -> saw: 30 of 100 samples, probability 0.25"
