"""Known heads: one way of pairing for every command that compares with them, and no score where none is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sample import DATA, SCORES

TEXT = (DATA / "gold.conllu").read_text(encoding="utf-8")
BLOCKS = [f"{block}\n\n" for block in TEXT.rstrip("\n").split("\n\n")]
COMPARING = [("expect", "attachment"), ("expect", "risk"), ("inspect",)]


def without_heads(text: str) -> str:
    rows = [line.split("\t") for line in text.split("\n")]
    return "\n".join("\t".join([*row[:6], "_", *row[7:]]) if len(row) == 10 else row[0] for row in rows)


LONGER = BLOCKS[3].replace("3\t", "3\ta\tb\t_\t_\t_\t_\t_\t_\t_\n4\t")


def without_names(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("# sent_id"))


@pytest.mark.parametrize("args", COMPARING, ids=" ".join)
def test_another_order_is_the_same_by_name(done, put, args):
    named = done(*args, *SCORES, "--gold", DATA / "gold.conllu", "--json")
    assert done(*args, *SCORES, "--gold", put("gold.conllu", "".join(reversed(BLOCKS))), "--json").out == named.out


@pytest.mark.parametrize("args", COMPARING, ids=" ".join)
@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ("".join([*BLOCKS[:5], *BLOCKS[6:]]), "gold.conllu has nothing of this name"),
        ("".join(BLOCKS[1:]), "(en-1): gold.conllu has nothing of this name"),
        ("".join([*BLOCKS[:3], LONGER, *BLOCKS[4:]]), "4 words at"),
        (TEXT + BLOCKS[0].replace("en-1", "en-8"), "(en-8): no matrices in"),
        (BLOCKS[0].replace("en-1", "en-8") + TEXT, "(en-8): no matrices in"),
    ],
    ids=["missing", "the first is missing", "words", "one more", "one more in front"],
)
def test_what_does_not_fit_by_name_can_be_skipped(deptree, put, args, gold, said):
    given = (*args, *SCORES, "--gold", put("gold.conllu", gold))
    ran = deptree(*given)
    assert (ran.code, said in ran.said[-1]) == (2, True)
    ran = deptree(*given, "--on-error", "skip")
    assert ran.code == 1
    assert "deptree: 1 sentence skipped" in ran.said
    assert said in ran.err


@pytest.mark.parametrize("args", COMPARING, ids=" ".join)
@pytest.mark.parametrize(
    ("gold", "said"),
    [
        (without_names("".join(BLOCKS[:5])), "gold.conllu: the number of sentences is 5, that of matrices in"),
        (without_names(TEXT + BLOCKS[0]), "gold.conllu: the number of sentences is 9, that of matrices in"),
        (without_names("".join([*BLOCKS[:3], LONGER, *BLOCKS[4:]])), "4 words at"),
    ],
    ids=["short", "long", "words"],
)
def test_files_out_of_step_are_refused_alike(deptree, put, args, gold, said):
    given = (*args, *SCORES, "--gold", put("gold.conllu", gold))
    assert deptree(*given).code == 2
    ran = deptree(*given, "--on-error", "skip")
    assert (ran.code, said in ran.said[-1]) == (2, True), ran.said


@pytest.mark.parametrize("args", COMPARING, ids=" ".join)
def test_names_are_not_needed(done, put, args):
    named = done(*args, *SCORES, "--gold", DATA / "gold.conllu", "--json")
    assert done(*args, *SCORES, "--gold", put("gold.conllu", without_names(TEXT)), "--json").out == named.out


def test_attachment_without_known_heads_is_null(done, put):
    gold = put("gold.conllu", "".join([BLOCKS[0], without_heads(BLOCKS[1]), *BLOCKS[2:]]))
    for quantity in ("attachment", "risk"):
        rows = done("expect", quantity, *SCORES, "--gold", gold, "--grad").rows
        assert rows[0][quantity] > 0
        assert rows[1] == {
            "sent_id": "en-2",
            "n": 8,
            quantity: None,
            "reason": "no word of the sentence has a gold head",
        }


def test_words_beside_scores(deptree, put):
    for forms, said in [
        ('["a", "b\\tc"]', "x.jsonl:1 (s): the field forms is not a list of words"),
        ('"ab"', "the field forms is not a list of words"),
        ('["a"]', "the field forms has 1 word, the scores have 2"),
    ]:
        put("x.jsonl", f'{{"sent_id": "s", "scores": [[0, 1, 1], [0, 0, 1], [0, 1, 0]], "forms": {forms}}}\n')
        ran = deptree("decode", "x.jsonl", "--orient", "head-dep", "--format", "conllu")
        assert (ran.code, len(ran.said)) == (2, 1)
        assert said in ran.err


def test_messages_name_what_they_mean(deptree, put):
    put("large.npy", np.full((3, 3), 1e16))
    ran = deptree("partition", "large.npy", "--orient", "head-dep", "--scale", "log")
    assert "is too large for a score (beyond 1e+15)" in ran.err
