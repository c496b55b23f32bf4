"""What the tests of kernels share: factors of a graph in either kind of numbers, its trees by enumeration, and laws."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from numba import config
from numpy.typing import NDArray

from deptree_cli.core.factorisation import shift
from deptree_cli.core.numbers import REAL, Kind
from deptree_cli.core.spaces import space
from deptree_cli.kernels.elimination import WIDTH, factorise
from deptree_cli.kernels.trees import best_tree
from tests.oracle import Oracle
from tests.pearson import chi_square

Float = NDArray[np.float64]

# Plain Python takes a hundred times as long as machine code: fewer examples, and fewer draws for the laws.
DRAWS = 600 if config.DISABLE_JIT else 20_000
if config.DISABLE_JIT:
    settings.register_profile("interpreted", settings.get_profile("deptree"), max_examples=15)
    settings.load_profile("interpreted")

LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds


class Factors(NamedTuple):
    """What goes into `marginals.factorise` and comes out of it; constant: what the shift of columns took off."""

    kind: Kind
    single_root: bool
    shifted: Float
    weights: Any
    final_word: int
    A: Any
    S: Any
    log_z: float
    in_range: bool
    constant: float

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.shifted) - 1

    def room(self, *shape: int) -> Any:
        """Numbers that nobody may read: not zeros."""
        return self.kind.each(lambda part: np.full_like(part, 77), self.kind.zeros(shape))


def eliminated(
    log_scores: Float, single_root: bool = True, kind: Kind = REAL, final_word: int | None = None
) -> Factors:
    """Shift, exponentiate and eliminate; the root of the best tree is eliminated last unless it is said."""
    shifted, nodes = shift(log_scores, space(single_root)), len(log_scores)
    if final_word is None:
        heads = np.empty(nodes - 1, dtype=np.int32)
        best_tree(shifted.log_weights, single_root, heads)
        final_word = int(heads.argmin()) + 1
    weights = kind.exp(shifted.log_weights)
    A, S, workspace = map(kind.zeros, ((nodes, nodes), nodes, (3, WIDTH, nodes)))
    log_z, in_range = factorise(weights, final_word, A, S, workspace, single_root)
    return Factors(kind, single_root, shifted.log_weights, weights, final_word, A, S, log_z, in_range, shifted.constant)


@pytest.fixture(scope="session")
def factors() -> Any:
    """`eliminated`."""
    return eliminated


@pytest.fixture(scope="session")
def enumerated(graphs) -> Any:
    """Log-scores, (n+1, n+1), and whether trees have a single root -> every tree, with its probability."""
    return lambda log_scores, single_root=True: Oracle(graphs.distribution(log_scores, single_root))


@pytest.fixture(scope="session")
def check_law() -> Any:
    """H0: heads (k, n) are independent draws from trees (t, n) by log_probs (t,); rare trees are pooled."""

    def check(heads: NDArray[np.int32], trees: NDArray[np.int32], log_probs: Float) -> None:
        numbers = {tuple(tree): number for number, tree in enumerate(trees.tolist())}
        drawn = [numbers[tuple(tree)] for tree in heads.tolist()]  # any other tree is an error
        probs = np.exp(log_probs)
        assert chi_square(np.bincount(drawn, minlength=len(trees)), probs / probs.sum())[2] > LEVEL

    return check


@pytest.fixture(scope="session")
def draws() -> int:
    """How many trees to draw for a law."""
    return DRAWS


@pytest.fixture
def state() -> NDArray[np.uint64]:
    """The state of a generator, the same for every test."""
    return np.array([1, 2, 3, 4], dtype=np.uint64)
