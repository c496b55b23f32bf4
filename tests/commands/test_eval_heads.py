"""``deptree eval`` where trees of systems are none or missing, and what the line to quote then says and leaves out."""

from __future__ import annotations

import pytest

from deptree_cli import read
from tests.commands.test_eval import FEW, GOLD, changed, edited
from tests.sample import SCORES


@pytest.mark.parametrize(
    ("head", "says"),
    [("7", "not a tree: word 7 is its own ancestor"), ("9", "HEAD is '9', not _ or 0")],
)
def test_gold_trees_must_be_trees(deptree, put, head, says) -> None:
    gold = changed(put, "\t2\tobl\t", f"\t{head}\tobl\t")
    ran = deptree("eval", gold, GOLD, *FEW)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "changed.conllu:" in ran.err
    assert f"(en-1): {says}" in ran.err
    words = "46 of at least 46" if head == "9" else "46 of 54"
    assert f"(n = 7 of 8 sentences, {words} gold words)" in deptree("eval", gold, GOLD, *FEW, "--on-error", "skip").err


def test_a_gold_word_without_head_is_left_out_alone(done, put) -> None:
    """Of the metrics that compare heads; the sentence stays, and stderr counts the word, on either side."""
    gold = changed(put, "\t2\tobl\t", "\t_\t_\t")
    ran = done("eval", gold, GOLD, *FEW)
    cells = {row["metric"]: (row["correct"], row["gold"], row["predicted"]) for row in ran.rows}
    assert cells["UAS"] == cells["LAS"] == (53, 53, 53)
    assert cells["CLAS"] == cells["BLEX"] == (34, 34, 34)
    assert cells["UPOS"] == cells["Words"] == (54, 54, 54)
    assert "deptree: changed.conllu: 1 word without HEAD: left out of UAS, LAS, CLAS, MLAS and BLEX" in ran.said
    assert "deptree: changed.conllu: 1 word without HEAD: counted as wrong" in done("eval", GOLD, gold, *FEW).said


# What the seventh word's HEAD may be, and what stderr says of its tree.
HEADS = {"7": "with cycles", "9": "with missing heads", "_": "with missing heads", "x": "with missing heads"}


@pytest.mark.parametrize("head", HEADS)
def test_heads_of_systems_are_compared_word_by_word(done, put, head) -> None:
    """Tree or no tree: a head that is no word's, or the word itself, is a wrong one; beside scores and by class too."""
    system = changed(put, "\t2\tobl\t", f"\t{head}\tobl\t")
    ran = done("eval", GOLD, GOLD, system, *FEW)
    rows = {(row["system"], row["metric"]): row for row in ran.rows}
    for metric, right, words in (
        ("UAS", 53, 54),
        ("LAS", 53, 54),
        ("CLAS", 34, 35),
        ("BLEX", 34, 35),
        ("UPOS", 54, 54),
    ):
        row = rows[system, metric]
        assert (row["correct"], row["gold"], row["predicted"]) == (right, words, words)
        assert rows[str(GOLD), metric]["correct"] == words
    assert f"deptree: 1 tree {HEADS[head]}: compared word by word; the script of the CoNLL 2018" in ran.err
    assert done("eval", GOLD, system, *FEW, "--on-error", "skip").rows[0]["correct"] == 53
    assert done("eval", GOLD, system, *FEW, "--scores", *SCORES).rows[0]["correct"] == 53
    kinds = [part for kind in ("label", "arc-length", "sentence-length", "projectivity") for part in ("--by", kind)]
    by = done("eval", GOLD, system, *FEW, *kinds).rows
    for kind in ("arc-length", "sentence-length", "projectivity"):
        those = [row for row in by if (row["by"], row["metric"]) == (kind, "UAS")]
        assert [sum(row[name] for row in those) for name in ("correct", "gold", "predicted")] == [53, 54, 54]
    assert [row["predicted"] for row in by if row["class"] == "none"] == [1] * 4


def test_the_expected_score_of_heads_that_are_no_trees(done, put) -> None:
    """Each head counts by its probability; one that is no word's, or the word itself, by none."""
    (scored, *_) = read(str(SCORES[0]), preset="natasha")
    lost = scored.distribution.marginals()[2, 7] / 54
    whole = done("eval", GOLD, "--scores", *SCORES).rows[0]["value"]
    for head in HEADS:
        found = done("eval", changed(put, "\t2\tobl\t", f"\t{head}\tobl\t"), "--scores", *SCORES).rows[0]
        assert found["value"] == pytest.approx(whole - lost)


def sentences(heads: str, first: int = 1) -> str:
    """Sentences of one word, with these heads."""
    rows = (
        f"# sent_id = s{number}\n1\tw{number}\t_\t_\t_\t_\t{head}\troot\t_\t_\n\n"
        for number, head in enumerate(heads, first)
    )
    return "".join(rows)


def test_half_of_the_system_broken(done, put) -> None:
    """It is wrong, not absent."""
    ran = done("eval", put("g", sentences("0000")), put("s", sentences("001_")), *FEW, "--on-error", "skip")
    row = ran.rows[0]
    assert (row["value"], row["correct"], row["gold"]) == (0.5, 2, 4)
    assert "deptree: 1 tree with cycles, 1 tree with missing heads: compared" in ran.err
    assert "(n = 4 sentences, 4 words)" in ran.err


@pytest.mark.parametrize("names", ["sent_id", "other"])
def test_sentences_of_one_file_only_are_counted_both_ways(deptree, put, names) -> None:
    """With ids and without them: five that only one file has, and five where the other has one."""
    put("many", sentences("0" * 9).replace("sent_id", names))
    put("few", (sentences("0" * 3) + sentences("0", 9)).replace("sent_id", names))
    put("other", (sentences("0" * 3) + sentences("0", 10) + sentences("0", 9)).replace("sent_id", names))
    both = [
        ("few", "many", 5, ""),
        ("many", "few", 5, "4 of 9"),
        ("other", "many", 5, "4 of 5"),
        ("many", "other", 5, "4 of 9"),
    ]
    for gold, system, skipped, part in both:
        ran = deptree("eval", gold, system, *FEW, "--on-error", "skip")
        assert f"deptree: {skipped} sentences skipped" in ran.said
        assert (f"(n = {part} sentences, {part} gold words)" if part else "(n = 4 sentences, 4 words)") in ran.err


def test_metrics_without_information_are_in_rows_only(done, put) -> None:
    """What the system has from GOLD, and what GOLD lacks, is told once; the line and the table go without it."""
    lacking = edited(put, "s.conllu", (0, 6, "0"), (3, 4, "A"), (4, 3, "X"))
    left = "XPOS, UFeats, Lemmas, Words, Tokens, Sentences"
    for systems in ((lacking,), (GOLD, lacking)):
        ran = done("eval", edited(put, "g.conllu", *((word, 5, "_") for word in range(54))), *systems, *FEW)
        assert len(ran.rows) == 13 * (3 if len(systems) > 1 else 1)
        for each in ("UAS", "LAS", "CLAS", "MLAS", "BLEX", "UPOS", "AllTags"):
            assert f" {each} " in ran.said[-1]
        for each in left.split(", "):
            assert f" {each} " not in ran.said[-1]
        assert f"deptree: {left}: right everywhere, or not in the gold trees; left out of tables" in ran.err
        table = done("eval", "g.conllu", *systems, *FEW, "--format", "table").out.decode()
        for each in left.split(", "):
            assert f" {each} " not in table
        assert " UPOS " in table
