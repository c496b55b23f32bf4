"""A sentence: the checked log-scores of every arc, the only thing that samplers, sums and audits take.

Validation happens here, once; everything below trusts a `Sentence`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.feasibility import check_feasible
from deptree_cli.core.labels import Labels, conditional, joint
from deptree_cli.core.scores import checked_log_scores

if TYPE_CHECKING:
    from deptree_cli.core.elimination import Elimination

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sentence:
    """One sentence's distribution over dependency trees.

    Attributes:
        log_scores: float64, shape (n+1, n+1), ``[head, dependent]``, node 0 is ROOT; natural logarithms of arc weights;
            ``-inf`` forbids an arc; column 0 and the diagonal are ``-inf``.
        id: the sentence's name in messages and outputs, and what its random stream hangs on.
        single_root: True for dependency trees (exactly one ROOT arc), False for spanning trees (one or more).
        labels: the labels of arcs given the tree, if the scores tell.
    """

    log_scores: Float
    id: str = "1"
    single_root: bool = True
    labels: Labels | None = None

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
        labels: Sequence[str] | None = None,
    ) -> Sentence:
        """Check an array of arc scores and make a `Sentence` of it.

        Args:
            scores: shape (n+1, n+1), ``[head, dependent]``; column 0 and the diagonal are ignored. With labels
                (n+1, n+1, L), scores of arcs with each label; an arc's weight is then the sum over the labels that it
                may have (`core/labels.py`).
            scale: ``weight`` (non-negative, 0 forbids) or ``log`` (natural logarithms, ``-inf`` forbids; -1e15 and
                below is read as a mask and forbids too).
            temperature: divides the log-scores.
            nan_forbids: read NaN as a forbidden arc instead of refusing it.
            labels: the L names of labels.

        Raises:
            DeptreeError: says what is wrong with the scores and what to do.
        """
        try:
            size = None if labels is None else len(labels)
            log_scores = checked_log_scores(scores, scale, temperature, nan_forbids, size)
            labelling = None
            if labels is not None:
                log_scores, labelling = joint(labels, log_scores)
            check_feasible(np.isfinite(log_scores), single_root)
        except DeptreeError as error:
            raise error.at(sent_id=id) from None
        return cls(log_scores, id, single_root, labelling)

    def with_labels(
        self,
        names: Sequence[str],
        scores: ArrayLike,
        *,
        scale: str = "log",
        temperature: float = 1.0,
        nan_forbids: bool = False,
    ) -> Sentence:
        """The same trees, their arcs labelled by scores of their own.

        Args:
            names: of L labels.
            scores: (n+1, n+1, L), ``[head, dependent, label]``; given an arc, its labels are as probable as their
                weights say; otherwise as for `from_scores`.

        Raises:
            DeptreeError: something is wrong with the scores of labels, or an arc has none.
        """
        try:
            log_scores = checked_log_scores(scores, scale, temperature, nan_forbids, len(names))
            if len(log_scores) != self.n + 1:
                problem = f"the scores of labels are of {len(log_scores) - 1} words, those of arcs of {self.n}"
                raise DeptreeError(problem, "Check that both are of the same sentence")
            labels = conditional(names, log_scores, np.isfinite(self.log_scores))
        except DeptreeError as error:
            error.problem = f"labels: {error.problem}"
            raise error.at(sent_id=self.id) from None
        return replace(self, labels=labels)

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
        return replace(self, log_scores=log_scores)

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
