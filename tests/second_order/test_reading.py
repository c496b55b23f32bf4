"""Second-order scores beside those of arcs: which keys are theirs, how they lie, and that nothing drops them."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.containers import open_scores
from deptree_cli.io.scores.labels import LabelScores
from deptree_cli.io.scores.layout import Layout, from_head_dep, to_head_dep
from deptree_cli.io.scores.pairing import read_both, read_records
from deptree_cli.io.scores.raw import ReadSpec, SecondOrderParts
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.second_order.distribution import SecondOrder
from deptree_cli.second_order.reading import parts_to_head_dep, refusal

LOG = Layout("head-dep", scale="log")


def npz(**arrays: NDArray[np.float64]) -> bytes:
    """Keys with a dot are written with a _dot_ in it."""
    stream = io.BytesIO()
    np.savez(stream, **{name.replace("_dot_", "."): array for name, array in arrays.items()})
    return stream.getvalue()


def gaussian(n: int, axes: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng([n, axes, seed]).normal(size=(n + 1,) * axes)


@pytest.fixture
def records(scratch) -> Callable[..., list[Record | DeptreeError]]:
    """What is in a file of these bytes."""
    return lambda data, layout=LOG, name="a.npz": list(read_records(ScoreSource(scratch(name, data)), layout))


def test_parts_come_with_their_sentence(records) -> None:
    grandparent, sibling = gaussian(2, 3, 1), gaussian(2, 3, 2)
    first, second, third = records(
        npz(
            a_dot_sibling=sibling,
            b=gaussian(3, 2),
            a=gaussian(2, 2),
            c_dot_x=gaussian(1, 2),
            a_dot_grandparent=grandparent,
        )
    )
    assert [(each.sent_id, each.number) for each in (first, second, third)] == [("b", 1), ("a", 2), ("c.x", 3)]
    assert first.parts is None
    assert third.parts is None
    np.testing.assert_array_equal(second.parts.grandparent, grandparent)
    np.testing.assert_array_equal(second.parts.sibling, sibling)


def test_their_keys_are_no_sentences(scratch) -> None:
    data = npz(a=gaussian(2, 2), a_dot_sibling=gaussian(2, 3), b=gaussian(2, 2))
    with open_scores(scratch("a.npz", data)) as file:
        source = file.read(ReadSpec())
        assert (list(source), len(source)) == (["a", "b"], 2)
        assert "a.sibling" not in source
        with pytest.raises(KeyError):
            source["a.sibling"]
        assert source["a"].parts.grandparent is None
        assert source["b"].parts is None


def test_parts_without_scores_of_arcs(records) -> None:
    with pytest.raises(
        DeptreeError, match=r"a.npz\[a.sibling\]: these are second-order scores, but there is no key 'a'"
    ):
        records(npz(a_dot_sibling=gaussian(2, 3), b=gaussian(2, 2)))
    with pytest.raises(DeptreeError, match=r"no key 'a.sibling' with scores of arcs"):
        records(npz(a=gaussian(2, 2), a_dot_sibling=gaussian(2, 3), a_dot_sibling_dot_sibling=gaussian(2, 3)))


def test_the_key_of_no_sentence_is_its_own(records) -> None:
    """A sentence may be called `.sibling`: nothing stands before the dot."""
    (record,) = records(npz(_dot_sibling=gaussian(2, 2)))
    assert (record.sent_id, record.parts) == (".sibling", None)


def test_shapes_are_those_of_the_sentence(records) -> None:
    bad, good = records(npz(a=gaussian(2, 2), a_dot_grandparent=gaussian(3, 3), b=gaussian(2, 2)))
    assert str(bad) == (
        "a.npz[a] (a): the grandparent scores have shape (4, 4, 4), those of arcs are of 2 words. "
        "Give an array (3, 3, 3), ROOT included."
    )
    assert good.sent_id == "b"
    (matrix,) = records(npz(a=gaussian(2, 2), a_dot_sibling=gaussian(2, 2)))
    assert "the sibling scores have shape (3, 3)" in str(matrix)


def test_damaged_parts_are_named(records) -> None:
    objects = np.array([None, 1], dtype=object)
    (bad,) = records(npz(a=gaussian(2, 2), a_dot_sibling=objects))
    assert "a.npz[a.sibling]" in str(bad)
    assert "object array" in str(bad)


@pytest.mark.parametrize("orient", ["head-dep", "dep-head"])
@pytest.mark.parametrize("root", ["first", "last"])
@pytest.mark.parametrize("rectangle", [False, True])
def test_every_layout_gives_the_same_distribution(orient: str, root: str, rectangle: bool, records) -> None:
    """Axes are reversed and ROOT moves together with those of the scores of arcs; a rectangle says so by itself."""
    arcs, grandparent, sibling = gaussian(4, 2), gaussian(4, 3, 1), gaussian(4, 3, 2)
    plain = SecondOrder(arcs, grandparent, sibling)
    layout = Layout(orient, root, "log", rectangle=rectangle)

    def written(part: NDArray[np.float64]) -> NDArray[np.float64]:
        place = [4, 0, 1, 2, 3] if root == "last" else [0, 1, 2, 3, 4]  # of nodes 0 to 4
        moved = np.empty_like(part)
        moved[np.ix_(place, place, place)] = part
        return moved.transpose(2, 1, 0) if orient == "dep-head" else moved

    scores = from_head_dep(arcs, layout, layout.shape(4))
    data = npz(a=scores, a_dot_grandparent=written(grandparent).astype(np.float32), a_dot_sibling=written(sibling))
    (record,) = records(data, replace(layout, orient=None if rectangle else orient))
    found = SecondOrder(to_head_dep(record.scores, layout), **parts_to_head_dep(record.parts, scores.shape, layout))
    np.testing.assert_allclose(found.marginals(), plain.marginals(), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(found.sibling, plain.sibling)


def test_root_on_the_diagonal_has_no_place(records) -> None:
    layout = Layout("head-dep", "diagonal", "log")
    (record,) = records(npz(a=gaussian(3, 2), a_dot_sibling=gaussian(4, 3)), layout)
    with pytest.raises(DeptreeError, match="a place of their own for ROOT"):
        parts_to_head_dep(record.parts, record.scores.shape, layout)


def test_parts_of_another_file_are_not_dropped(scratch) -> None:
    plain, with_parts = npz(a=gaussian(2, 2)), npz(a=gaussian(2, 2), a_dot_sibling=gaussian(2, 3))
    one, two = ScoreSource(scratch("1.npz", plain)), ScoreSource(scratch("2.npz", with_parts))
    (error,) = read_both(one, two, LOG)
    assert str(error).startswith("2.npz[a] (a): there are second-order scores (sibling), which are not taken into")


def test_parts_of_labels_are_not_dropped(scratch) -> None:
    arcs = ScoreSource(scratch("1.npz", npz(a=gaussian(2, 2))))
    labels = npz(a=np.zeros((3, 3, 5)), a_dot_grandparent=gaussian(2, 3))
    (error,) = read_records(arcs, LOG, labels=LabelScores(scratch("l.npz", labels), replace(LOG, labels="last")))
    assert "l.npz[a] (a): there are second-order scores (grandparent)" in str(error)


def test_the_refusal_names_all_of_them() -> None:
    error = refusal(SecondOrderParts(gaussian(1, 3), gaussian(1, 3)), "a.npz[a]", "s-1")
    assert "a.npz[a] (s-1): there are second-order scores (grandparent and sibling)" in str(error)
