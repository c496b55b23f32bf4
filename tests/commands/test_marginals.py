"""``deptree marginals``: right numbers, in the keys, shapes and orientation read."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from tests.oracle import Oracle
from tests.sample import DATA, SCORES

SMALL = ["en-4", "cs-2", "ru-1", "ru-2"]


def load(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return {key: arrays[key] for key in arrays}


def row(done, *args) -> dict:
    (only,) = done("marginals", *args).rows
    return only


@pytest.mark.slow("process")
@pytest.mark.parametrize("options", [(), ("--multi-root",), ("--temperature", 3)])
def test_json_lines_are_exact(done, exact, options):
    rows = {row["sent_id"]: row for row in done("marginals", *SCORES, *options).rows}
    single_root, temperature = "--multi-root" not in options, 3 if 3 in options else 1
    for sent_id in SMALL:
        expected = exact(sent_id, single_root=single_root, temperature=temperature).marginals()
        assert list(rows[sent_id]) == ["sent_id", "n", "orient", "root", "marginals"]
        assert rows[sent_id]["n"] == len(expected) - 1
        np.testing.assert_allclose(rows[sent_id]["marginals"], expected.T[1:], atol=1e-9)


def test_the_probabilities_of_every_word_sum_to_one(done):
    for row in done("marginals", *SCORES).rows:
        np.testing.assert_allclose(np.sum(row["marginals"], axis=1), 1, rtol=1e-12)


def test_where_the_inverse_of_the_laplacian_fails(done):
    weights = np.load(DATA / "saturated.npy")
    marginals = row(done, DATA / "saturated.npy")["marginals"]
    np.testing.assert_allclose(marginals, Oracle(TreeDistribution(weights, "weight")).marginals(), atol=1e-9)


def test_npz_keeps_keys_and_rectangles(done, put, tmp_path):
    put("unrelated", b"")
    done("marginals", *SCORES, "-o", "m.npz")
    got, read = load(tmp_path / "m.npz"), load(DATA / "scores.npz")
    assert {key: array.shape for key, array in got.items()} == {key: array.shape for key, array in read.items()}
    assert list(got) == list(read)
    for row in done("marginals", *SCORES).rows:
        np.testing.assert_array_equal(got[row["sent_id"]], row["marginals"])
    with zipfile.ZipFile(tmp_path / "m.npz") as archive:
        assert archive.comment.decode() == done("marginals", *SCORES, "--header").signature


def test_npz_has_the_same_bytes_on_standard_output(done, put, tmp_path):
    put("unrelated", b"")
    done("marginals", *SCORES, "-o", "m.npz")
    assert (tmp_path / "m.npz").read_bytes() == done("marginals", *SCORES, "--format", "npz").out


LAYOUTS = {
    "head-dep": (("--orient", "head-dep"), lambda square: square),
    "dep-head": (("--orient", "dep-head"), lambda square: square.T),
    "root last": (("--orient", "head-dep", "--root", "last"), lambda square: np.roll(square, -1, axis=(0, 1))),
    "diagonal": (
        ("--orient", "head-dep", "--root", "diagonal"),
        lambda square: np.where(np.eye(len(square) - 1), square[0, 1:], square[1:, 1:]),
    ),
    "wide": ((), lambda square: square.T[1:]),
    "tall": ((), lambda square: square[:, 1:]),
    "tall, root last": (("--root", "last"), lambda square: np.roll(square, -1, axis=0)[:, 1:]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_orientation_is_the_one_read(done, put, name):
    options, laid_out = LAYOUTS[name]
    weights = np.random.default_rng(7).uniform(0.1, 1, (5, 5))
    np.fill_diagonal(weights, 0)
    weights[:, 0] = 0
    put("w.npy", laid_out(weights))
    expected = laid_out(Oracle(TreeDistribution(weights, "weight")).marginals())
    np.testing.assert_allclose(row(done, "w.npy", *options)["marginals"], expected, atol=1e-12)


def test_gold_heads_get_their_probability(done, golden):
    out = done("marginals", *SCORES, "--conllu", DATA / "gold.conllu", "--no-header").out
    golden("marginals.conllu", out)


def test_head_probabilities_are_marginals(done):
    out = done("marginals", *SCORES, "--conllu", DATA / "gold.conllu").out.decode()
    rows = {row["sent_id"]: np.array(row["marginals"]) for row in done("marginals", *SCORES).rows}
    for block in out.strip().split("\n\n"):
        marginals = rows[re.search("# sent_id = (.*)", block)[1]]
        words = [line.split("\t") for line in block.splitlines() if re.match(r"\d+\t", line)]
        said = [float(word[9].rpartition("HeadProb=")[2]) for word in words]
        heads = [int(word[6]) for word in words]
        assert said == pytest.approx(marginals[np.arange(len(words)), heads].tolist(), rel=1e-3)


def test_comments_are_the_trees_log_probability_and_the_entropy(done, exact):
    out = done("marginals", *SCORES, "--conllu", DATA / "gold.conllu").out.decode()
    for sent_id in SMALL:
        block = next(block for block in out.split("\n\n") if f"# sent_id = {sent_id}\n" in block)
        heads = [int(line.split("\t")[6]) for line in block.splitlines() if re.match(r"\d+\t", line)]
        oracle = exact(sent_id)
        (tree,) = np.flatnonzero((oracle.trees == heads).all(axis=1))
        entropy = -(np.exp(oracle.log_probs) * oracle.log_probs).sum()
        assert comment(block, "tree_logprob") == pytest.approx(oracle.log_probs[tree], abs=1e-6)
        assert comment(block, "entropy") == pytest.approx(entropy, abs=1e-6)


def comment(block: str, key: str) -> float:
    return float(re.search(f"# {key} = (.*)", block)[1])


def test_sentences_without_heads_get_their_entropy_only(done):
    out = done("marginals", *SCORES, "--conllu", DATA / "sentences.conllu", "--no-header").out
    lines = out.splitlines(keepends=True)
    added = [line for line in lines if line.startswith(b"# entropy = ")]
    assert len(added) == 8
    assert b"".join(line for line in lines if line not in added) == (DATA / "sentences.conllu").read_bytes()


def test_all_but_head_probability_and_comments_stays(done):
    out = done("marginals", *SCORES, "--conllu", DATA / "gold.conllu", "--no-header").out
    kept = re.sub(rb"# (entropy|tree_logprob|tree_prob) = .*\n", b"", out)
    kept = re.sub(rb"\|HeadProb=[^|\n]+", b"", re.sub(rb"\tHeadProb=[^|\n]+", b"\t_", kept))
    assert kept == (DATA / "gold.conllu").read_bytes()


def test_running_it_again_replaces_what_it_said(done, put):
    once = done("marginals", *SCORES, "--conllu", DATA / "gold.conllu", "--no-header").out
    put("once.conllu", once)
    again = done("marginals", *SCORES, "--conllu", "once.conllu", "--no-header").out
    assert again.count(b"HeadProb=") == once.count(b"HeadProb=")
    assert again.count(b"# entropy") == once.count(b"# entropy")


def test_a_tree_that_cannot_be_has_no_log_probability(done, put):
    """A cycle among the heads, an arc of weight 0: the words' probabilities still stand there."""
    lines = [f"{i}\tf\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for i, head in ((1, 2), (2, 1), (3, 0))]
    put("abc.conllu", "".join(lines) + "\n")
    out = done("marginals", DATA / "figure1.npy", "--conllu", "abc.conllu", "--no-header").out.decode()
    assert "tree_logprob" not in out
    assert [float(prob) for prob in re.findall("HeadProb=(.*)", out)] == pytest.approx([1 / 3, 1 / 3, 1 / 3], rel=1e-3)
