"""Numbers of trees that are none, and as many rows of many as there are trees."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch import TreeDistribution
from deptree_cli.torch.losses import reinforce_loss

BATCH = TreeDistribution(torch.zeros(2, 4, 4), lengths=torch.tensor([3, 2]))

ASKED = {
    "sample": lambda k: BATCH.sample((k,)),
    "sample in two ways": lambda k: BATCH.sample((k, k)),
    "sample_without_replacement": BATCH.sample_without_replacement,
    "top_k": BATCH.top_k,
    "reinforce_loss": lambda k: reinforce_loss(torch.zeros(1, 4, 4), lambda trees: trees.sum(-1), k),
}


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("k", [-1, 1.5, None, "3", True], ids=repr)
def test_what_is_no_number_is_refused(kind: str, k: Any) -> None:
    problem = f"{k} trees are asked for" if k == -1 else f"{k!r} is not a number of trees"
    with pytest.raises(DeptreeError) as caught:
        ASKED[kind](k)
    assert str(caught.value) == f"{problem}. Ask for 1 or more."


@pytest.mark.parametrize("shape", [3, 1.5, None], ids=repr)
def test_a_number_is_no_shape(shape: Any) -> None:
    with pytest.raises(DeptreeError, match=rf"^the shape of samples is {shape}\. Give a tuple, \(5,\) for 5 trees"):
        BATCH.sample(shape)


@pytest.mark.parametrize("k", [10**9, 10**30])
def test_no_more_rows_than_trees(k: int) -> None:
    """9 trees of three words, 2 of two."""
    best, draws = BATCH.top_k(k), BATCH.sample_without_replacement(k)
    for found in (best, draws):
        assert found.trees.shape == (9, 2, 4)
        assert (found.trees[:, 1] == -1).all(-1).sum() == 7
        assert found.log_probs.exp().sum(0).tolist() == pytest.approx([1, 1])
    assert draws.weights.shape == (9, 2)
    assert draws.exhausted.all()
    assert BATCH.top_k(12).trees.shape == (12, 2, 4)  # as many rows as were asked for, where that is cheap


def test_more_than_memory_holds() -> None:
    with pytest.raises(DeptreeError, match=r"^there is not enough memory for 1,000,000,000,000 trees\. Ask for fewer"):
        BATCH.sample((10**6, 10**6))
