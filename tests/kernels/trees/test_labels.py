"""Labels by their probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.kernels.trees import draw_labels


def label_of(probs: list[float], uniform: float) -> int:
    """The label of the one arc of a sentence of one word."""
    table = np.full((2, 2, len(probs)), np.nan)
    table[0, 1] = probs
    labels = np.full((1, 1), -9, dtype=np.int32)
    draw_labels(table, np.array([[0]], dtype=np.int32), np.array([[uniform]]), labels)
    return int(labels[0, 0])


@pytest.mark.parametrize(("uniform", "label"), [(0.0, 1), (0.249, 1), (0.25, 2), (0.749, 2), (0.75, 4), (0.999, 4)])
def test_a_label_has_its_share_of_the_unit_interval(uniform: float, label: int) -> None:
    assert label_of([0.0, 0.25, 0.5, 0.0, 0.25], uniform) == label


def test_what_rounding_leaves_over_goes_to_the_last_possible_label() -> None:
    assert label_of([0.5, 0.5 - 1e-9, 0.0], 1 - 1e-12) == 1


def test_every_arc_has_its_own_distribution() -> None:
    """One that is certain, for every head and word."""
    n, rng = 4, np.random.default_rng(1)
    certain = rng.integers(0, 3, size=(n + 1, n + 1))
    heads = rng.integers(0, n + 1, size=(50, n)).astype(np.int32)
    labels = np.full((50, n), -9, dtype=np.int32)
    draw_labels(np.eye(3)[certain], heads, rng.random((50, n)), labels)
    assert (labels == certain[heads, np.arange(1, n + 1)]).all()
