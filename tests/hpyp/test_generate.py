"""`deptree hpyp generate`: whole trees, the same for the same seed, fit to be read again."""

import pytest

from deptree_cli.hpyp.files.treebank import read_treebank


@pytest.fixture
def drawn(done, model):
    return lambda options="": done(f"hpyp generate {model} --seed 5 {options}")


def test_sentences_are_fit_to_train_on_and_those_of_json_lines_and_of_the_library(drawn, put, parser):
    """The first ten are the same, however many there are."""
    put("drawn.conllu", drawn("-k 30").out)
    found, rows = list(read_treebank(["drawn.conllu"], "upos")), drawn("-k 30 --format jsonl").rows
    assert drawn("-k 10 --format jsonl").rows == rows[:10]
    for number, (sentence, row) in enumerate(zip(found, rows, strict=True), 1):
        sentence.check_tree()
        assert sentence.sent_id == row["sent_id"] == f"gen-{number}"
        assert (list(sentence.forms), list(sentence.tags)) == (row["forms"], row["tags"])
        assert (sentence.heads.tolist(), list(sentence.deprels)) == (row["heads"], row["deprels"])
    assert len({sentence.forms for sentence in found}) > 20
    assert max(len(row["heads"]) for row in drawn("-k 30 --longest 4 --format jsonl").rows) == 4
    assert [sentence.forms for sentence in parser.generate(30, 5)] == [sentence.forms for sentence in found]


def test_the_layout(drawn):
    lines = drawn().out.decode().splitlines()
    assert lines[0].startswith("# generator = deptree|hpyp generate|size:1|longest:200|seed:5|v:")
    assert lines[1] == "# sent_id = gen-1"
    rows = [line.split("\t") for line in lines[3:-1]]
    assert lines[2] == "# text = " + " ".join(row[1] for row in rows)
    assert lines[-1] == ""
    assert all(len(row) == 10 and row[2] == row[4] == row[5] == row[8] == row[9] == "_" for row in rows)


def test_tags_stand_in_the_column_from_which_the_model_has_them(done, xpos_model):
    out = done(f"hpyp generate {xpos_model} -k 3 --seed 1").out.decode()
    rows = [line.split("\t") for line in out.splitlines() if line[:1].isdigit()]
    assert {row[1] for row in rows} == {row[3] for row in rows} == {"_"}
    assert "_" not in {row[4] for row in rows}
