"""Perplexities from the bits of sentences."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from deptree_cli.hpyp.commands.perplexity import Perplexity, score
from deptree_cli.hpyp.model.parsing import Joint, evidence, joint
from deptree_cli.hpyp.model.sentences import Annotated
from deptree_cli.hpyp.model.training import Trained
from tests.hpyp.kernels.toy_models import Toy
from tests.hpyp.model.toy_parsers import sentence_of, trained_of

PARTS = ("action", "tag", "word")


def scored(trained: Trained, sentence: Annotated, filters: int = 2, predicts_tags: bool = False) -> tuple[Any, ...]:
    parser: Any = SimpleNamespace(trained=trained, particles=50, predicts_tags=predicts_tags)
    read: Any = SimpleNamespace(annotated=sentence)
    return score(parser, filters, read, np.random.default_rng(1))


def test_a_score_is_what_its_parts_say() -> None:
    toy = Toy(2)
    trained = trained_of(toy)
    sentence = sentence_of(*toy.sentence(3), ((2, 1), (0, 2), (2, 1)))
    words, classed, bits, square_error, found, unseen = scored(trained, sentence, filters=3)
    alone = evidence(trained, sentence, np.random.default_rng(1), 50, filters=3)
    assert (words, classed, unseen) == (3, 0, ())
    assert bits == -alone.log2[-1]
    assert alone.error is not None
    assert square_error == alone.error**2
    expected = joint(trained, sentence)
    assert isinstance(found, Joint)
    assert isinstance(expected, Joint)
    np.testing.assert_array_equal(found.bits, expected.bits)
    assert scored(trained, sentence, predicts_tags=True)[4:] == (None, ())


def test_words_as_classes_are_counted() -> None:
    toy = Toy(2)
    trained, sentence = trained_of(toy), sentence_of([2, 99, 98], [2, 3, 2])
    assert scored(trained, sentence)[1] == 2
    unlexicalised = trained_of(Toy(2, lexicalised=False))
    assert scored(unlexicalised, sentence)[1] == 0


def text(predicts_tags: bool = False) -> Perplexity:
    """Two sentences with trees, of 3 words and 1; one without, of 2; one with an unseen label, of 2."""
    found = Perplexity(PARTS, predicts_tags)
    found.add(3, 1, 8.0, 0.04, Joint(np.array([6.0, 3.0, 3.0]), True))
    found.add(1, 0, 4.0, 0.05, Joint(np.array([2.0, 1.0, 5.0]), False))
    found.add(2, 1, 12.0, 0.0, "no_tree")
    found.add(2, 0, 12.0, 0.0, "unseen_label")
    return found


def test_bits_and_perplexities() -> None:
    """12 tokens are 8 words and 4 ends; those in trees are 6, and 8 actions, 4 tags and 4 words."""
    row = text().row()
    assert (row["sentences"], row["words"]) == (4, 8)
    assert row["tokens"] == 12
    assert row["words_as_classes"] == 0.25
    assert row["evidence_bits"] == 36
    assert row["evidence_error"] == pytest.approx(0.3)
    assert row["evidence_perplexity"] == pytest.approx(2 ** (36 / 12))
    names = ("trees", "trees_made_projective", "left_out_no_tree", "left_out_unseen_label")
    assert [row[name] for name in names] == [2, 1, 1, 1]
    assert row["joint_bits"] == 20
    assert row["joint_perplexity"] == pytest.approx(2 ** (20 / 6))
    assert [row[f"{part}_bits"] for part in PARTS] == [8, 4, 8]
    assert [row[f"{part}_bits_per_word"] for part in PARTS] == [2, 1, 2]
    assert [row[f"{part}_perplexity"] for part in PARTS] == [2, 2, 4]
    assert row["evidence_of"] == "tags and words"


def test_predicted_tags_have_no_trees() -> None:
    row = text(predicts_tags=True).row()
    assert row["evidence_of"] == "words"
    assert "trees" not in row


def test_texts_without_any_tree() -> None:
    found = Perplexity(PARTS)
    found.add(2, 0, 4.0, None, "no_tree")
    row = found.row()
    assert row["evidence_error"] is None
    assert row["trees"] == 0
    assert "joint_bits" not in row


def test_parsers_without_words() -> None:
    found = Perplexity(PARTS[:2])
    found.add(1, 0, 4.0, 0.0, Joint(np.array([2.0, 1.0, 0.0]), False))
    row = found.row()
    assert row["evidence_of"] == "tags"
    assert row["words_as_classes"] is None
    assert "word_bits" not in row


def test_a_perplexity_that_no_float_holds() -> None:
    found = Perplexity(PARTS, predicts_tags=True)
    found.add(1, 0, 1e5, 0.0, None)
    assert found.row()["evidence_perplexity"] is None
