"""`deptree hpyp describe`: the numbers of a model, and that they add up."""

from __future__ import annotations

import json
from pathlib import Path

from deptree_cli.hpyp.files.model_file import read_model


def test_json(done, model: Path) -> None:
    (row,) = done("hpyp", "describe", model).rows
    trained, signature = read_model(str(model))
    symbols, had = trained.symbols, trained.progress
    assert row["signature"] == signature
    assert (row["tagset"], row["oracle"], row["seed"]) == ("upos", "static", 1)
    assert (row["sentences"], row["trees_made_projective"], row["iterations"]) == (194, 2, 4)
    assert (row["log_likelihood_first"], row["log_likelihood_last"]) == (had.log_likelihoods[0], had.log_likelihoods[3])
    assert row["words"] + row["word_classes"] == len(symbols.lexicon.vocabulary.symbols)
    assert row["word_classes"] == sum(word.startswith("UNK") for word in symbols.lexicon.vocabulary.symbols) > 5
    assert (row["tags"], row["labels"]) == (15, 30)
    assert tuple(row["contexts"]["word"]) == symbols.contexts.word
    assert "text_sentences" not in row


def test_levels(done, model: Path) -> None:
    """Customers of a level are the tables of the next; those of the deepest are actions, tags and words."""
    (row,) = done("hpyp", "describe", model, "--json").rows
    for name, events in (("action", 2 * 1487), ("tag", 1487), ("word", 1487)):
        own = [level for level in row["levels"] if level["process"] == name]
        assert [level["level"] for level in own] == list(range(len(own)))
        assert [level["context"] for level in own] == ["", *row["contexts"][name]]
        assert [level["customers"] for level in own] == [*(level["tables"] for level in own[1:]), events]
        assert own[0]["restaurants"] == 1
        for level in own:
            assert level["restaurants"] <= level["entries"] <= level["tables"] <= level["customers"]
            assert 0 < level["discount"] < 1
            assert level["strength"] > -level["discount"]


def test_a_model_without_words_and_one_with_text(done, unlexicalised_model: Path, put) -> None:
    (row,) = done("hpyp", "describe", unlexicalised_model).rows
    assert {level["process"] for level in row["levels"]} == {"action", "tag"}
    assert row["words"] == row["word_classes"] == 0
    put("a.conllu", "1\ta\t_\tX\tY\t_\t2\tdet\t_\t_\n2\tb\t_\tN\tM\t_\t0\troot\t_\t_\n\n")
    put("b.conllu", "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    done("hpyp", "train", "a.conllu", "-o", "m.npz", "--unlabelled", "b.conllu", "--iterations", 2)
    (row,) = done("hpyp", "describe", "m.npz").rows
    assert (row["text_sentences"], row["passes"]) == (2, 1)
    deepest = [level["customers"] for level in row["levels"] if level["process"] == "word"][-1]
    assert deepest == 4


def test_formats(done, model: Path, put) -> None:
    put("x", "")
    expected = done("hpyp", "describe", model).out
    done("hpyp", "describe", model, "-o", "out.json")
    assert Path("out.json").read_bytes() == expected
    lines = done("hpyp", "describe", model, "--tsv").out.decode().splitlines()
    assert lines[0].split("\t")[:3] == ["process", "level", "context"]
    assert len(lines) == 1 + len(json.loads(expected)["levels"]) == 25
