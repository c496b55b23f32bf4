"""As many digits as the manual says: against enumeration in multi-precision arithmetic."""

from __future__ import annotations

import re
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import SPACES, TreeSpace

MANUAL = Path(__file__).parents[2] / "docs" / "how_it_works.md"
SCALES = (1, 2, 5, 20, 100, 200)


def promised(quantity: str) -> list[float]:
    """The numbers in its row of the table."""
    row = re.search(rf"^\| {quantity} \|(.*)\|$", MANUAL.read_text(encoding="utf-8"), re.MULTILINE)
    assert row
    return [float(number) for number in re.findall(r"\d+e-\d+", row[1])]


@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
def test_errors_are_no_larger_than_the_manual_says(graphs, trees: TreeSpace) -> None:
    """17 graphs of each space, of 2 to 5 words and Gaussian scores; of one with a log Z of 3 from scores of 100."""
    relative, absolute, of_scores = promised("log Z")
    (of_marginals,) = promised("marginals")
    for seed in (*range(16), 124):
        n, scale = 2 + seed % 4, SCALES[seed % len(SCALES)]
        scores, heads = graphs.gaussian(n, scale, seed), all_trees(n, trees)
        largest = np.abs(scores[np.isfinite(scores)]).max()
        with mp.workdps(60):
            weights = [[mp.exp(float(score)) for score in row] for row in np.where(np.isneginf(scores), 0.0, scores)]
            of_trees = [mp.fprod(weights[head][word] for word, head in enumerate(tree, 1)) for tree in heads.tolist()]
            z, marginals = mp.fsum(of_trees), mp.matrix(n + 1, n + 1)
            for tree, weight in zip(heads.tolist(), of_trees, strict=True):
                for word, head in enumerate(tree, 1):
                    marginals[head, word] += weight / z
            found, log_z = TreeDistribution(scores, space=trees), mp.log(z)
            within = max(relative * abs(log_z), absolute, of_scores * largest)
            assert abs(found.log_partition - log_z) <= within
            assert max(map(abs, mp.matrix(found.marginals()) - marginals)) <= of_marginals
