"""Inversion transduction grammars by brute force: every derivation, for sentences of up to four words.

The grammar is a table of rules. What a rule builds over a bispan is looked for at every cut of both sides, and what a
mask refuses is refused bispan by bispan, as the definition says. Derivations are told apart by their links only where
they are summed. No order of computation, no normalisation and no index is shared with the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Link = tuple[int, int]
Links = frozenset[Link]
Bispan = tuple[int, int, int, int]  # source words s..t-1 and target words u..v-1


class Rule(NamedTuple):
    """Children in source order; the place of each on the target side; the label that the last of them cannot have."""

    label: str
    places: tuple[int, ...]
    barred: str


BINARY = (Rule("A", (0, 1), "A"), Rule("B", (1, 0), "B"))
TERNARY = (*BINARY, *(Rule("D", places, "") for places in permutations(range(3))))
RULES = {2: BINARY, 3: TERNARY}


class Node(NamedTuple):
    """A derivation: what was built over a bispan, of what; a word or a link has no children."""

    label: str
    bispan: Bispan
    children: tuple[Node, ...]


class Entry(NamedTuple):
    """Derivations that have the same links: their weights' sum, the greatest weight, and how many there are."""

    total: float
    best: float
    number: int


Table = dict[Links, Entry]


@dataclass(frozen=True)
class Grammar:
    """Log-weights of links (p, q), of unlinked words (p,) and (q,), and of bispans (p+1, p+1, q+1, q+1)."""

    scores: Float
    source_nulls: Float
    target_nulls: Float
    branching: int = 2
    bispans: Float | None = None

    @property
    def root(self) -> Bispan:
        p, q = self.scores.shape
        return 0, p, 0, q

    def terminal(self, bispan: Bispan) -> float:
        """The weight of C over a bispan by itself; 0 where it is no word and no pair of words."""
        s, t, u, v = bispan
        words = t - s, v - u
        if words == (1, 1):
            return math.exp(self.scores[s, u])
        if words == (1, 0):
            return math.exp(self.source_nulls[s])
        return math.exp(self.target_nulls[u]) if words == (0, 1) else 0.0

    def factor(self, bispan: Bispan) -> float:
        """What everything that is built over a bispan is multiplied by."""
        return 1.0 if self.bispans is None else math.exp(self.bispans[bispan])


def linked(bispan: Bispan) -> Links:
    """The link that C over a bispan is, if it is one."""
    s, t, u, v = bispan
    return frozenset([(s, u)] if (t - s, v - u) == (1, 1) else [])


def cuts(bispan: Bispan, rule: Rule) -> Iterator[list[Bispan]]:
    """The bispans of a rule's children, in every way in which both sides can be cut; no child is empty."""
    s, t, u, v = bispan
    between = len(rule.places) - 1
    for source in combinations_with_replacement(range(s, t + 1), between):
        for target in combinations_with_replacement(range(u, v + 1), between):
            x, y = (s, *source, t), (u, *target, v)
            children = [(x[k], x[k + 1], y[place], y[place + 1]) for k, place in enumerate(rule.places)]
            if all(a < b or c < d for a, b, c, d in children):
                yield children


def crosses(bispan: Bispan, link: Link) -> bool:
    """Whether a bispan holds exactly one of two words."""
    s, t, u, v = bispan
    return (s <= link[0] < t) != (u <= link[1] < v)


def kept_bispans(p: int, q: int, pins: Mapping[Link, bool]) -> list[Bispan]:
    """The bispans that no link which is pinned as positive crosses, sorted."""
    spans = product(range(p + 1), range(p + 1), range(q + 1), range(q + 1))
    bispans = [(s, t, u, v) for s, t, u, v in spans if s <= t and u <= v and (s < t or u < v)]
    return [each for each in bispans if not any(positive and crosses(each, link) for link, positive in pins.items())]


@dataclass
class Derivations:
    """All derivations of a grammar in which links that are pinned are as they are pinned."""

    grammar: Grammar
    pins: Mapping[Link, bool] = field(default_factory=dict)
    _tables: dict[tuple[Bispan, str], Table] = field(default_factory=dict)

    @cached_property
    def kept(self) -> set[Bispan]:
        """The bispans that are not refused."""
        _, p, _, q = self.grammar.root
        return set(kept_bispans(p, q, self.pins))

    def terminal(self, bispan: Bispan) -> float:
        """The weight of C by itself, 0 where it is refused."""
        refused = any(self.pins.get(link) is False for link in linked(bispan))
        return 0.0 if refused else self.grammar.terminal(bispan)

    def one_by_one(self, bispan: Bispan, barred: str = "") -> Iterator[Node]:
        """Every derivation over a bispan but those that are labelled as barred: for two or three words."""
        if bispan not in self.kept:
            return
        if self.terminal(bispan) > 0.0:
            yield Node("C", bispan, ())
        for rule in RULES[self.grammar.branching]:
            if rule.label != barred:
                for children in cuts(bispan, rule):
                    last = len(children) - 1
                    for nodes in product(
                        *(self.one_by_one(c, rule.barred if k == last else "") for k, c in enumerate(children))
                    ):
                        yield Node(rule.label, bispan, nodes)

    def weight(self, node: Node) -> float:
        """The weight of one derivation."""
        below = math.prod(map(self.weight, node.children)) if node.children else self.terminal(node.bispan)
        return below * self.grammar.factor(node.bispan)

    def links(self, node: Node) -> Links:
        """The links of one derivation."""
        return frozenset().union(*map(self.links, node.children)) if node.children else linked(node.bispan)

    def table(self, bispan: Bispan, barred: str = "") -> Table:
        """The same derivations summed by their links; what is built over a bispan is remembered."""
        if (bispan, barred) not in self._tables:
            self._tables[bispan, barred] = self._table(bispan, barred) if bispan in self.kept else {}
        return self._tables[bispan, barred]

    def _table(self, bispan: Bispan, barred: str) -> Table:
        table: Table = {}
        own = self.terminal(bispan)
        if own > 0.0:
            table[linked(bispan)] = Entry(own, own, 1)
        for rule in RULES[self.grammar.branching]:
            if rule.label != barred:
                for *others, last in cuts(bispan, rule):
                    _add(table, [*map(self.table, others), self.table(last, rule.barred)])
        factor = self.grammar.factor(bispan)
        return {links: Entry(e.total * factor, e.best * factor, e.number) for links, e in table.items()}

    @cached_property
    def whole(self) -> Table:
        """The derivations of the sentence pair, by their links."""
        return self.table(self.grammar.root)

    @property
    def count(self) -> int:
        """How many derivations there are."""
        return sum(entry.number for entry in self.whole.values())

    @cached_property
    def z(self) -> float:
        """The sum of all weights."""
        return math.fsum(entry.total for entry in self.whole.values())

    @property
    def log_partition(self) -> float:
        """The logarithm of the sum of all weights, -inf where no derivation is left."""
        return math.log(self.z) if self.z > 0.0 else -math.inf

    def probabilities(self) -> dict[Links, float]:
        """How probable each set of links is."""
        return {links: entry.total / self.z for links, entry in self.whole.items()}

    def marginals(self) -> Float:
        """The probability of each link, (p, q)."""
        result = np.zeros(self.grammar.scores.shape)
        for links, probability in self.probabilities().items():
            for link in links:
                result[link] += probability
        return result

    def best(self) -> tuple[float, Links]:
        """The log-weight of the best derivation, and its links."""
        links = max(self.whole, key=lambda each: self.whole[each].best)
        return math.log(self.whole[links].best), links


def _add(table: Table, children: list[Table]) -> None:
    """Add what children of independent choice make together."""
    for chosen in product(*(child.items() for child in children)):
        links: Links = frozenset().union(*(each for each, _ in chosen))
        total, best, number = (math.prod(values) for values in zip(*(entry for _, entry in chosen), strict=True))
        old = table.get(links, Entry(0.0, 0.0, 0))
        table[links] = Entry(old.total + total, max(old.best, best), old.number + int(number))


def targets_of(links: Links, p: int) -> tuple[int, ...]:
    """For every source word the target word that it is linked with, -1 for none."""
    of = dict(links)
    return tuple(of.get(i, -1) for i in range(p))
