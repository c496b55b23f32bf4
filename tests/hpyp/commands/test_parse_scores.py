"""`deptree hpyp parse --to-scores`: matrices that other commands read, with the marginals of the particle filter."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.hpyp import Parser
from deptree_cli.hpyp.files.treebank import read_treebank
from deptree_cli.io.scores.containers import CONTAINERS
from tests.hpyp.commands.texts import RAW


@pytest.mark.parametrize("name", ["s.npz", "s.jsonl", "s.safetensors"])
def test_scores_are_read_without_a_word_on_their_layout(done, model, tmp_path, monkeypatch, name: str) -> None:
    """The maximum-entropy scores have the filter's marginals, but for 1 % of smoothing and a tolerance of 0.001."""
    monkeypatch.chdir(tmp_path)
    done("hpyp", "parse", model, RAW, "--particles", 50, "--seed", 3, "--to-scores", name, "--quiet")
    parser = Parser.load(model)
    rows = {row["sent_id"]: row for row in done("marginals", name, "--projective").rows}
    sentences = list(read_treebank([str(RAW)], "upos"))
    assert len(rows) == len(sentences)
    for sentence in sentences:
        mu = parser.filter(sentence, 3, 50).marginals
        trees = parser.scores(sentence, 3, particles=50)
        np.testing.assert_allclose(rows[sentence.sent_id]["marginals"], trees.marginals(), atol=1e-9)
        off = 0.5 * np.abs(np.array(rows[sentence.sent_id]["marginals"]) - mu)[:, 1:].sum(axis=0)
        assert off.max() < 0.0111
        assert off.max() > 0


def test_scores_as_logarithms(done, model, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    args = ("--particles", 50, "--seed", 3, "--to-scores", "s.npz", "--score-kind", "log", "--quiet")
    done("hpyp", "parse", model, RAW, *args)
    parser = Parser.load(model)
    with np.load("s.npz") as scores:
        for sentence in read_treebank([str(RAW)], "upos"):
            mu = parser.filter(sentence, 3, 50).marginals
            assert np.exp(scores[sentence.sent_id]) == pytest.approx(mu)


def test_sample_reads_the_scores(shell, model) -> None:
    line = f"deptree hpyp parse {model} $DATA/raw.conllu --to-scores s.npz --particles 30 --seed 1 -o p.conllu"
    ran = shell(f"{line} && deptree sample s.npz --projective -k 5 --seed 1")
    assert (ran.code, len(ran.rows)) == (0, 60)
    assert "from:head-dep,first,log" in ran.err
    assert "given: reading" not in ran.err


def test_scores_are_of_projective_trees_without_a_word(done, model, tmp_path, monkeypatch) -> None:
    """Other trees would have them by mistake; what is made of them keeps that, and the library knows it too."""
    monkeypatch.chdir(tmp_path)
    done("hpyp", "parse", model, RAW, "--particles", 50, "--seed", 3, "--to-scores", "s.npz", "--quiet")
    expected = done("partition", "s.npz", "--projective").out
    ran = done("partition", "s.npz")
    assert ran.out == expected
    assert "|trees:projective|" in ran.err
    assert done("partition", "s.npz", "--from", "head-dep,log").out == expected
    done("convert", "s.npz", "-o", "t.jsonl")
    assert done("partition", "t.jsonl").out == expected
    log_zs = [sentence.distribution.log_partition for sentence in read("s.npz")]
    assert log_zs == [row["log_z"] for row in ran.rows]


def test_files_of_projective_and_of_all_trees(deptree, done, model, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done("hpyp", "parse", model, RAW, "--particles", 50, "--seed", 3, "--to-scores", "s.npz", "--quiet")
    done("convert", RAW.parent / "scores.npz", "--from", "natasha", "-o", "others.npz", "--to", "log")
    ran = deptree("partition", "s.npz", "others.npz")
    assert ran.code == 2
    assert "s.npz: holds projective trees" in " ".join(ran.said[-1].split())


@pytest.mark.parametrize("suffix", [suffix for each in CONTAINERS if each.write for suffix in each.suffixes])
def test_containers_that_forget_the_tree_space_are_refused(deptree, done, model, tmp_path, monkeypatch, suffix) -> None:
    """Before anything is parsed; read as those of all trees, the scores would give crossing arcs."""
    monkeypatch.chdir(tmp_path)
    args = ("hpyp", "parse", model, RAW, "--particles", 50, "--seed", 3, "--quiet", "--to-scores")
    ran = deptree(*args, f"p{suffix}")
    if ran.code == 2:
        assert (suffix.startswith(".npy"), ran.out, len(ran.said)) == (True, b"", 1)
        assert "--projective --from head-dep,first,log. Write .npz" in ran.err
        return
    done(*args, "known.npz")
    assert done("partition", f"p{suffix}").rows == done("partition", "known.npz", "--projective").rows
    ran = deptree("convert", f"p{suffix}", "-o", "c.npy")
    assert (ran.code, "--projective" in ran.err, list(tmp_path.glob("c*"))) == (2, True, [])
