"""Head distributions along a tree, against the sums of trees with these heads; and the set of trees drawn."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.numbers import REAL, WIDE
from deptree_cli.core.spaces import space
from deptree_cli.kernels.cells import place_of
from deptree_cli.kernels.head_path import FREE, LEVELS, PathTables, next_heads, path_in_range, set_head, start_path
from deptree_cli.kernels.numbers import wide_log


def tables_for(n, kind):
    """Not zeros: what was there before does no harm."""
    tables = PathTables(kind.zeros((n, 3 * n + LEVELS)), kind.zeros((2 + n.bit_length(), n)))
    for part in tables if kind is REAL else (tables.H[0], tables.R[0]):
        part[:] = np.nan
    return tables


def logs(numbers, kind):
    with np.errstate(divide="ignore"):
        return wide_log(numbers) if kind is WIDE else np.log(numbers)


def random_tree(n, rng, root):
    """Heads by node; all words hang on the node `root`, below it in a random order."""
    heads = np.full(n + 1, FREE)
    order = [root, *rng.permutation([word for word in range(1, n + 1) if word != root]).tolist()]
    for place in range(1, len(order)):
        heads[order[place]] = order[rng.integers(place)]
    return heads


def log_partition_given(log_scores, root, heads):
    """log Z of the trees that hang on the node `root` and have the given heads."""
    only, words = log_scores.copy(), np.flatnonzero(heads != FREE)
    given_scores = only[heads[words], words]
    only[:, words] = -np.inf
    only[heads[words], words] = given_scores
    if root:
        only[0, np.arange(len(only)) != root] = -np.inf
    try:
        return space(root > 0).factorise(only).log_z
    except DeptreeError:
        return -np.inf


def log_head_probs(log_scores, root, heads, word):
    """One sum for each head that the word might have."""
    with_head = np.tile(heads, (len(heads), 1))
    with_head[:, word] = np.arange(len(heads))
    sums = np.array([log_partition_given(log_scores, root, each) for each in with_head])
    return sums - log_partition_given(log_scores, root, heads)


@given(st.integers(2, 11), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 20.0]), st.booleans(), st.booleans())
def test_against_sums_of_trees(graphs, n, seed, scale, wide, single_root):
    """Entry by entry, for any order of the words, some of which have their heads before."""
    rng, kind, log_scores = np.random.default_rng(seed), WIDE if wide else REAL, graphs.gaussian(n, scale, seed % 1000)
    weights, root = kind.exp(log_scores), int(rng.integers(1, n + 1)) if single_root else 0
    tree = random_tree(n, rng, root)
    words = rng.permutation([word for word in range(1, n + 1) if word != root])
    given_first = int(rng.integers(0, len(words)))
    heads = np.full(n + 1, FREE)
    heads[words[:given_first]] = tree[words[:given_first]]
    tables, out = tables_for(n, kind), kind.zeros(n + 1)
    path = start_path(weights, root, heads, words[given_first:].copy(), True, tables)
    for word in words[given_first:]:
        depth = next_heads(path, weights, tables, tables, out)
        assert path_in_range(weights, path, depth, depth)
        expected = log_head_probs(log_scores, root, heads, word)
        np.testing.assert_allclose(logs(out, kind), expected, rtol=1e-12, atol=1e-12)
        heads[word] = tree[word]
        set_head(path, tree[word])


def test_a_full_neighbourhood_in_the_set_of_trees():
    """Trees in one place move on to the next, around the end of the table, which is far more than a quarter full."""
    trees = np.random.default_rng(3).permutation(1000)[:31, None].astype(np.int32)
    table = np.zeros(32, dtype=np.int64)
    for tree in range(30):
        table[place_of(trees, trees[tree], table)] = tree + 1
    assert sorted(table[table > 0]) == list(range(1, 31))
    assert [table[place_of(trees, tree, table)] for tree in trees] == [*range(1, 31), 0]
