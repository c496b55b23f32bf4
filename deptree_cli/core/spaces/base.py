"""What a tree space answers: the questions that samplers, sums, decoding and audits ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np

from deptree_cli.core import errors as settings
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.core.spaces.rules import Arc, Rules, crossing_pairs

# The kinds of trees that `single_root` and `projective` are enough to name.
ALL, WITHOUT_CROSSING = "", "projective"


@dataclass(frozen=True)
class TreeSpace(Rules, ABC):
    """A set of trees over the words of a sentence: an entry of `SPACES`.

    Attributes:
        name: in registers, and as users call it.
        trees: what its trees are called in messages.
        single_root, projective: see `Rules`.
    """

    name: str
    trees: str

    @property
    def kind(self) -> str:
        """What signatures call its trees beside how many roots they have; nothing where they are all trees."""
        return self.name

    @property
    def has_short_name(self) -> bool:
        """Whether `single_root` and `projective` are enough to name it."""
        return self.kind in (ALL, WITHOUT_CROSSING)

    @abstractmethod
    def check_feasible(self, allowed: Bool) -> None:
        """Raise a DeptreeError unless some tree uses allowed arcs only; allowed: (n+1, n+1), ``[head, dependent]``."""

    @abstractmethod
    def support(self, allowed: Bool) -> Bool:
        """Which arcs some tree of allowed arcs contains, (n+1, n+1); there is a tree. Exact: no weights are used."""

    @abstractmethod
    def factorise(self, log_scores: Float) -> Factorisation:
        """Work out what every sum needs, from checked log-scores (n+1, n+1)."""

    @abstractmethod
    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """The tree of the largest sum of scores (n+1, n+1), (n,), and that sum; -inf forbids."""

    @abstractmethod
    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """All trees by sums of scores (n+1, n+1), the best first, (n,) each, found as they are asked for."""

    def best_trees(self, scores: Float, size: int) -> Heads:
        """The `size` trees of the largest sums of scores (n+1, n+1), best first, (k, n), k <= size; -inf forbids."""
        return np.array(list(islice(self.trees_in_order(scores), size)), dtype=np.int32).reshape(-1, len(scores) - 1)

    def is_feasible(self, allowed: Bool) -> bool:
        """Whether some tree uses allowed arcs only. See `check_feasible`."""
        try:
            self.check_feasible(allowed)
        except DeptreeError:
            return False
        return True

    def goes_beyond(self, other: TreeSpace, allowed: Bool) -> bool:
        """Whether some tree of allowed arcs is none of the other space's; there is a tree. Exact, as `support` is.

        A tree with an arc that the other space has not, or with two that it does not have together.
        """
        if other == self:
            return False
        arcs = self.support(allowed)
        if not other.allows(*np.nonzero(arcs)).all():
            return True
        below_root = [(0, word) for word in np.flatnonzero(arcs[0]).tolist()]
        pairs = chain(
            combinations(below_root, 2) if other.single_root and not self.single_root else (),
            crossing_pairs(arcs) if other.projective and not self.projective else (),
        )
        return any(self.is_feasible(with_heads(arcs, pair)) for pair in pairs)

    def change_to(self, other: TreeSpace) -> dict[str, Setting]:
        """What to do about which arguments of a distribution for the trees of another space."""
        if not (self.has_short_name and other.has_short_name):
            named = Setting("space", other.name)
            return {f"pass {named}": named}
        changes = (
            (settings.SEVERAL_ROOTS, not self.single_root, not other.single_root),
            (settings.PROJECTIVE, self.projective, other.projective),
        )
        return {f"{'add' if there else 'leave out'} {each}": each for each, here, there in changes if here != there}


def with_heads(allowed: Bool, arcs: Iterable[Arc]) -> Bool:
    """The arcs (n+1, n+1) without the other heads of some arcs' dependents."""
    given = allowed.copy()
    for head, word in arcs:
        given[:, word] = False
        given[head, word] = allowed[head, word]
    return given
