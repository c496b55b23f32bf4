"""Joint probabilities of sentences and trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deptree_cli.core.dtypes import Float
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE
from deptree_cli.hpyp.model.parsing import Joint, joint
from tests.hpyp.kernels.toy_models import Toy
from tests.hpyp.model.reference_parser import static_oracle
from tests.hpyp.model.toy_parsers import sentence_of, trained_of


def exact_bits(toy: Toy, words: list[int], tags: list[int], tree: tuple[tuple[int, int], ...]) -> Float:
    """Of actions, tags and words by the reference, (3,)."""
    found: Float = -toy.reference.log_probs(words, tags, static_oracle(tree, toy.labels)) / np.log(2)
    return found


@pytest.mark.parametrize("lexicalised", [True, False])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_bits_of_every_tree(n: int, lexicalised: bool) -> None:
    toy = Toy(9, lexicalised=lexicalised)
    for heads in all_trees(n, PROJECTIVE).tolist():
        words, tags = toy.sentence(n)
        tree = tuple((head, int(toy.rng.integers(1, toy.labels + 1))) for head in heads)
        found = joint(trained_of(toy), sentence_of(words, tags, tree))
        assert isinstance(found, Joint)
        assert found.bits == pytest.approx(exact_bits(toy, words, tags, tree))
        assert (found.bits > 0).tolist() == [True, True, lexicalised]
        assert not found.lifted


def test_crossing_arcs_are_lifted() -> None:
    """2 -> 4 crosses 3 -> 1; the shorter one, of the leftmost dependent, hangs on the head's head afterwards."""
    toy = Toy(9)
    words, tags = toy.sentence(4)
    found = joint(trained_of(toy), sentence_of(words, tags, ((3, 1), (3, 2), (0, 1), (2, 2))))
    assert isinstance(found, Joint)
    assert found.lifted
    assert found.bits == pytest.approx(exact_bits(toy, words, tags, ((3, 1), (3, 2), (0, 1), (3, 2))))


def test_what_has_no_joint_probability() -> None:
    toy = Toy(9)
    trained, (words, tags) = trained_of(toy), toy.sentence(2)
    assert joint(trained, sentence_of(words, tags)) == "no_tree"
    assert joint(trained, sentence_of(words, tags, ((0, 1), (0, 1)))) == "no_tree"
    assert joint(trained, sentence_of(words, tags, ((2, 1), (1, 1)))) == "no_tree"
    known = sentence_of(words, tags, ((0, 1), (1, 2)))
    assert isinstance(joint(trained, known), Joint)
    assert joint(trained, replace(known, deprels=("l0", "new"))) == "unseen_label"
    assert joint(trained, replace(known, deprels=("l0", "_"))) == "no_tree"
    for unknown in ("new", "_"):
        assert joint(trained, replace(known, tags=(unknown, known.tags[1]))) == "unknown_tag"


def test_unseen_words_have_a_probability() -> None:
    toy = Toy(9)
    known = sentence_of(*toy.sentence(2), ((0, 1), (1, 2)))
    found = joint(trained_of(toy), replace(known, forms=("new", "new")))
    assert isinstance(found, Joint)
    assert np.isfinite(found.bits).all()
