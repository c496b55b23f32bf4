"""`deptree_cli.hpyp` and the commands give the same, from the same seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deptree_cli.hpyp import Parser

RAW = Path(__file__).parents[3] / "sample_data/raw.conllu"


def test_training(done, put, parser, treebank_file) -> None:
    put("empty", "")
    done("hpyp", "train", treebank_file, "-m", "model.npz", "--iterations", 4, "--seed", 1, "-q")
    trained = Parser.load("model.npz")
    assert trained.trained.progress == parser.trained.progress
    for sentence in parser.read(RAW):
        np.testing.assert_array_equal(trained.surprisal(sentence, 1, 20), parser.surprisal(sentence, 1, 20))


def test_parsing(done, model, parser) -> None:
    rows = done("hpyp", "parse", model, RAW, "--format", "jsonl", "--tags", "predict").rows
    for sentence, row in zip(parser.read(RAW), rows, strict=True):
        found = parser.parse(sentence, predict_tags=True)
        assert (found.heads.tolist(), list(found.deprels), list(found.tags)) == (
            row["heads"],
            row["deprels"],
            row["tags"],
        )


def test_sampling(done, model, parser) -> None:
    rows = done("hpyp", "parse", model, RAW, "--format", "jsonl", "-k", 5, "--seed", 3, "--particles", 50).rows
    drawn = [tree.tolist() for sentence in parser.read(RAW) for tree in parser.sample(sentence, 5, 3, particles=50)]
    assert drawn == [row["heads"] for row in rows]


def test_scores(done, model, parser, put) -> None:
    put("empty", "")
    done("hpyp", "parse", model, RAW, "--scores", "scores.npz", "--seed", 3, "--particles", 50, "-o", "parsed.conllu")
    with np.load("scores.npz") as scores:
        for sentence in parser.read(RAW):
            written = scores[sentence.sent_id]
            trees = parser.scores(sentence, 3, particles=50)
            np.testing.assert_allclose(trees.log_scores, written - written.max() + trees.log_scores.max(), atol=1e-6)
