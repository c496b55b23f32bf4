"""`deptree hpyp perplexity`: what it adds up, and what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.hpyp.commands.perplexity import Perplexity
from deptree_cli.hpyp.model.parsing import Joint, joint
from tests.sample import DATA

GOLD = (DATA / "raw_gold.conllu").read_bytes()
PARTS = ("action", "tag", "word")


@pytest.fixture
def row(done, model):
    """Call with sentences and options: the one row."""

    def run(line):
        (found,) = done(f"hpyp perplexity {model} {line} --particles 50 --seed 3").rows
        return found

    return run


@pytest.mark.parametrize(("tags", "of"), [("given", "tags and words"), ("predict", "words")])
def test_the_evidence_is_that_of_surprisal(row, done, model, tags, of):
    """Predicted tags have no joint probability with trees."""
    line = f"$DATA/raw_gold.conllu --tags {tags}"
    sentences = done(f"hpyp surprisal {model} {line} --particles 50 --seed 3 --format jsonl").rows
    found = row(line)
    assert found["evidence_bits"] == pytest.approx(-sum(each["evidence_log2"] for each in sentences))
    off = np.sqrt(sum(each["evidence_error"] ** 2 for each in sentences))
    assert found["evidence_error"] == pytest.approx(off)
    assert row(f"{line} --filters 1")["evidence_error"] is None
    assert found["evidence_perplexity"] == pytest.approx(2 ** (found["evidence_bits"] / found["tokens"]))
    assert found["evidence_of"] == of
    assert any(name.startswith(("joint", "action", "trees")) for name in found) == (tags == "given")


def test_trees_and_the_parts_of_their_bits(row, parser):
    """A tree is one of many, so it costs more than the evidence, in which all are added up."""
    found, treebank = row("$DATA/raw_gold.conllu"), list(parser.read(DATA / "raw_gold.conllu"))
    assert found["tokens"] == found["words"] + 12
    bits = np.sum([joint(parser.trained, sentence).bits for sentence in treebank], axis=0)
    assert [found[f"{part}_bits"] for part in PARTS] == pytest.approx(bits.tolist())
    assert found["joint_bits"] == pytest.approx(bits.sum())
    assert found["joint_bits"] > found["evidence_bits"]
    forms = [form for sentence in treebank for form in sentence.forms]
    classed = sum(form not in parser.trained.symbols.lexicon.vocabulary for form in forms)
    assert found["words_as_classes"] == classed / len(forms)


def test_trees_that_are_left_out(row, put):
    """Several files are one text; a label that was never seen, and sentences without trees."""
    odd = put("odd.conllu", GOLD.replace(b"\tnsubj\t", b"\tnsubj:odd\t", 1))
    found = row(f"{odd} $DATA/raw.conllu")
    counts = ("sentences", "trees", "left_out_no_tree", "left_out_unseen_label")
    assert [found[name] for name in counts] == [24, 11, 12, 1]
    bare = row("$DATA/raw.conllu")
    assert bare["evidence_bits"] == row("$DATA/raw_gold.conllu")["evidence_bits"]
    assert "joint_bits" not in bare


def test_a_parser_without_words(done, xpos_model):
    (found,) = done(f"hpyp perplexity {xpos_model} $DATA/raw_gold.conllu --seed 1").rows
    assert found["evidence_of"] == "tags"
    assert found["words_as_classes"] is None
    assert "word_bits" not in found


def test_sentences_that_are_skipped(deptree, model, put):
    """The first is not UTF-8."""
    put("some.conllu", GOLD.replace(b"\tgirl\t", b"\t\xff\t", 1))
    line = f"hpyp perplexity {model} some.conllu --seed 1 --particles 5"
    ran = deptree(f"{line} --on-error skip")
    assert ran.code == 1
    assert ran.rows[0]["sentences"] == 11
    assert "skipped: some.conllu:1 (raw-01): a form, a tag or a label is not UTF-8." in ran.err
    assert deptree(line).code == 2


def test_nothing_to_measure(refused, model, put):
    refused(f"hpyp perplexity {model} {put('none.conllu', chr(10))}", "none.conllu")


def test_bits_and_perplexities():
    """Of two sentences with trees, of 3 words and 1; one without, of 2; one with an unseen label, of 2.

    12 tokens are 8 words and 4 ends; those in trees are 6, and 8 actions, 4 tags and 4 words.
    """
    found = Perplexity(PARTS)
    found.add(3, 1, 8.0, 0.04, Joint(np.array([6.0, 3.0, 3.0]), True))
    found.add(1, 0, 4.0, 0.05, Joint(np.array([2.0, 1.0, 5.0]), False))
    found.add(2, 1, 12.0, 0.0, "no_tree")
    found.add(2, 0, 12.0, 0.0, "unseen_label")
    row = found.row()
    assert row["evidence_error"] == pytest.approx(0.3)
    assert row["evidence_perplexity"] == pytest.approx(2 ** (36 / 12))
    assert row["joint_perplexity"] == pytest.approx(2 ** (20 / 6))
    assert [row[f"{part}_bits_per_word"] for part in PARTS] == [2, 1, 2]
    assert [row[f"{part}_perplexity"] for part in PARTS] == [2, 2, 4]
    expected = {
        "sentences": 4,
        "words": 8,
        "tokens": 12,
        "words_as_classes": 0.25,
        "evidence_bits": 36,
        "trees": 2,
        "trees_made_projective": 1,
        "left_out_no_tree": 1,
        "left_out_unseen_label": 1,
        "joint_bits": 20,
    }
    assert {name: row[name] for name in expected} == expected


def test_a_perplexity_that_no_float_holds():
    found = Perplexity(PARTS, predicts_tags=True)
    found.add(1, 0, 1e5, 0.0, None)
    assert found.row()["evidence_perplexity"] is None
