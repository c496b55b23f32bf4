"""Programs over the arcs of trees: masks by their definition, sums and samples under them against enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.pruning import expectations
from deptree_cli.second_order.distribution import SecondOrder, SecondOrderArcs, kept_arcs
from tests.pearson import chi_square

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
EACH_SPACE = pytest.mark.parametrize("trees", SPACES, ids=lambda space: space.name)
PARTS = {"neither": (False, False), "grandparent": (True, False), "sibling": (False, True), "both": (True, True)}
EACH = pytest.mark.parametrize("parts", PARTS)
SCALES = (0.1, 1.0, 10.0, 200.0)


def gaussian(n: int, parts: str, scale: float, forbidden: float = 0.0) -> tuple[Float, Float | None, Float | None]:
    """Normal scores of arcs and of the parts named, of which some are forbidden."""
    rng = np.random.default_rng(n)
    arrays = [rng.normal(size=(n + 1,) * axes) * scale for axes in (2, 3, 3)]
    for array in arrays[1:]:
        array[rng.random(array.shape) < forbidden] = -np.inf
    with_grandparent, with_sibling = PARTS[parts]
    return arrays[0], arrays[1] if with_grandparent else None, arrays[2] if with_sibling else None


def selections(trees: Heads, rng: np.random.Generator, size: int) -> Iterator[tuple[Bool, Bool]]:
    """Arcs selected at random, assigned as in a tree; of every fourth selection one is not as in that tree."""
    nodes = trees.shape[1] + 1
    for number in range(size):
        assigned = arcs_of(trees[rng.integers(len(trees))])
        share = np.where(assigned, rng.random(), rng.random() / 3)
        selected = rng.random((nodes, nodes)) < share
        if number % 4 == 3:
            head, word = rng.integers(nodes), rng.integers(1, nodes)
            selected[head, word] = True
            assigned[head, word] = ~assigned[head, word]
        yield selected.ravel(), assigned.ravel()


def arcs_of(heads: Heads) -> Bool:
    """The arcs of a tree, (n+1, n+1)."""
    found = np.zeros((len(heads) + 1,) * 2, dtype=np.bool_)
    for word, head in enumerate(heads.tolist(), 1):
        found[head, word] = True
    return found


def agreeing(trees: Heads, selected: Bool, assigned: Bool) -> Bool:
    """Which trees have all selected arcs as they are assigned, (k,)."""
    return np.array([(arcs_of(tree).ravel() == assigned)[selected].all() for tree in trees], dtype=np.bool_)


def check(program: Any, trees: Heads, log_weights: Float, selected: Bool, assigned: Bool) -> bool:
    """Sums under a mask must be those over the trees that agree; return whether there are any."""
    possible = agreeing(trees, selected, assigned) & np.isfinite(log_weights)
    log_z, chart = program.inside(program.compile(selected, assigned))
    if not possible.any():
        assert log_z == -np.inf
        return False
    exact = float(np.logaddexp.reduce(log_weights[possible]))
    assert log_z == pytest.approx(exact, rel=1e-13, abs=1e-10)
    probs = np.exp(log_weights[possible] - exact)
    marginals = sum(p * arcs_of(tree) for p, tree in zip(probs, trees[possible], strict=True))
    np.testing.assert_allclose(program.outside(chart), marginals, rtol=0, atol=1e-10)
    drawn = program.sample(chart, np.random.default_rng(1))
    assert drawn.tolist() in trees[possible].tolist()
    return True


@pytest.mark.slow("size")
@BOTH
@EACH
@pytest.mark.parametrize(("scale", "forbidden"), [*((scale, 0.0) for scale in SCALES), (1.0, 0.1), (200.0, 0.1)])
def test_sums_over_parts(single_root: bool, parts: str, scale: float, forbidden: float, part_sums: Any) -> None:
    """One mask after the other in the same memory, some in wide numbers, some of which no tree agrees with."""
    rng, found = np.random.default_rng(0), set()
    for n in (1, 3, 5):
        scores = gaussian(n, parts, scale, forbidden)
        exact = part_sums(*scores, single_root)
        if exact.log_z == -np.inf:
            continue
        program = SecondOrderArcs(SecondOrder(*scores, single_root=single_root))
        for selection in selections(exact.trees, rng, 16):
            found.add(check(program, exact.trees, exact.log_weights, *selection))
    assert found == {True, False}


@BOTH
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_parts_of_no_weight_change_nothing(single_root: bool, scale: float) -> None:
    """First order over the arcs that are kept agrees for more words than enumeration knows."""
    n, rng = 20, np.random.default_rng(3)
    scores, nothing = rng.normal(size=(n + 1, n + 1)) * scale, np.zeros((n + 1,) * 3)
    first = TreeDistribution(scores, single_root=single_root, projective=True)
    for parts in ((None, nothing), (nothing, None)):
        program = SecondOrderArcs(SecondOrder(scores, *parts, single_root=single_root))
        for tree, share in product(first.tempered(scale).sample(5, 1), (0.1, 0.5, 0.9)):
            assigned = arcs_of(tree)
            selected = rng.random(assigned.shape) < np.where(assigned, share, 0.1)
            log_z, chart = program.inside(program.compile(selected.ravel(), assigned.ravel()))
            kept = kept_arcs(selected & assigned, selected & ~assigned, first.space)
            plain = TreeDistribution(np.where(kept, scores, -np.inf), space=first.space)
            assert log_z == pytest.approx(plain.log_partition, rel=1e-12, abs=1e-10)
            np.testing.assert_allclose(program.outside(chart), plain.marginals(), rtol=0, atol=1e-10)


@EACH_SPACE
def test_masks_are_their_definition(trees: TreeSpace) -> None:
    """An arc is pruned if it is selected and negative, or if a selected positive one excludes it."""

    def between(node: int, arc: tuple[int, int]) -> bool:
        return min(arc) < node < max(arc)

    def beyond(node: int, arc: tuple[int, int]) -> bool:
        return node < min(arc) or node > max(arc)

    def excludes(pinned: tuple[int, int], arc: tuple[int, int]) -> bool:
        crosses = any(between(i, pinned) and beyond(j, pinned) for i, j in (arc, arc[::-1]))
        same_word = pinned[1] == arc[1] and pinned != arc
        same_root = trees.single_root and pinned[0] == arc[0] == 0 and pinned != arc
        return same_word or same_root or pinned == arc[::-1] or (trees.projective and crosses)

    rng = np.random.default_rng(5)
    for n in (1, 3, 6):
        nodes = range(n + 1)
        for positive, negative in product((0.05, 0.2), (0.0, 0.2)):
            pinned = rng.random((n + 1, n + 1)) < positive
            pinned[:, 0] = False
            forbidden = (rng.random(pinned.shape) < negative) & ~pinned
            kept = kept_arcs(pinned, forbidden, trees)
            pairs = [(int(i), int(j)) for i, j in np.argwhere(pinned)]
            for arc in product(nodes, nodes):
                assert kept[arc] == (not forbidden[arc] and not any(excludes(pair, arc) for pair in pairs))


@BOTH
@pytest.mark.parametrize("parts", ["sibling", "both"])
def test_draws_follow_the_distribution(single_root: bool, parts: str, part_sums: Any) -> None:
    """H0: 10,000 independent draws under a mask from the trees that agree with it; chi-square, p < 1e-6 by chance."""
    scores = gaussian(5, parts, 0.7)
    exact, program = part_sums(*scores, single_root), SecondOrderArcs(SecondOrder(*scores, single_root=single_root))
    selected, assigned = np.zeros((6, 6), dtype=np.bool_), np.zeros((6, 6), dtype=np.bool_)
    selected[2, 4] = selected[1, 3] = assigned[2, 4] = True
    possible = agreeing(exact.trees, selected.ravel(), assigned.ravel())
    _, chart = program.inside(program.compile(selected.ravel(), assigned.ravel()))
    rng = np.random.default_rng(7)
    numbers = {tuple(tree): number for number, tree in enumerate(exact.trees[possible].tolist())}
    drawn = [numbers[tuple(program.sample(chart, rng).tolist())] for _ in range(10_000)]
    log_probs = exact.log_weights[possible] - np.logaddexp.reduce(exact.log_weights[possible])
    assert chi_square(np.bincount(drawn, minlength=len(numbers)), np.exp(log_probs))[2] > 1e-6


@EACH
def test_where_nothing_is_selected_nothing_is_pruned(parts: str) -> None:
    """The same numbers to the last bit as without a mask, also in memory that was used before."""
    exact = SecondOrder(*gaussian(6, parts, 1.0))
    program = SecondOrderArcs(exact)
    mask = program.everything()
    assert mask.arc.all()
    pinned = program.assign(exact.argmax())
    program.outside(program.inside(program.compile(pinned, pinned))[1])
    log_z, chart = program.inside(mask)
    assert log_z == exact.log_partition
    np.testing.assert_array_equal(program.outside(chart), exact.marginals())
    assert "in_wide_numbers" not in vars(chart)  # to which marginals would turn if adjoints were left over


def test_nothing_possible() -> None:
    """Two heads of a word, an arc into ROOT, a cycle: no error, and the next mask is served."""
    scores = gaussian(4, "both", 1.0)
    program = SecondOrderArcs(SecondOrder(*scores))
    for arcs in ([(1, 2), (3, 2)], [(2, 0)], [(1, 1)], [(1, 2), (2, 1)], [(1, 2), (2, 3), (3, 1)], [(0, 1), (0, 2)]):
        pinned = np.zeros((5, 5), dtype=np.bool_)
        pinned[tuple(np.transpose(arcs))] = True
        assert program.inside(program.compile(pinned.ravel(), pinned.ravel()))[0] == -np.inf
    assert np.isfinite(program.inside(program.everything())[0])


@BOTH
def test_what_is_confident(single_root: bool) -> None:
    """By the scores of arcs alone, in the same space; never two heads of a word."""
    scores = gaussian(8, "both", 4.0)
    program = SecondOrderArcs(SecondOrder(*scores, single_root=single_root))
    first = TreeDistribution(scores[0], single_root=single_root, projective=True)
    confident = program.confident()
    assert 0 < len(confident) < 8
    np.testing.assert_array_equal(confident, np.flatnonzero(first.marginals().ravel() >= 0.9))


def test_features_of_a_tree() -> None:
    program = SecondOrderArcs(SecondOrder(np.zeros((4, 4))))
    tree = np.array([2, 0, 2], dtype=np.int32)
    assert program.variables() == 16
    assert np.flatnonzero(program.assign(tree)).tolist() == [0 * 4 + 2, 2 * 4 + 1, 2 * 4 + 3]
    np.testing.assert_array_equal(program.features(tree), arcs_of(tree))


@pytest.mark.slow("statistics")
def test_chains_converge() -> None:
    """The worst marginal of 1,000 iterations of 4 chains, around a chain of arcs of which some are confident."""
    n, rng = 10, np.random.default_rng(10)
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[range(n), range(1, n + 1)] += rng.uniform(1, 6, size=n)
    exact = SecondOrder(arcs, *(rng.normal(size=(n + 1,) * 3) for _ in range(2)))
    found = expectations(SecondOrderArcs(exact), "randomized", seed=7)
    np.testing.assert_allclose(found.expectations, exact.marginals(), atol=0.05)
    assert 0 < found.standard_errors.max() < 0.05
    assert found.r_hat < 1.1
