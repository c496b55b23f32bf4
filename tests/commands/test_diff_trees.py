"""``deptree diff`` of trees: a row for each word whose head or label differs, whichever way it is written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from deptree_cli import read
from tests.sample import DATA, LABELS, SCORES

GOLD = DATA / "gold.conllu"

ONE = """\
# sent_id = g1
# text = We can't go.
1	We	we	PRON	_	_	4	nsubj	_	Note=a=b
2-3	can't	_	_	_	_	_	_	_	_
2	ca	can	AUX	_	_	4	aux	_	_
3	n't	not	PART	_	_	4	advmod	_	_
4	go	go	VERB	_	_	0	root	_	SpaceAfter=No
4.1	now	now	ADV	_	_	_	_	4:advmod	_
5	.	.	PUNCT	_	_	4	punct	_	_

"""
TWO = """\
# sent_id = g2
# free text
1	Stay	stay	VERB	_	_	0	root	_	_
2	here	here	ADV	_	_	1	advmod	_	SpaceAfter=No
3	.	.	PUNCT	_	_	1	punct	_	_

"""
MOVED = ONE.replace("4\tadvmod\t_", "1\tadvmod\t_")
RENAMED = TWO.replace("1\tadvmod", "1\tobl")


@pytest.fixture
def files(put) -> tuple[str, str]:
    """Two annotations, the second of which has another head in the first sentence, another label in the second."""
    return put("a.conllu", ONE + TWO), put("b.conllu", MOVED + RENAMED)


def test_rows(deptree, files) -> None:
    ran = deptree("diff", *files)
    assert ran.code == 1
    first, second = ran.rows
    assert first == {
        **{"sent_id": "g1", "word": 3, "form": "n't", "upos": "PART"},
        **{"head_a": 4, "head_form_a": "go", "deprel_a": "advmod"},
        **{"head_b": 1, "head_form_b": "We", "deprel_b": "advmod", "differs": "head"},
    }
    assert (second["sent_id"], second["word"], second["deprel_a"], second["deprel_b"]) == ("g2", 2, "advmod", "obl")
    assert ran.said == ["deptree: 2 of 8 words differ, in 2 of 2 sentences: 1 in the head, 1 in the label alone"]
    heading, *rows = deptree("diff", *files, "--tsv", "-q").out.decode().splitlines()
    assert heading.split("\t") == list(first)
    assert rows[0].split("\t") == [str(each) for each in first.values()]


def test_a_file_against_itself(deptree, files) -> None:
    ran = deptree("diff", files[0], files[0])
    assert (ran.code, ran.out) == (0, b"")
    assert ran.said == ["deptree: no difference: 8 words in 2 sentences"]


def test_other_columns_are_not_compared(deptree, put, files) -> None:
    other = (ONE + TWO).replace("\tADV\t", "\tX\t").replace("SpaceAfter=No", "_").replace("2-3\tcan't", "2-3\tcannot")
    ran = deptree("diff", files[0], put("c.conllu", other), put("d.conllu", (ONE + TWO).replace("\n", "\r\n")))
    assert (ran.code, ran.out) == (0, b"")


def test_conllu_keeps_every_byte(deptree, files) -> None:
    """But of the words that differ, which say in MISC what B has."""
    ran = deptree("diff", *files, "--format", "conllu", "--no-header")
    assert ran.code == 1
    expected = (ONE + TWO).replace("4\tadvmod\t_\t_", "4\tadvmod\t_\tOtherHead=1|OtherDeprel=advmod")
    expected = expected.replace("advmod\t_\tSpaceAfter=No", "advmod\t_\tSpaceAfter=No|OtherHead=1|OtherDeprel=obl")
    assert ran.out.decode() == expected
    Path("again.conllu").write_bytes(ran.out)
    back = deptree("diff", "again.conllu", files[0], "--format", "conllu", "--no-header")
    assert (back.code, back.out.decode()) == (0, ONE + TWO)  # what was noted before goes


def test_conllu_of_windows_and_without_last_newline(deptree, put) -> None:
    ours, theirs = ((one + two).rstrip("\n").replace("\n", "\r\n") for one, two in ((ONE, TWO), (ONE, RENAMED)))
    ran = deptree("diff", put("a.conllu", ours), put("b.conllu", theirs), "--format", "conllu", "--no-header")
    assert ran.out.decode() == ours.replace(
        "SpaceAfter=No\r\n3\t.", "SpaceAfter=No|OtherHead=1|OtherDeprel=obl\r\n3\t."
    )


def test_three_files(deptree, files, put) -> None:
    """Who said what: a row for a word about which not all agree."""
    third = put("c.conllu", MOVED + TWO)
    first, second = deptree("diff", *files, third).rows
    assert [first[f"head_{each}"] for each in "abc"] == [4, 1, 1]
    assert [second[f"deprel_{each}"] for each in "abc"] == ["advmod", "obl", "advmod"]
    ran = deptree("diff", *files, third, "--format", "conllu")
    assert (ran.code, ran.out) == (2, b"")
    assert "--format conllu writes A with what B has. Name two files, not 3." in ran.err


def test_sentences_that_moved_or_are_missing(deptree, files, put) -> None:
    moved = deptree("diff", files[0], put("c.conllu", RENAMED + MOVED))
    assert moved.rows == deptree("diff", *files).rows
    missing = deptree("diff", files[0], put("d.conllu", RENAMED))
    assert (missing.code, missing.out) == (2, b"")
    assert "(g1): d.conllu has no sentence with this id" in missing.err
    more = deptree("diff", "d.conllu", files[0], "--on-error", "skip", "-q")
    assert (more.code, len(more.rows)) == (1, 1)
    assert "(g1): no sentences in d.conllu have this id" in more.err


def test_a_malformed_sentence_is_told_at_its_place(deptree, files, put) -> None:
    """Whichever file it is in; with or without a name."""
    bad = ONE + TWO.replace("1\tadvmod", "7\tadvmod")
    for broken, line in ((bad, 14), (bad.replace("# sent_id = g2\n", ""), 13)):
        ran = deptree("diff", files[0], put("c.conllu", broken))
        assert (ran.code, ran.out) == (2, b"")
        remedy = "Correct it, for example with deptree repair."
        assert ran.said == [f"deptree: c.conllu:{line} (g2): HEAD is '7', not _ or 0 to 3. {remedy}"]


def test_skipped_sentences_are_no_agreement(deptree, files, put) -> None:
    ran = deptree("diff", files[0], put("c.conllu", ONE), "--on-error", "skip")
    assert (ran.code, ran.out) == (1, b"")


def test_other_words_are_an_error(deptree, files, put) -> None:
    ran = deptree("diff", files[0], put("c.conllu", (ONE + TWO).replace("\there\t", "\tthere\t")))
    assert ran.code == 2
    differs = "a.conllu:11 (g2): the text differs: after 'Stay' it has "
    assert f"{differs}'here.', 'there.' at c.conllu:11" in ran.err
    ran = deptree("diff", files[0], put("d.conllu", ONE + TWO.replace("3\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n", "")))
    assert ran.code == 2
    assert "a.conllu:11 (g2): the text differs: after 'Stayhere' it has '.', nothing at d.conllu:11" in ran.err


def test_words_without_heads(deptree, put) -> None:
    """A gap is an answer, and other than any head."""
    gap = TWO.replace("1\tadvmod", "_\t_")
    (row,) = deptree("diff", put("a.conllu", TWO), put("b.conllu", gap)).rows
    assert (row["head_b"], row["head_form_b"], row["deprel_b"]) == (None, None, None)
    written = deptree("diff", "a.conllu", "b.conllu", "--format", "conllu").out
    assert b"SpaceAfter=No|OtherHead=_|OtherDeprel=_\n" in written
    shown = deptree("diff", "a.conllu", "b.conllu", "--format", "text").out.decode()
    assert "advmod ← 1 Stay  no head" in shown


def test_json_lines(deptree, put) -> None:
    """Forms come from whichever file has them; trees need not be trees."""
    lines = json.dumps({"sent_id": "g2", "heads": [2, 1, 1], "deprels": ["root", "advmod", "punct"]})
    (row,) = deptree("diff", put("a.jsonl", lines + "\n"), put("b.conllu", TWO)).rows
    assert (row["word"], row["form"], row["head_form_a"], row["head_form_b"]) == (1, "Stay", "here", "ROOT")
    found = deptree("diff", "a.jsonl", "b.conllu", "--format", "conllu", "--no-header").out.decode()
    assert "1\t_\t_\t_\t_\t_\t2\troot\t_\tOtherHead=0|OtherDeprel=root\n" in found


def test_without_any_label_only_heads_are_compared(deptree, put) -> None:
    lines = json.dumps({"sent_id": "g2", "heads": [2, 1, 1]})
    ran = deptree("diff", put("a.jsonl", lines + "\n"), put("b.conllu", TWO))
    assert [row["word"] for row in ran.rows] == [1]
    assert "deptree: 1 sentence without labels in one of the files: only their heads are compared" in ran.said


def test_scores_say_which_is_likelier(deptree, tmp_path) -> None:
    """Against the marginals of the library."""
    other = tmp_path / "other.conllu"
    other.write_text(re.sub(r"(Brna\t.*)\t6\tnmod", r"\1\t5\tdet", GOLD.read_text("utf-8")), "utf-8")
    (row,) = deptree("diff", GOLD, other, "--scores", *SCORES, *LABELS).rows
    found = read(str(SCORES[0]), preset="natasha", labels=str(LABELS[1]), label_scores=str(LABELS[3]))
    (sentence,) = (each for each in found if each.id == row["sent_id"])
    marginals, labels = sentence.distribution.marginals(), sentence.distribution.labels
    assert row["prob_a"] == pytest.approx(marginals[6, 8])
    assert row["prob_b"] == pytest.approx(marginals[5, 8])
    for letter, head, label in (("a", 6, "nmod"), ("b", 5, "det")):
        given = labels.probs[head, 8, labels.names.index(label)]
        assert row[f"deprel_prob_{letter}"] == pytest.approx(marginals[head, 8] * given)
    assert row["likelier"] == ("a" if row["deprel_prob_a"] > row["deprel_prob_b"] else "b")
    (row,) = deptree("diff", GOLD, other, GOLD, "--scores", *SCORES).rows
    assert "deprel_prob_a" not in row
    assert row["likelier"] == "b"
    (row,) = deptree("diff", other, GOLD, other, "--scores", *SCORES).rows
    assert row["likelier"] == "a,c"


def test_scores_know_no_likelier_label_without_labels(deptree, tmp_path) -> None:
    other = tmp_path / "other.conllu"
    other.write_text(GOLD.read_text("utf-8").replace("\tnmod\t", "\tobl\t"), "utf-8")
    rows = deptree("diff", GOLD, other, "--scores", *SCORES).rows
    assert rows
    assert all(row["likelier"] is None and row["prob_a"] == row["prob_b"] for row in rows)


def test_which_kind_files_are_is_told_by_their_content(deptree, put, files) -> None:
    ran = deptree("diff", files[0], SCORES[0])
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "scores.npz: this has scores, but a.conllu has trees. Compare trees with trees" in ran.err
    for args, says in [
        ((*files, "--from", "natasha"), "--from needs --scores FILE"),
        (
            (*files, "-k", 5),
            "There is no -k now: trees are compared; for two score files: deptree expect kl A",
        ),
        ((SCORES[0], SCORES[0]), f"Compare scores with deptree expect kl {SCORES[0]} --other {SCORES[0]}"),
        ((SCORES[0], *SCORES), "--from needs --scores FILE"),
        ((files[0],), "Only one file. Pass two or more"),
        ((files[0], "nowhere.conllu"), "nowhere.conllu: no such file"),
    ]:
        ran = deptree("diff", *args)
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), args
        assert says in ran.err


def test_pipes(deptree, shell, files) -> None:
    """What cannot be looked at twice is what the others are, and trees if all are pipes."""
    piped = deptree("diff", files[0], "-", stdin=(MOVED + RENAMED).encode())
    assert piped.rows == deptree("diff", *files).rows
    ran = shell("deptree diff <(cat a.conllu) <(cat b.conllu) -q")
    assert (ran.code, ran.rows) == (1, piped.rows)
    ran = shell("deptree diff a.conllu b.conllu -q --format conllu | head -n 1")
    assert ran.out.startswith(b"# generator = deptree|diff|")
    assert ran.err == ""


DRAWN = """\
g2: 1 word differs

 ╭advmod─╮
 │       ▼
Stay    here  .
 │       ▲
 ╰──obl──╯

   word  a: a.conllu      b: b.conllu
2  here  advmod ← 1 Stay  obl ← 1 Stay

"""


def test_a_terminal_gets_both_arcs(files, terminal) -> None:
    code, shown = terminal("diff", *files, columns=80)
    assert code == 1
    assert DRAWN in shown.replace("\r\n", "\n")


SPLIT = ONE.replace("4\tgo\tgo\tVERB", "4\tg\tg\tX\t_\t_\t5\tgoeswith\t_\t_\n5\to\to\tVERB").replace("5\t.", "6\t.")
SPLIT = SPLIT.replace("\t4\taux", "\t5\taux").replace("\t4\tadvmod", "\t5\tadvmod").replace("\t4\tpunct", "\t5\tpunct")
SPLIT = SPLIT.replace("\t4\tnsubj", "\t1\tnsubj")


def test_words_are_aligned_by_their_characters(deptree, put) -> None:
    """`go` stands apart in B: it and what hangs on it differ, numbers are each file's own; stderr counts the words."""
    ran = deptree("diff", put("a.conllu", ONE), put("b.conllu", SPLIT))
    assert ran.code == 1
    found = [(row["word"], row["differs"], row["head_a"], row["head_b"], row["head_form_b"]) for row in ran.rows]
    assert found == [
        (1, "head", 4, 1, "We"),
        (2, "head", 4, 5, "o"),
        (3, "head", 4, 5, "o"),
        (4, "word", 0, None, None),
        (5, "head", 4, 5, "o"),
    ]
    assert ran.said == [
        "deptree: 3 words that another file divides otherwise",
        "deptree: 5 of 5 words differ, in 1 of 1 sentence: 4 in the head, 0 in the label alone, 1 divided otherwise",
    ]
    written = deptree("diff", "a.conllu", "b.conllu", "--format", "conllu", "--no-header").out.decode()
    assert "1\tWe\twe\tPRON\t_\t_\t4\tnsubj\t_\tNote=a=b|OtherHead=1|OtherDeprel=nsubj\n" in written
    assert "OtherHead=_|OtherDeprel=_" in written
    assert deptree("diff", "b.conllu", "a.conllu", "--format", "text").code == 1


def test_words_that_only_another_file_has_differ_too(deptree, put) -> None:
    """Even if no word of A says so: it has no row, but stderr and the exit status tell."""
    one = "1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    ran = deptree(
        "diff", put("a.conllu", one), put("b.conllu", one.replace("\n\n", "\n2\t\u00a0\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"))
    )
    assert (ran.code, ran.out) == (1, b"")
    assert ran.said[0] == "deptree: 1 word that another file divides otherwise"


def test_subtypes_are_marked(deptree, put) -> None:
    """A difference in the subtype alone is one of its own; `eval` and `agree` do not look at it."""
    ran = deptree("diff", put("a.conllu", TWO), put("b.conllu", TWO.replace("advmod", "advmod:lmod")))
    assert ran.code == 1
    assert [row["differs"] for row in ran.rows] == ["subtype"]
    assert ran.said[-1].endswith("0 in the head, 0 in the label alone, 1 in the subtype of the label alone")
    (row,) = deptree("agree", "a.conllu", "b.conllu").rows
    assert row["labelled"] == 1
    assert {each["label"] for each in deptree("agree", "b.conllu", "b.conllu", "--per", "label").rows} == {
        "advmod",
        "punct",
        "root",
    }


def test_rows_of_several_files_say_where(deptree, files, put) -> None:
    """File and line of the word in A."""
    ran = deptree("diff", *files, put("c.conllu", MOVED + TWO))
    assert [(row["file"], row["line"]) for row in ran.rows] == [("a.conllu", 6), ("a.conllu", 14)]
    assert "file" not in deptree("diff", *files).rows[0]
