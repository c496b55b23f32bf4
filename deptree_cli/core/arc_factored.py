"""Checked log-scores of a sentence's arcs in a tree space, and what follows from them, each worked out once.

Validation happens here, once; samplers, sums and audits trust what they are handed. The object that users hold
(`distribution.py`) adds the verbs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.conditioning import GivenHeads, GivenLabels, with_best_labels, without_forbidden
from deptree_cli.core.counts import MOST
from deptree_cli.core.dtypes import Bool, Float, Integers, read_only
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.labels import conditional, joint
from deptree_cli.core.masks import MOST as MOST_MASKED
from deptree_cli.core.masks import check_masks
from deptree_cli.core.over_trees import OverTrees
from deptree_cli.core.scores import checked_log_scores, checked_power, checked_temperature
from deptree_cli.core.spaces import Factorisation, Short, TreeSpace, tree_space, with_roots

# Memory for so many trees is not worth counting them.
FEW = 10_000


class ArcFactored(OverTrees):
    """What a `TreeDistribution` is made of, and what follows from that: see there for the arguments."""

    FIELDS = ("log_scores", "space", "id", "labels")

    def __init__(
        self,
        scores: ArrayLike,
        scale: str = "log",
        space: TreeSpace | str | None = None,
        labels: Sequence[str] | None = None,
        id: str = "1",
        *,
        temperature: float = 1.0,
        **short: Unpack[Short],
    ) -> None:
        try:
            size = None if labels is None else len(labels)
            log_scores = checked_log_scores(scores, scale, temperature, size)
            labelling = None
            if labels is not None:
                log_scores, labelling = joint(labels, log_scores, id)
            trees = tree_space(space, **short)
        except DeptreeError as error:
            raise error.at(sent_id=id) from None
        self._set(log_scores=log_scores, space=trees, id=id, labels=labelling)
        self._feasible().without_need_of_masks(temperature)

    def __repr__(self) -> str:
        arcs = int(np.isfinite(self.log_scores).sum())
        labels = f", {counted(len(self.labels.names), 'label')}" if self.labels else ""
        size = f"{counted(self.n, 'word')}, {counted(arcs, 'arc')}"
        return f"<{type(self).__name__} {self.id!r}: {size}, {self.space.trees}{labels}>"

    @cached_property
    def support(self) -> Bool:
        """The arcs that some tree contains, (n+1, n+1), read-only: exact, however improbable they are."""
        return read_only(self.space.support(np.isfinite(self.log_scores)))

    @cached_property
    def possible_scores(self) -> Float:
        """The log-scores, (n+1, n+1), read-only, with ``-inf`` also for allowed arcs that no tree contains."""
        possible = np.isfinite(self.log_scores)
        if (self.support == possible).all():
            return self.log_scores
        return read_only(np.where(self.support, self.log_scores, -np.inf))

    def without_need_of_masks(self, temperature: float = 1.0) -> Self:
        """Return the distribution, at this temperature, after a check that some tree needs no mask.

        Raises:
            DeptreeError: every tree needs one; see `core/masks.py`.
        """
        try:
            check_masks(self.log_scores, self.space, MOST_MASKED / temperature)
        except DeptreeError as error:
            raise error.at(sent_id=self.id) from None
        return self

    @cached_property
    def factorisation(self) -> Factorisation:
        """The factorisation behind the partition function, marginals and exact samples. O(n^3)."""
        return self.space.factorise(self.possible_scores)

    @cached_property
    def root_marginals(self) -> Float:
        """The probability of each arc from ROOT, (n+1,), entry 0 is 0; faster than `marginals` if single-root."""
        return read_only(self.factorisation.root_marginals() if self.single_root else self._marginals[0])

    @cached_property
    def log_count(self) -> float:
        """The natural logarithm of the number of trees of positive weight."""
        return self.space.factorise(np.where(self.support, 0.0, -np.inf)).log_z

    def room_for(self, size: int) -> int:
        """The number of trees to allocate memory for: `size`, or the number of all trees plus 1 if that is less."""
        if size <= FEW or self.log_count > np.log(MOST):
            return min(size, MOST)
        return min(size, int(np.exp(self.log_count) * (1.0 + 1e-9)) + 1)

    def tree_log_probs(self, trees: Integers) -> Float:
        return np.minimum(self.factorisation.tree_log_probs(trees), 0.0)

    def log_weights(self, heads: Integers) -> Float:
        """Log-weights, (k, n) heads -> (k,): the sum of the arcs' log-scores."""
        return self.log_scores[heads, np.arange(1, self.n + 1)].sum(axis=-1)

    def labelled(
        self,
        names: Sequence[str],
        scores: ArrayLike,
        scale: str = "log",
        *,
        temperature: float = 1.0,
    ) -> Self:
        """The same distribution over trees, with scores of labels for its arcs.

        Args:
            names: of L labels.
            scores: (n+1, n+1, L), ``[head, dependent, label]``; given an arc, its labels are probable in proportion to
                their weights. Scale and the rest as for arcs.

        Raises:
            DeptreeError: the scores of labels are invalid, or an arc has no possible label.
        """
        try:
            log_scores = checked_log_scores(scores, scale, temperature, len(names))
            if len(log_scores) != self.n + 1:
                problem = (
                    f"the scores of labels are of {counted(len(log_scores) - 1, 'word')}, those of arcs of {self.n}"
                )
                raise DeptreeError(problem, "Check that both are of the same sentence")
            labels = conditional(names, log_scores, np.isfinite(self.log_scores), self.id)
        except DeptreeError as error:
            error.problem = f"labels: {error.problem}"
            raise error.at(sent_id=self.id) from None
        return self._with(labels=labels)

    def given(self, heads: GivenHeads | None = None, labels: GivenLabels | None = None) -> Self:
        """The distribution given the heads and labels of some words: n of each, None for words that may have any.

        Args:
            labels: names. A word keeps one that the scores do not know; `root` stands on arcs from ROOT, others between
                words.

        Raises:
            DeptreeError: they are not n nodes or n names, or no tree of positive weight has them.
        """
        log_scores, left = self._conditioned(heads, labels)
        fixed = "DEPRELs" if heads is None or all(head is None for head in heads) else "HEADs"
        found = self._with(log_scores=log_scores, labels=left)
        return found._feasible(f"Put _ for some of the fixed {fixed}").without_need_of_masks()

    def without_forbidden(self, forbidden: Bool) -> Self:
        """The distribution given that no word has a forbidden arc with a forbidden label, (n+1, n+1, L).

        Raises:
            DeptreeError: every tree of positive weight has one.
        """
        log_scores, labels = without_forbidden(self.log_scores, self.labels, forbidden)
        found = self._with(log_scores=log_scores, labels=labels)
        return found._feasible("Give up a rule, or allow more arcs")

    def with_best_labels(self) -> Self:
        """The distribution of arcs with their most probable label alone; its best tree is the best labelled tree.

        Without labels, the distribution itself."""
        if self.labels is None:
            return self
        return self._with(log_scores=with_best_labels(self.log_scores, self.labels))

    def without(self, head: int, word: int) -> Self:
        """The distribution given that a word does not have this head.

        Raises:
            DeptreeError: every tree of positive weight has that arc.
        """
        log_scores = self.log_scores.copy()
        log_scores[head, word] = -np.inf
        return self._with(log_scores=log_scores)._feasible("Allow more arcs")

    def tempered(self, temperature: float, label_temperature: float = 1.0) -> Self:
        """The distribution with log-scores divided by a temperature; 1 changes nothing.

        Args:
            label_temperature: the temperature of labels given the arc.

        Raises:
            DeptreeError: one is not a positive number, or takes scores out of range.
        """
        log_scores, labels = checked_temperature(self.log_scores, temperature), self.labels
        if labels is not None and label_temperature != 1.0:
            labels = labels.tempered(label_temperature)
        return self._with(log_scores=log_scores, labels=labels)

    def raised_to(self, exponent: float) -> Self:
        """The distribution with weights raised to a positive power; forbidden arcs stay forbidden.

        Its log-scores are shifted (`core/spaces/shifted.py`), because the power of an offset would lose digits.

        Raises:
            DeptreeError: it is not a positive number, or takes scores out of range.
        """
        kept = self.__dict__.get("_power")  # the last one: an entropy and its gradient need the same
        if kept is None or kept[0] != exponent:
            scores = checked_power(self.factorisation.shifted.log_weights, exponent)
            kept = self.__dict__["_power"] = exponent, self._with(log_scores=scores)  # both at once: threads share them
        return kept[1]

    def multi_root(self) -> Self:
        """The distribution over the same trees with one or more ROOT arcs; itself if it is multi-root."""
        return self.over(with_roots(self.space, single_root=False))

    def over(self, trees: TreeSpace) -> Self:
        """The distribution with the same arc scores over another tree space; itself if the space is the same.

        Raises:
            DeptreeError: no tree of that space has a positive weight.
        """
        return self if trees == self.space else self._with(space=trees)._feasible()

    def joint_log_scores(self) -> Float:
        """Log-scores of arcs with their labels, (n+1, n+1, L), or of arcs, (n+1, n+1), if there are no labels."""
        if self.labels is None:
            return self.log_scores
        possible = np.isfinite(self.log_scores)[..., None]
        with np.errstate(invalid="ignore"):
            return np.where(possible, self.log_scores[..., None] + self.labels.log_probs, -np.inf)
