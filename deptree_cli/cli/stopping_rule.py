"""How many of a sentence's best trees are written, and the sentences of a run whose trees are too few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.options import size_option
from deptree_cli.cli.params import FloatRange
from deptree_cli.cli.sections import Decorator, bound, option
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.decoding import MOST_RANKED, best_trees, covering, within
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import counted

# So many sentences are named.
NAMED = 3


@dataclass(frozen=True)
class StoppingRule:
    """How many of the best trees are written.

    Attributes:
        size: at most so many; None: the best one.
        mass: as many as have this probability together.
        nats: all within so many nats of the best one.
    """

    size: int | None = None
    mass: float | None = None
    nats: float | None = None

    @property
    def option(self) -> str:
        """The option that says when there are enough; empty if `size` alone does."""
        if self.mass is not None:
            return f"--mass {self.mass:g}"
        return f"--within {self.nats:g}" if self.nats is not None else ""

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        return {"size": self.size, "mass": self.mass, "within": self.nats}

    def trees_of(self, distribution: ArcFactored) -> tuple[Heads, bool | None]:
        """The best trees, (k, n), and whether these are enough; None if nothing but `size` decides."""
        size = self.size or 1
        if not self.option:
            return best_trees(distribution, size), None
        ranked = (
            within(distribution, self.nats or 0.0, size)
            if self.mass is None
            else covering(distribution, self.mass, size)
        )
        return ranked.heads, ranked.complete


def _rule(*, size: int | None, mass: float | None, within: float | None) -> StoppingRule:
    if mass is not None and within is not None:
        raise click.UsageError("--mass and --within are two ways to choose trees. Remove one.")
    return StoppingRule(size if (mass, within) == (None, None) else size or MOST_RANKED, mass, within)


_OPTIONS = [
    size_option(None, "The N best trees.", f"1; {MOST_RANKED:,} with --mass"),
    option(
        "--mass",
        type=FloatRange(0, 1, min_open=True),
        metavar="P",
        help="The fewest trees with a probability of P together; labels are found afterwards.",
    ),
    option(
        "--within",
        type=FloatRange(0),
        metavar="NATS",
        often=False,
        help="Write all trees at most NATS below the best in log-probability, up to -k.",
    ),
]

# Gives a command -k, --mass and --within, as one `rule: StoppingRule`.
stopping_options: Decorator[Any] = bound("rule", _OPTIONS, _rule)


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


class TruncatedLists(Fold[str]):
    """Which sentences have more trees that are wanted than -k allows."""

    attribute = "truncated"

    def __init__(self, rule: StoppingRule) -> None:
        self._rule = rule
        self._sentences = NamedSentences()

    def add(self, counts: str) -> None:
        self._sentences.add(counts)

    def lines(self) -> Iterator[str]:
        if self._sentences.count:
            best = f"the best {counted(self._rule.size or 1, 'tree')}"
            yield f"{self._sentences}: {best} are not all that {self._rule.option} takes: raise -k"
