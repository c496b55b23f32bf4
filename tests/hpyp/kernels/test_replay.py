"""Probabilities of known derivations, against the reference."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import space
from deptree_cli.hpyp.kernels.oracle import replay
from tests.hpyp.kernels.toy_models import Toy, as_arrays
from tests.hpyp.model.reference_parser import static_oracle

PROJECTIVE = space(single_root=True, projective=True)


@pytest.mark.parametrize("lexicalised", [True, False])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_replayed_derivations(n: int, lexicalised: bool) -> None:
    """Of all trees over n words, with random labels; what was there already is added to."""
    toy = Toy(7, lexicalised=lexicalised)
    for heads in all_trees(n, PROJECTIVE).tolist():
        words, tags = toy.sentence(n)
        tree = tuple((head, int(toy.rng.integers(1, toy.labels + 1))) for head in heads)
        actions = static_oracle(tree, toy.labels)
        before = np.array([1.0, 2.0, 3.0])
        log_probs = before.copy()
        replay(toy.model, *as_arrays(words, tags, actions), log_probs)
        assert log_probs == pytest.approx(before + toy.reference.log_probs(words, tags, actions))
