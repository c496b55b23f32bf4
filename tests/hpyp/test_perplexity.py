"""`deptree hpyp perplexity`: what it adds up, and what it leaves out."""

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


def test_trees_and_the_parts_of_their_bits(done, model, parser, put):
    """Several files are one text, of which trees are left out: three without a joint probability, and raw sentences."""
    odd = GOLD.replace(b"\tnsubj\t", b"\tnsubj:odd\t", 2).replace(b"\tdet\t", b"\t_\t", 1)
    put("odd.conllu", b"\t_\t".join(odd.rsplit(b"\tNOUN\t", 1)))
    files = ("odd.conllu", DATA / "raw.conllu", DATA / "treebank.conllu")
    ran = done(f"hpyp perplexity {model}", *files, "--seed", 1, "--particles", 5)
    assert "labels that the model does not know: nsubj:odd 2" in ran.err
    (found,), sentences = ran.rows, [*parser.read(*files)]
    joints = [joint(parser.trained, sentence) for sentence in sentences]
    scored = [(each, sentence.n) for each, sentence in zip(joints, sentences, strict=True) if isinstance(each, Joint)]
    words, in_trees = sum(sentence.n for sentence in sentences), sum(n for _, n in scored)
    bits = dict(zip(PARTS, np.sum([each.bits for each, _ in scored], axis=0).tolist(), strict=True))
    known = parser.trained.symbols.lexicon.vocabulary
    forms = [form for sentence in sentences for form in sentence.forms]
    expected = {
        "sentences": 12 + 12 + 194,
        "words": words,
        "tokens": words + len(sentences),
        "words_as_classes": sum(form not in known for form in forms) / words,
        "trees": len(scored),
        "trees_made_projective": 2,
        "left_out_no_tree": 12 + joints[:12].count("no_tree"),
        "left_out_unseen_label": joints.count("unseen_label"),
        "left_out_unknown_tag": joints.count("unknown_tag"),
        "joint_bits": sum(bits.values()),
        "joint_perplexity": 2 ** (sum(bits.values()) / (in_trees + len(scored))),
    }
    for part, events in zip(PARTS, (2, 1, 1), strict=True):
        expected |= {f"{part}_bits": bits[part], f"{part}_bits_per_word": bits[part] / in_trees}
        expected[f"{part}_perplexity"] = 2 ** (bits[part] / (events * in_trees))
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert min(expected.values()) > 0


def test_a_text_without_trees(row):
    """A tree is one of many, so it costs more than the evidence, in which all are added up."""
    bare, gold = row("$DATA/raw.conllu"), row("$DATA/raw_gold.conllu")
    assert "joint_bits" not in bare
    assert gold["joint_bits"] > gold["evidence_bits"] == bare["evidence_bits"]


def test_a_parser_without_words(done, xpos_model):
    (found,) = done(f"hpyp perplexity {xpos_model} $DATA/raw_gold.conllu --seed 1").rows
    assert found["evidence_of"] == "tags"
    assert found["words_as_classes"] is None
    assert "word_bits" not in found


def test_nothing_to_measure(refused, model, put):
    refused(f"hpyp perplexity {model} {put('none.conllu', chr(10))}", "none.conllu")


def test_a_perplexity_that_no_float_holds():
    found = Perplexity(PARTS, predicts_tags=True)
    found.add(1, 0, 1e5, 0.0, None)
    assert found.row()["evidence_perplexity"] is None
