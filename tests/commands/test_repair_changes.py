"""``deptree repair``: what counts as a change, what labels and tags mean, and what scores may say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.test_repair import FINE, LIKE


def sentence(*rows: str) -> str:
    """Words, each with UPOS, HEAD and DEPREL."""
    words = [f"{word}\tw\tw\t{{}}\t_\t_\t{{}}\t{{}}\t_\t_\n" for word in range(1, len(rows) + 1)]
    return "".join(word.format(*row.split()) for word, row in zip(words, rows, strict=True)) + "\n"


def arcs(text: str) -> list[str]:
    """HEAD and DEPREL of each word."""
    return [" ".join(line.split("\t")[6:8]) for line in text.splitlines() if line[:1].isdigit()]


def test_a_head_stays_where_only_the_label_is_wrong(deptree, put) -> None:
    """Labels that rules do not know, of UD v1 and others: what other sentences make likely does not move a word."""
    like = sentence("NOUN 2 nsubj", "VERB 0 root", "NOUN 2 obj", "NOUN 3 nmod", "NOUN 3 nmod") * 5
    text = sentence("NOUN 2 subj", "VERB 0 root", "NOUN 2 dobj", "NOUN 2 pobj", "NOUN 4 npmod")
    ran = deptree("repair", put("x.conllu", text), "--like", put("like.conllu", like))
    heads, labels = zip(*(arc.split() for arc in arcs(ran.out.decode())), strict=True)
    assert heads == ("2", "0", "2", "2", "4")
    assert labels[2] == "obj"
    assert ran.said[-1] == "deptree: 1 of 1 sentence repaired: 0 heads, 4 labels"
    again = deptree("repair", put("again.conllu", ran.out))
    assert (again.code, again.out) == (0, ran.out)


def test_another_head_and_another_label_are_two_changes(done, put) -> None:
    """A second root becomes a dependent with another label; what changes is counted and told so."""
    text = sentence("VERB 0 root", "VERB 0 root", "NOUN 1 obj")
    ran = done("repair", put("x.conllu", text), "--like", put("like.conllu", LIKE), "--changes", "changes.jsonl")
    assert "\n# repaired = 1 head, 1 label\n" in "\n" + ran.out.decode()
    assert ran.said[-1] == "deptree: 1 of 1 sentence repaired: 1 head, 1 label"
    rows = [json.loads(line) for line in Path("changes.jsonl").read_text().splitlines()]
    assert [(row["old_head"], row["old_deprel"]) for row in rows] == [(0, "root")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_the_trees_appear_only_with_their_changes(deptree, put) -> None:
    path = put("x.conllu", sentence("VERB 0 root", "VERB 0 root"))
    before = {*Path().iterdir()}
    ran = deptree("repair", path, "-o", "out.conllu", "--changes", "/dev/full", "-q")
    assert ran.code == 2
    assert ran.said == ["deptree: /dev/full: cannot be written (No space left on device). Choose another place."]
    assert {*Path().iterdir()} == before


OLD = {
    "NOUN 2 dobj": "2 obj",
    "NOUN 2 nsubjpass": "2 nsubj:pass",
    "NOUN 2 csubjpass": "2 csubj:pass",
    "AUX 2 auxpass": "2 aux:pass",
    "PART 2 neg": "2 advmod",
    "DET 2 neg": "2 det",
    "NOUN 2 remnant": "2 orphan",
    "NOUN 2 Obj": "2 obj",
    "X 2 foreign": "2 flat:foreign",
    "PROPN 2 name": "2 flat",
    "ADV 2 mwe": "2 fixed",
}


@pytest.mark.parametrize("word", OLD)
def test_labels_of_v1_become_those_of_v2(deptree, put, word: str) -> None:
    """Whatever else is usual; one line says so. Rules that allow them leave them alone."""
    tag, _, label = word.split()
    like = sentence(f"{tag} 3 nmod", "VERB 0 root", f"{tag} 2 nmod", f"{tag} 2 nmod") * 20
    text = sentence("NOUN 2 nsubj:outer", "VERB 0 root", word)
    ran = deptree("repair", put("x.conllu", text), "--like", put("like.conllu", like))
    assert arcs(ran.out.decode())[2] == OLD[word]
    new = OLD[word].split()[1].replace("det", "advmod")
    assert (f"deptree: labels of UD v1: {label} (in v2 {new})" in ran.said) == (label != "Obj")
    assert deptree("repair", "x.conllu", "--rules", "tree").out.decode() == text


def test_a_label_of_v2_goes_where_rules_forbid_it(done, put) -> None:
    """What is joined by `fixed` stands to the right of its head: the head stays, the label is another."""
    text = sentence("ADV 2 mwe", "VERB 0 root")
    like = put("like.conllu", sentence("ADV 2 advmod", "VERB 0 root"))
    assert arcs(done("repair", put("x.conllu", text), "--like", like, "-q").out.decode()) == ["2 advmod", "0 root"]


def test_labels_are_filled_wherever_rules_ask_for_some(done, put) -> None:
    """Of a sentence without any, too; `dep` where nothing is known, and nothing in lines without a place for labels."""
    text = sentence("DET 2 _", "NOUN 3 _", "VERB 0 _", "FOO 3 _")
    assert done("repair", put("x.conllu", text), "--rules", "tree", "-q").out.decode() == text
    ran = done("repair", "x.conllu", "--like", put("like.conllu", LIKE))
    assert arcs(ran.out.decode()) == ["2 dep", "3 nsubj", "0 root", "3 dep"]
    assert ran.said[-1] == "deptree: 1 of 1 sentence repaired: 0 heads, 0 labels, 4 filled"
    roots = put("roots.conllu", sentence("ADJ 2 amod", "VERB 0 root", "VERB 0 root"))
    assert "dep" in done("repair", roots, "--rules", "tree", "-q").out.decode()
    mine = put("mine.toml", 'mask = [{ label = "/x.*/", upos = "DET" }]')
    assert arcs(done("repair", "x.conllu", "--rules", mine, "-q").out.decode())[0] == "2 dep"
    text = sentence("NOUN 2 _", "VERB 0 _", "X 2 _")
    filled = done("repair", put("x.conllu", text), "--like", "like.conllu", "-q").out.decode()
    assert arcs(filled) == ["2 nsubj", "0 root", "2 dep"]


def test_no_rule_asks_for_the_tag_of_a_word_with_an_unknown_one(deptree, done, put) -> None:
    """Repair leaves its arcs alone, as those of words without UPOS; check tells of tag and rule."""
    text = FINE.replace("1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t2:nsubj", "1\tThat\tthat\tDEM\t_\t_\t2\tdet\t_")
    ran = done("repair", put("x.conllu", text))
    assert ran.out.decode() == text
    assert "deptree: 1 word has a UPOS that is not a universal tag; rules about UPOS ignore them" in ran.said
    assert "1 rel-upos-det" not in ran.err
    rows = [json.loads(line)["rule"] for line in deptree("check", "x.conllu", "--format", "jsonl").out.splitlines()]
    assert rows == ["rel-upos-det", "unknown-upos"]
    broken = text.replace("0\troot", "9\troot")
    mended = done("repair", put("y.conllu", broken), "--like", "x.conllu").out.decode()
    assert "\t2\tdet\t" in mended
    assert "\t0\troot\t" in mended


def test_words_without_tags_are_told_if_rules_ask_for_tags(deptree, put) -> None:
    """And words without labels if rules ask for labels."""
    text = FINE.replace("NOUN", "_").replace("\tnsubj", "\t_")
    put("x.conllu", text.replace("0\troot", "9\troot"))
    put("labels.toml", 'leaf = ["det"]')
    put("tags.toml", '[[below]]\nupos = "ADP"\nallow = [{ upos = "ADV" }]')
    for rules, said in (
        ("tree", ()),
        ("labels.toml", ("DEPREL",)),
        ("tags.toml", ("UPOS",)),
        ("ud", ("UPOS", "DEPREL")),
    ):
        for command, columns in (("check", said), ("repair", [each for each in said if each == "UPOS"])):
            told = [
                line.split()[4][:-1]
                for line in deptree(command, "x.conllu", "--rules", rules).said
                if "without" in line
            ]
            assert told == list(columns), (rules, command)


def test_scores_forbid_no_tree_that_changes_less(done, put) -> None:
    """A weight of 0 for the root's arc: the tree with one change all the same, the only one that is certified; where
    changes are traded for nats, a tree without that arc, if there is one."""
    rows = ["1\ta\t_\t_\t_\t_\t1\t_\t_\t_\n", "2\tb\t_\t_\t_\t_\t0\t_\t_\t_\n"]
    put("x.conllu", "".join(rows) + "\n")
    put("s.jsonl", '{"scores": [[0, 1, 0], [0, 0, 1], [0, 1, 0]]}\n')
    args = "x.conllu", "--scores", "s.jsonl", "--from", "head-dep,first,weight", "--rules", "tree"
    out = done("repair", *args).out.decode()
    assert (
        out
        == "# repaired = 1 head, 0 labels\n# certified = yes\n"
        + rows[0].replace("\t1\t", "\t2\t").replace("_\n", "OldHead=1\n")
        + rows[1]
        + "\n"
    )
    assert done("repair", put("y.conllu", out), *args[1:], "-q").out.decode() == out
    traded = done("repair", *args, "--worth", 1).out.decode()
    assert [line.split("\t")[6] for line in traded.splitlines() if line[:1].isdigit()] == ["0", "1"]
