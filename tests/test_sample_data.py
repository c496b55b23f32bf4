"""The sample data are what their README says, and are written again with the same bytes."""

from __future__ import annotations

import importlib.util
import json
import math

import numpy as np
import pytest

from benchmarks.sums import matrix_tree
from deptree_cli.core.distribution import TreeDistribution
from tests.oracle import Oracle
from tests.sample import DATA

# What no script makes.
GIVEN = {
    *("README.md", "cosines.py", "make_sample_data.py", "bitext_sentences.py", "sample_sentences.py"),
    *("paragraphs.txt", "treebank.conllu", "raw.conllu", "raw_gold.conllu", "broken.conllu"),
}


def test_written_again_with_the_same_bytes_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DATA))  # as for a script that is run there
    spec = importlib.util.spec_from_file_location("make_sample_data", DATA / "make_sample_data.py")
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    maker.main(tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    maker.main(tmp_path)
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    there = {path.name: path.read_bytes() for path in DATA.iterdir() if path.is_file()}
    assert first == {name: there[name] for name in first}
    assert there.keys() == first.keys() | GIVEN
    readme = there["README.md"].decode()
    assert [name for name in there if f"`{name}`" not in readme and name != "README.md"] == []


@pytest.mark.parametrize(("name", "level"), [("gold.conllu", 2), ("sentences.conllu", 1)])
def test_passes_the_ud_validator(udvalidate, name, level):
    run = udvalidate(DATA / name, level)
    assert run.returncode == 0, run.stdout + run.stderr


def blocks(name):
    """The sentences of a CoNLL-U file: comments, and rows of cells, by sent_id."""
    found = {}
    for block in (DATA / name).read_text(encoding="utf-8").strip("\n").split("\n\n"):
        comments = [line for line in block.splitlines() if line.startswith("#")]
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        found[next(line[12:] for line in comments if line.startswith("# sent_id = "))] = comments, rows
    return found


def words(rows):
    return [row for row in rows if row[0].isdigit()]


def test_gold_differs_in_heads_and_labels_only_and_its_text_is_its_forms():
    gold, plain = blocks("gold.conllu"), blocks("sentences.conllu")
    assert list(gold) == list(plain)
    for (comments, filled), (others, blank) in zip(gold.values(), plain.values(), strict=True):
        assert comments == others
        for a, b in zip(filled, blank, strict=True):
            assert a[:6] + a[8:] == b[:6] + b[8:]
            assert b[6:9] == ["_", "_", "_"]
        spans = [tuple(map(int, row[0].split("-"))) for row in filled if "-" in row[0]]
        covered = {str(number) for first, last in spans for number in range(first, last + 1)}
        surface = [row for row in filled if row[0] not in covered]
        text = "".join(row[1] + ("" if "SpaceAfter=No" in row[9] else " ") for row in surface).strip()
        assert f"# text = {text}" in comments


def test_every_container_holds_the_same_plausible_numbers():
    lengths = [int(line) for line in (DATA / "lengths.txt").read_text().split()]
    records = [json.loads(line) for line in (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    batch, gold = np.load(DATA / "scores.npy"), blocks("gold.conllu")
    with np.load(DATA / "scores.npz") as npz, (DATA / "scores_stream.npy").open("rb") as stream:
        assert list(npz) == list(gold)
        for (name, (_, rows)), length, record, square in zip(gold.items(), lengths, records, batch, strict=True):
            rectangle = npz[name].astype(np.float64)
            assert rectangle.shape == (length, length + 1) == (len(words(rows)), len(words(rows)) + 1)
            assert (record["sent_id"], record["forms"]) == (name, [row[1] for row in words(rows)])
            for same in (np.array(record["scores"]), np.load(stream)[1:], square[1 : length + 1, : length + 1]):
                np.testing.assert_array_equal(rectangle, same)
            assert np.isneginf(square[length + 1 :]).all()
            assert np.isneginf(square[:, length + 1 :]).all()
            np.fill_diagonal(rectangle[:, 1:], -np.inf)
            gap = rectangle.max(axis=1) - rectangle[np.arange(length), [int(row[6]) for row in words(rows)]]
            assert -15 <= rectangle[np.isfinite(rectangle)].min() <= rectangle.max() <= 10
            assert (gap > 0).sum() <= 1
            assert gap.max() < 1
        assert stream.read() == b""


def test_one_is_the_first_sentence_as_head_probabilities():
    weights = np.load(DATA / "one.npy")
    with np.load(DATA / "scores.npz") as npz:
        logits = npz["en-1"].astype(np.float64)
    np.fill_diagonal(logits[:, 1:], -np.inf)
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights[:, 1:].T, expected, rtol=1e-5)
    assert not weights[:, 0].any()


def test_figure1_has_three_equally_likely_trees():
    """Heads of A, B, C: two trees hang from A, one from C."""
    oracle = Oracle(TreeDistribution(np.load(DATA / "figure1.npy"), "weight"))
    assert oracle.trees.tolist() == [[0, 1, 1], [0, 3, 1], [2, 3, 0]]
    assert np.exp(oracle.log_probs + oracle.log_z) == pytest.approx([1 / 8] * 3)


# The Laplacian: right on flat scores, and known to be wrong on peaked ones. This is why there is an elimination.


def error_of_the_inverse(distribution):
    """The largest error of the textbook's marginals (Koo et al. 2007, section 3.2); infinite where there are none."""
    try:
        found = matrix_tree.marginals(distribution.log_scores, distribution.single_root)
    except np.linalg.LinAlgError:
        return math.inf
    exact = Oracle(distribution).marginals() if distribution.n < 7 else distribution.marginals()
    return np.nan_to_num(np.abs(found - exact), nan=np.inf).max()


@pytest.mark.parametrize("single_root", [True, False])
def test_the_inverse_is_right_on_flat_scores(single_root, graphs):
    flat = [graphs.gaussian(n, seed=n) for n in (1, 2, 3, 5, 12, 40)]
    for scores in [*flat, *(graphs.holes(4, seed, single_root) for seed in range(10))]:
        distribution = graphs.distribution(scores, single_root)
        assert matrix_tree.log_partition(scores, single_root) == pytest.approx(distribution.log_partition, rel=1e-11)
        assert error_of_the_inverse(distribution) < 1e-11


def test_the_laplacian_of_two_words():
    weights = np.array([[0, 2.0, 3.0], [0, 0, 5.0], [0, 7.0, 0]])
    assert matrix_tree.construct_laplacian_hat(weights).tolist() == [[2, 3], [-7, 5]]
    assert matrix_tree.construct_laplacian_hat(weights, single_root=False).tolist() == [[9, -5], [-7, 8]]


@pytest.mark.parametrize(("left", "at_least"), [(1e-10, 1e-9), (1e-12, 1e-6), (1e-15, 1e-3), (1e-16, np.inf)])
def test_the_inverse_cancels_on_saturated_words(left, at_least, graphs):
    """Two pairs of words choose each other with probability 1 - left. Degrees are 1 + left, so about 1e-16 / left of
    what is left survives the Laplacian's diagonal; elimination loses nothing."""
    distribution = graphs.distribution(graphs.saturated(4, left))
    exact = Oracle(distribution)
    assert error_of_the_inverse(distribution) >= at_least
    np.testing.assert_allclose(distribution.marginals(), exact.marginals(), rtol=0, atol=1e-13)
    assert distribution.log_partition == pytest.approx(exact.log_z, rel=1e-14)


def test_the_inverse_cancels_on_the_saturated_sample_and_on_peaked_logits(graphs):
    """README, "Why not the Laplacian inverse": at scale 40 some graphs of 15 words have errors of tenths.

    The control: the same code is right on the sample's graph without saturation.
    """
    weights = np.load(DATA / "saturated.npy")
    np.testing.assert_allclose(weights[:, 1:].sum(axis=0), 1, rtol=1e-15)
    assert error_of_the_inverse(TreeDistribution(weights, "weight")) > 1e-3
    assert error_of_the_inverse(TreeDistribution(weights**0.25, "weight")) < 1e-7
    assert error_of_the_inverse(graphs.distribution(graphs.gaussian(15, scale=40, seed=1))) > 1e-3
    found = [matrix_tree.log_partition(graphs.gaussian(8, scale=80, seed=seed)) for seed in range(100)]
    assert np.isnan(found).any()  # rounding made determinants negative
    assert np.isfinite(found).any()
