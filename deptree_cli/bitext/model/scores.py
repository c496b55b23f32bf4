"""From scores of a sentence pair as they come to checked log-scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import check_numbers, checked_temperature, real_numbers, to_log

# What stands at an index, for a message.
_Named = Callable[[tuple[int, ...]], str]


class LinkScores(NamedTuple):
    """Log-scores of links, (p, q), and of leaving words unlinked, (p,) and (q,); -inf forbids."""

    links: Float
    source_nulls: Float
    target_nulls: Float

    @property
    def transposed(self) -> LinkScores:
        """The same with source and target exchanged."""
        return LinkScores(self.links.T, self.target_nulls, self.source_nulls)

    @property
    def none_pays(self) -> bool:
        """Whether no link scores more than leaving both of its words unlinked."""
        return not (self.links > self.source_nulls[:, None] + self.target_nulls).any()


def checked_links(scores: ArrayLike, scale: str, temperature: float) -> Float:
    """Natural logarithms of the weights of links, (p, q); -inf forbids.

    Raises:
        DeptreeError: says what is wrong with the scores and what to do.
    """
    array = real_numbers(scores, "scores of links")
    if array.ndim != 2:
        problem = f"the scores of links have shape {array.shape}, not (source words, target words)"
        raise DeptreeError(problem, "Give one matrix per sentence pair")
    if not array.size:
        side = "source" if not len(array) else "target"
        raise DeptreeError(f"there are no {side} words (shape {array.shape})", "Remove this pair")
    return _checked(array, scale, temperature, lambda at: f"score of the link {at[0] + 1}-{at[1] + 1}")


def checked_nulls(side: str, scores: ArrayLike | None, n: int, scale: str, temperature: float) -> Float:
    """Natural logarithms of the weights of leaving n words unlinked, (n,).

    scores: for each word, or one number for all; None for logarithms of 0.

    Raises:
        DeptreeError: says what is wrong with them.
    """
    if scores is None:
        return np.zeros(n)
    array = real_numbers(scores, f"{side} null scores")
    if array.shape not in ((), (n,)):
        problem = f"the {side} null scores have shape {array.shape}, but there are {n} {side} words"
        raise DeptreeError(problem, "Give one number for each word, or one for all")
    array = np.broadcast_to(array, (n,)).copy()
    return _checked(array, scale, temperature, lambda at: f"null score of {side} word {at[0] + 1}")


def checked_bispans(scores: ArrayLike, p: int, q: int, temperature: float) -> Float:
    """Log-weights of parts, (p+1, p+1, q+1, q+1).

    Raises:
        DeptreeError: says what is wrong with them.
    """
    array = real_numbers(scores, "scores of bispans")
    shape = (p + 1, p + 1, q + 1, q + 1)
    if array.shape != shape:
        raise DeptreeError(f"the scores of bispans have shape {array.shape}", f"Give an array {shape}: s, t, u, v")
    return _checked(array, "log", temperature, lambda at: f"score of the bispan {at}")


def _checked(array: Float, scale: str, temperature: float, name: _Named) -> Float:
    check_numbers(array, scale, lambda at, what: name(at))
    return checked_temperature(to_log(array, scale), temperature)
