"""Of ranked things some that differ: greedily, by bags of what is in them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from deptree_cli.core.dtypes import Float, Int


def differing(bags: Sequence[Mapping[Hashable, int]], size: int) -> list[int]:
    """Choose up to `size` of N ranked bags, the first one first; their places in the order in which they are chosen.

    Each next one has the greatest (1 - place / N) (1 - similarity), where places count from 0 and similarity is the
    greatest cosine of its counts with those of a bag that is chosen already; of equals the first. So none is chosen
    for its rank alone, or for being unlike others alone. O(N) numbers in memory beside the bags.
    """
    places = _Index(bags)
    worth = 1.0 - np.arange(len(bags)) / max(len(bags), 1)
    similarity, chosen = np.zeros(len(bags)), []
    free = np.ones(len(bags), dtype=bool)
    for _ in range(min(size, len(bags))):
        place = int(np.where(free, worth * (1.0 - similarity), -1.0).argmax())
        chosen.append(place)
        free[place] = False
        similarity = np.maximum(similarity, np.minimum(places.cosines(bags[place]), 1.0))
    return chosen


class _Index:
    """For each kind of thing the bags that have it, and how much of their length it is."""

    def __init__(self, bags: Sequence[Mapping[Hashable, int]]) -> None:
        found: dict[Hashable, tuple[list[int], list[float]]] = {}
        for place, bag in enumerate(bags):
            length = _length(bag)
            for kind, count in bag.items():
                places, shares = found.setdefault(kind, ([], []))
                places.append(place)
                shares.append(count / length)
        self._size = len(bags)
        self._found: dict[Hashable, tuple[Int, Float]] = {
            kind: (np.array(places), np.array(shares)) for kind, (places, shares) in found.items()
        }

    def cosines(self, bag: Mapping[Hashable, int]) -> Float:
        """Those of one of the bags with all."""
        cosines, length = np.zeros(self._size), _length(bag)
        for kind, count in bag.items():
            places, shares = self._found[kind]
            cosines[places] += count / length * shares
        return cosines


def _length(bag: Mapping[Hashable, int]) -> float:
    return float(np.sqrt(sum(count * count for count in bag.values())))
