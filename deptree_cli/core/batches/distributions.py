"""The distributions of many sentences at once, for users: those of plain scores are worked out together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.batches.asking import kernels_for
from deptree_cli.core.batches.blocks import only_plain, starts_of
from deptree_cli.core.batches.tree_batch import TreeBatch
from deptree_cli.core.counts import how_many
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array, Float, Heads
from deptree_cli.core.errors import DeptreeError, counted, in_batch
from deptree_cli.core.spaces import Short, TreeSpace, tree_space
from deptree_cli.core.streams import SentenceStreams, seed_of
from deptree_cli.kernels.batches.layout import clear_no_arcs

Answer = TypeVar("Answer")


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
    """The part of a padded matrix that is a sentence's."""
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
        self._places, self._together = _laid_out(matrices, scale, space)
        self._alone: dict[int, TreeDistribution] = {}
        for place in sorted({*range(len(matrices))} - {*self._places}):
            with in_batch(str(place + 1)):  # also tells what is wrong with it
                self._alone[place] = TreeDistribution(matrices[place], scale, space, id=str(place + 1))

    @cached_property
    def _scores(self) -> dict[int, Float]:
        """The log-scores of those that are worked out together, by their places."""
        return dict(zip(self._places, self._together.matrices(self._together.log_scores), strict=True))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(len(self), 'sentence')}, {self.space.trees}>"

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        place = range(len(self))[place]
        if place not in self._alone:
            self._alone[place] = TreeDistribution(self._scores[place], "log", self.space, id=str(place + 1))
        return self._alone[place]

    def _answers(
        self, together: Callable[[TreeBatch], Iterable[Answer]], alone: Callable[[TreeDistribution], Answer]
    ) -> list[Answer]:
        """What they say together, and what each of the others says."""
        found: list[Any] = [None] * len(self)
        for place, answer in zip(self._places, together(self._together) if self._places else (), strict=True):
            found[place] = answer
        return [alone(self[place]) if each is None else each for place, each in enumerate(found)]

    @property
    def log_partition(self) -> Float:
        """log Z of each, (B,)."""
        return self._log_partition.copy()

    @cached_property
    def _log_partition(self) -> Float:
        return np.array(self._answers(TreeBatch.log_partitions, lambda trees: trees.log_partition))

    def marginals(self) -> list[Float]:
        """The probability of every arc of each, (n+1, n+1), ``[head, dependent]``."""
        return self._answers(lambda trees: trees.matrices(trees.marginals), TreeDistribution.marginals)

    def argmax(self) -> list[Heads]:
        """The most probable tree of each, (n,)."""
        return self._answers(lambda trees: (each[0] for each in trees.argmax()), TreeDistribution.argmax)

    def mbr(self) -> list[Heads]:
        """The tree with the highest expected attachment score of each, (n,)."""
        return self._answers(lambda trees: (each[0] for each in trees.mbr()), TreeDistribution.mbr)

    def sample(self, k: int, seed: int | None = None) -> list[Heads]:
        """Sample k independent trees of each, (k, n).

        Args:
            seed: the trees are those of `TreeDistribution(..., id="1").sample(k, seed)` for the first sentence, and so
                on; a fresh seed if None.
        """
        size, number = how_many(k), seed_of(seed)
        streams = SentenceStreams(number, [(str(place + 1), 0) for place in self._places])
        return self._answers(
            lambda trees: trees.sample(size, streams)[0], lambda trees: trees.sample(size, seed=number)
        )


def _laid_out(matrices: Sequence[Array], scale: str, space: TreeSpace) -> tuple[list[int], TreeBatch]:
    """The distributions that are worked out together, and their places: of plain scores over trees that have kernels.

    What others are is for `TreeDistribution` to say.
    """
    served = kernels_for(space) is not None and scale in ("log", "weight")
    places = [place for place, matrix in enumerate(matrices) if served and _is_square(matrix)]
    values = [matrices[place].ravel() for place in places]
    flat = np.concatenate(values, dtype=np.float64, casting="unsafe") if places else np.empty(0)
    sizes = np.array([len(matrices[place]) for place in places], dtype=np.int64)
    clear_no_arcs(flat, sizes, starts_of(sizes**2), 0.0 if scale == "weight" else -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_scores = np.log(flat, out=flat) if scale == "weight" else flat
    plain, log_scores = only_plain(log_scores, sizes - 1)
    chosen = list(compress(places, plain))
    return chosen, TreeBatch(log_scores, sizes[plain] - 1, space, side_by_side=False)


def _is_square(matrix: Array) -> bool:
    """Whether it is a square of numbers, with a word at least."""
    return matrix.ndim == 2 and 1 < matrix.shape[0] == matrix.shape[1] and matrix.dtype.kind in "iuf"
