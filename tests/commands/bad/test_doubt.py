"""``deptree doubt`` without heads, with options that do not go together, and with files that do not match."""

from __future__ import annotations

import pytest

from tests.commands.test_doubt import BARE, GOLD, without_heads
from tests.sample import DATA


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((), "There are no annotated heads. Give annotated trees with --conllu FILE"),
        (
            ("--per", "word", "--rank", "entropy", "--conllu", GOLD),
            "--rank, --words and CoNLL-U output need --per sentence",
        ),
        (("--rank", "entrpy", "--conllu", GOLD), "entropy"),
        (("--tsv", "--format", "conllu", "--conllu", GOLD), "tsv and conllu are two formats"),
        (("--above", "0.5", "--conllu", GOLD), "There is no --above now: rows have prob, and sentences what they"),
        (("--conllu", DATA / "no.conllu"), "no.conllu"),
        (("--format", "conllu", "--rank", "entropy"), "there are no sentences to write as CoNLL-U"),
    ],
)
def test_what_is_refused(deptree, refused, given, says: str) -> None:
    refused(deptree("doubt", *BARE, *given), says)


@pytest.mark.parametrize("more", [(), ("--rank", "tree-prob"), ("--format", "conllu")])
def test_no_heads_at_all(deptree, put, refused, more) -> None:
    put("none.conllu", without_heads())
    ran = deptree("doubt", *BARE, "--conllu", "none.conllu", "-q", *more)
    refused(ran, "none.conllu: ", "no word has a HEAD", "--conllu FILE", "--rank entropy")


def test_sentences_that_are_not_those_of_the_scores(deptree, put, refused) -> None:
    """A name that the scores lack, and a sentence of another length."""
    text = GOLD.read_text(encoding="utf-8")
    put("other.conllu", text.replace("sent_id = ru-2", "sent_id = ru-9"))
    refused(deptree("doubt", *BARE, "--conllu", "other.conllu", "-q"), "other.conllu", "ru-9", "with this id")
    put("shorter.conllu", text.replace("8\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n", "", 1))
    refused(deptree("doubt", *BARE, "--conllu", "shorter.conllu", "-q"), "shorter.conllu", "(en-1)", "8 words")
