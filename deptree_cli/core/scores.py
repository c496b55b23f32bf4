"""From scores as they come to checked log-scores; the only place where numbers are judged."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import MASK, Bool, Float
from deptree_cli.core.errors import LOG_SCALE, DeptreeError, counted, one_of, words

SCALES = ("weight", "log")

# Classes of numbers that float64 may stand for.
REAL = (Real, Decimal, np.bool_)

FLOAT_MAX = np.finfo(np.float64).max

# How far below the others a power may take a score: exponents of wide numbers are exact integers down to here.
LOWEST = 1e18


def checked_log_scores(scores: ArrayLike, scale: str, temperature: float = 1.0, labels: int | None = None) -> Float:
    """Natural logarithms of the weights of arcs, (n+1, n+1) or, with labels, (n+1, n+1, L); -inf forbids, also in
    column 0 and on the diagonal.

    Args:
        scores: of that shape, ``[head, dependent]``; column 0 and the diagonal are ignored.
        scale, temperature: as for `TreeDistribution`.
        labels: the number L, None without an axis of labels.
    """
    array = real_numbers(scores, "scores")
    if array.ndim != (2 if labels is None else 3) or array.shape[0] != array.shape[1]:
        raise DeptreeError(
            f"the scores have shape {array.shape}, not (n+1, n+1{'' if labels is None else ', labels'})",
            "Give one square matrix per sentence, ROOT included",
        )
    if labels is not None and array.shape[2] != labels:
        problem = f"there are scores of {counted(array.shape[2], 'label')}, but {counted(labels, 'name')}"
        raise DeptreeError(problem, "Name every label once, in the order of the scores")
    if len(array) < 2:
        raise DeptreeError("the sentence has no words (n = 0)", "Leave it out or give at least one word besides ROOT")
    _ignore(array, 0.0)
    check_numbers(array, scale, partial(_arc, array), "arcs")
    if scale == "weight" and not array.any():
        problem = "all weights are 0, and an arc of weight 0 is forbidden"
        remedy = f"If these are log-scores (logits), all alike, pass {LOG_SCALE}"
        raise DeptreeError(problem, remedy, options=[LOG_SCALE])
    log_scores = checked_temperature(to_log(array, scale), temperature)
    _ignore(log_scores, -np.inf)
    return log_scores


def _ignore(scores: Float, value: float) -> None:
    scores[:, 0] = value
    scores.reshape(len(scores) ** 2, -1)[:: len(scores) + 1] = value


def _arc(scores: Float, at: tuple[int, ...], what: str) -> str:
    """An arc (and label), for a message: ``score of 3 -> 5 (-0.25)``, ROOT by name; of weights their sign and size."""
    head, dependent, *label = at
    of_label = f", label {label[0]}" if label else ""
    noun = "weight" if what in ("is infinite", "is negative") else "score"
    return f"{noun} of {head or 'ROOT'} -> {dependent}{of_label} ({scores[at]:g})"


def real_numbers(values: ArrayLike, what: str) -> Float:
    """Numbers as they come, as a new array of float64 in C's order. Truth values count 1 and 0."""
    if np.ma.is_masked(values):
        raise DeptreeError(f"some of the {what} are masked", "Fill them in: -inf forbids an arc, as weight 0 does")
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and all(isinstance(each, REAL) for each in array.flat):
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        remedy = "Give a rectangle of real numbers"
        if hasattr(values, "detach"):  # NumPy has no bfloat16, and no tensors with gradients or on devices
            remedy = f"Give a tensor of {what} as tensor.detach().cpu().double().numpy(), or use deptree_cli.torch"
        raise DeptreeError(f"the {what} are not an array of numbers", remedy) from None
    if array.dtype.kind not in "biuf" and not np.can_cast(array.dtype, np.float64):  # as bfloat16 can be
        raise DeptreeError(f"the {what} are of type {array.dtype}, not real numbers", "Give them as float32 or float64")
    with np.errstate(over="ignore"):
        return array.astype(np.float64, order="C")


def checked_temperature(log_scores: Float, temperature: float) -> Float:
    """Log-scores divided by a temperature."""
    if not 0 < temperature < math.inf:
        raise DeptreeError(f"the temperature is {temperature:g}", "Give a positive number; 1 changes nothing")
    if temperature == 1.0:
        return log_scores
    if np.abs(log_scores[np.isfinite(log_scores)]).max(initial=0.0) > MASK * temperature:
        raise DeptreeError(f"the temperature {temperature:g} takes scores out of range", "Choose a higher one")
    return log_scores / temperature


def checked_power(log_weights: Float, exponent: float) -> Float:
    """Log-scores of weights raised to a power, -inf staying so."""
    if not (exponent > 0 and np.isfinite(exponent)):
        raise DeptreeError(f"the order is {exponent:g}", "Give a positive number")
    if np.abs(log_weights[np.isfinite(log_weights)]).max(initial=0.0) > LOWEST / exponent:
        raise DeptreeError(f"the order {exponent:g} takes scores out of range", "Choose a lower one")
    return log_weights * exponent


def check_numbers(scores: Float, scale: str, name: Callable[[tuple[int, ...], str], str], kind: str = "") -> None:
    """Raise a DeptreeError unless these are log-scores or weights.

    `name` turns an index and what is wrong there into what stands there, as ``the score of 3 -> 5``; NaN may be said to
    forbid a `kind`, such as ``arcs``.
    """
    if scale not in SCALES:
        raise DeptreeError(f"unknown scale {scale!r}", one_of(SCALES))
    are_weights, repair = scale == "weight", "Repair the scores"
    highest, lowest = scores.max(initial=0.0), scores.min(initial=0.0) if are_weights else 0.0
    if lowest == 0.0 and highest <= (FLOAT_MAX if are_weights else MASK):  # NaN is in no order
        return
    forbid = f", or forbid such {kind}: scores[np.isnan(scores)] = {'0' if are_weights else '-np.inf'}" if kind else ""
    too_large = "is infinite" if are_weights else f"is too large for a score (beyond {MASK:.0e})"
    for wrong, what, remedy in (
        (np.isnan(scores), "is NaN", repair + forbid),
        (np.isposinf(scores) if are_weights else scores > MASK, too_large, repair),
        ((scores < 0) & are_weights, "is negative", f"If these are log-scores (logits), pass {LOG_SCALE}"),
    ):
        if wrong.any():
            problem = f"the {name(tuple(np.argwhere(wrong)[0].tolist()), what)} {what}"
            raise DeptreeError(problem, remedy, options=[LOG_SCALE])


def to_log(matrix: Float, scale: str) -> Float:
    """Natural logarithms of checked scores of any shape; ``-inf`` for those that forbid."""
    if scale == "weight":
        with np.errstate(divide="ignore"):
            return np.log(matrix)
    return np.where(matrix <= -MASK, -np.inf, matrix)


def to_weights(log_scores: Float) -> tuple[Float, int]:
    """Weights of log-scores (n+1, n+1[, L]), and how many arcs have become impossible because float64 ends there.

    Columns are multiplied by a constant, which changes no probability, only where their range makes it needed.
    """
    possible = np.isfinite(log_scores)
    with np.errstate(over="ignore"):
        weights = np.exp(log_scores)
    if not (np.isfinite(weights).all() and (weights[possible] > 0).all()):
        highest = log_scores.max(axis=(0, *range(2, log_scores.ndim)), keepdims=True)
        weights = np.exp(log_scores - np.where(np.isfinite(highest), highest, 0.0))
    return weights, int((possible & (weights == 0)).any(axis=tuple(range(2, log_scores.ndim))).sum())


# Masks are scores so far below others that, where every tree needs one, float64 has no digits left. Those that no tree
# needs do no harm, nor do those that a shift takes off: on all heads of a word, or on all of ROOT's arcs under the
# single-root constraint (`core/factorisation.py`).

# So far below 0 the best tree's shifted score may be: log-weights that add up to more are known to 1e-8 only.
MOST_MASKED = 1e8


def may_be_masks(log_scores: Float, finite: Bool, n: int, most: float = MOST_MASKED) -> bool:
    """Whether a tree's shifted scores may add up to less than -most: quickly; that they do not is certain."""
    least = log_scores.max() - most / (2 * n)
    return bool(np.count_nonzero(finite) > np.count_nonzero(log_scores >= least))


def need_of_masks(log_weights: Float, most: float = MOST_MASKED, trees: str = "every tree") -> DeptreeError:
    """What to say of trees that need masks, from the shifted scores (n,) of the best one's words."""
    masked = np.flatnonzero(log_weights < -most / (2 * len(log_weights))) + 1
    below = f"scores far below the others, by up to {-log_weights.min():g}"
    problem = f"{trees} needs masks ({below}), the best one at {words(masked)}"
    return DeptreeError(problem, "Forbid arcs by -inf, and give those that trees need scores like the others")
