"""What a model says of a configuration, against the reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deptree_cli.kernels.hpyp.columns import RECORD, ROOT
from deptree_cli.kernels.hpyp.configurations import begin, reduce, shift
from deptree_cli.kernels.hpyp.model import draw, new_workspace, predict_actions, tag_and_word, tags_with_word
from tests.core.hpyp.reference_parser import SHIFT, Configuration
from tests.kernels.hpyp.toy_models import FIRST, Toy
from tests.pearson import chi_square

LEXICALISED = pytest.mark.parametrize("lexicalised", [True, False], ids=["lexicalised", "unlexicalised"])


@LEXICALISED
@pytest.mark.parametrize("seed", range(3))
def test_probabilities_along_a_derivation(seed: int, lexicalised: bool) -> None:
    """Of all actions, of the next tag and word, and of every tag with the next word."""
    toy = Toy(seed, lexicalised=lexicalised)
    rng, model, own = np.random.default_rng(seed), toy.model, toy.reference
    words, tags = toy.sentence(6)
    records, workspace, configuration = (
        np.empty((20, RECORD), dtype=np.int32),
        new_workspace(model),
        Configuration(6, toy.labels),
    )
    used, top = begin(records), ROOT
    while legal := configuration.legal():
        context = configuration.context(own.action_elements, words, tags)
        predict_actions(model, records, top, workspace)
        np.testing.assert_allclose(workspace.actions, own.action(context), rtol=1e-12)
        action, place = int(rng.choice(legal)), configuration.shifted
        if action == SHIFT:
            shift_prob = own.action(context)[SHIFT]
            found = tag_and_word(model, records, top, tags[place], words[place], workspace)
            assert shift_prob * found == pytest.approx(own.step(configuration, SHIFT, words, tags), rel=1e-12)
            check_all_tags(toy, records, top, workspace, configuration, words, tags)
            shift(records, used, top, place + 1, tags[place], words[place])
        else:
            reduce(records, used, top, action, toy.labels)
        top, used, configuration = used, used + 1, configuration.after(action)


def check_all_tags(toy, records, top, workspace, configuration, words, tags) -> None:
    """The probability of every tag with the next word; those that no word can have are left out."""
    own, place = toy.reference, configuration.shifted
    shift_prob = own.action(configuration.context(own.action_elements, words, tags))[SHIFT]
    total = tags_with_word(toy.model, records, top, words[place], workspace)
    expected = np.zeros(toy.tags)
    for tag in range(FIRST, toy.tags):
        expected[tag] = own.step(configuration, SHIFT, words, [*tags[:place], tag]) / shift_prob
    np.testing.assert_allclose(workspace.tags, expected, rtol=1e-12)
    assert total == pytest.approx(expected.sum(), rel=1e-12)


def test_draws_follow_weights(draws, state) -> None:
    """H0: an index is drawn in proportion to its weight; 20,000 draws (600 in plain Python), chi-square, p < 1e-6."""
    weights = np.array([0.0, 0.1, 0.0, 0.5, 0.2, 0.0])
    counts = Counter(int(draw(weights, weights.sum(), state)) for _ in range(draws))
    assert set(counts) == {1, 3, 4}
    assert chi_square(np.array([counts[1], counts[3], counts[4]]), np.array([0.125, 0.625, 0.25]))[2] > 1e-6
    all_bits = np.array([2**64 - 1, 0, 0, 0], dtype=np.uint64)  # as large a random number as there is
    assert draw(weights, 0.9, all_bits) == 4
