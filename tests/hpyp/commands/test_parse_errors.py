"""`deptree hpyp parse`: a line for what is wrong, and what is skipped."""

from __future__ import annotations

import re

import pytest

from tests.hpyp.commands.texts import DATA, RAW

BARE = "# sent_id = a\n1\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


@pytest.mark.parametrize(
    ("args", "stdin", "message"),
    [
        (("{model}", "-"), BARE, r"standard input: no word has a tag in UPOS\. .*--tags predict"),
        (("{unlexicalised}", RAW, "--tags", "predict"), "", r"a parser without words cannot predict tags"),
        (("{model}x", RAW), "", r"model.npzx: no such file\. Did you mean .*model.npz\?"),
        (("{model}", f"{RAW}x"), "", r"no such file\. Did you mean"),
        ((DATA / "scores.npz", RAW), "", r"not a model of deptree hpyp"),
        (("{model}", RAW, "--beam", 2, "-k", 2), "", r"--beam cannot be combined with -k\. Remove one"),
        (("{model}", RAW, "--score-kind", "log"), "", r"--score-kind needs --to-scores FILE"),
        (("{model}", RAW, "--to-scores", "s.npz", "--score-kind", "maxnet"), "", r"Did you mean maxent\?"),
        (("{model}", RAW, "--to-scores", "s.txt"), "", r"this command does not write \.txt"),
        (("{model}", RAW, "--to-scores", "-"), "", r"--to-scores and --output would write the same file"),
        (("{model}", RAW, RAW, "--to-scores", "s.npz", "-q"), "", r"raw-01: an \.npz cannot hold two sentences of one"),
    ],
)
def test_one_line_for_what_is_wrong(deptree, put, model, unlexicalised_model, args, stdin: str, message: str) -> None:
    put("b.conllu", BARE)
    given = [str(arg).format(model=model, unlexicalised=unlexicalised_model) for arg in args]
    ran = deptree("hpyp", "parse", *given, stdin=stdin.encode())
    assert ran.code == 2
    assert re.search(message, ran.err), ran.err
    assert len(ran.said) == 1


def test_what_cannot_be_used_is_skipped(deptree, put, model) -> None:
    bad = BARE.replace("\t_\t_\t_\t_\n", "\t7\t_\t_\t_\n").replace("= a", "= bad")
    put("s.conllu", BARE + bad + BARE.replace("= a", "= c"))
    args = ("hpyp", "parse", model, "s.conllu", "--tags", "predict", "--on-error", "skip", "--format", "jsonl")
    ran = deptree(*args)
    assert ran.code == 1
    assert [row["sent_id"] for row in ran.rows] == ["a", "c"]
