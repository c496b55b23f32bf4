"""What a model says of a configuration, against the reference."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import ROOT
from deptree_cli.hpyp.kernels.configurations import (
    new_arena,
    new_predictor,
    predict_actions,
    predict_tags,
    reduce,
    shift,
)
from tests.hpyp.kernels.toy_models import FIRST, Toy, as_arrays
from tests.hpyp.model.reference_parser import SHIFT, Configuration

LEXICALISED = pytest.mark.parametrize("lexicalised", [True, False], ids=["lexicalised", "unlexicalised"])


@pytest.mark.slow("size")
@LEXICALISED
@pytest.mark.parametrize("seed", range(3))
def test_probabilities_along_a_derivation(seed: int, lexicalised: bool) -> None:
    """Of all actions, of the next tag and word, and of every tag with the next word."""
    toy = Toy(seed, lexicalised=lexicalised)
    rng, model, own = np.random.default_rng(seed), toy.model, toy.reference
    words, tags = toy.sentence(6)
    predictor, configuration = new_predictor(model, *as_arrays(words, tags)), Configuration(6, toy.labels)
    arena, top = new_arena(20), ROOT
    while legal := configuration.legal():
        context = configuration.context(own.action_elements, words, tags)
        predict_actions(predictor, arena, top)
        np.testing.assert_allclose(predictor.action_probs, own.action(context), rtol=1e-12)
        action, place = int(rng.choice(legal)), configuration.shifted
        if action == SHIFT:
            shift_prob = own.action(context)[SHIFT]
            first, stop, found = predict_tags(predictor, arena, top, place + 1)
            assert (first, stop, found) == (tags[place], tags[place] + 1, predictor.tag_probs[tags[place]])
            assert shift_prob * found == pytest.approx(own.step(configuration, SHIFT, words, tags), rel=1e-12)
            check_all_tags(toy, arena, top, configuration, words, tags)
            top = shift(arena, top, place + 1, tags[place], words[place])
        else:
            top = reduce(arena, top, action, toy.labels)
        configuration = configuration.after(action)


def check_all_tags(toy, arena, top, configuration, words, tags) -> None:
    """The probability of every tag with the next word; those that no word can have are left out."""
    own, place = toy.reference, configuration.shifted
    shift_prob = own.action(configuration.context(own.action_elements, words, tags))[SHIFT]
    unknown = new_predictor(toy.model, *as_arrays(words, [0] * len(words)))
    first, stop, total = predict_tags(unknown, arena, top, place + 1)
    assert (first, stop) == (FIRST, toy.tags)
    expected = np.zeros(toy.tags)
    for tag in range(FIRST, toy.tags):
        expected[tag] = own.step(configuration, SHIFT, words, [*tags[:place], tag]) / shift_prob
    np.testing.assert_allclose(unknown.tag_probs[FIRST:], expected[FIRST:], rtol=1e-12)
    assert total == pytest.approx(expected.sum(), rel=1e-12)
