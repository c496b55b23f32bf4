"""`decode` under rules: what is written with a tree, what is asked of words and spans, and what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from deptree_cli.io.rules.reading import read_rules
from tests.sample import DATA, SCORES

LABELLED = (*SCORES, "--labels", DATA / "labels.json", "--label-scores", DATA / "label_scores.npz")
WORDS = ("--conllu", DATA / "sentences.conllu")
JSON = ("--format", "jsonl")

# Of the labels of English trees few are left, so that good trees are far from the best ones.
STRICT = """
at-most-one = [["obl", "nmod"], ["obj", "advmod"], ["nsubj", "punct", "det"], ["case", "aux"]]
leaf = ["obl"]
"""
STRICTER = STRICT.replace('leaf = ["obl"]', 'leaf = ["obl", "nmod"]')


def rows_by_name(ran) -> dict[str, dict]:
    """The rows by their sent_id."""
    return {row["sent_id"]: row for row in ran.rows}


def breaks_strict(row: dict) -> bool:
    """Whether a tree breaks `STRICT`, by its definition."""
    arcs = list(zip(row["heads"], row["deprels"], strict=True))
    groups = ({"obl", "nmod"}, {"obj", "advmod"}, {"nsubj", "punct", "det"}, {"case", "aux"})
    several = any(
        len(heads) != len(set(heads)) for group in groups if (heads := [head for head, label in arcs if label in group])
    )
    return several or any(label == "obl" and word in row["heads"] for word, (_, label) in enumerate(arcs, 1))


def test_trees_are_certified_in_comments_and_in_fields(done) -> None:
    rows = done("decode", *LABELLED, *WORDS, "--rules", "ud", *JSON).rows
    assert len(rows) == 8
    assert all(row["certified"] is True and row["gap"] == 0 for row in rows)
    lines = done("decode", *LABELLED, *WORDS, "--rules", "ud").out.decode().splitlines()
    assert lines.count("# certified = yes") == lines.count("# gap = 0.0") == 8
    assert "|rules:ud-" in lines[0]
    plain = done("decode", *LABELLED, *WORDS, *JSON).rows
    assert not any("certified" in row or "gap" in row for row in plain)


def test_own_rules_are_obeyed_and_cost_probability(done, put) -> None:
    put("strict.toml", STRICT)
    plain = rows_by_name(done("decode", *LABELLED, *JSON))
    rows = rows_by_name(done("decode", *LABELLED, "--rules", "strict.toml", *JSON))
    assert sum(map(breaks_strict, plain.values())) >= 5
    assert not any(map(breaks_strict, rows.values()))
    for name, row in rows.items():
        worths = [each["log_prob"] + each["label_log_prob"] for each in (row, plain[name])]
        assert worths[0] <= worths[1] + 1e-9


def test_the_k_best_come_in_order_each_once(done, put) -> None:
    put("strict.toml", STRICT)
    found = done("decode", *LABELLED, "--rules", "strict.toml", "-k", 4, *JSON).rows
    best = rows_by_name(done("decode", *LABELLED, "--rules", "strict.toml", *JSON))
    for name in best:
        rows = [row for row in found if row["sent_id"] == name]
        worths = [row["log_prob"] + row["label_log_prob"] for row in rows]
        assert len({tuple(row["heads"]) for row in rows}) == len(rows) <= 4
        assert worths == sorted(worths, reverse=True)
        assert rows[0]["heads"] == best[name]["heads"]
        assert rows[0]["deprels"] == best[name]["deprels"]
        assert not any(map(breaks_strict, rows))
    assert len(found) > 24


def test_mbr_obeys_too(done, put) -> None:
    """The telescope is the man's with chance 0.35, the seer's with 0.65; the group of obl and nmod changes nothing."""
    put("strict.toml", STRICT)
    rows = done("decode", *LABELLED, "--rules", "strict.toml", "--method", "mbr", *JSON).rows
    assert len(rows) == 8
    assert all(row["certified"] for row in rows)
    assert not any(map(breaks_strict, rows))


def test_a_small_budget_is_told(done, deptree, put) -> None:
    """A tree is the best one, or not certified, or none is found: that is an error with advice."""
    put("strict.toml", STRICTER)
    args = ("decode", *LABELLED, "--rules", "strict.toml", *JSON)
    best = rows_by_name(done(*args))
    ran = deptree(*args, "--budget", 6, "--on-error", "skip")
    rows = rows_by_name(ran)
    assert ran.code == 1
    assert len(rows) + ran.err.count("no tree that obeys the rules was found") == len(best)
    assert "Raise --budget, or give up a rule, or pass --relax." in ran.err
    assert {row["certified"] for row in rows.values()} == {True, False}
    for name, row in rows.items():
        lost = best[name]["log_prob"] + best[name]["label_log_prob"] - row["log_prob"] - row["label_log_prob"]
        assert row["certified"] == (row["gap"] == 0)
        assert row["gap"] >= lost - 1e-9
        assert not breaks_strict(row)
    args = ("decode", *LABELLED, *WORDS, "--rules", "strict.toml", "--budget", 6, "--on-error", "skip")
    comments = deptree(*args).out.decode().splitlines()
    at = comments.index("# certified = no")
    assert float(comments[at + 1].removeprefix("# gap = ")) > 0


@pytest.mark.slow("process")
def test_rules_that_cannot_hold_are_an_error(deptree, put) -> None:
    """By the arcs alone, or by the trees: the word below ROOT has dependents in all trees of several words."""
    put("arcs.toml", "mask = [{ root = true }]")
    ran = deptree("decode", *LABELLED, "--rules", "arcs.toml", *JSON)
    assert (ran.code, ran.out) == (2, b"")
    assert "(en-1): no tree obeys mask of word 1, mask of word 2, " in ran.err
    assert "2 more together. Give one up, or pass --relax." in ran.err
    put("trees.toml", 'leaf = ["root"]')
    ran = deptree("decode", *LABELLED, "--rules", "trees.toml", "--on-error", "skip", *JSON)
    assert (ran.code, ran.out) == (1, b"")
    assert "(en-4): no tree obeys leaf root. Give it up, or pass --relax." in ran.err


def test_labels_that_are_not_those_of_the_rules(deptree, put) -> None:
    """If a tree cannot do without them, a line says which and what to do; if it can, a line says which it has not."""
    names = json.loads((DATA / "labels.json").read_text(encoding="utf-8"))
    put("upper.json", json.dumps([name if name == "root" else name.upper() for name in names]))
    put("old.json", json.dumps(["dobj" if name == "obj" else name for name in names]))
    args = [*LABELLED, *WORDS, "--rules", "ud", *JSON]
    at = args.index("--labels") + 1
    ran = deptree("decode", *args[:at], "upper.json", *args[at + 1 :])
    assert (ran.code, ran.out) == (2, b"")
    assert ran.said[-1].endswith(
        "deptree: ud-2026-11 forbids every label of the scores but root (invalid-deprel): 'ACL:RELCL', 'ADVCL',"
        " 'ADVMOD', 'AUX', 'CASE', 'DET', 'MARK', 'NMOD', 'NSUBJ', 'OBJ' and 3 others. Remove these rules; --rules"
        " show prints ours as a file to edit."
    )
    ran = deptree("decode", *args[:at], "old.json", *args[at + 1 :])
    assert "deptree: ud-2026-11 forbids 1 label of the scores (unknown-udeprel): 'dobj'" in ran.said
    assert ran.code == 0
    assert not any("dobj" in row["deprels"] for row in ran.rows)


def test_nothing_but_a_tree_is_what_there_is_anyhow(done) -> None:
    plain, tree = (done("decode", *LABELLED, *rules, *JSON).rows for rules in ((), ("--rules", "tree")))
    for one, other in zip(plain, tree, strict=True):
        assert other["certified"]
        assert one["heads"] == other["heads"] or one["log_prob"] >= other["log_prob"]


def test_heads_and_labels_of_words_from_misc_and_from_a_file(done, put) -> None:
    text = (DATA / "sentences.conllu").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("7\ttelescope"))
    put("asked.conllu", text.replace(row, row.replace("Also=head=4", "Also=head=4|NotHead=2|DeprelIn=nmod"), 1))
    put("asked.tsv", "en-1\t7\tNotHead\t2\nen-1\t7\tDeprelIn\tnmod\n")
    plain = done("decode", *LABELLED, *WORDS, *JSON).rows
    assert plain[0]["heads"][6] == 2
    found = [
        done("decode", *LABELLED, "--conllu", "asked.conllu", "--rules", "misc", *JSON),
        done("decode", *LABELLED, *WORDS, "--rules", "asked.tsv", *JSON),
    ]
    assert found[0].rows == found[1].rows
    first, *others = found[0].rows
    assert (first["heads"][6], first["deprels"][6]) == (4, "nmod")
    assert [row["heads"] for row in others] == [row["heads"] for row in plain[1:]]


def test_spans_hang_together(done, put) -> None:
    """She saw [the man with the telescope]: so it is the man's."""
    put("spans.tsv", "en-1\t3\t7\n")
    text = (DATA / "sentences.conllu").read_text(encoding="utf-8")
    put("spans.conllu", text.replace("Also=head=4", "Also=head=4|Span=3-7", 1))
    assert done("decode", *SCORES, *JSON).rows[0]["heads"][6] == 2
    by_file = done("decode", *SCORES, "--rules", "spans.tsv", *JSON).rows
    in_misc = done("decode", *SCORES, "--conllu", "spans.conllu", "--rules", "misc", *JSON).rows
    for rows_found in (by_file, in_misc):
        heads = rows_found[0]["heads"]
        assert [word for word in range(3, 8) if not 3 <= heads[word - 1] <= 7] == [4]
        assert heads[6] == 4


def test_sentences_that_do_not_come_are_an_error(deptree, put) -> None:
    """Whoever names a sentence wants it to obey: -q hides nothing of that, and --on-error skip counts it."""
    put("asked.tsv", "en-1\t7\tNotHead\t2\nxx-1\t1\tHeadIn\t2\nxx-2\t1\t2\nxx-1\t2\tHeadIn\t0\n")
    args = ("decode", *SCORES, "--rules", "asked.tsv", *JSON)
    missing = "asked.tsv:2 (xx-1): no sentence has this name. Correct the name."
    ran = deptree(*args, "-q")
    assert (ran.code, ran.said) == (2, [f"deptree: {missing}"])
    ran = deptree(*args, "--on-error", "skip", "--jobs", 2)
    assert (ran.code, len(ran.rows)) == (1, 8)
    assert f"deptree: skipped: {missing}" in ran.said
    assert ran.said[-1] == "deptree: 2 sentences skipped"


def test_all_rules_that_are_asked_for_hold(deptree, done, put) -> None:
    put("strict.toml", STRICT)
    put("asked.tsv", "en-1\t7\tHeadIn\t4\n")
    given = ("decode", *LABELLED, *WORDS, "--rules", "ud", "--rules", "asked.tsv", "--rules", "strict.toml")
    text = done(*given).out.decode()
    assert "|rules:ud-2026-11,asked.tsv,strict.toml|" in text.partition("\n")[0]
    rows = done(*given, *JSON).rows
    assert rows[0]["heads"][6] == 4
    assert not any(map(breaks_strict, rows))
    put("twice.toml", 'leaf = ["obl"]')
    ran = deptree("decode", *LABELLED, "--rules", "strict.toml", "--rules", "twice.toml")
    assert ran.said == ["deptree: two rules are called 'leaf obl'. Give each a name of its own."]


def test_our_rules_are_shown_as_a_file(done, put, shell) -> None:
    put("shown.toml", done("decode", "--rules", "show").out)
    assert read_rules("shown.toml").rules == read_rules("ud").rules
    cut = shell("set -o pipefail; deptree decode --rules show | head -2")
    assert (cut.out.count(b"\n"), cut.err) == (2, "")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--rules", "misc"), "--rules misc needs --conllu FILE."),
        (("--rules", "ud"), "7 of 39 rules of ud-2026-11 ask for UPOS. Add the sentences: --conllu FILE."),
        (("--rules", "tree", "--budget", "0"), "Invalid value for '--budget'"),
        (("--rules", "far.tsv"), "far.tsv:1 (en-1): HeadIn of word 1 is '99', not 0 to 8. Correct it."),
        (("--rules", "label.tsv"), "label.tsv:1 (en-1): DeprelIn of word 1 is 'nsubjj', which is not a label of"),
    ],
)
def test_what_is_refused(deptree, put, args: tuple[str, ...], message: str) -> None:
    """One line, before anything is written."""
    put("far.tsv", "en-1\t1\tHeadIn\t99\n")
    put("label.tsv", "en-1\t1\tDeprelIn\tnsubjj\n")
    ran = deptree("decode", *LABELLED, *args, *JSON)
    assert (ran.code, ran.out) == (2, b"")
    assert len(ran.said) == 1
    assert message in ran.err


def test_what_is_wrong_with_constraints_is_not_blamed_on_the_layout(deptree, put) -> None:
    put("far.tsv", "1\t3\tHeadIn\t99\n")
    ran = deptree("decode", DATA / "one.npy", "--rules", "far.tsv")
    assert ran.said == ["deptree: far.tsv:1 (1): HeadIn of word 3 is '99', not 0 to 8. Correct it."]


def test_rules_need_their_labels_and_tell_of_missing_tags(deptree, done, put) -> None:
    ran = deptree("decode", *SCORES, *WORDS, "--rules", "ud", *JSON, "-q")
    assert (ran.code, ran.out) == (2, b"")
    assert "39 of 39 rules of ud-2026-11 ask for labels. Add --labels FILE, and --label-scores" in ran.err
    text = (DATA / "sentences.conllu").read_text(encoding="utf-8")
    put("bare.conllu", re.sub(r"(?m)^(\d+\t[^\t]*\t[^\t]*\t)[^\t]+", r"\1_", text))
    ran = done("decode", *LABELLED, "--conllu", "bare.conllu", "--rules", "ud", *JSON)
    assert "deptree: 7 rules of ud-2026-11 have no effect: the words have no UPOS" in ran.said


# The arc to the clause passes over the root, and so crosses the arc of the full stop.
SOMEBODY = """# sent_id = s
1	Somebody	_	PRON	_	_	2	nsubj	_	_
2	called	_	VERB	_	_	0	root	_	_
3	yesterday	_	ADV	_	_	2	advmod	_	_
4	who	_	PRON	_	_	5	nsubj	_	_
5	sings	_	VERB	_	_	1	acl:relcl	_	_
6	.	_	PUNCT	_	_	2	punct	_	_

"""


def test_a_right_tree_with_crossing_arcs_is_kept(deptree, done, put) -> None:
    """The scores prefer it by far. It breaks no rule, unless nothing may cross the arcs of punctuation."""
    put("s.conllu", SOMEBODY)
    words = [line.split("\t") for line in SOMEBODY.splitlines()[1:-1]]
    names = sorted({word[7] for word in words})
    scores = np.zeros((7, 7, len(names)))
    for place, word in enumerate(words, 1):
        scores[int(word[6]), place, names.index(word[7])] = 9.0
    np.savez("s.npz", s=scores)
    put("names.json", json.dumps(names))
    put("strict.toml", 'no-crossing = [{ name = "punct-no-crossing", label = "punct" }]')
    args = ("s.npz", "--from", "head-dep,log", "--labels", "names.json", "--conllu", "s.conllu", *JSON)
    (row,) = done("decode", *args, "--rules", "ud").rows
    assert row["heads"] == [int(word[6]) for word in words]
    assert row["deprels"] == [word[7] for word in words]
    assert row["certified"] is True
    assert done("check", "s.conllu").rows == []
    assert done("decode", *args, "--rules", "strict.toml").rows[0]["heads"] != row["heads"]
    assert [each["rule"] for each in deptree("check", "s.conllu", "--rules", "strict.toml").rows] == [
        "punct-no-crossing"
    ]
