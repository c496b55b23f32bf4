"""Distributions of many sentences at once, for users: those of plain scores are computed together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import compress
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.blocks import (
    laid_out,
    of_sentence,
    only_plain,
    starts_of,
)
from deptree_cli.core.counts import how_many
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array, Float, Heads
from deptree_cli.core.errors import DeptreeError, counted, located
from deptree_cli.core.spaces import Short, TreeSpace, tree_space
from deptree_cli.core.streams import SentenceStreams, seed_of
from deptree_cli.core.tree_batch import TreeBatch as TreeBatch
from deptree_cli.kernels.packed import clear_no_arcs


def batch(
    scores: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    scale: str = "log",
    space: TreeSpace | str | None = None,
    **short: Unpack[Short],
) -> TreeDistributions:
    """Return the distributions of many sentences, computed together: the results of `TreeDistribution` to the last bit.

    Args:
        scores: (B, N, N), ``[sentence, head, dependent]``, padded; or B matrices (n+1, n+1) of any sizes.
        lengths: (B,), the number of words of each sentence; by default all nodes of its matrix but ROOT.
        scale, space, single_root, projective: as for `TreeDistribution`.

    Returns:
        a sequence of `TreeDistribution`s, their ids 1, 2, ..., with methods for all sentences at once.

    Raises:
        DeptreeError: a sentence, named by its id, has no distribution; or lengths do not fit.
    """
    matrices = [np.asarray(each) for each in scores]  # type: ignore[union-attr]
    if lengths is not None:
        sizes = np.asarray(lengths).tolist()
        if len(sizes) != len(matrices):
            problem = f"there are {len(matrices)} matrices of scores and {len(sizes)} lengths"
            raise DeptreeError(problem, "Give a length for each")
        matrices = [_cut(each, n, place) for place, (each, n) in enumerate(zip(matrices, sizes, strict=True), 1)]
    return TreeDistributions(matrices, scale, tree_space(space, **short))


def _cut(matrix: Array, n: Any, place: int) -> Array:
    if type(n) is not int or not 0 < n < len(matrix):
        problem = f"its length is {n}, its matrix has room for {counted(len(matrix) - 1, 'word')}"
        raise DeptreeError(problem, "Give the number of its words, without ROOT", sent_id=str(place))
    return matrix[: n + 1, : n + 1]


class TreeDistributions(Sequence[TreeDistribution]):
    """A sequence of `TreeDistribution`s that are computed together; results are in order.

    Args:
        matrices: the scores of each.
        scale, space: as in `TreeDistribution`.
    """

    def __init__(self, matrices: Sequence[Array], scale: str, space: TreeSpace) -> None:
        self.space, self._size = space, len(matrices)
        plain = [place for place, each in enumerate(matrices) if scale in ("log", "weight") and _is_square(each)]
        flat = np.concatenate(
            [np.empty(0), *(matrices[place].ravel() for place in plain)], dtype=np.float64, casting="unsafe"
        )
        sizes = np.array([len(matrices[place]) for place in plain], dtype=np.int64)
        clear_no_arcs(flat, sizes, starts_of(sizes**2), 0.0 if scale == "weight" else -np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_scores = np.log(flat, out=flat) if scale == "weight" else flat
        are_plain, log_scores = only_plain(log_scores, sizes - 1)
        sizes, together = sizes[are_plain], set(compress(plain, are_plain))
        self._alone: dict[int, TreeDistribution] = {}
        for place in range(len(matrices)):  # the others by themselves: what is wrong is told, and impossible arcs go
            if place not in together:
                with located(sent_id=str(place + 1)):
                    self._alone[place] = TreeDistribution(matrices[place], scale, space, id=str(place + 1))
        if self._alone:
            left = map(partial(of_sentence, laid_out(log_scores, sizes - 1)), range(len(sizes)))
            own = {place: one.possible_scores for place, one in self._alone.items()}
            each = [own[place] if place in own else next(left) for place in range(len(matrices))]
            log_scores, sizes = np.concatenate([one.ravel() for one in each]), np.array([len(one) for one in each])
        self._batch = TreeBatch(log_scores, sizes - 1, space, side_by_side=False)
        self._batch._distributions.update(self._alone)
        self._apart = list(self._alone)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(len(self), 'sentence')}, {self.space.trees}>"

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        place = range(len(self))[place]
        if place not in self._alone:
            scores = self._batch.own(self._batch.scores, place)
            self._alone[place] = TreeDistribution(scores, "log", self.space, id=str(place + 1))
        return self._alone[place]

    @property
    def log_partition(self) -> Float:
        """log Z of each, (B,)."""
        return self._log_partition.copy()

    @cached_property
    def _log_partition(self) -> Float:
        return self._batch.log_partitions()

    def marginals(self) -> list[Float]:
        """The probability of every arc of each, (n+1, n+1), ``[head, dependent]``."""
        return self._batch.matrices(self._batch.marginals)

    def argmax(self) -> list[Heads]:
        """The most probable tree of each, (n,)."""
        found = [trees[0] for trees in self._batch.argmax()]
        for place in self._apart:
            found[place] = self[place].argmax()
        return found

    def mbr(self) -> list[Heads]:
        """The tree with the highest expected attachment score of each, (n,)."""
        return [trees[0] for trees in self._batch.mbr()]

    def sample(self, k: int, seed: int | None = None) -> list[Heads]:
        """Sample k independent trees of each, (k, n).

        Args:
            seed: the trees are those of `TreeDistribution(..., id="1").sample(k, seed)` for the first sentence, and so
                on; a fresh seed if None.
        """
        streams = SentenceStreams(seed_of(seed), [(str(place + 1), 0) for place in range(len(self))])
        return list(self._batch.sample(how_many(k), streams)[0])


def _is_square(matrix: Array) -> bool:
    return matrix.ndim == 2 and 1 < matrix.shape[0] == matrix.shape[1] and matrix.dtype.kind in "iuf"
