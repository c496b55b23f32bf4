"""Sentences that are long: in bounded memory, announced, or refused in a line."""

from __future__ import annotations

import pytest

from deptree_cli.hpyp import Parser
from deptree_cli.hpyp.kernels.search import search
from deptree_cli.hpyp.model.sentences import as_annotated


def unseen(words: int) -> bytes:
    """A sentence of this many nouns that no treebank has."""
    return b"".join(b"%d\tzz%dx\t_\tNOUN\t_\t_\t_\t_\t_\t_\n" % (i, i) for i in range(1, words + 1)) + b"\n"


def test_records_do_not_grow_with_the_square_of_words(parser: Parser) -> None:
    """Stacks are as deep as the sentence is long; all that was ever tried would be 154,136 records."""
    symbols, n = parser.trained.symbols, 300
    sentence = as_annotated(([f"zz{i}x" for i in range(n)], ["NOUN"] * n))
    arena, _, _ = search(parser.trained.model, symbols.words_of(sentence), symbols.tags_of(sentence), 1000, False)
    assert len(arena.records) < 100 * n


@pytest.mark.parametrize("args", [(), ("--beam", 5), ("-k", 2), ("--tags", "predict"), ("--to-scores", "s.npz")])
def test_longer_sentences_are_refused_and_can_be_skipped(deptree, model, tmp_path, monkeypatch, args) -> None:
    monkeypatch.chdir(tmp_path)
    text = unseen(1001) + unseen(3)
    ran = deptree("hpyp", "parse", model, "-", *args, stdin=text)
    assert ran.code == 2
    assert "(1): the sentence has 1,001 words, but the parser reads at most 1,000. Split it" in ran.said[-1]
    ran = deptree("hpyp", "parse", model, "-", "--on-error", "skip", *args, stdin=text)
    assert ran.code == 1
    assert b"zz3x" in ran.out


@pytest.mark.parametrize("command", ["surprisal", "perplexity"])
def test_other_commands_refuse_them_too(deptree, model, command: str) -> None:
    ran = deptree("hpyp", command, model, "-", "--seed", 1, stdin=unseen(1001))
    assert (ran.code, "at most 1,000" in ran.said[-1]) == (2, True)


def test_what_takes_long_is_announced(deptree, model, monkeypatch) -> None:
    """Before the work, unless --quiet; here everything takes long."""
    monkeypatch.setattr("deptree_cli.hpyp.options.PATIENCE", 0.0)
    ran = deptree("hpyp", "surprisal", model, "-", "--seed", 1, "--particles", 10, stdin=unseen(3))
    assert "1: 3 words with this many particles take 0 seconds or more" in ran.err
    ran = deptree("hpyp", "surprisal", model, "-", "--seed", 1, "--particles", 10, "-q", stdin=unseen(3))
    assert ran.err == ""
