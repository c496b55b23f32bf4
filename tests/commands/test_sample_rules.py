"""``sample`` and ``marginals`` under rules that only a whole tree decides; `convert` of those that arcs decide."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deptree_cli.io.scores.reading import read
from tests.every_command import COMMANDS, command
from tests.sample import DATA, LABELS, SCORES, SENTENCES

HOT = ("--temperature", 2)  # so that many trees break rules

# Two subjects of one head, and words below punctuation.
RULES = 'at-most-one = ["nsubj"]\nleaf = ["punct"]\n'
MASK = 'mask = [{ label = "nsubj", direction = "right" }]\n'
SPANS = "en-1\t5\t7\nen-2\t2\t4\n"


@pytest.fixture
def rules(put):
    put("own.toml", RULES)
    put("mask.toml", MASK)
    put("spans.tsv", SPANS)


pytestmark = pytest.mark.usefixtures("rules")

OWN = (*SCORES, *LABELS, *HOT, "--rules", "own.toml")


def obeys(row) -> bool:
    subjects = Counter(head for head, label in zip(row["heads"], row["deprels"], strict=True) if label == "nsubj")
    return max(subjects.values(), default=0) <= 1 and not any(
        head and row["deprels"][head - 1] == "punct" for head in row["heads"]
    )


def test_all_trees_obey_and_tell_what_share_does(done):
    plain = done("sample", *SCORES, *LABELS, *HOT, "-k", 200, "--seed", 7).rows
    found = done("sample", *OWN, "-k", 200, "--seed", 7)
    assert len(found.rows) == len(plain) == 8 * 200
    assert all(map(obeys, found.rows))
    assert found.said == []
    for name in {row["sent_id"] for row in plain}:
        share = np.mean([obeys(row) for row in plain if row["sent_id"] == name])
        (acceptance,) = {row["acceptance"] for row in found.rows if row["sent_id"] == name}
        assert acceptance == float(f"{acceptance:.4g}")
        assert abs(acceptance - share) < 0.2  # 4 standard errors of a difference of two shares of 200
    assert not all(map(obeys, plain))


def test_all_formats_hold_the_same_trees(done, tmp_path):
    given = ("sample", *OWN, *SENTENCES, "-k", 30, "--seed", 7)
    rows = done(*given, "--format", "jsonl").rows
    text = done(*given, "--no-header").out.decode()
    assert text.count("# acceptance = ") == len(rows)
    blocks = [block for block in text.split("\n\n") if block]
    for block, row in zip(blocks, rows, strict=True):
        assert f"# acceptance = {row['acceptance']:g}\n" in block
        words = [line.split("\t") for line in block.splitlines() if line.split("\t")[0].isdecimal()]
        assert [int(word[6]) for word in words] == row["heads"]
        assert [word[7] for word in words] == row["deprels"]
    done(*given, "-o", "heads.npz")
    with np.load(tmp_path / "heads.npz") as heads:
        assert {name: heads[name].tolist() for name in heads} == {
            name: [row["heads"] for row in rows if row["sent_id"] == name] for name in heads
        }


def test_spans_need_no_labels(done):
    found = done("sample", *SCORES, "--temperature", 4, "--rules", "spans.tsv", "-k", 50, "--seed", 7).rows
    assert "deprels" not in found[0]
    for sent_id, first, last in (line.split("\t") for line in SPANS.splitlines()):
        span = range(int(first), int(last) + 1)
        trees = [row["heads"] for row in found if row["sent_id"] == sent_id]
        assert all(sum(tree[word - 1] not in span for word in span) == 1 for tree in trees)
    assert {row["acceptance"] for row in found if row["sent_id"] not in ("en-1", "en-2")} == {1.0}
    assert all(row["acceptance"] < 1 for row in found if row["sent_id"] in ("en-1", "en-2"))


def test_python_draws_the_same_trees(done):
    rows = done("sample", *SCORES, *LABELS, "--rules", "own.toml", "-k", 20, "--seed", 7).rows
    options = {"labels": str(DATA / "labels.json"), "label_scores": str(DATA / "label_scores.npz")}
    for sentence in read(str(DATA / "scores.npz"), preset="natasha", rules="own.toml", **options):
        found = sentence.constrained.sample(20, seed=7)
        assert found.heads.tolist() == [row["heads"] for row in rows if row["sent_id"] == sentence.id]
        assert found.labels is not None
        names = [[sentence.distribution.labels.names[label] for label in tree] for tree in found.labels]
        assert names == [row["deprels"] for row in rows if row["sent_id"] == sentence.id]


def test_masks_alone_need_no_rejection(done):
    given = (*SCORES, *LABELS, *HOT, "--rules", "mask.toml", "--seed", 7)
    assert "acceptance" not in done("sample", *given).rows[0]
    ran = done("marginals", *given[:-2])
    assert "standard_errors" not in ran.rows[0]
    assert ran.said == []


def test_rules_that_no_tree_obeys_end_with_advice(deptree, put):
    put("none.toml", '[[below]]\nlabel = "root"\nallow = []\n')  # nothing below the root
    ran = deptree("sample", *SCORES, *LABELS, "--rules", "none.toml", "--seed", 7)
    assert ran.code == 2
    (line,) = ran.said
    assert "(en-1): 0 of 24,576 drawn trees obey the rules, fewer than 1 in 10,000." in line
    for advice in ("deptree decode", "--temperature", "--projective"):
        assert advice in line
    few = deptree("sample", *SCORES, *LABELS, "--rules", "none.toml", "--on-error", "skip", "--shard", "1/4")
    assert few.code == 1
    assert few.out == b""


def test_marginals_are_shares_with_standard_errors_and_say_so(done):
    ran = done("marginals", *OWN, "--seed", 7, "-k", 400, "--header")
    assert "deptree: where rules need whole trees, marginals are shares of 400 drawn trees (-k)" in ran.said
    assert "|rules:own" in ran.signature
    assert "|size:400|seed:7|" in ran.signature
    drawn = done("sample", *OWN, "--seed", 7, "-k", 400).rows
    for row in ran.rows[1:]:
        found, errors = np.array(row["marginals"]), np.array(row["standard_errors"])
        assert found.shape == errors.shape == (row["n"], row["n"] + 1, len(row["labels"]))
        np.testing.assert_allclose(found.sum(axis=(1, 2)), 1)  # natasha: rows are dependents
        np.testing.assert_allclose(errors, np.sqrt(found * (1 - found) / 399), atol=1e-12)
        assert row["iterations"] == 400
        trees = [each for each in drawn if each["sent_id"] == row["sent_id"]]
        assert row["acceptance"] == trees[0]["acceptance"]
        label = row["labels"].index(trees[0]["deprels"][0])
        same = [(t["heads"][0], t["deprels"][0]) == (trees[0]["heads"][0], trees[0]["deprels"][0]) for t in trees]
        assert found[0, trees[0]["heads"][0], label] == pytest.approx(np.mean(same))


def test_marginals_by_default_of_a_thousand_trees_with_a_seed_to_repeat(done):
    ran = done("marginals", *OWN)
    assert ran.rows[0]["iterations"] == 1000
    seed = ran.signature.partition("|seed:")[2].partition("|")[0]
    assert done("marginals", *OWN, "--seed", seed).out == ran.out
    assert done("marginals", *OWN, "--seed", seed, "-q").said == []


def test_marginals_as_conllu_and_arrays(done, tmp_path):
    gold = (*OWN, "--conllu", DATA / "gold.conllu", "--seed", 7)
    text = done("marginals", *gold).out.decode()
    assert "HeadProb=" in text
    assert "LabelProb=" in text
    assert "# tree_logprob" not in text  # which would be of trees that break rules too
    rows = done("marginals", *gold, "--format", "jsonl").rows
    done("marginals", *gold, "-o", "found.npz")
    with np.load(tmp_path / "found.npz") as arrays:
        for row in rows:
            array = arrays[row["sent_id"]]
            np.testing.assert_array_equal(array, np.array(row["marginals"])[..., : array.shape[-1]])


def test_marginals_of_sentences_that_no_such_rule_concerns_are_exact(done):
    exact = {row["sent_id"]: row for row in done("marginals", *SCORES).rows}
    for row in done("marginals", *SCORES, "--rules", "spans.tsv", "--seed", 7).rows:
        concerned = row["sent_id"] in ("en-1", "en-2")
        assert ("standard_errors" in row) == concerned
        assert concerned or row == exact[row["sent_id"]]


def test_other_commands_have_no_rules_to_break(deptree):
    assert {name for name in COMMANDS if any(each.name == "rules" for each in command(name).params)} == {
        *("decode", "sample", "marginals", "check", "report", "repair", "convert")
    }
    assert "No such option '--rules'" in deptree("swor", *SCORES, "--rules", "ud").err


def test_what_arcs_decide_reaches_other_commands_by_their_scores(done):
    """Without rules, arcs are as probable by the converted scores as under rules by the others; no tree breaks them."""
    given = (*SCORES, *LABELS, "--rules", "mask.toml")
    done("convert", *given, "--to-labels", "labels.json", "-o", "masked.npz")
    direct = {row["sent_id"]: row for row in done("marginals", *given).rows}
    for row in done("marginals", "masked.npz", "--labels", "labels.json").rows:
        found, expected = (np.array(each["marginals"]) for each in (row, direct[row["sent_id"]]))
        same = [direct[row["sent_id"]]["labels"].index(label) for label in row["labels"]]
        np.testing.assert_allclose(found[:, 1:].swapaxes(0, 1), expected[..., same], atol=1e-5)
    trees = done("swor", "masked.npz", "--labels", "labels.json", "-k", 5, "--seed", 7).rows
    arcs = [arc for row in trees for arc in zip(row["heads"], row["deprels"], strict=True)]
    assert arcs
    assert not any(
        label == "nsubj" and head < word
        for row in trees
        for word, (head, label) in enumerate(zip(row["heads"], row["deprels"], strict=True), 1)
    )


@pytest.mark.parametrize("quiet", [(), ("-q",)], ids=["", "quiet"])
def test_scores_cannot_say_what_only_trees_decide(deptree, put, quiet):
    given = ("convert", *SCORES, *LABELS, "-o", "out.npz", *quiet, "--rules")
    ran = deptree(*given, "own.toml", "--rules", "mask.toml")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "Only whole trees decide 2 of 3 rules of own.toml,mask.toml, and scores are of single arcs. Leave" in ran.err
    assert "Only whole trees decide spans" in deptree(*given, "spans.tsv").err
    text = (DATA / "sentences.conllu").read_text(encoding="utf-8")
    put("spans.conllu", text.replace("Also=head=4", "Span=3-7", 1))
    assert "(en-1): only whole trees decide a span" in deptree(*given, "misc", "--conllu", "spans.conllu").err
    put("heads.conllu", text.replace("Also=head=4", "HeadIn=4", 1))
    assert deptree(*given, "misc", "--conllu", "heads.conllu").code == 0


def test_misc_without_spans_samples_as_the_arcs_say(done, put):
    """Only sentences with spans are drawn until they obey: the others have the trees of the same seed without rules."""
    text = (DATA / "sentences.conllu").read_text(encoding="utf-8")
    put("spans.conllu", text.replace("Also=head=4", "Span=3-7", 1))
    given = ("sample", *SCORES, "-k", 20, "--seed", 7, "--format", "jsonl", "--conllu", "spans.conllu")
    plain, ruled = done(*given).rows, done(*given, "--rules", "misc").rows
    assert [row for row in plain if row["sent_id"] != "en-1"] == [row for row in ruled if row["sent_id"] != "en-1"]
    trees = [row["heads"] for row in ruled if row["sent_id"] == "en-1"]
    assert all(sum(not 3 <= tree[word - 1] <= 7 for word in range(3, 8)) == 1 for tree in trees)
