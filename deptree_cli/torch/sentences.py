"""The sentences of a batch one by one: what is drawn and decoded by core's `TreeDistribution`, as padded tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deptree_cli.core.counts import how_many
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError, in_batch, name_in_batch

# The log-probability of a tree that there is not: so low that its exponential is 0, and finite, so that a weight of 0
# times it is 0.
NO_TREE = -1e30


def sentences(log_scores: Tensor, lengths: Tensor, space: str) -> list[TreeDistribution]:
    """Return the distribution of each sentence of a batch (B, N, N), lengths (B,), over the trees of a space.

    Raises:
        DeptreeError: names the sentence whose scores are none, or leave no tree.
    """
    scores = log_scores.detach().to("cpu", torch.float64).numpy()
    found = []
    for b, n in enumerate(lengths.tolist()):
        with in_batch(name_in_batch(b)):
            found.append(TreeDistribution(scores[b, : n + 1, : n + 1], space=space, id=name_in_batch(b)))
    return found


def checked_sample_shape(sample_shape: Any) -> torch.Size:
    """Return the shape of samples.

    Raises:
        DeptreeError: it is no sequence of integers of 0 or more.
    """
    if not isinstance(sample_shape, Sequence):
        problem = f"the shape of samples is {sample_shape!r}"
        raise DeptreeError(problem, "Give a tuple, (5,) for 5 trees of each sentence")
    return torch.Size([how_many(size) for size in sample_shape])


def streams(count: int, generator: torch.Generator | None) -> list[np.random.Generator]:
    """Return a random stream for each sentence, from one number of PyTorch's generator, its default one if None.

    So `torch.manual_seed` decides the trees, and those of a sentence do not depend on the sentences behind it.
    """
    device = "cpu" if generator is None else generator.device
    seed = int(torch.randint(2**63 - 1, (), generator=generator, device=device))
    root = np.random.SeedSequence(seed)
    return [np.random.Generator(np.random.PCG64(each)) for each in root.spawn(count)]


def padded_heads(trees: Sequence[Heads], size: int, nodes: int, device: torch.device) -> Tensor:
    """Return the trees of sentences, (m, n) each, as heads (size, B, N), -1 where there is no word or no tree."""
    found = np.full((size, len(trees), nodes), -1, dtype=np.int64)
    for b, rows in enumerate(trees):
        found[: len(rows), b, 1 : rows.shape[1] + 1] = rows
    return torch.from_numpy(found).to(device)


def padded_numbers(numbers: Sequence[Float], size: int, device: torch.device) -> Tensor:
    """Return a number for each tree, (m,) for each sentence, as (size, B) float64, 0 where there is no tree."""
    found = np.zeros((size, len(numbers)))
    for b, row in enumerate(numbers):
        found[: len(row), b] = row
    return torch.from_numpy(found).to(device)
