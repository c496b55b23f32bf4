"""Heads and arcs as tensors: conversions, which heads are trees, and lengths that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, SINGLE_ROOT, TreeSpace
from deptree_cli.torch import ops


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_is_tree_of_all_heads(trees: TreeSpace, n: int) -> None:
    """Every n numbers from -1 to n + 1: the same are trees as core says, whatever stands at ROOT and in padding."""
    heads = np.stack(np.meshgrid(*[np.arange(-1, n + 2)] * n, indexing="ij"), axis=-1).reshape(-1, n)
    padded = torch.full((len(heads), n + 3), 5)
    padded[:, 1 : n + 1] = torch.from_numpy(heads)
    found = ops.is_tree(padded, torch.tensor(n), trees)
    np.testing.assert_array_equal(found, trees.contains(heads))


def test_is_tree_of_long_chains_in_a_batch() -> None:
    """A chain of 9 words, one that ends in a cycle, and one of 3 words, in any leading shape."""
    chain = torch.tensor([-1, 0, 1, 2, 3, 4, 5, 6, 7, 8])
    circle = torch.tensor([-1, 0, 3, 4, 5, 6, 7, 8, 9, 2])
    short = torch.tensor([-1, 2, 0, 2, 77, 77, 77, 77, 77, -1])
    heads, lengths = torch.stack([chain, circle, short]), torch.tensor([9, 9, 3])
    assert ops.is_tree(heads, lengths).tolist() == [True, False, True]
    assert ops.is_tree(heads.expand(2, 2, 3, 10), lengths).tolist() == [[[True, False, True]] * 2] * 2


def test_crossing_arcs_are_found() -> None:
    """Of many trees at once, ROOT before the first word."""
    heads = torch.tensor([[-1, 0, 4, 1, 1], [-1, 0, 1, 2, 1], [-1, 3, 0, 2, 2]]).repeat(5, 1)
    assert ops.is_tree(heads, torch.tensor(4), PROJECTIVE).tolist() == [False, True, False] * 5


def test_heads_to_arcs_and_back() -> None:
    heads = torch.tensor([[[4, 2, 0, 2, -1], [-1, 0, -1, -1, -1]]])
    arcs = ops.heads_to_arcs(heads)
    assert arcs.dtype == torch.float32
    assert arcs.shape == (1, 2, 5, 5)
    assert arcs.nonzero().tolist() == [[0, 0, 0, 2], [0, 0, 2, 1], [0, 0, 2, 3], [0, 1, 0, 1]]
    assert ops.arcs_to_heads(arcs).tolist() == [[[-1, 2, 0, 2, -1], [-1, 0, -1, -1, -1]]]


def test_arcs_are_trees_only_if_one_hot() -> None:
    """Two heads of a word, a half, or none make no tree; columns of padding and of ROOT do not count."""
    support = ops.TreeSupport(torch.tensor([2]), SINGLE_ROOT, "arcs")
    arcs = ops.heads_to_arcs(torch.tensor([[-1, 0, 1, -1]]))
    two, half, none, padding, halves = (arcs.clone() for _ in range(5))
    two[0, 2, 1] = 1.0
    half[0, 0, 1] = halves[0, 0, 1] = halves[0, 2, 1] = 0.5
    none[0, 0, 1] = 0.0
    padding[0, :, 3] = padding[0, :, 0] = 8.0
    assert support.check(arcs).tolist() == support.check(padding).tolist() == [True]
    assert [support.check(each).tolist() for each in (two, half, halves, none)] == [[False]] * 4
    assert repr(support) == "TreeSupport(single-root, as arcs)"
    whole = ops.TreeSupport(torch.tensor([2]), PROJECTIVE_MULTI, "heads")
    assert repr(whole) == "TreeSupport(projective-multi-root, as heads)"


def test_masks() -> None:
    lengths = torch.tensor([[2], [1]])
    assert ops.word_mask(lengths, 4).tolist() == [[[False, True, True, False]], [[False, True, False, False]]]
    arcs = ops.arc_mask(lengths, 4)
    assert arcs.nonzero().tolist() == [[0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 1, 2], [0, 0, 2, 1], [1, 0, 0, 1]]


@pytest.mark.parametrize(
    ("shape", "lengths", "message"),
    [
        ((3,), None, "log_scores are torch.float32 of shape (3,), not floats of (..., N, N)."),
        ((2, 3, 4), None, "log_scores are torch.float32 of shape (2, 3, 4), not floats of (..., N, N)."),
        ((2, 4, 4), [1, 2, 3], "lengths are torch.int64 of shape (3,), not integers of (2,)."),
        ((2, 4, 4), [2.0, 3.0], "lengths are torch.float32 of shape (2,), not integers of (2,)."),
        ((2, 4, 4), [3, 4], "sentence 1 of the batch: the length is 4, not 1 to 3."),
        ((2, 4, 4), [0, 3], "sentence 0 of the batch: the length is 0, not 1 to 3."),
        ((1, 2, 4, 4), [[1, -2]], "sentence 1 of the batch: the length is -2, not 1 to 3."),
    ],
)
def test_lengths_are_refused(shape: tuple[int, ...], lengths: Any, message: str) -> None:
    given = None if lengths is None else torch.tensor(lengths)
    with pytest.raises(DeptreeError) as error:
        ops.checked_lengths(torch.zeros(shape), given)
    assert str(error.value).startswith(message)
