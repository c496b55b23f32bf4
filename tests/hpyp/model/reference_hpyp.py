"""Hierarchical Pitman-Yor processes with dictionaries and lists, to test the kernels by: slow, and written on its own.

A restaurant is named by the first symbols of a context, so ``()`` is the root and a context of m symbols has m + 1
levels. Every customer of a restaurant has a dish; a table has one dish, and sends one customer with it to the parent.
The root's tables draw their dishes from the uniform distribution over the vocabulary.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

Context = tuple[int, ...]
Event = tuple[Context, int]
Sizes = tuple[int, ...]
Seating = tuple[tuple[Event, Sizes], ...]  # sorted: the tables of each restaurant and dish, sizes in falling order


class Franchise:
    """Restaurants with seated customers.

    Args:
        vocabulary: how many dishes there are, V; a dish is any number.
        discounts, strengths: d and theta of each level, root first; 0 < d < 1 and theta > -d.
    """

    def __init__(self, vocabulary: int, discounts: Sequence[float], strengths: Sequence[float]) -> None:
        self.vocabulary, self.discounts, self.strengths = vocabulary, tuple(discounts), tuple(strengths)
        self.tables: dict[Context, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.events: Counter[Event] = Counter()

    @classmethod
    def seated(
        cls, vocabulary: int, discounts: Sequence[float], strengths: Sequence[float], seating: Seating
    ) -> Franchise:
        """A franchise to predict from, which does not know its events."""
        franchise = cls(vocabulary, discounts, strengths)
        for (prefix, dish), sizes in seating:
            franchise.tables[prefix][dish] = list(sizes)
        return franchise

    def customers(self, prefix: Context) -> int:
        """C of a restaurant."""
        return sum(sum(sizes) for sizes in self.tables[prefix].values())

    def opened(self, prefix: Context) -> int:
        """T of a restaurant."""
        return sum(len(sizes) for sizes in self.tables[prefix].values())

    def prob(self, context: Context, dish: int) -> float:
        """Return the probability that the next customer of a restaurant gets a dish."""
        below = self.prob(context[:-1], dish) if context else 1 / self.vocabulary
        customers, d, theta = self.customers(context), self.discounts[len(context)], self.strengths[len(context)]
        if not customers:
            return below
        sizes = self.tables[context][dish]
        from_tables = sum(size - d for size in sizes)
        return (from_tables + (theta + d * self.opened(context)) * below) / (theta + customers)

    def add(self, context: Context, dish: int, rng: np.random.Generator) -> None:
        """Seat a customer as Chinese restaurants do, given its dish, and customers in the parents where needed."""
        self.events[context, dish] += 1
        self._seat(context, dish, rng)

    def _seat(self, prefix: Context, dish: int, rng: np.random.Generator) -> None:
        d, theta = self.discounts[len(prefix)], self.strengths[len(prefix)]
        below = self.prob(prefix[:-1], dish) if prefix else 1 / self.vocabulary
        sizes = self.tables[prefix][dish]
        # To an empty restaurant theta may be 0, and the one choice that there is would have weight 0.
        weights = [size - d for size in sizes] + [(theta + d * self.opened(prefix)) * below if sizes else 1.0]
        table = rng.choice(len(weights), p=np.array(weights) / sum(weights))
        if table < len(sizes):
            sizes[table] += 1
            return
        sizes.append(1)
        if prefix:
            self._seat(prefix[:-1], dish, rng)

    def remove(self, context: Context, dish: int, rng: np.random.Generator) -> None:
        """Unseat one of the customers with a dish, each as likely as another, and those that it had sent down."""
        self.events[context, dish] -= 1
        for prefix in (context[:length] for length in range(len(context), -1, -1)):
            sizes = self.tables[prefix][dish]
            table = rng.choice(len(sizes), p=np.array(sizes) / sum(sizes))
            sizes[table] -= 1
            if sizes[table]:
                return
            del sizes[table]

    def seating(self) -> Seating:
        """Return the sizes of all tables."""
        found = [
            ((prefix, dish), tuple(sorted(sizes, reverse=True)))
            for prefix, dishes in self.tables.items()
            for dish, sizes in dishes.items()
            if sizes
        ]
        return tuple(sorted(found))

    def check(self) -> None:
        """Raise AssertionError where the tables do not fit each other or the customers that came."""
        sent: Counter[Event] = Counter(self.events)
        seating = dict(self.seating())
        for (prefix, dish), sizes in seating.items():
            assert min(sizes) >= 1
            if prefix:
                sent[prefix[:-1], dish] += len(sizes)
        assert {event: sum(sizes) for event, sizes in seating.items()} == {event: c for event, c in sent.items() if c}


def counts(seating: Seating) -> tuple[tuple[Event, int, int], ...]:
    """Return restaurant and dish, customers c and tables t: what predictions depend on."""
    return tuple((event, sum(sizes), len(sizes)) for event, sizes in seating)


def log_seating(
    seating: Seating, discounts: Sequence[float], strengths: Sequence[float], rng: np.random.Generator | None = None
) -> float:
    """Return the log-probability of a seating with named customers: the product over customers, each given those who
    came before it to the same restaurant, dishes left out.

    rng: shuffles the order in which the customers of a restaurant come; it makes no difference.
    """
    tables: dict[Context, list[int]] = defaultdict(list)
    for (prefix, _), sizes in seating:
        tables[prefix] += sizes
    terms: list[float] = []
    for prefix, all_sizes in tables.items():
        order = [table for table, size in enumerate(all_sizes) for _ in range(size)]
        if rng is not None:
            rng.shuffle(order)
        terms += _log_arrivals(order, discounts[len(prefix)], strengths[len(prefix)])
    return math.fsum(terms)


def _log_arrivals(order: Sequence[int], d: float, theta: float) -> Iterator[float]:
    """Of each customer of a restaurant, by table in order of arrival; the first one has no choice."""
    seated: Counter[int] = Counter()
    for arrived, table in enumerate(order):
        weight = seated[table] - d if seated[table] else theta + d * len(+seated)
        if arrived:
            yield math.log(weight) - math.log(theta + arrived)
        seated[table] += 1


def root_tables(seating: Seating) -> int:
    """How many tables draw their dish from the base distribution."""
    return sum(len(sizes) for (prefix, _), sizes in seating if not prefix)


def set_partitions(count: int) -> Iterator[list[list[int]]]:
    """Yield all partitions of 0, ..., count - 1 into sets."""
    if count == 0:
        yield []
        return
    for smaller in set_partitions(count - 1):
        for chosen in range(len(smaller)):
            yield [[*block, count - 1] if place == chosen else block for place, block in enumerate(smaller)]
        yield [*smaller, [count - 1]]


def seatings(events: Counter[Event]) -> Iterator[tuple[dict[Event, Sizes], int]]:
    """Yield all seatings of customers in the restaurants of one level and those below, and how many ways of naming the
    customers of the tables each stands for.

    events: how often each context, all of one length, came with each dish.
    """
    if not events:
        yield {}, 1
        return
    shapes = {count: shapes_of(count) for count in set(events.values())}
    for chosen in product(*(shapes[count].items() for count in events.values())):
        here = {event: sizes for event, (sizes, _) in zip(events, chosen, strict=True)}
        parents: Counter[Event] = Counter()
        for (context, dish), sizes in here.items():
            if context:
                parents[context[:-1], dish] += len(sizes)
        ways = math.prod(times for _, times in chosen)
        for below, ways_below in seatings(parents):
            yield here | below, ways * ways_below


def shapes_of(count: int) -> Counter[Sizes]:
    """How many partitions of `count` customers into tables there are of each shape."""
    return Counter(tuple(sorted(map(len, blocks), reverse=True)) for blocks in set_partitions(count))


class Posterior:
    """All seatings of a few customers, by enumeration.

    Attributes:
        probs: the posterior probability of each seating.
        evidence: the probability of the customers' dishes, seatings summed out.
    """

    def __init__(
        self, vocabulary: int, discounts: Sequence[float], strengths: Sequence[float], events: Sequence[Event]
    ) -> None:
        self.vocabulary, self.discounts, self.strengths = vocabulary, discounts, strengths
        weights: dict[Seating, float] = {}
        for tables, ways in seatings(Counter(events)):
            seating = tuple(sorted(tables.items()))
            base = vocabulary ** -root_tables(seating)
            weights[seating] = ways * math.exp(log_seating(seating, discounts, strengths)) * base
        self.evidence = math.fsum(weights.values())
        self.probs = {seating: weight / self.evidence for seating, weight in weights.items()}

    def count_probs(self) -> dict[tuple[tuple[Event, int, int], ...], float]:
        """The posterior of customers and tables alone."""
        found: defaultdict[tuple[tuple[Event, int, int], ...], float] = defaultdict(float)
        for seating, prob in self.probs.items():
            found[counts(seating)] += prob
        return dict(found)

    def prob(self, context: Context, dish: int) -> float:
        """The predictive probability, seatings summed out."""
        hyper = self.vocabulary, self.discounts, self.strengths
        return math.fsum(
            prob * Franchise.seated(*hyper, seating).prob(context, dish) for seating, prob in self.probs.items()
        )
