"""The paper's own program for branching 3 against brute force, and brute force against what can be counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from benchmarks.pruning.generated import PEAKED, noisy_copy, problem
from benchmarks.pruning.ternary.program import DirectTernary
from deptree_cli.core.dtypes import Bool
from tests.brute_derivations import Derivations, Grammar, Link, kept_bispans, targets_of
from tests.pearson import chi_square

SHAPES = [(1, 1), (1, 3), (3, 1), (2, 2), (3, 2), (2, 3), (3, 3)]
TOLERANCE = 1e-10

Pins = dict[Link, bool]


def random_grammar(p: int, q: int, branching: int = 3, seed: int = 0) -> Grammar:
    """Gaussian weights of everything."""
    rng = np.random.default_rng([seed, p, q])
    bispans = rng.normal(size=(p + 1, p + 1, q + 1, q + 1))
    scores, source, target = (2 * rng.normal(size=shape) for shape in ((p, q), p, q))
    return Grammar(scores, source, target, branching, bispans)


def all_pins(p: int, q: int) -> Iterator[Pins]:
    """Every way to pin up to two links; those of one word exclude each other if both are positive."""
    links = [*product(range(p), range(q))]
    yield {}
    for a, b in product(links, repeat=2):
        yield from ({a: x, b: y} for x, y in product((False, True), repeat=2) if a != b or x == y)


def directly(grammar: Grammar) -> DirectTernary:
    return DirectTernary(grammar.scores, grammar.source_nulls, grammar.target_nulls, grammar.bispans)


def selection(pins: Pins, p: int, q: int) -> tuple[Bool, Bool]:
    """Which links are selected, and what is assigned: to those that are not, anything."""
    selected, assigned = np.zeros((p, q), dtype=np.bool_), np.random.default_rng(1).random((p, q)) < 0.5
    for link, positive in pins.items():
        selected[link], assigned[link] = True, positive
    return selected.ravel(), assigned.ravel()


def trees(leaves: int, branching: int) -> list[int]:
    """How many derivations have k leaves that are links, k = 0..leaves: by leaves alone, without spans.

    For branching 2 the large Schroeder numbers, since every permutation that can be built is built once.
    """
    t, a = [0] * (leaves + 1), [0] * (leaves + 1)
    for k in range(1, leaves + 1):
        a[k] = sum(t[i] * (t[k - i] - a[k - i]) for i in range(1, k))
        d = sum(t[i] * t[j] * t[k - i - j] for i in range(1, k) for j in range(1, k - i))
        t[k] = (k == 1) + 2 * a[k] + (6 * d if branching == 3 else 0)
    return t


@pytest.mark.parametrize("branching", [2, 3])
@pytest.mark.parametrize(("p", "q"), [*SHAPES, (4, 4)])
def test_brute_force_finds_every_derivation(p, q, branching) -> None:
    """With m links there are p + q - m leaves, in any order of links and unlinked words on the source side."""
    assert trees(7, 2) == [0, 1, 2, 6, 22, 90, 394, 1806]  # large Schroeder numbers, OEIS A006318
    derivations = Derivations(Grammar(np.zeros((p, q)), np.zeros(p), np.zeros(q), branching))
    of_leaves, total = trees(p + q, branching), 0
    for m in range(min(p, q) + 1):
        sequences = math.factorial(p + q - m) // math.prod(map(math.factorial, (m, p - m, q - m)))
        number = sequences * of_leaves[p + q - m]
        assert sum(entry.number for links, entry in derivations.whole.items() if len(links) == m) == number
        total += number
    assert derivations.count == total
    assert derivations.z == pytest.approx(total)


@pytest.mark.slow("size")
@pytest.mark.parametrize(("p", "q"), SHAPES)
def test_sums_under_masks(p, q) -> None:
    """One program runs under one mask after another, from none on; nothing may be left of the last."""
    grammar = random_grammar(p, q)
    program = directly(grammar)
    for pins in all_pins(p, q) if p + q < 6 else [*all_pins(p, q)][::5]:
        mask, derivations = program.compile(*selection(pins, p, q)), Derivations(grammar, pins)
        assert sorted(map(tuple, mask.kept.tolist())) == kept_bispans(p, q, pins)
        log_z, chart = program.inside(mask)
        if derivations.z == 0.0:
            assert log_z == -math.inf
            continue
        assert math.exp(log_z - derivations.log_partition) == pytest.approx(1.0, rel=TOLERANCE)
        assert program.outside(chart) == pytest.approx(derivations.marginals().ravel(), rel=TOLERANCE)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(
    ("p", "q", "pins"),
    [(2, 2, {}), (3, 3, {}), (2, 3, {(0, 2): True}), (3, 3, {(1, 0): True, (2, 2): False}), (3, 2, {(1, 1): False})],
)
def test_samples(p, q, pins) -> None:
    """Chi-square, hypothesis: alignments are drawn with the probabilities of their derivations' sums.

    Size 10,000, rare alignments pooled; threshold 0.001 / 5. An alignment of probability 0 fails at once. What an
    earlier mask has left is never drawn.
    """
    grammar = random_grammar(p, q, seed=1)
    program, rng, size = directly(grammar), np.random.default_rng([p, q]), 10_000
    program.inside(program.everything())
    _, chart = program.inside(program.compile(*selection(pins, p, q)))
    counts = Counter(tuple(program.sample(chart, rng).tolist()) for _ in range(size))
    probs = {targets_of(links, p): x for links, x in Derivations(grammar, pins).probabilities().items()}
    assert counts.keys() <= probs.keys()
    observed = np.array([counts[each] for each in probs])
    assert chi_square(observed, np.array([*probs.values()]))[-1] > 0.001 / 5


def test_features_are_links() -> None:
    program = directly(random_grammar(3, 2))
    assert program.variables() == 6
    assert program.features(np.array([1, -1, 0])).tolist() == [0, 1, 0, 0, 1, 0]


def test_confident_links() -> None:
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


def test_generated_problems_follow_from_the_seed() -> None:
    made = [problem(np.random.default_rng(3), 6, 7, PEAKED, sigma=0.5, corruption=1.0) for _ in range(2)]
    for a, b in zip(*(vars(each).values() for each in made), strict=True):
        assert np.array_equal(a, b)
    first = made[0]
    strong = [first.scores[link] for link in first.links]
    assert np.mean(strong) - first.scores.mean() > 3.0
    assert 0.3 < np.std(first.bispans) < 0.7
    assert 0.5 < np.std(first.heuristic - first.scores) < 1.5


def test_noisy_copies_keep_what_is_linked() -> None:
    words = ["the", "old", "man", "saw", "the", "dog", "and", "the", "dog", "saw", "the", "old", "man", "again"]
    rng, shares = np.random.default_rng(2), []
    for _ in range(200):
        copy, links = noisy_copy(rng, words)
        assert all(words[i] == copy[j] for i, j in links)
        assert len({i for i, _ in links}) == len({j for _, j in links}) == len(links)
        shares.append((len(copy) / len(words), len(links) / len(copy)))
    assert np.mean(shares, axis=0) == pytest.approx([0.9, 0.9], abs=0.03)
