"""`read_pairs`: what the commands read, for Python users."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli import DeptreeError
from deptree_cli.bitext import read_pairs
from tests.sample import DATA

SCORES, TEXT = str(DATA / "bitext.npz"), str(DATA / "bitext.txt")


def test_pairs_have_words_and_distributions() -> None:
    pairs = list(read_pairs(SCORES, TEXT))
    with np.load(SCORES) as scores:
        assert [pair.id for pair in pairs] == [*scores]
        for pair in pairs:
            np.testing.assert_array_equal(pair.distribution.log_scores, scores[pair.id])
            assert scores[pair.id].shape == (len(pair.record.source), len(pair.record.target))


def test_options_are_passed_on() -> None:
    for plain, pair in zip(read_pairs(SCORES), read_pairs(SCORES, null_score=-1.0, temperature=2.0), strict=True):
        assert set(pair.distribution.source_nulls) == {-0.5}
        np.testing.assert_array_equal(pair.distribution.log_scores, plain.distribution.log_scores / 2)


def test_other_direction() -> None:
    reverse = str(DATA / "bitext_reverse.npz")
    with np.load(SCORES) as scores, np.load(reverse) as others:
        for pair in read_pairs(SCORES, symmetric=reverse):
            mean = (scores[pair.id] + others[pair.id].T) / 2
            np.testing.assert_allclose(pair.distribution.log_scores, mean)


def test_errors_are_raised_or_handed_on(tmp_path) -> None:
    np.savez(tmp_path / "s.npz", bad=np.array([[np.nan]]), good=np.eye(2))
    path = str(tmp_path / "s.npz")
    with pytest.raises(DeptreeError, match="is NaN"):
        list(read_pairs(path))
    errors: list[DeptreeError] = []
    assert [pair.id for pair in read_pairs(path, on_error=errors.append)] == ["good"]
    assert [error.sent_id for error in errors] == ["bad"]
