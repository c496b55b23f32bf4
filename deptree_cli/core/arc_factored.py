"""Distributions over trees that are products of their arcs: what they are made of, and those given heads and labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli import kernels
from deptree_cli.core.counts import MOST
from deptree_cli.core.dtypes import Bool, Float, Heads, Integers, read_only
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.factorisation import Factorisation, shift
from deptree_cli.core.scores import (
    MOST_MASKED,
    checked_log_scores,
    checked_power,
    checked_temperature,
    may_be_masks,
    need_of_masks,
)
from deptree_cli.core.spaces import Short, TreeSpace, tree_space, with_roots
from deptree_cli.kernels.budget import foresee

if TYPE_CHECKING:
    from deptree_cli.core.conditioning import GivenHeads, GivenLabels
    from deptree_cli.core.labels import Labels


class Frozen:
    """An object of parts that are set once, by `_set`; what is worked out of them is kept as a `cached_property`.

    What was worked out goes neither into a copy with other parts nor into a pickle.

    Attributes:
        FIELDS: the names of the parts.
    """

    FIELDS: ClassVar[tuple[str, ...]]

    def _set(self, **parts: Any) -> None:
        frozen = {name: read_only(part) if isinstance(part, np.ndarray) else part for name, part in parts.items()}
        self.__dict__.update(frozen)

    @classmethod
    def _made_of(cls, parts: Mapping[str, Any]) -> Self:
        found = object.__new__(cls)
        found._set(**parts)
        return found

    def _with(self, **changed: Any) -> Self:
        return self._made_of(self._fields | changed)

    @property
    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.FIELDS}

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        return self._made_of, (self._fields,)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} never changes; its methods return new ones")


class OverTrees(Frozen, ABC):
    """A distribution over the trees of a space.

    Attributes:
        log_scores: of arcs, float64, (n+1, n+1), ``[head, dependent]``, read-only; ``-inf`` where an arc is forbidden.
        space: its tree space.
        id: the sentence's name.
        labels: the labels of arcs given the tree, if the scores tell.
    """

    log_scores: Float
    space: TreeSpace
    id: str
    labels: Labels | None

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.log_scores) - 1

    @property
    def single_root(self) -> bool:
        """Whether its trees have exactly one ROOT arc."""
        return self.space.single_root

    @property
    @abstractmethod
    def factorisation(self) -> Any:
        """What is behind the partition function and marginals: it has a `log_z`, and `marginals()`."""

    @property
    def log_partition(self) -> float:
        """The natural logarithm of the partition function, the sum of all trees' weights."""
        log_z: float = self.factorisation.log_z
        return log_z

    def marginals(self) -> Float:
        """The probability of every arc, (n+1, n+1), ``[head, dependent]``, read-only; the columns of words sum to 1.

        An arc that no tree contains has exactly 0, and so has one below the range of float64.
        """
        return self._marginals

    @cached_property
    def _marginals(self) -> Float:
        return read_only(self.factorisation.marginals())

    @abstractmethod
    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of trees of this space, (k, n) heads -> (k,); at most 0 in spite of rounding.

        It does not check that heads are trees; `log_probs` does.
        """

    def mbr(self) -> Heads:
        """The tree with the highest expected attachment score, (n,): minimum-Bayes-risk decoding."""
        return self.space.maximum_tree(np.where(np.isfinite(self.log_scores), self.marginals(), -np.inf))[0]

    def log_prob(self, heads: ArrayLike) -> float:
        """The log-probability of a tree, (n,) heads; -inf if it is not a tree of this space.

        Raises:
            DeptreeError: the array has another shape, or is not of integers.
        """
        return float(self.log_probs(cast(ArrayLike, [heads]))[0])

    def log_probs(self, trees: ArrayLike) -> Float:
        """The log-probabilities of k trees, (k, n) heads -> (k,). See `log_prob`."""
        rows = _checked(trees, self.n, self.id)
        found = np.full(len(rows), -np.inf)
        sound = self.space.contains(rows)
        found[sound] = self.tree_log_probs(rows[sound])
        return found

    def _conditioned(self, heads: GivenHeads | None, names: GivenLabels | None) -> tuple[Float, Labels | None]:
        """Log-scores (n+1, n+1) and labels, given heads and labels of some words: see `core/conditioning.py`."""
        from deptree_cli.core.conditioning import conditioned

        try:
            return conditioned(self.log_scores, self.labels, heads, names)
        except DeptreeError as error:
            raise error.at(sent_id=self.id) from None

    def _feasible(self, remedy: str = "") -> Self:
        """The distribution itself, if there is a tree; what to do if there is none may be something else than usual."""
        try:
            self._check_feasible()
        except DeptreeError as error:
            error.remedy = remedy or error.remedy
            raise error.at(sent_id=self.id) from None
        return self

    def _check_feasible(self) -> None:
        self.space.check_feasible(self._allowed)

    @cached_property
    def _allowed(self) -> Bool:
        return read_only(np.isfinite(self.log_scores))


def _checked(trees: ArrayLike, n: int, id: str) -> Integers:
    """Trees over n words, (k, n) heads, as an array; whether they are trees is another question."""
    try:
        rows = np.asarray(trees)
    except ValueError:
        problem = f"heads of differing lengths are given for a sentence of {counted(n, 'word')}"
        raise DeptreeError(problem, "Give one integer per word", sent_id=id) from None
    if rows.ndim != 2 or rows.shape[1] != n or rows.dtype.kind not in "iu":
        what = f"heads of shape {rows.shape[1:] if len(rows) == 1 else rows.shape} and type {rows.dtype}"
        problem = f"{what} are given for a sentence of {counted(n, 'word')}"
        raise DeptreeError(problem, "Give one integer per word and tree, 0 for ROOT", sent_id=id)
    return rows


# Memory for this many trees is not worth counting them.
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
                from deptree_cli.core.labels import joint

                log_scores, labelling = joint(labels, log_scores, id)
            trees = tree_space(space, **short)
        except DeptreeError as error:
            raise error.at(sent_id=id) from None
        self._set(log_scores=log_scores, space=trees, id=id, labels=labelling)
        self._feasible().without_need_of_masks(temperature)

    def __repr__(self) -> str:
        arcs = int(self._allowed.sum())
        labels = f", {counted(len(self.labels.names), 'label')}" if self.labels else ""
        size = f"{counted(self.n, 'word')}, {counted(arcs, 'arc')}"
        return f"<{type(self).__name__} {self.id!r}: {size}, {self.space.trees}{labels}>"

    @cached_property
    def support(self) -> Bool:
        """The arcs that some tree contains, (n+1, n+1), read-only: exact, however improbable they are."""
        return read_only(self.space.support(self._allowed))

    @cached_property
    def possible_scores(self) -> Float:
        """The log-scores, (n+1, n+1), read-only, with ``-inf`` also for allowed arcs that no tree contains."""
        if self.support is self._allowed:
            return self.log_scores
        return read_only(np.where(self.support, self.log_scores, -np.inf))

    def without_need_of_masks(self, temperature: float = 1.0) -> Self:
        """Return the distribution, at this temperature, after a check that some tree needs no mask.

        Raises:
            DeptreeError: every tree needs one; see `core/scores.py`.
        """
        most = MOST_MASKED / temperature
        if may_be_masks(self.log_scores, self._allowed, self.n, most):
            log_weights = shift(self.possible_scores, self.space).log_weights
            heads, total = self.space.maximum_tree(log_weights)
            if total < -most:
                raise need_of_masks(log_weights[heads, np.arange(1, self.n + 1)], most).at(sent_id=self.id)
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
        self, names: Sequence[str], scores: ArrayLike, scale: str = "log", *, temperature: float = 1.0
    ) -> Self:
        """The same distribution over trees, with scores of labels for its arcs.

        Args:
            names: of L labels.
            scores: (n+1, n+1, L), ``[head, dependent, label]``; given an arc, its labels are probable in proportion to
                their weights. Scale and the rest as for arcs.

        Raises:
            DeptreeError: the scores of labels are invalid, or an arc has no possible label.
        """
        from deptree_cli.core.labels import conditional

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
        log_scores, labels = self.log_scores, self.labels
        if labels is None:  # L = 1
            log_scores = np.where(forbidden[..., 0], -np.inf, log_scores)
        else:
            foresee(forbidden.size)
            known = labels.log_probs, forbidden
            weights, left = np.empty_like(labels.log_probs), np.empty_like(labels.log_probs)
            highest, some = np.empty_like(log_scores), np.empty(log_scores.shape, dtype=np.bool_)
            kernels.trees.fill_beyond(*known, highest, weights, some)
            np.exp(weights, out=weights)  # however improbable the labels are that are left
            kernels.trees.drop(*known, weights)
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = np.where(some, highest + np.log(weights.sum(axis=-1)), 0.0)
                best = highest - shares  # in the order of what it is taken from
            kernels.trees.fill_left(*known, shares, left)
            log_scores = np.where(log_scores > -np.inf, log_scores + shares, -np.inf)
            labels = labels.with_log_probs(left, best)
        found = self._with(log_scores=log_scores, labels=labels)
        return found._feasible("Give up a rule, or allow more arcs")

    def with_best_labels(self) -> Self:
        """The distribution of arcs with their most probable label alone; its best tree is the best labelled tree.

        Without labels, the distribution itself."""
        if self.labels is None:
            return self
        best = np.where(np.isfinite(self.log_scores), self.labels.best_log_probs, 0.0)
        return self._with(log_scores=self.log_scores + best)

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

        Its log-scores are shifted (`core/factorisation.py`), because the power of an offset would lose digits.

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
