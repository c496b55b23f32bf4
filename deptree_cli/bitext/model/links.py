"""Links between source and target words, and how those that were found agree with gold ones (Och and Ney 2003)."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.errors import DeptreeError

# (source word, target word), both from 0.
Link = tuple[int, int]
Links = frozenset[Link]


def links_of(targets: ArrayLike) -> Links:
    """Return the links of an alignment, (p,): the target word of every source word, -1 for none."""
    found = np.asarray(targets)
    linked = np.flatnonzero(found >= 0)
    return frozenset(zip(linked.tolist(), found[linked].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class KnownLinks:
    """The links of a sentence pair as annotators made them.

    Attributes:
        sure: those that must be found.
        possible: those that may be found, all sure ones among them.
    """

    sure: Links
    possible: Links

    def check_within(self, p: int, q: int) -> None:
        """Raise where a link is of a word that a pair of p source words and q target words does not have.

        Raises:
            DeptreeError: names the first such link.
        """
        beyond = min((link for link in self.possible if link[0] >= p or link[1] >= q), default=None)
        if beyond is not None:
            problem = f"the link {beyond[0]}-{beyond[1]} is outside the {p} source and {q} target words"
            raise DeptreeError(problem, "Check that both files hold the same sentence pairs; words are counted from 0")


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Counts over sentence pairs; they can be added.

    Attributes:
        pairs: how many pairs were counted.
        found: how many links were found.
        sure: how many links are sure.
        found_sure: how many of those found are sure.
        found_possible: how many of them are possible, sure ones among them.
    """

    pairs: int = 0
    found: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    @classmethod
    def of(cls, found: Links, known: KnownLinks) -> LinkCounts:
        """Return the counts of one pair."""
        return cls(1, len(found), len(known.sure), len(found & known.sure), len(found & known.possible))

    def __add__(self, other: LinkCounts) -> LinkCounts:
        return LinkCounts(*map(add, astuple(self), astuple(other)))

    @property
    def precision(self) -> float | None:
        """The share of found links that are possible, |A & P| / |A|; None where nothing was found."""
        return self.found_possible / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """The share of sure links that were found, |A & S| / |S|; None where nothing is sure."""
        return self.found_sure / self.sure if self.sure else None

    @property
    def alignment_error_rate(self) -> float | None:
        """1 - (|A & S| + |A & P|) / (|A| + |S|); None where nothing was found and nothing is sure."""
        links = self.found + self.sure
        return 1 - (self.found_sure + self.found_possible) / links if links else None

    def summary(self) -> dict[str, Any]:
        """Return the numbers of pairs and links, and the three rates by name."""
        counts = {"pairs": self.pairs, "links": self.found, "sure": self.sure}
        rates = {"precision": self.precision, "recall": self.recall}
        return counts | rates | {"alignment_error_rate": self.alignment_error_rate}


def alignment_error_rate(found: Links, known: KnownLinks) -> float | None:
    """Return the alignment error rate of one pair, 0 at best and 1 at worst; None where there are no links at all."""
    return LinkCounts.of(found, known).alignment_error_rate
