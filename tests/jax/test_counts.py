"""Numbers of trees beyond those that there are."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.jax import sample, sample_without_replacement, stochastic_beam_search, top_k

pytestmark = pytest.mark.usefixtures("quick")


SCORES = np.zeros((2, 4, 4), dtype=np.float32)
LENGTHS = np.array([3, 2])


@pytest.mark.parametrize("k", [10**9, 10**30])
def test_no_more_rows_than_trees(k: int) -> None:
    """At most 16 trees over three words, with one root 9; at most 3 over two, with one root 2."""
    key = jax.random.key(0)
    for heads in (
        top_k(SCORES, k, LENGTHS),
        sample_without_replacement(key, SCORES, k, LENGTHS).heads,
        stochastic_beam_search(key, SCORES, k, LENGTHS).heads,
        jax.jit(top_k, static_argnums=1)(SCORES, k, LENGTHS),
    ):
        assert heads.shape == (16, 2, 4)
        assert (np.asarray(heads) != -1).any(-1).sum(0).tolist() == [9, 2]
    assert top_k(SCORES, 20, LENGTHS).shape == (20, 2, 4)


def test_more_than_memory_holds() -> None:
    with pytest.raises(DeptreeError, match=r"^there is not enough memory for 1,000,000,000,000 trees\. Ask for fewer"):
        sample(jax.random.key(0), SCORES, 10**12)


@pytest.mark.parametrize("k", [-1, 0, 1.5, True])
def test_what_is_no_number_is_refused(k: object) -> None:
    with pytest.raises(DeptreeError, match=r"Ask for (an integer of )?1 or more"):
        top_k(SCORES, k)
