"""`deptree partition` and `deptree marginals`: sums over trees, in the keys, shapes and orientation read."""

from __future__ import annotations

import re
import zipfile

import numpy as np
import pytest

from tests.sample import DATA


def test_no_single_root_tree(done, put):
    """Two words that attach to ROOT only: one spanning tree of weight 6, no dependency tree."""
    put("two.npy", np.array([[0, 2, 3], [0, 0, 0], [0, 0, 0.0]]))
    (row,) = done("partition two.npy --multi-root").rows
    assert row["log_z"] is row["samples_per_single_root_tree"] is None
    assert row["log_z_multi_root"] == pytest.approx(np.log(6))
    assert row["single_root_mass"] == 0
    assert "no single-root tree" in row["reason"]
    (summary,) = done("partition two.npy --multi-root --summary").rows
    assert summary["single_root_mass_min"] == 0


def test_no_projective_tree(done, refused, put):
    """Words 1 and 2 are governed across each other; or only under two roots, 1 and 4, does nothing cross 4 -> 2."""
    weights = np.zeros((5, 5))
    weights[[0, 3, 4, 0, 3], [1, 1, 2, 3, 4]] = 1
    put("crossing.npy", weights)
    (row,) = done("partition crossing.npy").rows
    assert (row["projective_mass"], row["single_root_mass"]) == (0, 0.5)
    assert "reason" not in row
    refused("partition crossing.npy --projective -q", "no projective")
    weights[0, 4] = weights[4, 3] = 1
    put("crossing.npy", weights)
    (row,) = done("partition crossing.npy --projective --multi-root").rows
    assert (row["log_z"], row["single_root_mass"], row["projective_mass"]) == (None, 0, pytest.approx(1 / 6))
    assert row["reason"] == "no projective single-root tree is possible"


def test_numbers_are_finite_or_null_with_a_reason(done, put):
    """Every word prefers ROOT by e^1000: almost no spanning tree has one root."""
    scores = np.zeros((4, 4))
    scores[0] = 1000
    put("roots.npy", scores)
    (row,) = done("partition roots.npy --from log").rows
    assert row["log_z"] == pytest.approx(1000 + np.log(9))
    assert row["log_z_multi_root"] == pytest.approx(3000)
    assert row["samples_per_single_root_tree"] is None
    assert "e^1997.8" in row["reason"]


def test_npz_keeps_keys_and_rectangles(done):
    done("marginals $SCORES -o m.npz")
    rows = done("marginals $SCORES").rows
    with np.load("m.npz") as got, np.load(DATA / "scores.npz") as read:
        assert {key: got[key].shape for key in got} == {key: read[key].shape for key in read}
        assert list(got) == list(read)
        for row in rows:
            np.testing.assert_array_equal(got[row["sent_id"]], row["marginals"])
    with zipfile.ZipFile("m.npz") as archive:
        assert archive.comment.decode() == done("marginals $SCORES --header").signature


def test_sentences_without_heads_get_their_entropy_only(done):
    lines = done("marginals $SCORES $SENTENCES --no-header").out.splitlines(keepends=True)
    added = [line for line in lines if line.startswith(b"# entropy = ")]
    assert len(added) == 8
    assert b"".join(line for line in lines if line not in added) == (DATA / "sentences.conllu").read_bytes()


def test_a_tree_that_cannot_be_has_no_log_probability(done, put):
    """A cycle among the heads, an arc of weight 0: the words' probabilities still stand there."""
    put(
        "abc.conllu", "".join(f"{i}\tf\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for i, head in ((1, 2), (2, 1), (3, 0))) + "\n"
    )
    out = done("marginals $FIGURE1 --conllu abc.conllu --no-header").out.decode()
    assert "tree_logprob" not in out
    assert [float(prob) for prob in re.findall("HeadProb=(.*)", out)] == pytest.approx([1 / 3, 1 / 3, 1 / 3], rel=1e-3)


@pytest.mark.quick
@pytest.mark.parametrize("above", [0, 0.5])
@pytest.mark.parametrize("words", ["", "--conllu $GOLD"])
def test_rows_are_the_cells_of_the_matrix_above_p(done, above, words):
    line = f"marginals $SCORES --projective {words}"
    rows = done(f"{line} --format jsonl --above {above}").rows
    assert {tuple(row) for row in rows} == {("sent_id", "word", "form", "head", "head_form", "prob")}
    assert [(row["sent_id"], row["word"], row["head"], row["prob"]) for row in rows] == [
        (each["sent_id"], word, head, prob)
        for each in done(f"{line} --format jsonl").rows
        for word, probs in enumerate(each["marginals"], 1)
        for head, prob in enumerate(probs)
        if prob > above
    ]
    if words:
        assert ("She", "saw") in {(row["form"], row["head_form"]) for row in rows}
        tsv = done(f"{line} --tsv --above {above}").out.decode().splitlines()
        assert tsv == ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)]


def test_labels_have_rows_of_their_own(done):
    (first, *_) = done("marginals $SCORES $LABELS").rows
    probs = np.array(first["marginals"])
    rows = [row for row in done("marginals $SCORES $LABELS --above 0.2").rows if row["sent_id"] == "en-1"]
    assert len(rows) == (probs > 0.2).sum() > 5
    for row in rows:
        assert row["prob"] == probs[row["word"] - 1, row["head"], first["labels"].index(row["label"])]


@pytest.mark.parametrize(
    ("preset", "orient", "root"),
    [
        ("natasha", "dep-head", "first"),
        ("spacy", "dep-head", "diagonal"),
        ("torch-struct", "head-dep", "diagonal"),
        ("synjax", "head-dep", "first"),
    ],
)
def test_json_says_what_the_axes_are(done, preset, orient, root):
    done(f"convert $SCORES --to {preset} -o own.npz")
    for line in ("marginals own.npz", "marginals own.npz --projective", "expect entropy own.npz --grad"):
        assert {(row["orient"], row["root"]) for row in done(line).rows} == {(orient, root)}
    mixed = done("combine $GOLD $GOLD --json").rows
    assert {(row["orient"], row["root"]) for row in mixed} == {("head-dep", "first")}
