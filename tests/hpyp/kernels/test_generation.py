"""Sentences drawn from a model, against the probabilities of all short ones."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from deptree_cli.hpyp.kernels.configurations import generate
from tests.hpyp.kernels.toy_models import FIRST, Toy
from tests.hpyp.model.reference_parser import SHIFT, Configuration, Tree

LONGEST = 2
Outcome = tuple[tuple[int, ...], tuple[int, ...], Tree]  # words, tags, heads and labels; empty: longer
LONGER: Outcome = ((), (), ())


def shares(probs: list[float], possible: list[int]) -> dict[int, float]:
    """Probabilities given that the outcome is one of these."""
    total = sum(probs[outcome] for outcome in possible)
    return {outcome: probs[outcome] / total for outcome in possible}


class Outcomes:
    """All sentences of at most two words with their trees, and their probabilities."""

    def __init__(self, toy: Toy) -> None:
        self.toy, self.own = toy, toy.reference
        self.probs: defaultdict[Outcome, float] = defaultdict(float)
        self._go_on(Configuration(LONGEST + 1, toy.labels, single_root=False), (), (), 1.0)
        self.probs[LONGER] += 1 - sum(self.probs.values())

    def _go_on(self, at: Configuration, words: tuple[int, ...], tags: tuple[int, ...], prob: float) -> None:
        if at.stack == (0,) and words:
            self.probs[words, tags, at._replace(n=len(words)).tree()] += prob
            return
        actions = shares(self.own.action(at.context(self.own.action_elements, words, tags)), at.legal())
        for action, share in actions.items():
            if action != SHIFT:
                self._go_on(at.after(action), words, tags, prob * share)
            elif len(words) < LONGEST:
                self._shift(at, words, tags, prob * share)

    def _shift(self, at: Configuration, words: tuple[int, ...], tags: tuple[int, ...], prob: float) -> None:
        tag_probs = self.own.tag(at.context(self.own.tag_elements, words, tags))
        for tag, tag_share in shares(tag_probs, list(range(FIRST, self.toy.tags))).items():
            context = at.context(self.own.word_elements, words, (*tags, tag))
            word_shares = shares(self.own.word(context), list(range(FIRST, self.toy.words)))
            for word, word_share in word_shares.items():
                self._go_on(at.after(SHIFT), (*words, word), (*tags, tag), prob * tag_share * word_share)


def drawn(toy: Toy, longest: int, state) -> Outcome:
    """One sentence."""
    words, tags, heads, deprels = np.full((4, longest), 77, dtype=np.int32)
    n = generate(toy.model, longest, toy.words, state, words, tags, heads, deprels)
    tree = tuple((head, label + 1) for head, label in zip(heads[:n].tolist(), deprels[:n].tolist(), strict=True))
    return tuple(words[:n].tolist()), tuple(tags[:n].tolist()), tree


def test_long_sentences_are_trees(state) -> None:
    """With one root, words and tags from 2 on, and of many lengths; unlexicalised models leave words at 0."""
    for lexicalised in (True, False):
        toy, lengths = Toy(6, lexicalised=lexicalised), set()
        for _ in range(200):
            words, tags, tree = drawn(toy, 60, state)
            lengths.add(len(words))
            if words:
                assert sum(head == 0 for head, _ in tree) == 1
                assert min(tags) >= FIRST
                assert min(words) >= FIRST if lexicalised else set(words) == {0}
        assert len(lengths) > 3
