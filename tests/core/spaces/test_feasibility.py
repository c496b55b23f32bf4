"""Whether there is a tree at all, and which words may be its root: against enumeration, and in which words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError, words
from deptree_cli.core.feasibility import check_feasible, possible_roots
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import space

ALL = ~np.eye(6, dtype=bool)  # the complete pattern of five words, column 0 aside
ALL[:, 0] = False


def patterns(rng: np.random.Generator, count: int) -> Iterator[np.ndarray]:
    """Random patterns of allowed arcs, sparse enough for half of them to have no tree."""
    for _ in range(count):
        n = int(rng.integers(1, 6))
        yield (rng.random((n + 1, n + 1)) < rng.uniform(0.15, 0.8)) & ALL[: n + 1, : n + 1]


def refusal(allowed: np.ndarray, single_root: bool) -> DeptreeError | None:
    """The error that `check_feasible` raises for a pattern, if any."""
    try:
        check_feasible(allowed, space(single_root))
    except DeptreeError as error:
        return error
    return None


@pytest.mark.slow("size")
def test_feasible_is_what_has_a_tree_and_roots_are_those_of_trees() -> None:
    """2,000 random zero patterns of one to five words, for both root constraints, against enumeration."""
    verdicts = {True: [0, 0], False: [0, 0]}
    for allowed in patterns(np.random.default_rng(20240501), 2000):
        n = len(allowed) - 1
        for single_root in (True, False):
            trees = all_trees(n, space(single_root))
            possible = trees[allowed[trees, np.arange(1, n + 1)].all(axis=1)]
            assert (refusal(allowed, single_root) is None) == bool(len(possible)), allowed
            verdicts[single_root][bool(len(possible))] += 1
            if single_root:
                roots = [False, *(possible == 0).any(axis=0)]
                assert possible_roots(allowed).tolist() == roots, allowed
    assert min(verdicts[True] + verdicts[False]) > 200  # the test saw both answers often


def test_every_infeasible_pattern_has_a_reason_with_words_in_it() -> None:
    for allowed in patterns(np.random.default_rng(7), 500):
        for single_root in (True, False):
            if error := refusal(allowed, single_root):
                assert error.problem.startswith("no single-root tree" if single_root else "no tree")
                assert error.remedy


@pytest.mark.parametrize("single_root", [True, False])
def test_the_pattern_is_left_as_it_was(single_root: bool) -> None:
    for allowed in patterns(np.random.default_rng(8), 50):
        before = allowed.copy()
        refusal(allowed, single_root)
        possible_roots(allowed)
        assert np.array_equal(allowed, before)


def test_names_of_words() -> None:
    assert words(np.array([4])) == "word 4"
    assert words(np.array([4, 7])) == "words 4 and 7"
    assert words(np.array([1, 2, 3, 4, 5, 6])) == "words 1, 2, 3, 4, 5 and 6"
    assert words(np.arange(1, 13)) == "words 1, 2, 3, 4, 5 and 7 more"
