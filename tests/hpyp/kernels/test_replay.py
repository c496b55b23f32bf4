"""Probabilities of known derivations, against the reference."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import space
from deptree_cli.hpyp.kernels.oracle import replay
from tests.hpyp.kernels.toy_models import Toy, as_arrays
from tests.hpyp.model.reference_parser import SHIFT, Configuration, static_oracle

PROJECTIVE = space(single_root=True, projective=True)


def expected(toy: Toy, words: list[int], tags: list[int], actions: list[int]) -> list[float]:
    """The log-probabilities of actions, tags and words, each summed over the derivation."""
    own, at = toy.reference, Configuration(len(words), toy.labels)
    sums = [0.0, 0.0, 0.0]
    for action in actions:
        sums[0] += log(own.action(at.context(own.action_elements, words, tags))[action])
        if action == SHIFT:
            sums[1] += log(own.tag(at.context(own.tag_elements, words, tags))[tags[at.shifted]])
            if own.word is not None:
                sums[2] += log(own.word(at.context(own.word_elements, words, tags))[words[at.shifted]])
        at = at.after(action)
    return sums


@pytest.mark.parametrize("lexicalised", [True, False])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_replayed_derivations(n: int, lexicalised: bool) -> None:
    """Of all trees over n words, with random labels; what was there already is added to."""
    toy = Toy(7, lexicalised=lexicalised)
    for heads in all_trees(n, PROJECTIVE).tolist():
        words, tags = toy.sentence(n)
        tree = tuple((head, int(toy.rng.integers(1, toy.labels + 1))) for head in heads)
        actions = static_oracle(tree, toy.labels)
        log_probs = np.array([1.0, 2.0, 3.0])
        replay(toy.model, *as_arrays(words, tags, actions), log_probs)
        assert log_probs.tolist() == pytest.approx(np.add(expected(toy, words, tags, actions), [1, 2, 3]).tolist())
