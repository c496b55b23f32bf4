"""``deptree diff`` of trees: a row for each word whose head or label differs, whichever way it is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deptree_cli import read
from tests.commands.sessions import hold_session
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


SPLIT = ONE.replace("4\tgo\tgo\tVERB", "4\tg\tg\tX\t_\t_\t5\tgoeswith\t_\t_\n5\to\to\tVERB").replace("5\t.", "6\t.")
SPLIT = SPLIT.replace("\t4\taux", "\t5\taux").replace("\t4\tadvmod", "\t5\tadvmod").replace("\t4\tpunct", "\t5\tpunct")
SPLIT = SPLIT.replace("\t4\tnsubj", "\t1\tnsubj")

FILES = {
    "a.conllu": ONE + TWO,
    "b.conllu": MOVED + RENAMED,
    "c.conllu": MOVED + TWO,
    "columns.conllu": (ONE + TWO).replace("\tADV\t", "\tX\t").replace("SpaceAfter=No", "_").replace("can't", "cannot"),
    "crlf.conllu": (ONE + TWO).replace("\n", "\r\n"),
    "moved.conllu": RENAMED + MOVED,
    "one.conllu": ONE,
    "two.conllu": TWO,
    "renamed.conllu": RENAMED,
    "bad.conllu": ONE + TWO.replace("1\tadvmod", "7\tadvmod"),
    "nameless.conllu": ONE + TWO.replace("1\tadvmod", "7\tadvmod").replace("# sent_id = g2\n", ""),
    "there.conllu": ONE + TWO.replace("\there\t", "\tthere\t"),
    "shorter.conllu": ONE + TWO.replace("3\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n", ""),
    "gap.conllu": TWO.replace("1\tadvmod", "_\t_"),
    "two.jsonl": '{"sent_id": "g2", "heads": [2, 1, 1], "deprels": ["root", "advmod", "punct"]}\n',
    "bare.jsonl": '{"sent_id": "g2", "heads": [2, 1, 1]}\n',
    "split.conllu": SPLIT,
    "space.conllu": TWO.replace("\n\n", "\n4\t\u00a0\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"),
    "subtype.conllu": TWO.replace("advmod", "advmod:lmod"),
}


@pytest.fixture
def files(put) -> None:
    for name, text in FILES.items():
        put(name, text)


def test_a_session(deptree, golden, files) -> None:
    hold_session(deptree, golden, "diff.txt")


def test_conllu_of_windows_and_of_an_earlier_diff(deptree, done, put, files) -> None:
    """Also without a newline at the end; what was noted before goes."""
    put("again.conllu", deptree("diff a.conllu b.conllu --format conllu --no-header").out)
    assert done("diff again.conllu a.conllu --format conllu --no-header").out.decode() == ONE + TWO
    for name, two in (("ours", TWO), ("theirs", RENAMED)):
        put(name, (ONE + two).rstrip("\n").replace("\n", "\r\n"))
    out = deptree("diff ours theirs --format conllu --no-header").out.decode()
    other = "SpaceAfter=No|OtherHead=1|OtherDeprel=obl"
    assert out == Path("ours").read_bytes().decode().replace("SpaceAfter=No\r\n3\t.", f"{other}\r\n3\t.")


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


def test_a_terminal_gets_a_table(deptree, files, terminal) -> None:
    code, shown = terminal("diff", "a.conllu", "b.conllu", columns=80)
    assert code == 1
    assert deptree("diff a.conllu b.conllu --format table -q").out.decode() in shown.replace("\r\n", "\n")
