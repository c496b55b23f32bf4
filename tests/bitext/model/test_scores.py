"""What is wrong with scores of sentence pairs: each in one line, with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.core.errors import DeptreeError

NAN, INF = np.nan, np.inf


def bispans(p: int, q: int, at: tuple[int, ...], value: float) -> np.ndarray:
    found = np.zeros((p + 1, p + 1, q + 1, q + 1))
    found[at] = value
    return found


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scores": [[0.0, NAN]]}, "the score of the link 1-2 is NaN. Repair the scores."),
        ({"scores": [[0.0], [INF]]}, "the score of the link 2-1 is too large for a score (beyond 1e+15)."),
        ({"scores": [[1e16]]}, "the score of the link 1-1 is too large for a score (beyond 1e+15)."),
        ({"scores": [[1.0, INF]], "scale": "weight"}, "the score of the link 1-2 is infinite."),
        (
            {"scores": [[1.0, -0.5]], "scale": "weight"},
            "the score of the link 1-2 is negative. If these are log-scores",
        ),
        ({"scores": [[0.0]], "scale": "logit"}, "unknown scale 'logit'. Choose one of weight, log."),
        ({"scores": [0.0, 1.0]}, "the scores of links have shape (2,), not (source words, target words)."),
        ({"scores": 1.0}, "the scores of links have shape (), not (source words, target words)."),
        ({"scores": np.zeros((2, 2, 2))}, "the scores of links have shape (2, 2, 2), not"),
        ({"scores": np.zeros((0, 3))}, "there are no source words (shape (0, 3)). Remove this pair."),
        ({"scores": np.zeros((3, 0))}, "there are no target words (shape (3, 0)). Remove this pair."),
        ({"scores": [[0.0], [1.0, 2.0]]}, "the scores of links are not an array of numbers."),
        ({"scores": [["x"]]}, "the scores of links are of type <U1, not real numbers."),
        ({"scores": [[1j]]}, "the scores of links are of type complex128, not real numbers."),
        ({"source_nulls": [0.0, NAN]}, "the null score of source word 2 is NaN."),
        ({"target_nulls": INF}, "the null score of target word 1 is too large for a score"),
        ({"source_nulls": [0.0]}, "the source null scores have shape (1,), but there are 2 source words."),
        ({"target_nulls": np.zeros((3, 1))}, "the target null scores have shape (3, 1), but there are 3 target words."),
        ({"target_nulls": "none"}, "the target null scores are of type <U4, not real numbers."),
        ({"source_nulls": -1.0, "scale": "weight"}, "the null score of source word 1 is negative."),
        ({"bispans": np.zeros((2, 3))}, "the scores of bispans have shape (2, 3). Give an array (3, 3, 4, 4): s, t, u"),
        ({"bispans": bispans(2, 3, (0, 1, 1, 2), NAN)}, "the score of the bispan (0, 1, 1, 2) is NaN."),
        ({"bispans": bispans(2, 3, (0, 2, 0, 3), INF)}, "the score of the bispan (0, 2, 0, 3) is too large"),
        ({"temperature": 0.0}, "the temperature is 0. Give a positive number"),
        ({"temperature": NAN}, "the temperature is nan. Give a positive number"),
        ({"temperature": -1.0}, "the temperature is -1. Give a positive number"),
        ({"scores": [[1e5]], "temperature": 1e-12}, "the temperature 1e-12 takes scores out of range."),
    ],
)
def test_what_is_wrong(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DeptreeError) as caught:
        AlignmentDistribution(**{"scores": np.ones((2, 3)), "id": "s-3"} | settings)
    assert str(caught.value).startswith(f"s-3: {message}")
    assert "\n" not in str(caught.value)


STUCK = [
    ([[-INF, -INF], [0.0, 0.0]], [-INF, 0.0], 0.0, ": source word 1 has neither a link nor a null"),
    ([[0.0, -INF]], 0.0, [0.0, -INF], ": target word 2 has neither a link nor a null"),
    ([[0.0, 0.0]], -INF, -INF, ". Allow more links"),
    ([[0.0], [0.0]], -INF, 0.0, ". Allow more links"),
]


@pytest.mark.parametrize(("scores", "source_nulls", "target_nulls", "where"), STUCK)
def test_no_alignment(scores: Any, source_nulls: Any, target_nulls: Any, where: str) -> None:
    """One cannot be summed over, drawn or found; until then a pair may be made."""
    pair = AlignmentDistribution(scores, "log", source_nulls, target_nulls, "s-5")
    for ask in (lambda: pair.log_partition, pair.marginals, pair.argmax, lambda: pair.sample(3, 1)):
        with pytest.raises(DeptreeError) as caught:
            ask()
        assert str(caught.value).startswith(f"s-5: no alignment is possible{where}")
        assert "\n" not in str(caught.value)


def test_bispans_may_forbid_everything() -> None:
    """All that has links; words that are all unlinked have no parts."""
    pair = AlignmentDistribution([[0.0]], source_nulls=-INF, bispans=np.full((2, 2, 2, 2), -INF))
    with pytest.raises(DeptreeError, match="no alignment is possible"):
        _ = pair.log_partition
    assert AlignmentDistribution([[0.0]], bispans=np.full((2, 2, 2, 2), -INF)).log_partition == 0.0


def test_what_is_handed_in_stays_as_it_is() -> None:
    """Scores are copied, integers and lists are numbers too."""
    scores = np.zeros((2, 3))
    AlignmentDistribution(scores)
    scores[0, 0] = 1.0
    assert AlignmentDistribution([[1, 2], [3, 4]]).log_scores.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("scale", ["log", "weight"])
def test_unlinked_words_weigh_one_unless_said(scale: str) -> None:
    pair = AlignmentDistribution(np.ones((2, 3)), scale)
    assert pair.source_nulls.tolist() == [0.0] * 2
    assert pair.target_nulls.tolist() == [0.0] * 3
