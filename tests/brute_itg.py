"""Alignments by brute force: every partial matching that avoids 2413 and 3142, for sentences of up to five words.

Nothing is built up: an alignment is a set of links, and weighs what its links and its unlinked words weigh. Its parts,
which weights of bispans and masks are about, are those of its one binary tree, which is cut from the links by what the
normal form says: the right half is the shortest that can be cut off. No order of computation, no rule and no index is
shared with the package; sums are of logarithms, so that weights may be of any size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, pairwise, permutations

import numpy as np


@cache
def alignments(p, q):
    """All alignments of p and q words."""
    return tuple(
        frozenset(zip(source, target, strict=True))
        for size in range(min(p, q) + 1)
        for source in combinations(range(p), size)
        for target in permutations(range(q), size)
        if can_be_built(target)
    )


def can_be_built(order):
    """Whether a permutation avoids 2413 and 3142."""
    ranks = (tuple(sorted(four).index(each) for each in four) for four in combinations(order, 4))
    return not any(each in ((1, 3, 0, 2), (2, 0, 3, 1)) for each in ranks)


@cache
def parts(p, q, links):
    """The bispans of an alignment's derivation, each with the unlinked words behind its linked ones."""
    source, target = sorted(i for i, _ in links), sorted(j for _, j in links)
    behind = dict(pairwise([*source, p])), dict(pairwise([*target, q]))
    return tuple(_parts(sorted(links), *behind)) if links else ()


def _parts(links, source_behind, target_behind):
    targets = [j for _, j in links]
    yield links[0][0], source_behind[links[-1][0]], min(targets), target_behind[max(targets)]
    for cut in reversed(range(1, len(links))):
        left, right = targets[:cut], targets[cut:]
        if max(left) < min(right) or max(right) < min(left):
            yield from _parts(links[:cut], source_behind, target_behind)
            yield from _parts(links[cut:], source_behind, target_behind)
            return


@dataclass(frozen=True)
class Grammar:
    """Log-weights of links (p, q), of unlinked words (p,) and (q,), and of bispans (p+1, p+1, q+1, q+1)."""

    scores: np.ndarray
    source_nulls: np.ndarray
    target_nulls: np.ndarray
    bispans: np.ndarray | None = None

    def log_weight(self, links):
        """The logarithm of the weight of an alignment."""
        p, q = self.scores.shape
        alone = set(range(p)).difference(i for i, _ in links), set(range(q)).difference(j for _, j in links)
        of_parts = [] if self.bispans is None else [self.bispans[each] for each in parts(p, q, links)]
        nulls = *self.source_nulls[[*alone[0]]], *self.target_nulls[[*alone[1]]]
        weights = [*(self.scores[link] for link in links), *nulls, *of_parts]
        return -math.inf if -math.inf in weights else math.fsum(weights)


@dataclass
class Alignments:
    """All alignments of positive weight in which links are as they are pinned, with parts over some bispans only."""

    grammar: Grammar
    pins: dict = field(default_factory=dict)  # whether links, (i, j), are there
    states: frozenset | None = None  # bispans: source words s..t-1 and target words u..v-1

    @cached_property
    def log_weights(self):
        """The logarithm of the weight of each."""
        found = {
            links: self.grammar.log_weight(links)
            for links in alignments(*self.grammar.scores.shape)
            if all((link in links) == positive for link, positive in self.pins.items())
            and (self.states is None or self.states.issuperset(parts(*self.grammar.scores.shape, links)))
        }
        return {links: weight for links, weight in found.items() if weight > -math.inf}

    @property
    def count(self):
        """How many there are."""
        return len(self.log_weights)

    @cached_property
    def log_partition(self):
        """The logarithm of the sum of all weights, -inf where there is none."""
        highest = max(self.log_weights.values(), default=-math.inf)
        if highest == -math.inf:
            return highest
        return highest + math.log(math.fsum(math.exp(each - highest) for each in self.log_weights.values()))

    def probabilities(self):
        """How probable each of them is."""
        return {links: math.exp(weight - self.log_partition) for links, weight in self.log_weights.items()}

    def marginals(self):
        """The probability of each link, (p, q)."""
        probs = self.probabilities()
        found = np.zeros(self.grammar.scores.shape)
        for link in np.ndindex(found.shape):
            found[link] = math.fsum(probability for links, probability in probs.items() if link in links)
        return found

    def best(self):
        """The log-weight of the best one, and its links."""
        links = max(self.log_weights, key=self.log_weights.__getitem__)
        return self.log_weights[links], links


def targets_of(links, p):
    """For every source word the target word that it is linked with, -1 for none."""
    of = dict(links)
    return tuple(of.get(i, -1) for i in range(p))
