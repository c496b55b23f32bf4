"""``deptree partition``: against enumeration, per sentence and for the file."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sample import SCORES


def test_json_lines(done, golden):
    golden("partition.jsonl", done("partition", *SCORES).out)


def test_summary(done, golden):
    golden("partition_summary.json", done("partition", *SCORES, "--summary").out)


def test_no_single_root_tree(done, put):
    """Two words that attach to ROOT only: one spanning tree of weight 6, no dependency tree."""
    put("two.npy", np.array([[0, 2, 3], [0, 0, 0], [0, 0, 0.0]]))
    (row,) = done("partition", "two.npy", "--multi-root").rows
    assert row["log_z"] is row["samples_per_single_root_tree"] is None
    assert row["log_z_multi_root"] == pytest.approx(np.log(6))
    assert row["single_root_mass"] == 0
    assert "no single-root tree" in row["reason"]
    (summary,) = done("partition", "two.npy", "--multi-root", "--summary").rows
    assert summary["single_root_mass_min"] == 0


def test_no_projective_tree(done, deptree, put):
    """Words 1 and 2 are governed across each other; or only under two roots, 1 and 4, does nothing cross 4 -> 2."""
    weights = np.zeros((5, 5))
    weights[[0, 3, 4, 0, 3], [1, 1, 2, 3, 4]] = 1
    put("crossing.npy", weights)
    (row,) = done("partition", "crossing.npy").rows
    assert (row["projective_mass"], row["single_root_mass"]) == (0, 0.5)
    assert "reason" not in row
    refused = deptree("partition", "crossing.npy", "--projective")
    assert "no projective" in refused.said[-1]
    weights[0, 4] = weights[4, 3] = 1
    put("crossing.npy", weights)
    (row,) = done("partition", "crossing.npy", "--projective", "--multi-root").rows
    assert (row["log_z"], row["single_root_mass"], row["projective_mass"]) == (None, 0, pytest.approx(1 / 6))
    assert row["reason"] == "no projective single-root tree is possible"


def test_numbers_are_finite_or_null_with_a_reason(done, put):
    """Every word prefers ROOT by e^1000: almost no spanning tree has one root."""
    scores = np.zeros((4, 4))
    scores[0] = 1000
    put("roots.npy", scores)
    (row,) = done("partition", "roots.npy", "--from", "log").rows
    assert row["log_z"] == pytest.approx(1000 + np.log(9))
    assert row["log_z_multi_root"] == pytest.approx(3000)
    assert row["samples_per_single_root_tree"] is None
    assert "e^1997.8" in row["reason"]
