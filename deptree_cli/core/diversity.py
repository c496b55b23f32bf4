"""Of ranked things some that differ: greedily, by bags of what is in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from deptree_cli.core.dtypes import Float


def differing(bags: Sequence[Mapping[Hashable, int]], size: int) -> list[int]:
    """Choose up to `size` of N ranked bags, the first one first; their places in the order in which they are chosen.

    Each next one has the greatest (1 - place / N) (1 - similarity), where places count from 0 and similarity is the
    greatest cosine of its counts with those of a bag that is chosen already; of equals the first. So none is chosen
    for its rank alone, or for being unlike others alone. O(N) numbers in memory beside the bags.
    """
    cosines = _cosines(bags)
    worth = 1.0 - np.arange(len(bags)) / max(len(bags), 1)
    similarity, chosen = np.zeros(len(bags)), []
    free = np.ones(len(bags), dtype=bool)
    for _ in range(min(size, len(bags))):
        place = int(np.where(free, worth * (1.0 - similarity), -1.0).argmax())
        chosen.append(place)
        free[place] = False
        similarity = np.maximum(similarity, np.minimum(cosines(place), 1.0))
    return chosen


def _cosines(bags: Sequence[Mapping[Hashable, int]]) -> Callable[[int], Float]:
    """A function: the place of a bag -> its cosines with all."""
    from scipy.sparse import csr_array  # a tenth of a second, where there is something to choose

    numbers: dict[Hashable, int] = {}
    kinds = [numbers.setdefault(kind, len(numbers)) for bag in bags for kind in bag]
    shares = np.concatenate([np.empty(0), *(_of_length_one(bag) for bag in bags)])
    by_bag = csr_array((shares, kinds, np.cumsum([0, *map(len, bags)])), (len(bags), len(numbers)))
    by_kind = by_bag.T.tocsr()
    return lambda place: (by_bag[[place]] @ by_kind).toarray()[0]


def _of_length_one(bag: Mapping[Hashable, int]) -> Float:
    counts = np.array(list(bag.values()), dtype=np.float64)
    return counts / max(float(np.sqrt((counts**2).sum())), 1.0)
