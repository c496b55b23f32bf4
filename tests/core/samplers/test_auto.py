"""The default sampler: whichever of its branches a tree comes from, it is an exact draw; and what it may cost."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import auto, wilson
from deptree_cli.core.samplers.costs import FEW, steps_of_tables, steps_of_tree
from tests.oracle import Oracle
from tests.pearson import chi_square

TREES = 24_000
# Of the tests of the law below, thirty, 1 in 1000 runs may fail one.
THRESHOLD = 0.001 / 30
SINGLE = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def costs(monkeypatch: pytest.MonkeyPatch, tree: int, tables: int) -> None:
    """Other prices of elimination: low ones give walks up, at once or now and then."""
    monkeypatch.setattr(auto, "steps_of_tree", lambda n, wide: tree)
    monkeypatch.setattr(auto, "steps_of_tables", lambda n, wide: tables)
    monkeypatch.setattr(auto, "FACTORS", 0.0)


def counts_in(distribution: TreeDistribution, portion: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each tree comes in portions of so many."""
    index = {tuple(tree): number for number, tree in enumerate(Oracle(distribution).trees.tolist())}
    heads = np.concatenate([auto.draw(distribution, portion, rng) for _ in range(TREES // portion)])
    return np.bincount([index[tuple(tree)] for tree in heads.tolist()], minlength=len(index))


@SINGLE
@pytest.mark.parametrize("portion", [3, 9, 31, 33, 2000])
@pytest.mark.parametrize(("tree", "tables"), [(1, 0), (6, 0), (9, 200)], ids=["given up", "mixed", "spare"])
def test_trees_follow_the_distribution_whatever_is_given_up(
    tree: int, tables: int, portion: int, single_root: bool, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H0: trees drawn in portions follow the distribution, if walks are given up always, or every second time, or once
    no steps are spare. 24,000 trees, 64 or 125 different ones, rare ones pooled until expected five times; chi-square;
    threshold 0.001 / 30. Portions are around where the decisions are taken, 4 and 32, and where tables begin."""
    costs(monkeypatch, tree, tables)
    distribution = graphs.distribution(graphs.gaussian(4, seed=5), single_root)
    counts = counts_in(distribution, portion, np.random.default_rng(100 * portion + tree))
    assert chi_square(counts, np.exp(Oracle(distribution).log_probs))[2] > THRESHOLD


@SINGLE
def test_what_is_given_up_later_does_not_show_in_what_was_walked(
    single_root: bool, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without budgets the walks that end are the same ones, until one is given up."""
    distribution = graphs.distribution(graphs.gaussian(6), single_root)
    free = auto.draw(distribution, 500, np.random.default_rng(3))
    costs(monkeypatch, 10**6, 0)
    assert np.array_equal(auto.draw(distribution, 500, np.random.default_rng(3)), free)
    costs(monkeypatch, 12, 0)
    some = auto.draw(distribution, 500, np.random.default_rng(3))
    assert 5 < (some[:30] == free[:30]).all(axis=1).sum() < 30


def test_walks_agree_with_those_of_the_named_sampler_where_none_is_given_up(graphs) -> None:
    for size in (5, 20, 300):
        distribution = graphs.distribution(graphs.gaussian(8))
        walked = wilson.draw_marginal(distribution, size, np.random.default_rng(4))
        assert np.array_equal(auto.draw(distribution, size, np.random.default_rng(4)), walked)


@SINGLE
@pytest.mark.parametrize("size", [5, 10, 40, 3000])
def test_steps_stay_within_what_elimination_costs(
    size: int, single_root: bool, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no walk ends, those that are tried take no more steps than all trees by elimination and its preparation;
    and no more than the first four are tried if there are tables."""
    taken: list[int] = []

    def counting(kernel):
        def walk(*arguments):
            result = kernel(*arguments)
            taken.append(int(result[1] if isinstance(result, tuple) else result))
            return result

        return walk

    for name in ("walk", "walk_without_tables"):
        monkeypatch.setattr(auto.kernel, name, counting(getattr(auto.kernel, name)))
    distribution = graphs.distribution(graphs.saturated(20), single_root)
    auto.draw(distribution, size, np.random.default_rng(13))
    factors = 0 if single_root else int(auto.FACTORS * 20**3)
    tried = size if size <= FEW else auto.FEWEST
    assert sum(taken) <= steps_of_tables(20, False) + factors + tried * (steps_of_tree(20, False) + 1)
