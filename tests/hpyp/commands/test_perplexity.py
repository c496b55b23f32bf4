"""`deptree hpyp perplexity`: what it adds up, what it leaves out, and formats."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.sample import DATA

GOLD = DATA / "raw_gold.conllu"
RAW = DATA / "raw.conllu"


@pytest.fixture
def row(done, model):
    """Call with sentences and more arguments: the one row."""

    def run(*args):
        (found,) = done("hpyp", "perplexity", model, *args, "--particles", 50, "--seed", 3).rows
        return found

    return run


@pytest.mark.parametrize("tags", ["given", "predict"])
def test_the_evidence_is_that_of_surprisal(row, done, model, tags) -> None:
    args = "--tags", tags, "--particles", 50, "--seed", 3
    sentences = done("hpyp", "surprisal", model, GOLD, *args, "--format", "jsonl").rows
    found = row(GOLD, "--tags", tags)
    assert found["evidence_bits"] == pytest.approx(-sum(each["evidence_log2"] for each in sentences))
    off = np.sqrt(sum(each["evidence_error"] ** 2 for each in sentences))
    assert found["evidence_error"] == pytest.approx(off)
    assert found["evidence_perplexity"] == pytest.approx(2 ** (found["evidence_bits"] / found["tokens"]))
    assert found["evidence_of"] == {"given": "tags and words", "predict": "words"}[tags]


def test_a_tree_and_its_parts(row) -> None:
    """A tree is one of many, so it costs more than the evidence, in which all are added up."""
    found = row(GOLD)
    assert (found["sentences"], found["trees"]) == (12, 12)
    assert found["tokens"] == found["words"] + 12
    parts = [found[f"{part}_bits"] for part in ("action", "tag", "word")]
    assert found["joint_bits"] == pytest.approx(sum(parts))
    assert found["joint_bits"] > found["evidence_bits"]
    assert found["action_perplexity"] == pytest.approx(2 ** (parts[0] / (2 * found["words"])))
    assert found["word_bits_per_word"] == pytest.approx(parts[2] / found["words"])


def test_predicted_tags_have_no_joint(row) -> None:
    assert not any(name.startswith(("joint", "action", "trees")) for name in row(GOLD, "--tags", "predict"))


def test_sentences_without_trees(row) -> None:
    found, with_trees = row(RAW), row(GOLD)
    assert (found["trees"], found["left_out_no_tree"]) == (0, 12)
    assert found["evidence_bits"] == with_trees["evidence_bits"]
    assert "joint_bits" not in found


def test_several_files_are_one_text(row) -> None:
    found = row(GOLD, RAW)
    assert (found["sentences"], found["trees"], found["left_out_no_tree"]) == (24, 12, 12)


def test_a_label_that_was_never_seen(row, put) -> None:
    name = put("odd.conllu", GOLD.read_bytes().replace(b"\tnsubj\t", b"\tnsubj:odd\t", 1))
    assert (row(name)["left_out_unseen_label"], row(name)["trees"]) == (1, 11)


def test_words_in_place_of_which_classes_are_predicted(row, put, parser) -> None:
    text = GOLD.read_text(encoding="utf-8")
    forms = re.findall(r"^\d+\t([^\t]+)", text, re.MULTILINE)
    classed = sum(form not in parser.trained.symbols.lexicon.vocabulary for form in forms)
    assert row(GOLD)["words_as_classes"] == classed / len(forms)


def test_a_parser_without_words(done, unlexicalised_model) -> None:
    (found,) = done("hpyp", "perplexity", unlexicalised_model, GOLD, "--seed", 1).rows
    assert found["evidence_of"] == "tags"
    assert found["words_as_classes"] is None
    assert "word_bits" not in found


def test_a_single_filter_has_no_error(row) -> None:
    assert row(GOLD, "--filters", 1)["evidence_error"] is None


def test_sentences_that_are_skipped(deptree, model, put) -> None:
    """The first is not UTF-8."""
    data = GOLD.read_bytes().replace(b"\tgirl\t", b"\t\xff\t", 1)
    args = "hpyp", "perplexity", model, put("some.conllu", data), "--seed", 1, "--particles", 5
    ran = deptree(*args, "--on-error", "skip")
    assert ran.code == 1
    assert ran.rows[0]["sentences"] == 11
    assert "skipped: some.conllu:1 (raw-01): a form, a tag or a label is not UTF-8." in ran.err
    assert deptree(*args).code == 2


def test_nothing_to_measure(deptree, model, put) -> None:
    ran = deptree("hpyp", "perplexity", model, put("none.conllu", "\n"))
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
