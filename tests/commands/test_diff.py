"""``deptree diff``: two score files of the same sentences."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sample import DATA, SCORES


@pytest.fixture
def other(put):
    """The sample's scores with noise."""
    rng = np.random.default_rng(0)
    with np.load(DATA / "scores.npz") as scores:
        return put("other.npz", {key: scores[key] + rng.normal(size=scores[key].shape) for key in scores.files})


def test_both_ways(done, other):
    rows = done("diff", SCORES[0], other, *SCORES[1:], "--seed", 1).rows
    forth = done("expect", "kl", *SCORES, "--other", other).rows
    back = done("expect", "kl", other, *SCORES[1:], "--other", SCORES[0]).rows
    for row, one, two in zip(rows, forth, back, strict=True):
        assert list(row) == ["sent_id", "n", "kl", "kl_reverse", "jensen_shannon", "jensen_shannon_error", "arcs"]
        assert (row["kl"], row["kl_reverse"]) == pytest.approx((one["kl"], two["kl"]))
        assert 0 < row["jensen_shannon"] < min(np.log(2), (row["kl"] + row["kl_reverse"]) / 4 + 0.05)
        assert len(row["arcs"]) <= 5
    assert len(done("diff", SCORES[0], other, *SCORES[1:], "--arcs", 2).rows[0]["arcs"]) == 2


def test_with_itself(done):
    for row in done("diff", SCORES[0], *SCORES, "-k", 5).rows:
        assert (row["kl"], row["kl_reverse"], row["arcs"]) == (0.0, 0.0, [])
        assert row["jensen_shannon"] == pytest.approx(0.0, abs=1e-9)


def test_what_the_other_forbids_is_null(done, put):
    scores = np.ones((4, 4))
    put("ours.npy", scores)
    scores[1, 2] = 0.0
    put("theirs.npy", scores)
    (row,) = done("diff", "ours.npy", "theirs.npy", "--from", "head-dep").rows
    assert row["kl"] is None
    assert row["kl_reverse"] > 0
    assert 0 < row["jensen_shannon"] < np.log(2)
