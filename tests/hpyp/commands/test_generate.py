"""`deptree hpyp generate`: whole trees, the same for the same seed, fit to be read again."""

from __future__ import annotations

import pytest

from deptree_cli.hpyp.files.treebank import read_treebank


@pytest.fixture
def drawn(done, model):
    """Call with more arguments."""
    return lambda *args: done("hpyp", "generate", model, "--seed", 5, *args)


def test_sentences_are_fit_to_train_on(drawn, put) -> None:
    put("drawn.conllu", drawn("-k", 30).out)
    found = list(read_treebank(["drawn.conllu"], "upos"))
    assert [sentence.sent_id for sentence in found] == [f"gen-{number}" for number in range(1, 31)]
    for sentence in found:
        sentence.check_tree()
    assert len({sentence.forms for sentence in found}) > 20


def test_both_formats_have_the_same_sentences(drawn, put) -> None:
    put("drawn.conllu", drawn("-k", 5).out)
    for sentence, row in zip(
        read_treebank(["drawn.conllu"], "upos"), drawn("-k", 5, "--format", "jsonl").rows, strict=True
    ):
        assert list(sentence.forms) == row["forms"]
        assert list(sentence.tags) == row["tags"]
        assert sentence.heads.tolist() == row["heads"]
        assert list(sentence.deprels) == row["deprels"]
        assert sentence.sent_id == row["sent_id"]


def test_the_layout(drawn) -> None:
    lines = drawn().out.decode().splitlines()
    assert lines[0].startswith("# generator = deptree|hpyp generate|size:1|longest:200|seed:5|v:")
    assert lines[1] == "# sent_id = gen-1"
    rows = [line.split("\t") for line in lines[3:-1]]
    assert lines[2] == "# text = " + " ".join(row[1] for row in rows)
    assert lines[-1] == ""
    assert all(len(row) == 10 and row[2] == row[4] == row[5] == row[8] == row[9] == "_" for row in rows)


def test_tags_stand_in_the_column_from_which_the_model_has_them(done, unlexicalised_model) -> None:
    out = done("hpyp", "generate", unlexicalised_model, "-k", 3, "--seed", 1).out.decode()
    rows = [line.split("\t") for line in out.splitlines() if line[:1].isdigit()]
    assert {row[1] for row in rows} == {row[3] for row in rows} == {"_"}
    assert "_" not in {row[4] for row in rows}


def test_more_of_the_same(drawn) -> None:
    """The first ten are the same, however many there are."""
    rows = drawn("-k", 30, "--format", "jsonl").out.splitlines()
    assert drawn("-k", 10, "--format", "jsonl").out.splitlines() == rows[:10]


def test_the_library_draws_the_same(drawn, parser) -> None:
    rows = drawn("-k", 5, "--format", "jsonl").rows
    assert [list(sentence.forms) for sentence in parser.generate(5, 5)] == [row["forms"] for row in rows]


def test_short_sentences(drawn) -> None:
    rows = drawn("-k", 30, "--longest", 4, "--format", "jsonl").rows
    assert max(len(row["heads"]) for row in rows) == 4
