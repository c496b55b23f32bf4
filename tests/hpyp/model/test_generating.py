"""Sentences drawn from a parser, as `Annotated`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model import parsing
from deptree_cli.hpyp.model.parsing import generated
from deptree_cli.hpyp.model.sentences import Annotated
from tests.hpyp.kernels.test_generation import LONGER, LONGEST, Outcomes
from tests.hpyp.kernels.toy_models import Toy
from tests.hpyp.model.toy_parsers import sentence_of, trained_of
from tests.pearson import chi_square


def key(sentence: Annotated) -> tuple[object, ...]:
    """What two equal sentences have in common."""
    return sentence.forms, sentence.tags, tuple(sentence.heads.tolist()), sentence.deprels


@pytest.mark.slow("size")
def test_sentences_have_their_probabilities_among_those_that_are_short_enough() -> None:
    """H0: sentences with tags and trees are drawn by the model given that they have at most two words.

    10,000 sentences; chi-square over all of them, those expected fewer than five times pooled; p < 1e-6 by chance.
    """
    toy = Toy(5)
    probs = Outcomes(toy).probs
    longer = probs.pop(LONGER)
    names = [key(sentence_of(words, tags, tree)) for words, tags, tree in probs]
    trained, rng = trained_of(toy), np.random.default_rng(3)
    found = Counter(key(generated(trained, "x", rng, LONGEST)) for _ in range(10_000))
    assert set(found) <= set(names)
    observed = np.array([found[name] for name in names])
    assert chi_square(observed, np.array(list(probs.values())) / (1 - longer))[2] > 1e-6


def test_short_sentences_that_do_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """H0: a single trial is in vain with the probability of longer sentences.

    400 trials; the share is within 5 standard deviations (once in 1.7 million).
    """
    monkeypatch.setattr(parsing, "TRIALS", 1)
    toy = Toy(5)
    trained, rng, errors = trained_of(toy), np.random.default_rng(4), []
    for _ in range(400):
        try:
            generated(trained, "x", rng, LONGEST)
        except DeptreeError as error:
            errors.append(str(error))
    assert all(error.startswith("x: 1 sentences in a row had more than 2 words.") for error in errors)
    prob = Outcomes(toy).probs[LONGER]
    assert abs(len(errors) / 400 - prob) < 5 * np.sqrt(prob * (1 - prob) / 400)


def test_parsers_without_words() -> None:
    found = generated(trained_of(Toy(6, lexicalised=False)), "x", np.random.default_rng(1), 50)
    assert set(found.forms) == {"_"}
    assert found.sent_id == "x"
    found.check_tree()
