"""What breaks rules, kind by kind; and what is not a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rules import Function, Words
from deptree_cli.core.ruleset import Ruleset, Violation, broken
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE
from deptree_cli.io.rules.reading import ruleset_of
from tests.random_rules import random_case

HEADS, LABELS = [2, 0, 2, 2], ["nsubj", "root", "obj", "punct"]
WORDS = Words((), ["NOUN", "VERB", None, "PUNCT"], [frozenset({"Case=Nom"}), *[frozenset()] * 3])


# What makes heads no tree.
TREES = {"invalid-head", "unknown-head", "head-self-loop", "multiple-roots", "non-tree"}


def places(
    table: Mapping[str, object], heads: Sequence[int] = HEADS, labels: Sequence[str] = LABELS
) -> list[Violation]:
    return broken(ruleset_of("mine", table), WORDS, heads, labels)


@pytest.mark.parametrize(
    ("kind", "rule", "words"),
    [
        ("mask", {"label": "obj", "direction": "right"}, (3,)),
        ("mask", {"label": "nsubj", "upos": "PRON", "allow": True}, (1,)),
        ("mask", {"label": "nsubj", "feats": "Case=Nom", "head-upos": "VERB"}, (1,)),
        ("mask", {"label": ["!root"], "distance": [2, 9]}, (4,)),
        ("mask", {"label": "root", "root": True}, (2,)),
        ("at-most-one", {"label": ["nsubj", "obj"]}, (1, 3)),
        ("leaf", {"label": "root"}, None),
        ("below", {"upos": "VERB", "deny": ["obj"]}, (3, 2)),
        ("below", {"upos": "VERB", "deny": ["obj"], "unless": ["nsubj"]}, ()),
        ("below", {"upos": "VERB", "deny": ["obj"], "unless": ["root"]}, (3, 2)),
        ("no-gaps", {"label": "punct"}, (4, 3)),
        ("no-gaps", {"label": "obj"}, ()),
        ("projective", {"label": "punct"}, ()),
        ("out-of-gaps", {"label": "punct"}, ()),
        ("no-crossing", {"label": "punct"}, ()),
    ],
)
def test_a_rule_and_the_words_that_break_it(kind: str, rule: dict[str, object], words: tuple[int, ...] | None) -> None:
    """A conflict's words are those whose arcs break the rule, not those that might have excused it."""
    found = places({kind: [{"name": "it", **rule}]})
    if words is None:
        assert [each.words for each in found] == [(1, 2), (3, 2), (4, 2)]
    else:
        assert found == ([Violation("it", words[0], words)] if words else [])


def test_crossing_arcs() -> None:
    found = places({"no-crossing": ["punct"]}, [3, 0, 2, 2], ["punct", "root", "obj", "obl"])
    assert found == [Violation("no-crossing punct", 1, (1, 2))]
    assert places({"projective": ["punct"]}, [3, 0, 2, 2], ["punct", "root", "obj", "obl"])[0].words == (1, 2)


def test_spans_and_rules_of_ones_own() -> None:
    """Whatever a function names; a stretch of words of which two have their heads outside."""
    rules = Ruleset("mine", (Function("long", lambda heads, labels: (4, 1) if labels[3] == "punct" else None),))
    spanned = Words((), WORDS.upos, WORDS.feats, spans=((3, 4), (1, 2)))
    assert broken(rules, spanned, HEADS, LABELS) == [Violation("long", 4, (4, 1)), Violation("spans", 3, (3, 4))]


def test_every_word_too_many_is_a_place() -> None:
    """Of three words of a stretch with their heads outside, of three subjects of a verb."""
    spanned = Words((), WORDS.upos, WORDS.feats, spans=((1, 3),))
    assert [each.words for each in broken(Ruleset("none", ()), spanned, [4, 4, 4, 0], LABELS)] == [(1, 2), (1, 3)]
    found = places({"at-most-one": ["nsubj"]}, [4, 4, 4, 0], ["nsubj", "nsubj", "nsubj", "root"])
    assert [each.words for each in found] == [(1, 2), (1, 3)]


def test_what_is_not_known_breaks_nothing() -> None:
    """A word without a label has none of those that a rule names, `!these` neither; one without UPOS is left out."""
    assert not places({"mask": [{"label": ["!nsubj", "!root"]}]}, labels=["nsubj", "root", "", ""])
    assert not places({"mask": [{"label": "obj", "upos": "NOUN", "allow": True}]})
    assert places({"mask": [{"distance": [2, 9], "label": []}]}, labels=["", "", "", ""])


@pytest.mark.parametrize(
    ("heads", "labels", "problem"),
    [
        ([2, 0, 2], LABELS, "3 heads given for a sentence of 4 words"),
        (HEADS, LABELS[:1], "1 label given for a sentence of 4 words"),
    ],
)
def test_another_number_of_heads_or_labels(heads: list[int], labels: list[str], problem: str) -> None:
    with pytest.raises(DeptreeError, match=problem):
        places({"leaf": ["punct"]}, heads, labels)


@pytest.mark.parametrize(
    ("heads", "found"),
    [
        ([2, 0, 2, 2], []),
        ([2, 0, 3, 2], [("head-self-loop", 3)]),
        ([2, 0, 5, -1], [("invalid-head", 4), ("unknown-head", 3)]),
        ([0, 0, 2, 0], [("multiple-roots", 1, 2, 4)]),
        ([2, 1, 4, 3], [("non-tree", 1, 2), ("non-tree", 3, 4)]),
        ([4, 0, 1, 3], [("non-tree", 1, 3, 4)]),
        ([-1, 0, -1, -2], [("invalid-head", 1, 3, 4)]),
        ([-1, 4, 2, 2], [("invalid-head", 1), ("non-tree", 2, 4)]),
    ],
)
def test_what_is_no_tree(heads: list[int], found: list[tuple[str, int]]) -> None:
    """Each cycle is a place, so are all roots together, and all words without a head; what hangs there is not named."""
    nothing = Ruleset("none", ())
    expected = [(name, words[0], tuple(words)) for name, *words in found]
    assert broken(nothing, WORDS, heads, LABELS) == expected
    several = broken(nothing, WORDS, heads, LABELS, MULTI_ROOT)
    assert several == [each for each in expected if each[0] != "multiple-roots"]


def test_trees_of_another_space() -> None:
    """Crossing arcs are named after the space, at each of the words whose arc is crossed."""
    nothing = Ruleset("none", ())
    crossed = [("projective", 1, (1, 2)), ("projective", 2, (2, 1))]
    assert broken(nothing, WORDS, [3, 4, 4, 0], LABELS, PROJECTIVE) == crossed
    assert broken(nothing, WORDS, [3, 4, 4, 0], LABELS) == []
    assert broken(nothing, WORDS, [3, 4, 9, 0], LABELS, PROJECTIVE) == [("unknown-head", 3, (3,)), *crossed]


def test_what_heads_that_are_missing_would_decide_is_left_out() -> None:
    """A label by itself, a part of speech and dependents are known; heads, excuses and what stands in gaps are not."""
    arcs = {"mask": [{"name": "no", "label": "obj"}, {"name": "root-is-not-0", "label": "root", "root": False}]}
    assert places(arcs, [-1, 3, 0, 2], ["obj", "root", "root", "root"]) == [
        ("invalid-head", 1, (1,)),
        ("no", 1, (1,)),
        ("root-is-not-0", 2, (2,)),
        ("root-is-not-0", 4, (4,)),
    ]
    excused = {"below": [{"name": "no", "upos": "VERB", "deny": ["obj"], "unless": ["cop"]}]}
    for label, is_decided in (("nsubj", True), ("cop", False)):
        found = places(excused, [9, 0, 2, 2], [label, "root", "obj", "cop:x" if is_decided else "punct"])
        assert [each.rule for each in found] == ["unknown-head"]  # excused, or it may be
    assert places(excused, [9, 0, 2, 2], ["nsubj", "root", "obj", "punct"])[1:] == [("no", 3, (3, 2))]
    gaps = {"no-gaps": [{"name": "no", "label": "flat"}]}
    assert places(gaps, [0, -1, 1, 1], ["root", "flat", "flat", "det"]) == [("invalid-head", 2, (2,))]
    assert ("no", 3, (3, 2)) in places(gaps, [0, -1, 1, 1], ["root", "det", "flat", "det"])


def test_functions_are_asked_about_trees_only() -> None:
    rules = Ruleset("mine", (Function("all", lambda heads, labels: (1,)),))
    assert [each.rule for each in broken(rules, WORDS, HEADS, LABELS)] == ["all"]
    assert [each.rule for each in broken(rules, WORDS, [2, 1, 2, 2], LABELS)] == ["non-tree"]


def test_what_is_broken_without_a_head_is_so_with_any_head() -> None:
    """Random rules of every kind on random heads: in all trees that have those that are known, the rule is broken."""
    rng, found = np.random.default_rng(20261126), 0
    for seed in range(600):
        case = random_case(MULTI_ROOT, seed)
        n = case.words.n
        heads = rng.integers(-1, n + 2, n)
        labels = [str(rng.choice([*filter(None, case.names), "det"])) for _ in range(n)]
        rules = {each.rule for each in broken(case.rules, case.known, heads.tolist(), labels, MULTI_ROOT)} - TREES
        known = (heads >= 0) & (heads <= n) & (heads != np.arange(1, n + 1))
        trees = all_trees(n, MULTI_ROOT)
        trees = trees[(trees == heads)[:, known].all(axis=1)].tolist()
        for tree in trees:
            assert rules <= {each.rule for each in broken(case.rules, case.known, tree, labels, MULTI_ROOT)}
        found += bool(rules and trees) and not known.all()
    assert found > 80
