"""Reading second-order scores: which keys are theirs, how they lie, what is wrong with them, and who refuses them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deptree_cli
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.containers.npz import PARTS as RESERVED
from deptree_cli.io.scores.layout import Layout, from_head_dep
from deptree_cli.second_order import SecondOrder, read
from deptree_cli.second_order.distribution import PARTS
from tests.sample import DATA


def gaussian(n, axes, seed=0):
    return np.random.default_rng([n, axes, seed]).normal(size=(n + 1,) * axes)


def conllu(**heads):
    """Sentences with these heads; where there is one the label is `x`."""
    blocks = []
    for name, each in heads.items():
        words = [f"{w}\tw\t_\t_\t_\t_\t{head}\t{'_' if head == '_' else 'x'}\t_\t_\n" for w, head in enumerate(each, 1)]
        blocks.append(f"# sent_id = {name}\n{''.join(words)}\n")
    return "".join(blocks)


@pytest.fixture
def sentences(tmp_path, monkeypatch):
    """What is read of arrays by key, and of CoNLL-U; what is wrong with a sentence stands in its place."""
    monkeypatch.chdir(tmp_path)

    def found(arrays, text=None, **options):
        np.savez("a.npz", **arrays)
        Path("a.conllu").write_text(text or "", encoding="utf-8")
        collected = []
        given = {"preset": "head-dep,log", "on_error": collected.append, **options}
        for sentence in read("a.npz", text and "a.conllu", **given):
            collected.append(sentence)
        return collected

    return found


def test_no_sentence_is_written_under_a_name_of_parts():
    assert set(PARTS) == set(RESERVED)


def test_the_sample_file():
    """The scores of arcs give the telescope to the seer, a grandparent gives it to the man."""
    (sentence,) = read(str(DATA / "second_order.npz"), preset="log")
    assert sentence.distribution.argmax().tolist() == [2, 0, 4, 2, 7, 7, 4, 2]
    assert round(sentence.distribution.log_prob(sentence.distribution.argmax()), 4) == -0.2302


def test_parts_come_with_their_sentence(sentences):
    arcs, grandparent, sibling = gaussian(2, 2), gaussian(2, 3, 1), gaussian(2, 3, 2)
    arrays = {"a.sibling": sibling, "b": gaussian(3, 2), "a": arcs, "c.x": gaussian(1, 2), "a.grandparent": grandparent}
    first, second, third = sentences(arrays)
    assert [(each.id, each.record.number) for each in (first, second, third)] == [("b", 1), ("a", 2), ("c.x", 3)]
    assert first.distribution.parts == third.distribution.parts == {}
    exact = SecondOrder(arcs, grandparent, sibling)
    assert second.distribution.log_partition == exact.log_partition
    np.testing.assert_array_equal(second.distribution.marginals(), exact.marginals())


def test_sentences_are_paired_by_name(sentences):
    """With their parts, in the order of the CoNLL-U; trees are written into it."""
    arrays = {"a": gaussian(2, 2), "a.sibling": gaussian(2, 3), "b": gaussian(3, 2)}
    first, second = sentences(arrays, conllu(b=(2, 0, 2), a=(2, 0)))
    assert (first.id, second.id) == ("b", "a")
    assert "sibling" in second.distribution.parts
    assert second.to_conllu([0, 1]) == conllu(a=(0, 1)).replace("0\tx", "0\troot").replace("1\tx", "1\tdep")
    assert [token["head"] for token in second.apply([2, 0])] == [2, 0]


def test_fixed_heads_and_labels(sentences):
    arrays = {"a": gaussian(4, 2), "a.grandparent": gaussian(4, 3)}
    (sentence,) = sentences(arrays, conllu(a=("_", 4, "_", "_")), fix_heads=True)
    trees = sentence.distribution.sample(20, 1)
    assert set(trees[:, 1].tolist()) == {4}
    assert set(trees[:, 0].tolist()) != {4}
    assert "2\tw\t_\t_\t_\t_\t4\tx\t" in sentence.to_conllu(trees[0])
    with pytest.raises(DeptreeError, match="fix_heads needs the sentences"):
        sentences(arrays, fix_heads=True)


def test_options_are_those_of_the_distribution(sentences):
    arcs, sibling = gaussian(3, 2), gaussian(3, 3)
    (sentence,) = sentences({"a": arcs, "a.sibling": sibling}, single_root=False, temperature=2.0)
    exact = SecondOrder(arcs, None, sibling, single_root=False, temperature=2.0)
    np.testing.assert_array_equal(sentence.distribution.marginals(), exact.marginals())
    sibling[1, 1, 2] = np.nan
    (bad,) = sentences({"a": arcs, "a.sibling": sibling})
    assert str(bad).startswith("a.npz[a] (a): the sibling score of head 1, sibling 1, dependent 2 is NaN")


def test_parts_without_scores_of_arcs(sentences):
    with pytest.raises(DeptreeError, match=r"\[a.sibling\]: these are second-order scores, but there is no key 'a'"):
        sentences({"a.sibling": gaussian(2, 3), "b": gaussian(2, 2)})
    with pytest.raises(DeptreeError, match=r"no key 'a.sibling' with scores of arcs"):
        sentences({"a": gaussian(2, 2), "a.sibling": gaussian(2, 3), "a.sibling.sibling": gaussian(2, 3)})


def test_the_key_of_no_sentence_is_its_own(sentences):
    """A sentence may be called `.sibling`: nothing stands before the dot."""
    (sentence,) = sentences({".sibling": gaussian(2, 2)})
    assert (sentence.id, sentence.distribution.parts) == (".sibling", {})


def test_shapes_are_those_of_the_sentence(sentences):
    bad, good = sentences({"a": gaussian(2, 2), "a.grandparent": gaussian(3, 3), "b": gaussian(2, 2)})
    assert str(bad) == (
        "a.npz[a] (a): the grandparent scores have shape (4, 4, 4), those of arcs are of 2 words. "
        "Give an array (3, 3, 3), ROOT included."
    )
    assert good.id == "b"
    (matrix,) = sentences({"a": gaussian(2, 2), "a.sibling": gaussian(2, 2)})
    assert "the sibling scores have shape (3, 3)" in str(matrix)


def test_damaged_parts_are_named(sentences):
    (bad,) = sentences({"a": gaussian(2, 2), "a.sibling": np.array([None, 1], dtype=object)})
    assert "a.npz[a.sibling]" in str(bad)
    assert "object array" in str(bad)


@pytest.mark.parametrize("orient", ["head-dep", "dep-head"])
@pytest.mark.parametrize("root", ["first", "last"])
@pytest.mark.parametrize("rectangle", [False, True])
def test_every_layout_gives_the_same_distribution(orient, root, rectangle, sentences):
    """Axes are reversed and ROOT moves together with those of the scores of arcs; a rectangle says so by itself."""
    arcs, grandparent, sibling = gaussian(4, 2), gaussian(4, 3, 1), gaussian(4, 3, 2)
    plain = SecondOrder(arcs, grandparent, sibling)
    layout = Layout(orient, root, "log", rectangle=rectangle)

    def written(part):
        place = [4, 0, 1, 2, 3] if root == "last" else [0, 1, 2, 3, 4]  # of nodes 0 to 4
        moved = np.empty_like(part)
        moved[np.ix_(place, place, place)] = part
        return moved.transpose(2, 1, 0) if orient == "dep-head" else moved

    scores = from_head_dep(arcs, layout, layout.shape(4))
    arrays = {"a": scores, "a.grandparent": written(grandparent).astype(np.float32), "a.sibling": written(sibling)}
    (sentence,) = sentences(arrays, preset=f"{root},log" if rectangle else f"{orient},{root},log")
    found = sentence.distribution
    np.testing.assert_allclose(found.marginals(), plain.marginals(), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(found.sibling, plain.sibling)


def test_root_on_the_diagonal_has_no_place(sentences):
    (bad,) = sentences({"a": gaussian(3, 2), "a.sibling": gaussian(4, 3)}, preset="diagonal,log")
    assert "a place of their own for ROOT" in str(bad)
    (plain,) = sentences({"a": gaussian(3, 2)}, preset="diagonal,log")
    assert plain.distribution.n == 4


def test_other_containers_have_none(tmp_path):
    np.save(path := tmp_path / "a.npy", gaussian(2, 2))
    with pytest.raises(DeptreeError, match=r"a\.npy: second-order scores are read from \.npz files only"):
        list(read(str(path), preset="log"))


def test_first_order_readers_refuse_them(sentences):
    """They would be dropped, unseen where sentences are found by name."""
    sentences({"a": gaussian(2, 2), "a.sibling": gaussian(2, 3)}, conllu(a=(2, 0)))
    for text in (None, "a.conllu"):
        with pytest.raises(DeptreeError) as error:
            list(deptree_cli.read("a.npz", text, projective=True, preset="head-dep,log"))
        assert str(error.value) == (
            "a.npz[a.sibling]: these are second-order scores, which only the library takes into account. "
            "Leave them out, or read the file in Python with deptree_cli.second_order.read."
        )
