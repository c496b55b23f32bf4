"""The program of branching 3 that benchmarks repeat the paper's timings with, against every derivation.

What a rule builds over a bispan is looked for at every cut of both sides, and what a mask refuses is refused bispan by
bispan. No order of computation, no normalisation and no index is shared with the program.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest

from benchmarks.pruning.ternary.program import DirectTernary
from tests.pearson import chi_square

SHAPES = [(1, 1), (1, 3), (3, 1), (2, 2), (3, 2), (2, 3), (3, 3)]

# The label of each rule, the place of each child on the target side, and the label that the last child cannot have.
RULES = [("A", (0, 1), "A"), ("B", (1, 0), "B"), *(("D", places, "") for places in permutations(range(3)))]


def cuts(bispan, places):
    """The bispans of a rule's children, in every way in which both sides can be cut; no child is empty."""
    s, t, u, v = bispan
    between = len(places) - 1
    for source in combinations_with_replacement(range(s, t + 1), between):
        for target in combinations_with_replacement(range(u, v + 1), between):
            x, y = (s, *source, t), (u, *target, v)
            children = [(x[k], x[k + 1], y[place], y[place + 1]) for k, place in enumerate(places)]
            if all(a < b or c < d for a, b, c, d in children):
                yield children


def crosses(bispan, link):
    """Whether a bispan holds exactly one of two words."""
    s, t, u, v = bispan
    return (s <= link[0] < t) != (u <= link[1] < v)


def derivations(scores, source, target, bispans, pins):
    """The sum of the weights of all derivations with the same links, by these."""

    def leaf(s, t, u, v):
        of_extent = {(1, 1): (scores, (s, u)), (1, 0): (source, s), (0, 1): (target, u)}
        if (t - s, v - u) not in of_extent or ((t - s, v - u) == (1, 1) and pins.get((s, u)) is False):
            return 0.0
        weights, place = of_extent[t - s, v - u]
        return math.exp(weights[place])

    @cache
    def over(bispan, barred=""):
        s, t, u, v = bispan
        found = defaultdict(float)
        if any(positive and crosses(bispan, link) for link, positive in pins.items()):
            return found
        if own := leaf(*bispan):
            found[frozenset([(s, u)] if (t - s, v - u) == (1, 1) else [])] += own
        for label, places, of_last in RULES:
            for *others, last in cuts(bispan, places) if label != barred else ():
                for chosen in product(*(over(each).items() for each in others), over(last, of_last).items()):
                    found[frozenset().union(*(links for links, _ in chosen))] += math.prod(w for _, w in chosen)
        return {links: weight * math.exp(bispans[bispan]) for links, weight in found.items()}

    p, q = scores.shape
    return over((0, p, 0, q))


def random_grammar(p, q, seed=0):
    """Gaussian weights of links, of unlinked source and target words, and of bispans."""
    rng = np.random.default_rng([seed, p, q])
    bispans = rng.normal(size=(p + 1, p + 1, q + 1, q + 1))
    return *(2 * rng.normal(size=shape) for shape in ((p, q), p, q)), bispans


def marginals(weights, shape):
    of_links = [math.fsum(w for links, w in weights.items() if link in links) for link in np.ndindex(shape)]
    return np.array(of_links) / math.fsum(weights.values())


def all_pins(p, q):
    """Every way to pin up to two links; those of one word exclude each other if both are positive."""
    links = [*product(range(p), range(q))]
    yield {}
    for a, b in product(links, repeat=2):
        yield from ({a: x, b: y} for x, y in product((False, True), repeat=2) if a != b or x == y)


def compiled(program, pins):
    """The mask of pins; to what is not selected anything is assigned."""
    selected, assigned = np.zeros(program.shape, dtype=bool), np.random.default_rng(1).random(program.shape) < 0.5
    for link, positive in pins.items():
        selected[link], assigned[link] = True, positive
    return program.compile(selected.ravel(), assigned.ravel())


@pytest.mark.parametrize(("p", "q"), [*SHAPES, (4, 4)])
def test_brute_force_finds_every_derivation(p, q):
    """With m links there are p + q - m leaves, in any order of links and unlinked words on the source side.

    How many derivations have k leaves is counted without spans.
    """
    t, a = [0] * (p + q + 1), [0] * (p + q + 1)
    for k in range(1, p + q + 1):
        a[k] = sum(t[i] * (t[k - i] - a[k - i]) for i in range(1, k))
        d = sum(t[i] * t[j] * t[k - i - j] for i in range(1, k) for j in range(1, k - i))
        t[k] = (k == 1) + 2 * a[k] + 6 * d
    found = derivations(np.zeros((p, q)), np.zeros(p), np.zeros(q), np.zeros((p + 1, p + 1, q + 1, q + 1)), {})
    for m in range(min(p, q) + 1):
        sequences = math.factorial(p + q - m) // math.prod(map(math.factorial, (m, p - m, q - m)))
        assert sum(number for links, number in found.items() if len(links) == m) == sequences * t[p + q - m]


@pytest.mark.slow("size")
@pytest.mark.parametrize(("p", "q"), SHAPES)
def test_sums_under_masks(p, q):
    """One program runs under one mask after another; nothing may be left of the last."""
    grammar = random_grammar(p, q)
    program = DirectTernary(*grammar)
    for pins in all_pins(p, q) if p + q < 6 else [*all_pins(p, q)][::5]:
        weights = derivations(*grammar, pins)
        log_z, chart = program.inside(compiled(program, pins))
        if not sum(weights.values()):
            assert log_z == -math.inf
            continue
        assert log_z == pytest.approx(math.log(math.fsum(weights.values())), abs=1e-10)
        assert program.outside(chart) == pytest.approx(marginals(weights, (p, q)), rel=1e-10)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(
    ("p", "q", "pins"), [(3, 3, {}), (2, 3, {(0, 2): True}), (3, 3, {(1, 0): True, (2, 2): False})]
)
def test_samples(p, q, pins):
    """H0: alignments are drawn as probable as the sums of their derivations. 10,000 draws, threshold 0.001 / 3.

    One of probability 0 fails at once; what an earlier mask has left is never drawn.
    """
    grammar = random_grammar(p, q, seed=1)
    program, rng = DirectTernary(*grammar), np.random.default_rng([p, q])
    program.inside(program.everything())
    _, chart = program.inside(compiled(program, pins))
    counts = Counter(tuple(program.sample(chart, rng).tolist()) for _ in range(10_000))
    weights = derivations(*grammar, pins)
    probs = defaultdict(float)
    for links, weight in weights.items():
        probs[tuple(dict(links).get(word, -1) for word in range(p))] += weight / math.fsum(weights.values())
    assert counts.keys() <= probs.keys()
    assert chi_square(np.array([counts[each] for each in probs]), np.array([*probs.values()]))[-1] > 0.001 / 3


def test_confident_links():
    """By the definition: best of its row and of its column, and the product of both probabilities above one half."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(50):
        p, q = rng.integers(1, 7, size=2)
        scores, source, target, other = (3 * rng.normal(size=shape) for shape in ((p, q), p, q, (p, q)))
        weights = np.exp(other)
        rows = weights / (weights.sum(axis=1) + np.exp(source))[:, None]
        columns = weights / (weights.sum(axis=0) + np.exp(target))
        links = [
            i * q + j
            for i, j in product(range(p), range(q))
            if rows[i].argmax() == j and columns[:, j].argmax() == i and rows[i, j] * columns[i, j] > 0.5
        ]
        assert DirectTernary(scores, source, target, heuristic=other).confident().tolist() == links
        found += len(links)
    assert found > 20
