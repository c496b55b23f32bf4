"""Scores that are refused, and in which words; what is forbidden, ignored and possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.errors import DeptreeError

INF, NAN = float("inf"), float("nan")


def weights(n: int = 3, **arcs: float) -> np.ndarray:
    """Ones, and the weights of some arcs: ``_1_2=7`` is that of 1 -> 2."""
    matrix = np.ones((n + 1, n + 1))
    for name, weight in arcs.items():
        head, dependent = name[1:].split("_")
        matrix[int(head), int(dependent)] = weight
    return matrix


def only(n: int, *arcs: tuple[int, int]) -> np.ndarray:
    """Weight 1 for these arcs, 0 for all others."""
    matrix = np.zeros((n + 1, n + 1))
    for head, dependent in arcs:
        matrix[head, dependent] = 1.0
    return matrix


NUMBERS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "NaN": (
        weights(_2_3=NAN),
        {},
        "s: the score of 2 -> 3 (nan) is NaN. Repair the scores, or forbid such arcs: scores[np.isnan(scores)] = 0.",
    ),
    "NaN in ROOT's row": (weights(_0_1=NAN), {"scale": "log"}, "s: the score of ROOT -> 1 (nan) is NaN."),
    "infinite weight": (weights(_1_3=INF), {}, "s: the weight of 1 -> 3 (inf) is infinite."),
    "infinite log-score": (weights(_1_3=INF), {"scale": "log"}, "the score of 1 -> 3 (inf) is too large for a score"),
    "log-score 1e16": (
        weights(_1_3=1e16),
        {"scale": "log"},
        "the score of 1 -> 3 (1e+16) is too large for a score (beyond",
    ),
    "negative weight": (
        weights(_3_1=-0.25),
        {},
        's: the weight of 3 -> 1 (-0.25) is negative. If these are log-scores (logits), pass `scale="log"`.',
    ),
    "minus infinity as a weight": (weights(_3_1=-INF), {}, "the weight of 3 -> 1 (-inf) is negative."),
    "unknown scale": (weights(), {"scale": "logit"}, "s: unknown scale 'logit'. Choose one of weight, log."),
    "temperature 0": (
        weights(),
        {"temperature": 0},
        "the temperature is 0. Give a positive number; 1 changes nothing.",
    ),
    "temperature -1": (weights(), {"temperature": -1.0}, "the temperature is -1."),
    "temperature nan": (weights(), {"temperature": NAN}, "the temperature is nan."),
    "temperature inf": (weights(), {"temperature": INF}, "the temperature is inf."),
}

SHAPES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "not square": (np.ones((3, 4)), {}, "s: the scores have shape (3, 4), not (n+1, n+1). Give one square matrix"),
    "a vector": (np.ones(4), {}, "the scores have shape (4,), not (n+1, n+1)."),
    "labels": (np.ones((3, 3, 2)), {}, "the scores have shape (3, 3, 2), not (n+1, n+1)."),
    "a number": (3.0, {}, "the scores have shape (), not (n+1, n+1)."),
    "no words": (np.ones((1, 1)), {}, "s: the sentence has no words (n = 0). Leave it out or give at least one word"),
    "nothing": (np.ones((0, 0)), {}, "the sentence has no words (n = 0)."),
    "text": (
        [["a", "b"], ["c", "d"]],
        {},
        "the scores are of type <U1, not real numbers. Give them as float32 or float64.",
    ),
    "a ragged list": ([[1, 2], [3]], {}, "the scores are not an array of numbers."),
    "an object": ({"scores": 1}, {}, "the scores are of type object, not real numbers."),
    "complex numbers": ([[0, 1j], [0, 0]], {}, "the scores are of type complex128, not real numbers."),
}

TREES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a headless word": (
        weights(_0_2=0, _1_2=0, _3_2=0),
        {},
        "no single-root tree is possible: word 2 has no head with a finite score. Allow at least one arc into ",
    ),
    "headless words": (
        only(3, (0, 2)),
        {"single_root": False},
        "no tree is possible: words 1 and 3 have no head with a finite score.",
    ),
    "no ROOT arc": (
        weights(_0_1=0, _0_2=0, _0_3=0),
        {},
        "s: no single-root tree is possible: no word may attach to ROOT. Allow at least one arc from ROOT.",
    ),
    "no ROOT arc, several roots": (
        weights(_0_1=0, _0_2=0, _0_3=0),
        {"single_root": False},
        "s: no tree is possible: no word may attach to ROOT.",
    ),
    "two words that only ROOT may govern": (
        weights(_1_2=0, _3_2=0, _1_3=0, _2_3=0),
        {},
        "s: no single-root tree is possible: words 2 and 3 can attach to ROOT only. "
        "Allow another head for all but one of them, "
        "or allow several roots (`single_root=False`).",
    ),
    "words that no root reaches": (
        only(4, (0, 1), (1, 2), (3, 4), (4, 3)),
        {},
        "s: no single-root tree is possible: words 3 and 4 cannot be reached from the possible root 1. "
        "Allow more arcs, or allow several roots (`single_root=False`).",
    ),
    "words that ROOT does not reach": (
        only(4, (0, 1), (1, 2), (3, 4), (4, 3)),
        {"single_root": False},
        "s: no tree is possible: words 3 and 4 cannot be reached from ROOT. Allow more arcs.",
    ),
}


@pytest.mark.parametrize("case", [*NUMBERS, *SHAPES, *TREES])
def test_refusals(case: str) -> None:
    scores, options, line = (NUMBERS | SHAPES | TREES)[case]
    with pytest.raises(DeptreeError) as caught:
        ArcFactored(scores, **{"scale": "weight", "id": "s"} | options)
    assert line in str(caught.value)
    assert str(caught.value).startswith("s: ")
    assert caught.value.sent_id == "s"


@pytest.mark.parametrize("scores", [[[0, 10**400], [0, 0]], [[0, -(10**400)], [0, 0]]])
def test_integers_beyond_float64_are_refused(scores: list[list[int]]) -> None:
    """JSON has integers of any length."""
    with pytest.raises(DeptreeError):
        ArcFactored(scores)


@pytest.mark.parametrize("temperature", [1e-20, 1e-300])
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_temperature_that_takes_scores_out_of_range_is_refused(temperature: float) -> None:
    """1e10 / 1e-300 is inf, neither a score nor forbidden. At 1e-20 the exponents of wide numbers (int64) are near
    their end: log-scores some 1e21 apart wrap around, and the sweep then does not come back."""
    with pytest.raises(DeptreeError):
        ArcFactored(weights(_1_2=1e10), temperature=temperature)


def test_a_good_matrix() -> None:
    distribution = ArcFactored(weights(_2_1=0.5), "weight", id="x", single_root=False)
    assert (distribution.n, distribution.id, distribution.single_root) == (3, "x", False)
    assert distribution.log_scores.dtype == np.float64
    assert distribution.log_scores[2, 1] == np.log(0.5)
    assert np.isneginf(np.diag(distribution.log_scores)).all()
    assert np.isneginf(distribution.log_scores[:, 0]).all()


def test_the_scores_given_are_not_written_to() -> None:
    scores = weights(_1_1=7.0)
    ArcFactored(scores, "weight")
    assert scores[1, 1] == 7.0


@pytest.mark.parametrize("scale", ["weight", "log"])
@pytest.mark.parametrize("junk", [NAN, INF, -INF, -1.0, 1e300])
def test_the_diagonal_and_column_0_may_hold_anything(scale: str, junk: float) -> None:
    dirty = weights(_1_2=0.25)
    clean = dirty.copy()
    dirty[:, 0] = junk
    np.fill_diagonal(dirty, junk)
    found, expected = (ArcFactored(scores, scale=scale).log_scores for scores in (dirty, clean))
    assert np.array_equal(found, expected)


def test_scores_short_of_a_mask_stay() -> None:
    assert ArcFactored(weights(_1_2=-1e14)).log_scores[1, 2] == -1e14
    assert ArcFactored(weights(_1_2=9e14)).log_scores[1, 2] == 9e14
    assert ArcFactored(weights(_1_2=1e300), "weight").log_scores[1, 2] == np.log(1e300)
    assert ArcFactored(weights(_1_2=5e-324), "weight").log_scores[1, 2] == np.log(5e-324)


@given(st.integers(0, 10**6), st.sampled_from(["weight", "log"]))
def test_temperature_1_changes_nothing(seed: int, scale: str) -> None:
    scores = np.random.default_rng(seed).random((5, 5))
    plain = ArcFactored(scores, scale=scale).log_scores
    assert np.array_equal(ArcFactored(scores, scale=scale, temperature=1.0).log_scores, plain)


@given(st.integers(0, 10**6), st.sampled_from(["weight", "log"]), st.floats(1e-3, 1e3))
def test_temperature_divides(seed: int, scale: str, temperature: float) -> None:
    scores = np.random.default_rng(seed).random((5, 5))
    scores[1, 2] = 0.0 if scale == "weight" else -INF
    plain = ArcFactored(scores, scale=scale).log_scores
    found = ArcFactored(scores, scale=scale, temperature=temperature).log_scores
    assert np.array_equal(found, plain / temperature)
