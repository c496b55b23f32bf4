"""``deptree diff`` of trees: a row for each word whose head or label differs, whichever way it is written."""

from __future__ import annotations

import re

import pytest

from deptree_cli import read
from tests.lines import table
from tests.sample import DATA, LABELS, SCORES

GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")

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
OTHER = "SpaceAfter=No|OtherHead=1|OtherDeprel=obl"


LINES = "--format conllu --no-header"


@pytest.fixture
def files(put) -> None:
    """Two annotations, b with another head in the first sentence, another label in the second; and c, between both."""
    put("a.conllu", ONE + TWO)
    put("b.conllu", MOVED + RENAMED)
    put("c.conllu", MOVED + TWO)


def test_rows(deptree, files) -> None:
    ran = deptree("diff a.conllu b.conllu")
    assert ran.code == 1
    first, second = ran.rows
    assert first == {
        **{"sent_id": "g1", "word": 3, "form": "n't", "upos": "PART"},
        **{"head_a": 4, "head_form_a": "go", "deprel_a": "advmod"},
        **{"head_b": 1, "head_form_b": "We", "deprel_b": "advmod", "differs": "head"},
    }
    assert (second["sent_id"], second["word"], second["deprel_a"], second["deprel_b"]) == ("g2", 2, "advmod", "obl")
    assert ran.said == ["deptree: 2 of 8 words differ, in 2 of 2 sentences: 1 in the head, 1 in the label alone"]
    heading, row, _ = deptree("diff a.conllu b.conllu --tsv -q").out.decode().splitlines()
    assert (heading.split("\t"), row.split("\t")) == ([*first], [*map(str, first.values())])


def test_what_does_not_differ(done, put, files) -> None:
    """A file against itself; other columns, forms of multiword tokens and ends of lines are not compared."""
    put(
        "c.conllu", (ONE + TWO).replace("\tADV\t", "\tX\t").replace("SpaceAfter=No", "_").replace("\tcan't", "\tcannot")
    )
    put("d.conllu", (ONE + TWO).replace("\n", "\r\n"))
    ran = done("diff a.conllu a.conllu c.conllu d.conllu")
    assert (ran.out, ran.said) == (b"", ["deptree: no difference: 8 words in 2 sentences"])


def test_conllu_keeps_every_byte(deptree, done, put, files) -> None:
    """But of the words that differ, which say in MISC what B has; as on Windows, and without a newline at the end."""
    ran = deptree(f"diff a.conllu b.conllu {LINES}")
    assert ran.code == 1
    expected = (ONE + TWO).replace("4\tadvmod\t_\t_", "4\tadvmod\t_\tOtherHead=1|OtherDeprel=advmod")
    assert ran.out.decode() == expected.replace("_\tSpaceAfter=No\n3\t.", f"_\t{OTHER}\n3\t.")
    put("again.conllu", ran.out)
    assert done(f"diff again.conllu a.conllu {LINES}").out.decode() == ONE + TWO  # what was noted before goes
    ours, theirs = ((ONE + two).rstrip("\n").replace("\n", "\r\n") for two in (TWO, RENAMED))
    put("a.conllu", ours)
    put("b.conllu", theirs)
    out = deptree(f"diff a.conllu b.conllu {LINES}").out.decode()
    assert out == ours.replace("SpaceAfter=No\r\n3\t.", f"{OTHER}\r\n3\t.")


def test_three_files(deptree, files) -> None:
    """Who said what: a row for a word about which not all agree, with file and line of the word in A."""
    first, second = deptree("diff a.conllu b.conllu c.conllu").rows
    assert [first[f"head_{each}"] for each in "abc"] == [4, 1, 1]
    assert [second[f"deprel_{each}"] for each in "abc"] == ["advmod", "obl", "advmod"]
    assert [(row["file"], row["line"]) for row in (first, second)] == [("a.conllu", 6), ("a.conllu", 14)]


def test_sentences_that_moved_or_are_missing(deptree, refused, files, put) -> None:
    put("moved.conllu", RENAMED + MOVED)
    assert deptree("diff a.conllu moved.conllu").rows == deptree("diff a.conllu b.conllu").rows
    put("d.conllu", RENAMED)
    refused("diff a.conllu d.conllu", "(g1): d.conllu has no sentence with this id")
    more = deptree("diff d.conllu a.conllu --on-error skip -q")
    assert (more.code, len(more.rows)) == (1, 1)
    assert "(g1): no sentences in d.conllu have this id" in more.err
    put("one.conllu", ONE)
    ran = deptree("diff a.conllu one.conllu --on-error skip")  # what is skipped does not agree
    assert (ran.code, ran.out) == (1, b"")


@pytest.mark.parametrize(("name", "line"), [("# sent_id = g2\n", 14), ("", 13)])
def test_a_malformed_sentence_is_told_at_its_place(refused, files, put, name: str, line: int) -> None:
    """Whichever file it is in; with or without a name."""
    put("c.conllu", ONE + TWO.replace("1\tadvmod", "7\tadvmod").replace("# sent_id = g2\n", name))
    said = f"deptree: c.conllu:{line} (g2): HEAD is '7', not _ or 0 to 3. Correct it, for example with deptree repair."
    assert refused("diff a.conllu c.conllu").said == [said]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("\there\t", "\tthere\t", "after 'Stay' it has 'here.', 'there.' at c.conllu:11"),
        ("3\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n", "", "after 'Stayhere' it has '.', nothing at c.conllu:11"),
    ],
)
def test_other_words_are_an_error(refused, files, put, old: str, new: str, says: str) -> None:
    put("c.conllu", ONE + TWO.replace(old, new))
    refused("diff a.conllu c.conllu", f"a.conllu:11 (g2): the text differs: {says}")


def test_words_without_heads(deptree, put) -> None:
    """A gap is an answer, and other than any head."""
    put("a.conllu", TWO)
    put("b.conllu", TWO.replace("1\tadvmod", "_\t_"))
    (row,) = deptree("diff a.conllu b.conllu").rows
    assert (row["head_b"], row["head_form_b"], row["deprel_b"]) == (None, None, None)
    written = deptree("diff a.conllu b.conllu --format conllu").out
    assert b"SpaceAfter=No|OtherHead=_|OtherDeprel=_\n" in written
    shown = deptree("diff a.conllu b.conllu --format text").out.decode()
    assert "advmod ← 1 Stay  no head" in shown


def test_json_lines(deptree, put) -> None:
    """Forms come from whichever file has them; trees need not be trees; without any label only heads are compared."""
    put("b.conllu", TWO)
    put("a.jsonl", '{"sent_id": "g2", "heads": [2, 1, 1], "deprels": ["root", "advmod", "punct"]}\n')
    (row,) = deptree("diff a.jsonl b.conllu").rows
    assert (row["word"], row["form"], row["head_form_a"], row["head_form_b"]) == (1, "Stay", "here", "ROOT")
    found = deptree(f"diff a.jsonl b.conllu {LINES}").out.decode()
    assert "1\t_\t_\t_\t_\t_\t2\troot\t_\tOtherHead=0|OtherDeprel=root\n" in found
    put("a.jsonl", '{"sent_id": "g2", "heads": [2, 1, 1]}\n')
    ran = deptree("diff a.jsonl b.conllu")
    assert [row["word"] for row in ran.rows] == [1]
    assert "deptree: 1 sentence without labels in one of the files: only their heads are compared" in ran.said


def test_scores_say_which_is_likelier(deptree, put) -> None:
    """Against the marginals of the library; without scores of labels none is likelier by its label."""
    put("other.conllu", re.sub(r"(Brna\t.*)\t6\tnmod", r"\1\t5\tdet", GOLD))
    (row,) = deptree("diff $GOLD other.conllu --scores $SCORES $LABELS").rows
    found = read(str(SCORES[0]), preset="natasha", labels=str(LABELS[1]), label_scores=str(LABELS[3]))
    (sentence,) = (each for each in found if each.id == row["sent_id"])
    marginals, labels = sentence.distribution.marginals(), sentence.distribution.labels
    for letter, head, label in (("a", 6, "nmod"), ("b", 5, "det")):
        given = labels.probs[head, 8, labels.names.index(label)]
        assert row[f"prob_{letter}"] == pytest.approx(marginals[head, 8])
        assert row[f"deprel_prob_{letter}"] == pytest.approx(marginals[head, 8] * given)
    assert row["likelier"] == ("a" if row["deprel_prob_a"] > row["deprel_prob_b"] else "b")
    for files, likelier in (("$GOLD other.conllu $GOLD", "b"), ("other.conllu $GOLD other.conllu", "a,c")):
        (row,) = deptree(f"diff {files} --scores $SCORES").rows
        assert ("deprel_prob_a" in row, row["likelier"]) == (False, likelier)
    put("other.conllu", GOLD.replace("\tnmod\t", "\tobl\t"))
    rows = deptree("diff $GOLD other.conllu --scores $SCORES").rows
    assert {(row["likelier"], row["prob_a"] == row["prob_b"]) for row in rows} == {(None, True)}


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        diff $GOLD $DATA/scores.npz | scores.npz: this has scores, but | has trees. Compare trees with trees
        diff $GOLD $GOLD --from natasha | --from needs --scores FILE
        diff $GOLD $GOLD -k 5 | There is no -k now: trees are compared; for two score files: deptree expect kl A
        diff $DATA/scores.npz $DATA/scores.npz | Compare scores with deptree expect kl | --other
        diff $DATA/scores.npz $SCORES | --from needs --scores FILE
        diff $GOLD | Only one file. Pass two or more
        diff $GOLD nowhere.conllu | nowhere.conllu: no such file
        diff $GOLD $GOLD $GOLD --format conllu | --format conllu writes A with what B has. Name two files, not 3.
    """),
)
def test_what_is_refused(refused, line: str, says: tuple[str, ...]) -> None:
    refused(line, *says)


def test_pipes(deptree, shell, files) -> None:
    """What cannot be looked at twice is what the others are, and trees if all are pipes."""
    rows = deptree("diff a.conllu b.conllu").rows
    assert deptree("diff a.conllu -", stdin=(MOVED + RENAMED).encode()).rows == rows
    ran = shell("deptree diff <(cat a.conllu) <(cat b.conllu) -q")
    assert (ran.code, ran.rows) == (1, rows)
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
    code, shown = terminal("diff", "a.conllu", "b.conllu", columns=80)
    assert code == 1
    assert DRAWN in shown.replace("\r\n", "\n")


SPLIT = ONE.replace("4\tgo\tgo\tVERB", "4\tg\tg\tX\t_\t_\t5\tgoeswith\t_\t_\n5\to\to\tVERB").replace("5\t.", "6\t.")
SPLIT = SPLIT.replace("\t4\taux", "\t5\taux").replace("\t4\tadvmod", "\t5\tadvmod").replace("\t4\tpunct", "\t5\tpunct")
SPLIT = SPLIT.replace("\t4\tnsubj", "\t1\tnsubj")


def test_words_are_aligned_by_their_characters(deptree, put) -> None:
    """`go` stands apart in B: it and what hangs on it differ, numbers are each file's own; stderr counts the words."""
    put("a.conllu", ONE)
    put("b.conllu", SPLIT)
    ran = deptree("diff a.conllu b.conllu")
    assert ran.code == 1
    assert [
        tuple(row[name] for name in ("word", "differs", "head_a", "head_b", "head_form_b")) for row in ran.rows
    ] == [
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
    written = deptree(f"diff a.conllu b.conllu {LINES}").out.decode()
    assert "1\tWe\twe\tPRON\t_\t_\t4\tnsubj\t_\tNote=a=b|OtherHead=1|OtherDeprel=nsubj\n" in written
    assert "OtherHead=_|OtherDeprel=_" in written
    assert deptree("diff b.conllu a.conllu --format text").code == 1


def test_words_that_only_another_file_has_differ_too(deptree, put) -> None:
    """Even if no word of A says so: it has no row, but stderr and the exit status tell."""
    put("a.conllu", "1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    put("b.conllu", "1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n2\t\u00a0\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    ran = deptree("diff a.conllu b.conllu")
    assert (ran.code, ran.out) == (1, b"")
    assert ran.said[0] == "deptree: 1 word that another file divides otherwise"


def test_subtypes_are_marked(deptree, put) -> None:
    """A difference in the subtype alone is one of its own; `eval` and `agree` do not look at it."""
    put("a.conllu", TWO)
    put("b.conllu", TWO.replace("advmod", "advmod:lmod"))
    ran = deptree("diff a.conllu b.conllu")
    assert (ran.code, [row["differs"] for row in ran.rows]) == (1, ["subtype"])
    assert ran.said[-1].endswith("0 in the head, 0 in the label alone, 1 in the subtype of the label alone")
    assert deptree("agree a.conllu b.conllu").rows[0]["labelled"] == 1
    labels = {each["label"] for each in deptree("agree b.conllu b.conllu --per label").rows}
    assert labels == {"advmod", "punct", "root"}
