"""The distributions of many sentences at once, for users: what the ragged core serves is worked out together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.batches.ragged import TreeBatch, starts_of
from deptree_cli.core.counts import how_many
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array, Float, Heads, read_only
from deptree_cli.core.errors import DeptreeError, counted, in_batch
from deptree_cli.core.samplers.costs import FEW
from deptree_cli.core.spaces import Short, TreeSpace, tree_space
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.streams import kernel_states, seed_of
from deptree_cli.kernels.batches.layout import clear_no_arcs

Answer = TypeVar("Answer")


def batch(
    scores: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    scale: str = "log",
    space: TreeSpace | str | None = None,
    **short: Unpack[Short],
) -> TreeDistributions:
    """The distributions of many sentences: the results of `TreeDistribution` to the last bit, several times as fast.

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
        served = isinstance(space, NonProjective) and scale in ("log", "weight")
        self._places = [place for place, matrix in enumerate(matrices) if served and _is_plain(matrix)]
        self._together = _laid_out([matrices[place] for place in self._places], scale, space) if self._places else None
        sound = set(compress(self._places, self._together.sound)) if self._together else set()
        self._alone: dict[int, TreeDistribution] = {}
        for place in (each for each in range(len(matrices)) if each not in sound):
            with in_batch(str(place + 1)):  # also tells what is wrong with it
                self._alone[place] = TreeDistribution(matrices[place], scale, space, id=str(place + 1))

    @cached_property
    def _scores(self) -> dict[int, Float]:
        """The log-scores of those that the ragged core serves, by their places."""
        matrices = self._together.matrices(self._together.log_scores) if self._together else []
        return dict(zip(self._places, matrices, strict=True))

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
        """What all say at once, and in the place of what is not sound what its own distribution says."""
        found: list[Any] = [None] * len(self)
        if self._together is not None:
            answers = list(together(self._together))
            for place, answer, sound in zip(self._places, answers, self._together.sound.tolist(), strict=True):
                found[place] = answer if sound else None
        return [alone(self[place]) if each is None else each for place, each in enumerate(found)]

    @property
    def log_partition(self) -> Float:
        """log Z of each, (B,)."""
        return np.array(
            self._answers(lambda trees: trees.log_partitions.sum(axis=1).tolist(), lambda trees: trees.log_partition)
        )

    def marginals(self) -> list[Float]:
        """P(head -> dependent) of each, (n+1, n+1)."""
        return self._answers(lambda trees: trees.matrices(read_only(trees.marginals)), TreeDistribution.marginals)

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
        if not 0 < size <= FEW:
            return [each.sample(size, seed=number) for each in self]
        names = [(str(place + 1), 0) for place in self._places]

        def together(trees: TreeBatch) -> Iterable[Heads]:
            return trees.sample(size, kernel_states(number, names))

        return self._answers(together, lambda trees: trees.sample(size, seed=number))


def _is_plain(matrix: Array) -> bool:
    """Whether it is a square of numbers, with a word at least."""
    return matrix.ndim == 2 and 1 < matrix.shape[0] == matrix.shape[1] and matrix.dtype.kind in "iuf"


def _laid_out(matrices: Sequence[Array], scale: str, space: TreeSpace) -> TreeBatch:
    """Their distributions by the ragged core; `sound` says of which it can have some."""
    values = np.concatenate([each.ravel() for each in matrices], dtype=np.float64, casting="unsafe")
    sizes = np.array([len(each) for each in matrices])
    clear_no_arcs(values, sizes, starts_of(sizes**2), 0.0 if scale == "weight" else -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_scores = np.log(values, out=values) if scale == "weight" else values
    return TreeBatch.of(log_scores, sizes - 1, space.single_root)
