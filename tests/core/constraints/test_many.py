"""Rules over the trees of many sentences at once: what they find is what they find in each by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rule_kinds import Function, Together
from deptree_cli.core.rule_words import ManyTrees, Words
from deptree_cli.core.ruleset import Ruleset, broken, broken_in_many
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, SINGLE_ROOT, TreeSpace
from deptree_cli.io.rules.reading import read_rules
from tests.random_rules import FEATS, LABELS, TAGS, random_case

Sentence = tuple[Words, list[int], list[str]]

# Labels about which the rules of Universal Dependencies have something to say.
OF_UD = ("nsubj", "obj", "case", "mark", "aux", "cc", "advmod", "punct", "conj", "fixed", "goeswith", "obl", "Bad", "")


def sentences(rng: np.random.Generator, labels: Sequence[str], tags: Sequence[str]) -> list[Sentence]:
    found = []
    for _ in range(40):
        n = int(rng.integers(1, 6))
        trees = all_trees(n, MULTI_ROOT)
        heads = trees[rng.integers(len(trees))].tolist() if rng.random() < 0.8 else rng.integers(-1, n + 2, n).tolist()
        upos = [None if rng.random() < 0.1 else str(rng.choice(tags)) for _ in range(n)]
        upos = upos if rng.random() < 0.9 else [None] * n
        feats = [frozenset(each for each in FEATS if rng.random() < 0.2) for _ in range(n)]
        feats = feats if rng.random() < 0.6 else [frozenset()] * n
        found.append((Words((), upos, feats), heads, [str(rng.choice(labels)) for _ in range(n)]))
    return found


def many(given: Sequence[Sentence]) -> ManyTrees:
    words = [each for known, *_ in given for each in zip(known.upos, known.feats, strict=True)]
    labels = [label for *_, own in given for label in own]
    kinds, names = list(dict.fromkeys(words)), tuple(dict.fromkeys(labels))
    return ManyTrees(
        np.cumsum([0, *(len(heads) for _, heads, _ in given)]),
        np.array([head for _, heads, _ in given for head in heads]),
        np.array([names.index(label) for label in labels]),
        np.array([kinds.index(word) + 1 for word in words]),
        Words(names, *map(list, zip(*kinds, strict=True))),
    )


def agree(rules: Ruleset, given: Sequence[Sentence], space: TreeSpace) -> int:
    """Check all that are trees; how many places were found."""
    trees = many(given)
    sound = trees.are_trees(space)
    chosen = [each for each, is_tree in zip(given, sound, strict=True) if is_tree]
    alone = [broken(rules, words, heads, labels, space) for words, heads, labels in chosen]
    assert broken_in_many(rules, trees.only(sound)) == alone
    return sum(map(len, alone))


@pytest.mark.parametrize("space", [SINGLE_ROOT, MULTI_ROOT, PROJECTIVE], ids=lambda space: space.name)
def test_rules_of_universal_dependencies(space: TreeSpace) -> None:
    rng, rules, found = np.random.default_rng(20261127), read_rules("ud"), 0
    for _ in range(25):
        given = sentences(rng, OF_UD, ("NOUN", "VERB", "PUNCT", "AUX", "X", "PROPN"))
        found += agree(rules, given, space)
    assert found > 1000


def test_random_rules_of_every_kind() -> None:
    rng, found = np.random.default_rng(20261128), 0
    for seed in range(300):
        rules = random_case(MULTI_ROOT, seed).rules
        rules = Ruleset("random", tuple(rule for rule in rules.rules if not isinstance(rule, Function | Together)))
        found += agree(rules, sentences(rng, (*LABELS, "case"), TAGS), MULTI_ROOT)
    assert found > 3000


def test_which_sentences_have_trees() -> None:
    given = [
        (Words((), [None] * len(heads), [frozenset()] * len(heads)), heads, [""] * len(heads))
        for heads in ([2, 0], [0], [2, 1], [0, 0], [3, 0, 2], [-1, 0], [2, 3], [1])
    ]
    assert many(given).are_trees(SINGLE_ROOT).tolist() == [True, True, False, False, True, False, False, False]
    assert many(given).are_trees(MULTI_ROOT).tolist() == [True, True, False, True, True, False, False, False]
