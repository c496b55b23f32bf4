"""How many of a sentence's best trees are enough, and the sentences of a run whose trees are too few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deptree_cli.cli.folds import Fold
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.decoding import Ranked, covering, within
from deptree_cli.core.errors import counted

# So many sentences are named.
NAMED = 3


@dataclass(frozen=True)
class Enough:
    """Trees are enough that have a probability `mass` together, or else all within so many `nats` of the best one."""

    mass: float | None
    nats: float | None

    @property
    def option(self) -> str:
        """How it is asked for."""
        return f"--mass {self.mass:g}" if self.mass is not None else f"--within {self.nats:g}"

    def of_trees(self, distribution: ArcFactored, most: int) -> Ranked:
        """The trees that are enough, or the best `most` of them."""
        if self.mass is not None:
            return covering(distribution, self.mass, most)
        return within(distribution, self.nats or 0.0, most)


@dataclass
class NamedSentences:
    """Counts sentences, and names the first of them."""

    count: int = 0
    names: tuple[str, ...] = ()

    def add(self, sent_id: str) -> None:
        """Count one."""
        self.count += 1
        self.names = (*self.names, sent_id)[:NAMED]

    def __str__(self) -> str:
        return f"{counted(self.count, 'sentence')} ({', '.join(self.names)}{', ...' * (self.count > NAMED)})"


class Unfinished(Fold[str]):
    """Which sentences have more trees that are wanted than -k allows."""

    attribute = "unfinished"

    def __init__(self, enough: Enough, most: int) -> None:
        self._enough, self._most = enough, most
        self._sentences = NamedSentences()

    def add(self, counts: str) -> None:
        self._sentences.add(counts)

    def lines(self) -> Iterator[str]:
        if self._sentences.count:
            best = f"the best {counted(self._most, 'tree')}"
            yield f"{self._sentences}: {best} are not all that {self._enough.option} takes: raise -k"
