"""Sums in float32: near those in float64, and no digit depends on the other sentences of a batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deptree_cli.core.batches.packed import Batch
from deptree_cli.core.batches.sums import log_partitions, log_partitions_and_marginals
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT, space
from tests.core.batches.test_sums import padded


@pytest.mark.slow("compile")
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("scale", [1, 10, 50])
def test_float32(graphs, single_root: bool, scale: int) -> None:
    """Marginals to 3e-6, side by side and in panels, whatever the neighbours; far halves leave float32, not float64."""
    trees = space(single_root)
    sentences = [graphs.gaussian(n, scale, seed=n) for n in (1, 3, 4, 12, 23, 104)] + [graphs.disconnected(6, 100.0)]
    batch = replace(padded(sentences, trees, np.float32), precision="float32")
    exactly = log_partitions_and_marginals(replace(batch, precision="float64"))
    log_z, marginals, _ = log_partitions_and_marginals(batch)
    np.testing.assert_allclose(log_z, exactly[0], rtol=1e-6, atol=3e-5)
    np.testing.assert_allclose(marginals, exactly[1], rtol=0, atol=3e-6)
    assert log_partitions(batch).tobytes() == log_z.tobytes()
    for b in range(len(sentences)):
        one = replace(batch, log_scores=batch.log_scores[b : b + 1], lengths=batch.lengths[b : b + 1])
        assert log_partitions_and_marginals(one)[1].tobytes() == marginals[b].tobytes()


def test_an_unknown_precision(graphs) -> None:
    with pytest.raises(DeptreeError, match="unknown precision 'float23'"):
        Batch(graphs.gaussian(3)[None], np.array([3]), SINGLE_ROOT, "float23")
