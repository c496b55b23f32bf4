"""What a model says of a configuration, against the reference."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import ROOT
from deptree_cli.hpyp.kernels.configurations import begin, reduce, shift
from deptree_cli.hpyp.kernels.model import new_workspace, predict_actions, weigh_tags
from tests.hpyp.kernels.toy_models import FIRST, Toy
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
    workspace, configuration = new_workspace(model), Configuration(6, toy.labels)
    (records, used), top = begin(20), ROOT
    while legal := configuration.legal():
        context = configuration.context(own.action_elements, words, tags)
        predict_actions(model, records, top, workspace)
        np.testing.assert_allclose(workspace.actions, own.action(context), rtol=1e-12)
        action, place = int(rng.choice(legal)), configuration.shifted
        if action == SHIFT:
            shift_prob = own.action(context)[SHIFT]
            first, stop, found = weigh_tags(model, records, top, tags[place], words[place], workspace)
            assert (first, stop, found) == (tags[place], tags[place] + 1, workspace.tags[tags[place]])
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
    first, stop, total = weigh_tags(toy.model, records, top, 0, words[place], workspace)
    assert (first, stop) == (FIRST, toy.tags)
    expected = np.zeros(toy.tags)
    for tag in range(FIRST, toy.tags):
        expected[tag] = own.step(configuration, SHIFT, words, [*tags[:place], tag]) / shift_prob
    np.testing.assert_allclose(workspace.tags[FIRST:], expected[FIRST:], rtol=1e-12)
    assert total == pytest.approx(expected.sum(), rel=1e-12)
