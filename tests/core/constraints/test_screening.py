"""Screens: a tree that breaks a rule is always suspected of it, and most that obey of none."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.factorisation import crossings
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rule_kinds import Together
from deptree_cli.core.rule_words import LabelledTree, Words
from deptree_cli.core.ruleset import Screen, first_conflicts
from deptree_cli.core.spaces import MULTI_ROOT
from deptree_cli.io.rules.reading import read_rules

LABELS = "root", "nsubj", "obj", "obl", "punct", "det", "mark", "goeswith", "conj"
TAGS = "NOUN", "VERB", "PUNCT", "DET", None


def test_what_breaks_a_rule_is_suspected_of_it() -> None:
    """Random labels and tags on all trees of four words; suspects are no more than half of the trees that obey."""
    rng, rules = np.random.default_rng(48), read_rules("ud")
    broken = suspected = obeying = 0
    for heads in all_trees(4, MULTI_ROOT):
        labels = rng.integers(1, len(LABELS), size=4).astype(np.int32)
        labels[heads == 0] = 0
        words = Words(LABELS, [TAGS[tag] for tag in rng.integers(0, len(TAGS), size=4)], [frozenset()] * 4)
        screen = Screen.of(rules.tree_rules, LABELS)
        suspects = screen.suspects(heads, labels, crossings(heads[None])[0])
        tree = LabelledTree(heads.tolist(), labels.tolist())
        finders = [rule.bound(words) for rule in rules.tree_rules]
        found = [number for number, find in enumerate(finders) if find and next(find(tree), None)]
        assert set(found) <= set(suspects)
        broken += bool(found)
        obeying += not found
        suspected += not found and bool(suspects)
    assert broken > 20
    assert suspected < obeying / 2


def test_conflicts_are_those_of_all_finders_in_order() -> None:
    rng, rules = np.random.default_rng(49), read_rules("ud")
    count = 0
    for heads in all_trees(4, MULTI_ROOT)[::2]:
        labels = rng.integers(1, len(LABELS), size=4).astype(np.int32)
        words = Words(LABELS, ["NOUN"] * 4, [frozenset()] * 4, spans=[(1, 2)])
        screened = rules.finders(words, [Together()])
        found = [each.words for each in first_conflicts(screened, heads, labels, 8)]
        assert found == [each.words for each in first_conflicts(list(screened), heads, labels, 8)]
        count += len(found)
    assert count > 50
