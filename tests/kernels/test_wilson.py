"""Packed alias tables: the probabilities they imply; and the walk on them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from deptree_cli.kernels.wilson import build_tables, walk_trees

SEEDS = st.integers(0, 2**32 - 1)
UNTIL = pytest.mark.parametrize("until_single_root", [False, True])
TREES = 10 if config.DISABLE_JIT else 200  # plain Python takes a hundred times as long as machine code


def tables_of(weights, first_head):
    """The tables of all words, (n+1, 2^bits)."""
    bits = (len(weights) - 1).bit_length()
    tables = np.zeros((len(weights), 1 << bits), dtype=np.uint64)
    build_tables(weights, first_head, bits, tables)
    return tables, bits


def implied(row, nodes):
    """The exact probability of each head: bucket b gives itself its threshold's share and the rest to its alias."""
    thresholds, aliases = (row >> np.uint64(16)).astype(float) / 2.0**48, (row & np.uint64(0xFFFF)).astype(int)
    probs = thresholds / len(row)
    np.add.at(probs, aliases, (1.0 - thresholds) / len(row))
    assert (probs[nodes:] == 0).all()
    return probs[:nodes]


def check_tables(weights):
    """Head probabilities to 2^-47, for thresholds have 48 bits, and rounding takes one; and exact zeros."""
    for first_head, word in product((0, 1), range(len(weights))):  # of 0 the roots
        tables, _ = tables_of(weights, first_head)
        column = np.where(np.arange(len(weights)) >= first_head, weights[:, word], 0.0)
        probs = implied(tables[word], len(weights))
        np.testing.assert_allclose(probs, column / column.sum(), rtol=0, atol=2.0**-47)
        # What a draw could give: a bucket below its threshold, an alias always, for thresholds end at 2^48 - 1.
        buckets, aliases = np.flatnonzero(tables[word] >> np.uint64(16)), tables[word] & np.uint64(0xFFFF)
        assert {*buckets.tolist(), *aliases.tolist()} <= {*np.flatnonzero(column).tolist()}


@given(st.integers(1, 40), SEEDS, st.sampled_from([0.0, 3.0, 16.0, 300.0]), st.sampled_from([0.0, 0.3, 0.9]))
def test_tables_imply_the_weights(n, seed, spread, zeros):
    """Over `spread` orders of magnitude below 1, some of them zero, at least one of each word positive."""
    rng = np.random.default_rng(seed)
    weights = 10.0 ** (-spread * rng.random((n + 1, n + 1)))
    weights[rng.random(weights.shape) < zeros] = 0.0
    weights[rng.integers(1, n + 1)] = 1.0
    check_tables(weights)


@given(st.integers(2, 33), SEEDS)
def test_weights_that_differ_by_a_rounding_error(n, seed):
    """Shares next to 1, where the pairing of buckets hangs on the last bit."""
    rng = np.random.default_rng(seed)
    weights = 1.0 + rng.integers(-3, 4, size=(n + 1, n + 1)) * 1.1e-16
    weights[rng.random(weights.shape) < 0.2] = 0.0
    weights[1] = 1.0
    check_tables(weights)


def test_a_word_without_heads_has_an_empty_table():
    weights = np.ones((4, 4))
    weights[1:, 2] = 0.0
    assert tables_of(weights, 1)[0].any(axis=1).tolist() == [True, True, False, True]


def walks(weights, roots, limit=10**7, until_single_root=False):
    """Heads, how many of the trees were walked, and the steps taken."""
    tables, bits = tables_of(weights, 0 if roots[0] == 0 else 1)
    heads, state = np.full((len(roots), len(weights) - 1), -9, dtype=np.int32), np.array([1, 2, 3, 4], dtype=np.uint64)
    count, left = walk_trees(tables.ravel(), bits, roots, state, limit, until_single_root, heads)
    return heads, count, limit - left


def no_loops(n):
    """All arcs alike."""
    weights = np.ones((n + 1, n + 1))
    np.fill_diagonal(weights, 0.0)
    weights[1:, 0] = 0.0
    return weights


@UNTIL
def test_a_limit_ends_the_walks_and_changes_none_before(until_single_root):
    """The trees that are there are those without a limit, and no step is taken beyond it but the one that notices."""
    roots, n = np.zeros(TREES, dtype=np.int64), 6
    free, _, steps = walks(no_loops(n), roots, until_single_root=until_single_root)
    for limit in (steps, steps - 1, steps // 2, n, n - 1, 0):
        heads, count, taken = walks(no_loops(n), roots, limit, until_single_root)
        assert np.array_equal(heads[:count], free[:count])
        assert (count == TREES) == (limit == steps)
        assert taken == limit + (count < TREES)
        assert limit >= n or count == 0
    assert walks(no_loops(1), np.ones(3, dtype=np.int64), 0)[1] == 3  # a root alone needs no step


@UNTIL
def test_a_walk_that_never_ends_is_given_up(until_single_root):
    """Words 1 and 2 see each other only."""
    weights = np.zeros((4, 4))
    weights[2, 1] = weights[1, 2] = weights[0, 3] = 1.0
    _, count, steps = walks(weights, np.zeros(5, dtype=np.int64), 1000, until_single_root)
    assert (count, steps) == (0, 1001)
