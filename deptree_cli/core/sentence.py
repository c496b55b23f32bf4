"""A sentence: the checked log-scores of every arc, the only thing that samplers, sums and audits take.

Validation happens here, once; everything below trusts a `Sentence`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptree_cli.core.errors import DeptreeError

if TYPE_CHECKING:
    from deptree_cli.core.elimination import Elimination

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

SCALES = ("weight", "log")

# From here on float64 no longer tells neighbouring log-scores apart: below it stand the masks that parsers pad with
# (-1e32, the smallest float32), above it nothing that was ever a score.
MASK = 1e15


@dataclass(frozen=True, eq=False)
class Sentence:
    """One sentence's distribution over dependency trees.

    Attributes:
        log_scores: float64, shape (n+1, n+1), ``[head, dependent]``, node 0 is ROOT; natural logarithms of arc weights;
            ``-inf`` forbids an arc; column 0 and the diagonal are ``-inf``.
        id: the sentence's name in messages and outputs, and what its random stream hangs on.
        single_root: True for dependency trees (exactly one ROOT arc), False for spanning trees (one or more).
    """

    log_scores: Float
    id: str = "1"
    single_root: bool = True

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.log_scores) - 1

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        *,
        id: str = "1",
        scale: str = "weight",
        single_root: bool = True,
        temperature: float = 1.0,
        nan_forbids: bool = False,
    ) -> Sentence:
        """Check a matrix of arc scores and make a `Sentence` of it.

        Args:
            scores: shape (n+1, n+1), ``[head, dependent]``; column 0 and the diagonal are ignored.
            scale: ``weight`` (non-negative, 0 forbids) or ``log`` (natural logarithms, ``-inf`` forbids; -1e15 and
                below is read as a mask and forbids too).
            temperature: divides the log-scores.
            nan_forbids: read NaN as a forbidden arc instead of refusing it.

        Raises:
            DeptreeError: says what is wrong with the scores and what to do.
        """
        try:
            matrix = _square(scores)
            ignored = np.eye(len(matrix), dtype=bool)
            ignored[:, 0] = True
            matrix[ignored] = 0.0
            if nan_forbids:
                matrix[np.isnan(matrix)] = 0.0 if scale == "weight" else -np.inf
            _check_numbers(matrix, scale)
            log_scores = _tempered(_to_log(matrix, scale), temperature)
            log_scores[ignored] = -np.inf
            check_feasible(np.isfinite(log_scores), single_root)
        except DeptreeError as error:
            raise error.at(sent_id=id) from None
        return cls(log_scores, id, single_root)

    def with_heads(self, heads: Sequence[int | None]) -> Sentence:
        """The distribution given some words' heads, n of them, None where a word may take any.

        Raises:
            DeptreeError: no tree of positive weight has these heads.
        """
        log_scores = self.log_scores.copy()
        for word, head in enumerate(heads, 1):
            if head is not None:
                if not np.isfinite(log_scores[head, word]):
                    problem = f"the head of word {word} is fixed to {head or 'ROOT'}, an arc that the scores forbid"
                    raise DeptreeError(problem, "Allow the arc, or put _ for this HEAD", sent_id=self.id)
                log_scores[:head, word] = log_scores[head + 1 :, word] = -np.inf
        try:
            check_feasible(np.isfinite(log_scores), self.single_root)
        except DeptreeError as error:
            error.remedy = "Put _ for some of the fixed HEADs"
            raise error.at(sent_id=self.id) from None
        return Sentence(log_scores, self.id, self.single_root)

    @cached_property
    def elimination(self) -> Elimination:
        """The factorisation behind log Z, marginals and exact samples; computed when first asked for, then kept."""
        from deptree_cli.core.elimination import Elimination  # compiles kernels: not for those who only check scores

        return Elimination(self.log_scores, self.single_root)

    def log_probs(self, heads: NDArray[np.integer]) -> Float:
        """Log-probability of each tree: heads (k, n) -> (k,); at most 0 also where rounding would lift it to 1e-16."""
        return np.minimum(self.log_weights(heads) - self.elimination.log_z, 0.0)

    def log_weights(self, heads: NDArray[np.integer]) -> Float:
        """Log-weight of each tree: heads (k, n) of integers -> (k,), the sum of its arcs' log-scores."""
        return self.log_scores[heads, np.arange(1, self.n + 1)].sum(axis=-1)


def _square(scores: ArrayLike) -> Float:
    try:
        matrix = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DeptreeError("the scores are not a matrix of numbers", "Give a rectangle of real numbers") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DeptreeError(
            f"the scores have shape {matrix.shape}, not (n+1, n+1)",
            "Give one square matrix per sentence, ROOT included",
        )
    if len(matrix) < 2:
        raise DeptreeError("the sentence has no words (n = 0)", "Leave it out or give at least one word besides ROOT")
    return matrix


def _tempered(log_scores: Float, temperature: float) -> Float:
    if not (temperature > 0 and np.isfinite(temperature)):
        raise DeptreeError(f"the temperature is {temperature:g}", "Give a positive number; 1 changes nothing")
    if np.abs(log_scores[np.isfinite(log_scores)]).max(initial=0.0) > MASK * temperature:
        raise DeptreeError(f"the temperature {temperature:g} takes scores out of range", "Choose a higher one")
    return log_scores / temperature


def _check_numbers(matrix: Float, scale: str) -> None:
    if scale not in SCALES:
        raise DeptreeError(f"unknown scale {scale!r}", f"Choose one of {', '.join(SCALES)}")
    if np.isnan(matrix).any():
        raise DeptreeError(
            f"the score of {arc(matrix, np.isnan(matrix))} is NaN",
            "Repair the scores, or forbid such arcs with --nan-forbids",
        )
    if (matrix > MASK).any() and (scale == "log" or np.isposinf(matrix).any()):
        bad = matrix > MASK if scale == "log" else np.isposinf(matrix)
        raise DeptreeError(f"the score of {arc(matrix, bad)} is too large for a score", "Repair the scores")
    if scale == "weight" and (matrix < 0).any():
        raise DeptreeError(
            f"the weight of {arc(matrix, matrix < 0)} is negative", "If these are log-scores (logits), say --scale log"
        )


def arc(matrix: Float, where: Bool) -> str:
    """The first arc for which `where` holds, for a message: ``3 -> 5 (-0.25)``, ROOT by name."""
    head, dependent = np.argwhere(where)[0]
    return f"{head or 'ROOT'} -> {dependent} ({matrix[head, dependent]:g})"


def _to_log(matrix: Float, scale: str) -> Float:
    if scale == "weight":
        with np.errstate(divide="ignore"):
            return np.log(matrix)
    return np.where(matrix <= -MASK, -np.inf, matrix)


def check_feasible(allowed: Bool, single_root: bool) -> None:
    """Raise unless some tree uses allowed arcs only. allowed: (n+1, n+1), ``[head, dependent]``. O(n^2) per
    breadth-first step.

    A spanning tree exists iff ROOT reaches every word; a dependency tree iff some word that ROOT may govern reaches
    every other word without passing ROOT.
    """
    kind = "single-root tree" if single_root else "tree"
    headless = np.flatnonzero(~allowed[:, 1:].any(axis=0)) + 1
    if headless.size:
        have = "has" if headless.size == 1 else "have"
        raise DeptreeError(
            f"no {kind} is possible: {words(headless)} {have} no head with a finite score",
            "Allow at least one arc into each word",
        )
    candidates = np.flatnonzero(allowed[0])
    if not candidates.size:
        raise DeptreeError(f"no {kind} is possible: no word may attach to ROOT", "Allow at least one arc from ROOT")
    if allowed[0, 1:].all() and (not single_root or allowed[1:, 1:].sum() == (len(allowed) - 1) * (len(allowed) - 2)):
        return
    if not single_root:
        _check_reached(_reached(allowed, [0]), "ROOT", kind)
        return
    only_root = np.flatnonzero(~allowed[1:, 1:].any(axis=0)) + 1
    if only_root.size > 1:
        raise DeptreeError(
            f"no single-root tree is possible: {words(only_root)} can attach to ROOT only",
            "Allow another head for all but one of them, or drop the constraint with --multi-root",
        )
    if not possible_roots(allowed).any():
        root = int(candidates[0])
        _check_reached(_reached(_between_words(allowed), [root]), f"the possible root {root}", kind)


def possible_roots(allowed: Bool) -> Bool:
    """Which words may be the one root of a single-root tree: shape (n+1,), entry 0 False.

    A word that reaches every other one belongs to the one strongly connected component from which all others are
    reached; if there is any, the word from which the last of successive searches started is one. So two sweeps suffice.
    """
    between = _between_words(allowed)
    seen = np.zeros(len(allowed), dtype=bool)
    seen[0] = True
    last = 0
    for word in range(1, len(allowed)):
        if not seen[word]:
            seen |= _reached(between, [word])
            last = word
    if not _reached(between, [last])[1:].all():
        return np.zeros(len(allowed), dtype=bool)
    return _reached(between.T, [last]) & allowed[0]


def _between_words(allowed: Bool) -> Bool:
    between = allowed.copy()
    between[0] = False
    return between


def _reached(allowed: Bool, start: Sequence[int]) -> Bool:
    reached = np.zeros(len(allowed), dtype=bool)
    reached[list(start)] = True
    while True:
        grown = reached | allowed[reached].any(axis=0)
        if (grown == reached).all():
            return reached
        reached = grown


def _check_reached(reached: Bool, start: str, kind: str) -> None:
    missing = np.flatnonzero(~reached[1:]) + 1
    if missing.size:
        remedy = "Allow more arcs" + (
            ", or drop the constraint with --multi-root" if kind == "single-root tree" else ""
        )
        raise DeptreeError(f"no {kind} is possible: {words(missing)} cannot be reached from {start}", remedy)


def words(numbers: NDArray[np.intp]) -> str:
    """``word 4``, ``words 4 and 7``, ``words 1, 2, 3 and 9 more``: for messages."""
    names = [str(number) for number in numbers]
    if len(names) == 1:
        return f"word {names[0]}"
    if len(names) > 6:
        return f"words {', '.join(names[:5])} and {len(names) - 5} more"
    return f"words {', '.join(names[:-1])} and {names[-1]}"
