"""``deptree marginals``: right numbers, in the keys, shapes and orientation read."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.sample import DATA, SCORES


def load(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return {key: arrays[key] for key in arrays}


def row(done, *args) -> dict:
    (only,) = done("marginals", *args).rows
    return only


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


def comment(block: str, key: str) -> float:
    return float(re.search(f"# {key} = (.*)", block)[1])


def test_sentences_without_heads_get_their_entropy_only(done):
    out = done("marginals", *SCORES, "--conllu", DATA / "sentences.conllu", "--no-header").out
    lines = out.splitlines(keepends=True)
    added = [line for line in lines if line.startswith(b"# entropy = ")]
    assert len(added) == 8
    assert b"".join(line for line in lines if line not in added) == (DATA / "sentences.conllu").read_bytes()


def test_a_tree_that_cannot_be_has_no_log_probability(done, put):
    """A cycle among the heads, an arc of weight 0: the words' probabilities still stand there."""
    lines = [f"{i}\tf\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for i, head in ((1, 2), (2, 1), (3, 0))]
    put("abc.conllu", "".join(lines) + "\n")
    out = done("marginals", DATA / "figure1.npy", "--conllu", "abc.conllu", "--no-header").out.decode()
    assert "tree_logprob" not in out
    assert [float(prob) for prob in re.findall("HeadProb=(.*)", out)] == pytest.approx([1 / 3, 1 / 3, 1 / 3], rel=1e-3)
