"""``deptree repair``: what it reads, what decides, and how it ends; see `test_repair.py` for what it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_repair import CYCLE, FINE, FREE, LIKE, MENDED
from tests.sample import DATA, LABELS


@pytest.fixture
def trees(put) -> str:
    """Two sentences to repair among some that need nothing."""
    return put("trees.conllu", LIKE + CYCLE + FREE + FINE)


def test_json_lines_are_refused_in_a_line_as_by_check(deptree, put) -> None:
    put("t.jsonl", '{"sent_id": "a", "heads": [2, 0]}\n{"sent_id": "b", "heads": [0]}\n')
    for command in ("repair", "check"):
        ran = deptree(command, "t.jsonl")
        assert (ran.code, ran.out) == (2, b"")
        (line,) = ran.said
        assert line == (
            "deptree: t.jsonl:1: a line of JSON where CoNLL-U should be. Add the words first: "
            "deptree combine FILE --conllu SENTENCES."
        )


def test_rules_decide_what_is_broken(deptree, done, put) -> None:
    text = FREE.replace("99", "2").replace("_\t_\t_\t_\t_\t_\n3", "_\t_\t0\troot\t_\t_\n3")
    put("x.conllu", text)
    assert done("repair", "x.conllu", "--rules", "tree").out.decode() == text
    assert "OldDeprel=dobj" in done("repair", "x.conllu").out.decode()
    put("mine.toml", 'leaf = ["nsubj"]')
    assert done("repair", "x.conllu", "--rules", "mine.toml").out.decode() == text
    put("c.tsv", "free\t1\tHeadIn\t3\n")
    assert "OldHead=2" in done("repair", "x.conllu", "--rules", "tree", "--rules", "c.tsv").out.decode()


def test_the_space_decides_what_is_broken(done, put) -> None:
    two_roots = FINE.replace("2\tnsubj\t2:nsubj", "0\troot\t0:root")
    put("x.conllu", two_roots)
    assert done("repair", "x.conllu", "--rules", "tree", "--multi-root").out.decode() == two_roots
    assert "OldHead=0" in done("repair", "x.conllu", "--rules", "tree").out.decode()
    rows = [
        "\t".join([str(word), "w", "w", "X", "_", "_", str(head), "dep", "_", "_"])
        for word, head in enumerate([3, 4, 0, 3], 1)
    ]
    crossing = "\n".join(rows).replace("0\tdep", "0\troot") + "\n\n"
    put("y.conllu", crossing)
    assert done("repair", "y.conllu").out.decode() == crossing
    assert "# repaired = 1 head, 0 labels" in done("repair", "y.conllu", "--projective").out.decode()


def test_tags_that_are_no_parts_of_speech(done, put) -> None:
    """No tree mends them; of a file that has other tags throughout, rules do not use them."""
    ran = done("repair", put("x.conllu", LIKE.replace("NOUN", "Noun", 1)))
    assert ran.out.decode() == LIKE.replace("NOUN", "Noun", 1)
    assert "deptree: 1 word has a UPOS that is not a universal tag; rules about UPOS ignore them" in ran.said
    other = (DATA / "treebank.conllu").read_text().replace("\tNOUN\t", "\tNN\t").replace("\tVERB\t", "\tVB\t")
    other = other.replace("\tDET\t", "\tDT\t").replace("\tADP\t", "\tIN\t").replace("\tPUNCT\t", "\t.\t")
    ran = done("repair", put("x.conllu", other))
    assert ran.out.decode() == other
    assert sum("words have a UPOS that is not a universal tag" in line for line in ran.said) == 1
    assert ran.said[-1] == "deptree: nothing to repair in 194 sentences"


def test_where_nothing_obeys(deptree, put) -> None:
    """An error that names the constraints; or one of them is given up, and that is no success."""
    put("x.conllu", LIKE + CYCLE)
    put("c.tsv", "cycle\t2\tHeadIn\t0\ncycle\t5\tHeadIn\t0\n")
    args = ("repair", "x.conllu", "--rules", "ud", "--rules", "c.tsv")
    ran = deptree(*args, "-o", "out.conllu")
    place = "x.conllu:10 (cycle)"
    assert ran.code == 2
    assert not Path("out.conllu").exists()
    assert ran.err.startswith(f"deptree: {place}: no tree obeys HeadIn of word 2 and HeadIn of word 5 together.")
    assert "--relax" in ran.err
    ran = deptree(*args, "--on-error", "skip")
    assert (ran.code, ran.out.decode()) == (1, LIKE)
    ran = deptree(*args, "--relax")
    assert ran.code == 1
    assert "\n# relaxed = HeadIn of word" in ran.out.decode()
    assert f"deptree: relaxed: {place}: HeadIn of word" in ran.err
    again = deptree("repair", put("again.conllu", ran.out), *args[2:], "--relax")
    assert (again.code, again.out) == (1, ran.out)


def test_what_is_given_up_where_nothing_changes(deptree, put) -> None:
    """A comment alone, and none of earlier ones goes: the tree is what it was."""
    put("x.conllu", FINE.replace("# sent_id = fine\n", "# sent_id = fine\n# entropy = 1\n"))
    args = "--rules", "ud", "--rules", put("c.tsv", "fine\t1\tHeadIn\t0\nfine\t2\tHeadIn\t0\n"), "--relax", "-q"
    ran = deptree("repair", "x.conllu", *args)
    relaxed = "# relaxed = HeadIn of word 1\n# relaxed_fewest = yes\n"
    assert (ran.code, ran.out.decode()) == (1, FINE.replace("fine\n", f"fine\n# entropy = 1\n{relaxed}"))
    assert deptree("repair", put("again.conllu", ran.out), *args).out == ran.out


def test_sentences_that_files_of_rules_name_must_come(deptree, put) -> None:
    """A name without the mark of a sample is enough."""
    put("x.conllu", FINE.replace("= fine", "= fine/sample_2"))
    ran = deptree("repair", "x.conllu", "--rules", put("c.tsv", "fine\t1\tHeadIn\t2\nelse\t1\tHeadIn\t2\n"), "-q")
    assert ran.code == 2
    assert ran.said == ["deptree: c.tsv:2 (else): no sentence has this name. Correct the name."]


@pytest.mark.parametrize("label", ["nsubj", "_"])
def test_a_label_that_only_a_constraint_names(done, put, label: str) -> None:
    row = f"1\tDogs\tdog\tNOUN\t_\t_\t2\t{label}\t_\tDeprelIn=nsubj:agent\n2\tbark\tbark\tVERB\t_\t_\t2\t"
    text = row + f"{'root' if label != '_' else '_'}\t_\t_\n\n"
    ran = done("repair", put("t.conllu", text), "--rules", "misc", "--rules", "tree")
    assert "\t2\tnsubj:agent\t" in ran.out.decode()


def test_what_is_no_number_and_what_is_missing(done, put) -> None:
    """A head of letters is a head that somebody gave; a label that is missing beside others is filled."""
    put("like.conllu", LIKE)
    ran = done("repair", put("x.conllu", FINE.replace("2\tnsubj\t2:nsubj", "two\tnsubj\t_")), "--like", "like.conllu")
    assert "\n# repaired = 1 head, 0 labels\n" in ran.out.decode()
    assert "\t2\tnsubj\t_\tOldHead=two\n" in ran.out.decode()
    ran = done("repair", put("x.conllu", FINE.replace("nsubj\t2:nsubj", "_\t_")), "--like", "like.conllu")
    assert "\n# repaired = 0 heads, 0 labels, 1 filled\n" in ran.out.decode()
    assert "\t2\tnsubj\t_\t_\n" in ran.out.decode()


def test_malformed_sentences_end_the_run_or_are_left_out(deptree, put) -> None:
    put("x.conllu", LIKE + "1\tonly\n\n" + CYCLE)
    ran = deptree("repair", "x.conllu", "-o", "out.conllu")
    assert ran.code == 2
    assert ran.err.startswith("deptree: x.conllu:10: 2 columns where a word has 10")
    assert not Path("out.conllu").exists()
    ran = deptree("repair", "x.conllu", "--on-error", "skip")
    assert (ran.code, ran.out.decode()) == (1, LIKE + MENDED)
    assert sum("skipped" in line for line in ran.said) == 2  # the sentence, and how many
    assert "1 of 3 sentences repaired" in ran.err


SCORES = ("--scores", DATA / "scores.npz", "--from", "natasha")


def damaged(word: int = 1) -> str:
    """The gold trees of the sample data, with a word of each sentence below itself."""
    lines = (DATA / "gold.conllu").read_text(encoding="utf-8").splitlines(keepends=True)
    cut = [line.split("\t") for line in lines]
    return "".join("\t".join([*row[:6], str(word), *row[7:]]) if row[0] == str(word) else "\t".join(row) for row in cut)


@pytest.mark.parametrize("labels", [(), LABELS])
def test_scores_decide_between_trees_as_near(done, put, labels: tuple[Any, ...]) -> None:
    """Every sentence is broken, so that there is nothing to learn from; a parser knows the heads of all first words."""
    ran = done("repair", put("x.conllu", damaged()), *SCORES, *labels)
    heads = [line.split("\t")[6] for line in ran.out.decode().splitlines() if line.startswith("1\t")]
    gold = [line.split("\t")[6] for line in (DATA / "gold.conllu").read_text().splitlines() if line.startswith("1\t")]
    assert heads == gold
    assert "8 of 8 sentences repaired: 8 heads, 0 labels" in ran.err
    assert ran.out == done("repair", "x.conllu", *SCORES, *labels, "-j", 2).out


def test_what_a_change_must_be_worth(done, put) -> None:
    """From infinity on nothing is changed that obeys; for nothing, the most probable tree is taken, as by decode."""
    gold, scores = DATA / "gold.conllu", (*SCORES, *LABELS)
    assert done("repair", gold, *scores, "-q").out == gold.read_bytes()
    treebank = DATA / "treebank.conllu"  # from whose habits some of its own trees depart
    assert done("repair", treebank, "-q").out == treebank.read_bytes()
    assert "OldHead=" in done("repair", treebank, "--worth", 0, "-q").out.decode()
    free = done("repair", gold, *scores, "--worth", 0, "-q").out.decode()
    args = (scores[1], *scores[2:], "--conllu", gold, "--rules", "ud", "-q")
    best = done("decode", *args).out.decode()

    def trees(text: str) -> list[list[str]]:
        return [line.split("\t")[6:8] for line in text.splitlines() if line[:1].isdigit()]

    assert trees(free) == trees(best)
    assert "OldHead=" in free


def test_options_that_have_no_effect(deptree, put, trees) -> None:
    for args, said in (
        (("--from", "natasha"), "--from needs --scores FILE."),
        (("--cost", "0:1"), "'0:1' is not HEAD:LABEL"),
        (("--like", trees, *SCORES, *LABELS), "--like cannot be combined with --scores"),
    ):
        ran = deptree("repair", trees, *args)
        assert (ran.code, ran.out) == (2, b"")
        assert said in ran.err
