"""Keys and numbers of trees that are none, each refused in a line; and numbers beyond the trees that there are."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.core.errors import DeptreeError
from deptree_cli.jax import sample, sample_without_replacement, stochastic_beam_search, top_k

SCORES = np.zeros((3, 3), dtype=np.float32)
BATCH, LENGTHS = np.zeros((2, 4, 4), dtype=np.float32), np.array([3, 2])

SAMPLERS = {
    "independent": sample,
    "without replacement": sample_without_replacement,
    "beam search": stochastic_beam_search,
}

EACH = pytest.mark.parametrize("name", SAMPLERS)


@EACH
@pytest.mark.parametrize(
    "key", [0, None, "a key", np.random.default_rng(0), SCORES], ids=lambda key: type(key).__name__
)
def test_what_is_no_key_is_refused(name: str, key: Any) -> None:
    with pytest.raises(
        DeptreeError, match=r"^the key, of type \w+, is none of jax.random\. Give a key of jax.random\.$"
    ):
        SAMPLERS[name](key, SCORES, 2)


@EACH
@pytest.mark.parametrize("make", [jax.random.key, jax.random.PRNGKey])
def test_one_key_is_for_all_sentences(name: str, make: Any) -> None:
    with pytest.raises(DeptreeError, match=r"^keys of shape \(3,\) are given\. Give a key of jax.random, one for all"):
        SAMPLERS[name](jax.random.split(make(0), 3), SCORES, 2)


@pytest.mark.parametrize("name", [*SAMPLERS, "top_k"])
@pytest.mark.parametrize("k", [0, -1, 2.5, None, True, "many"])
def test_as_many_trees_are_not_there(name: str, k: Any) -> None:
    ask = top_k if name == "top_k" else partial(SAMPLERS[name], jax.random.key(0))
    message = f"^{k} trees are asked for" if type(k) is int else f"^{k!r} is not a number of trees"
    with pytest.raises(DeptreeError, match=rf"{message}\. Ask for (an integer of )?1 or more"):
        ask(SCORES, k)


def test_a_traced_number_of_trees_is_refused() -> None:
    with pytest.raises(DeptreeError, match=r"is not a number of trees\. Ask for an integer of 1 or more, static"):
        jax.jit(top_k)(SCORES, 2)
    assert top_k(SCORES, np.int64(2)).shape == (2, 3)


@pytest.mark.slow("compile")
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("k", [10**9, 10**30])
def test_no_more_rows_than_trees(k: int) -> None:
    """At most 16 trees over three words, with one root 9; at most 3 over two, with one root 2."""
    key = jax.random.key(0)
    for heads in (
        top_k(BATCH, k, LENGTHS),
        sample_without_replacement(key, BATCH, k, LENGTHS).heads,
        stochastic_beam_search(key, BATCH, k, LENGTHS).heads,
        jax.jit(top_k, static_argnums=1)(BATCH, k, LENGTHS),
    ):
        assert heads.shape == (16, 2, 4)
        assert (np.asarray(heads) != -1).any(-1).sum(0).tolist() == [9, 2]
    assert top_k(BATCH, 20, LENGTHS).shape == (20, 2, 4)


def test_more_than_memory_holds() -> None:
    with pytest.raises(DeptreeError, match=r"^there is not enough memory for 1,000,000,000,000 trees\. Ask for fewer"):
        sample(jax.random.key(0), BATCH, 10**12)
