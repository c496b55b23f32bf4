"""``deptree check`` of heads that are no tree, and of columns that hold something else."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from deptree_cli.commands.check import COLUMNS
from tests.sample import DATA

# Every way in which heads are no tree, beside a rule of another kind.
BROKEN = """\
# sent_id = roots
1\tGo\t_\tVERB\t_\t_\t0\troot\t_\t_
2\trun\t_\tVERB\t_\t_\t0\troot\t_\t_
3\tlaps\t_\tNOUN\t_\t_\t2\tdobj\t_\t_

# sent_id = cycle
1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tsleep\t_\tVERB\t_\t_\t1\tObj\t_\t_
3\there\t_\tADV\t_\t_\t2\tadvmod\t_\t_
4\tway\t_\tnoun\t_\t_\t2\tdet\t_\t_

# sent_id = heads
1\tDogs\t_\tNOUN\t_\t_\t9\tnsubj\t_\tHeadIn=2
2\tsleep\t_\tVERB\t_\t_\t0\troot\t_\t_
3\tall\t_\tDET\t_\t_\t3\tdet\t_\t_
4\tday\t_\tNOUN\t_\t_\t_\tobl\t_\tHeadIn=2
5\tlong\t_\tADJ\t_\t_\tx\tadvmod\t_\tNotHead=2

"""

# A determiner that is a noun.
TAGGED = """\
# sent_id = tagged
1\tway\tway\tNOUN\t_\t_\t2\tdet\t_\t_
2\tout\tout\tADV\t_\t_\t0\troot\t_\t_

"""


def test_what_is_no_tree(deptree, put) -> None:
    """It is named as the validator names it, and every other rule that can still be decided goes on."""
    put("broken.conllu", BROKEN)
    ran = deptree("check", "broken.conllu", "--rules", "ud", "--rules", "misc")
    assert ran.code == 1
    assert [(row["sent_id"], row["rule"], row["words"]) for row in ran.rows] == [
        ("roots", "multiple-roots", [1, 2]),
        ("roots", "unknown-udeprel", [3]),
        ("cycle", "non-tree", [1, 2]),
        ("cycle", "invalid-deprel", [2]),
        ("cycle", "rel-upos-det", [4]),
        ("cycle", "unknown-upos", [4]),
        ("heads", "invalid-head", [4, 5]),
        ("heads", "unknown-head", [1]),
        ("heads", "head-self-loop", [3]),
        ("heads", "HeadIn", [1]),
    ]
    assert [row["head"] for row in ran.rows if row["sent_id"] == "heads"] == [None, 9, 3, 9]
    assert ran.said[-1] == "deptree: rules are broken in 3 of 3 sentences, at 10 places"
    assert deptree("check", "broken.conllu", "--rules", "ud", "--rules", "misc", "-j", 2).out == ran.out


def test_nothing_but_a_tree(deptree, put) -> None:
    """By `tree` no label and no tag is wrong; how many roots there may be, and whether arcs may cross, is asked for."""
    put("broken.conllu", BROKEN)
    names = ["multiple-roots", "non-tree", "invalid-head", "unknown-head", "head-self-loop"]
    assert [row["rule"] for row in deptree("check", "broken.conllu", "--rules", "tree").rows] == names
    ran = deptree("check", "broken.conllu", "--rules", "tree", "--multi-root", "--header")
    assert ran.rows[0] == {"signature": "deptree|check|root:multi|rules:tree|v:0.1.0"}
    assert [row["rule"] for row in ran.rows[1:]] == names[1:]
    row = "{}\ta\t_\tX\t_\t_\t{}\tdep\t_\t_\n"
    put("crossing.conllu", "".join(row.format(*each) for each in enumerate([4, 3, 0, 3], 1)))
    assert deptree("check", "crossing.conllu", "--rules", "tree").rows == []
    rows = deptree("check", "crossing.conllu", "--rules", "tree", "--projective").rows
    assert [(row["rule"], row["words"]) for row in rows] == [("projective", [1, 3]), ("projective", [3, 1])]


# Ranges of multiword tokens that end beyond the sentence, overlap, or stand behind their words.
TOKENS = {
    "far": ("1-999999999 1 2 3", "word-interval-out", "1-999999999"),
    "end": ("1-1 1 2 3 4-5", "word-interval-out", "4-5"),
    "twice": ("1-2 1 2-3 2 3", "overlapping-word-intervals", "2-3"),
    "behind": ("1 2 1-2 3", "misplaced-word-interval", "1-2"),
    "right": ("1 2-3 2 3", "", ""),
}


def with_tokens(names: Iterable[str] = TOKENS) -> str:
    """A sentence of three words for each name."""
    word = "\tw{}\t_\tVERB\t_\t_\t{}\t_\t_\n"
    columns = {"1": ("1", "0\troot"), "2": ("2", "1\tconj"), "3": ("3", "1\tconj")}
    rows = {
        name: "".join(
            each + (word.format(*columns[each]) if each in columns else f"\tt{each}" + "\t_" * 8 + "\n")
            for each in TOKENS[name][0].split()
        )
        for name in names
    }
    return "".join(f"# sent_id = {name}\n{each}\n" for name, each in rows.items())


def test_multiword_tokens_that_are_not_in_front_of_their_words(deptree, put) -> None:
    """They are listed by the validator's names, under any rules, whether or not heads are trees; counted, too."""
    put("tokens.conllu", with_tokens())
    ran = deptree("check", "tokens.conllu")
    assert ran.code == 1
    assert [(row["sent_id"], row["rule"], row["form"]) for row in ran.rows] == [
        (name, rule, f"t{token}") for name, (_, rule, token) in TOKENS.items() if rule
    ]
    assert ran.rows[1] | {"sent_id": ""} == dict(
        zip(COLUMNS, ("", "word-interval-out", 4, "t4-5", None, None, [4, 5]), strict=True)
    )
    assert ["word-interval-out", "2", "2"] in [line.split() for line in ran.said]
    assert ran.said[-1] == "deptree: rules are broken in 4 of 5 sentences, at 4 places"
    assert deptree("check", "tokens.conllu", "--rules", "tree", "-j", 2).out == ran.out
    put("loop.conllu", with_tokens(["behind"]).replace("\t0\troot", "\t1\troot"))
    rules = [row["rule"] for row in deptree("check", "loop.conllu").rows]
    assert rules == ["head-self-loop", "misplaced-word-interval"]


@pytest.mark.parametrize("name", [name for name, (_, rule, _) in TOKENS.items() if rule])
def test_what_looks_at_tokens_refuses_those(deptree, put, name: str) -> None:
    """In the same words; a sentence that is skipped is counted."""
    put("tokens.conllu", with_tokens([name, "right"]))
    measure = "measure", "tokens.conllu", "--tokens", "--per", "sentence", "--quantity", "length"
    runs = [deptree(*measure), deptree("eval", "tokens.conllu", "tokens.conllu")]
    assert [ran.code for ran in runs] == [2, 2]
    assert len({ran.said[-1] for ran in runs}) == 1
    assert f"tokens.conllu:1 ({name}): the multiword token {TOKENS[name][2]} " in runs[0].said[-1]
    ran = deptree(*measure, "--on-error", "skip")
    assert (ran.code, [row["length"] for row in ran.rows]) == (1, [2])
    assert [row["length"] for row in deptree(*measure[:2], *measure[3:]).rows] == [3, 3]


def test_no_heads_at_all(deptree) -> None:
    """Sentences that nobody has annotated yet: a row each, and the others are looked at."""
    ran = deptree("check", DATA / "raw.conllu", DATA / "gold.conllu")
    assert ran.code == 1
    assert {row["rule"] for row in ran.rows} == {"invalid-head"}
    assert len(ran.rows) == 12
    assert ran.rows[0]["words"] == list(range(1, 1 + len(ran.rows[0]["words"])))


def test_tags_that_are_none(deptree, put) -> None:
    """A file with another tag set is told in a line; rules that ask for tags are not applied, and all words count."""
    two = "# sent_id = a\n1\tDogs\t_\tnns\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\tvb\t_\t_\t0\troot\t_\t_\n"
    put("other.conllu", (two + "3\tall\t_\tdt\t_\t_\t1\tdet\t_\t_\n4\t,\t_\tNOUN\t_\t_\t2\tdobj\t_\t_\n\n") * 7)
    ran = deptree("check", "other.conllu", put("tagged.conllu", TAGGED))
    assert ran.code == 1
    assert [row["rule"] for row in ran.rows] == [*["unknown-udeprel"] * 7, "rel-upos-det"]
    line = "deptree: 21 words have a UPOS that is not a universal tag; rules about UPOS ignore them"
    assert ran.said.count(line) == 1
    assert ["unknown-upos", "21", "7"] in [line.split() for line in ran.said]
    assert deptree("check", "other.conllu", "-q").err == ""
    few = deptree("check", put("few.conllu", two + "\n"))
    assert [row["rule"] for row in few.rows] == ["unknown-upos"] * 2
