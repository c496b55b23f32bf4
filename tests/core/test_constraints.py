"""What breaks rules, kind by kind, and what is not a tree; nogoods by what they promise; masks and labels."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rules import Function, LabelledTree, NoGaps, Together, Words, forbidden
from deptree_cli.core.ruleset import LabelNumbers, Ruleset, Violation, broken
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE
from deptree_cli.io.rules.reading import read_rules, ruleset_of
from tests.random_rules import KINDS, Sentence, Tree, hangs_together, obeys, random_case

HEADS, LABELS = [2, 0, 2, 2], ["nsubj", "root", "obj", "punct"]
WORDS = Words((), ["NOUN", "VERB", None, "PUNCT"], [frozenset({"Case=Nom"}), *[frozenset()] * 3])
NONE = Ruleset("none", ())


def places(table, heads=HEADS, labels=LABELS):
    return broken(ruleset_of("mine", table), WORDS, heads, labels)


@pytest.mark.parametrize(
    ("kind", "rule", "words"),
    [
        ("mask", {"label": "obj", "direction": "right"}, [(3,)]),
        ("mask", {"label": "nsubj", "upos": "PRON", "allow": True}, [(1,)]),
        ("mask", {"label": "nsubj", "feats": "Case=Nom", "head-upos": "VERB"}, [(1,)]),
        ("mask", {"label": ["!root"], "distance": [2, 9]}, [(4,)]),
        ("mask", {"label": "root", "root": True}, [(2,)]),
        ("at-most-one", {"label": ["nsubj", "obj"]}, [(1, 3)]),
        ("leaf", {"label": "root"}, [(1, 2), (3, 2), (4, 2)]),
        ("below", {"upos": "VERB", "deny": ["obj"]}, [(3, 2)]),
        ("below", {"upos": "VERB", "deny": ["obj"], "unless": ["nsubj"]}, []),
        ("below", {"upos": "VERB", "deny": ["obj"], "unless": ["root"]}, [(3, 2)]),
        ("no-gaps", {"label": "punct"}, [(4, 3)]),
        *((kind, {"label": "punct"}, []) for kind in ("projective", "out-of-gaps", "no-crossing")),
    ],
)
def test_a_rule_and_the_words_that_break_it(kind, rule, words):
    found = places({kind: [{"name": "it", **rule}]})
    assert found == [Violation("it", each[0], each) for each in words]


def test_every_word_too_many_is_a_place():
    crossing = [3, 0, 2, 2], ["punct", "root", "obj", "obl"]
    assert places({"no-crossing": ["punct"]}, *crossing) == [Violation("no-crossing punct", 1, (1, 2))]
    assert places({"projective": ["punct"]}, *crossing)[0].words == (1, 2)
    spanned = Words((), WORDS.upos, WORDS.feats, spans=((1, 3),))
    assert [each.words for each in broken(NONE, spanned, [4, 4, 4, 0], LABELS)] == [(1, 2), (1, 3)]
    found = places({"at-most-one": ["nsubj"]}, [4, 4, 4, 0], ["nsubj", "nsubj", "nsubj", "root"])
    assert [each.words for each in found] == [(1, 2), (1, 3)]


def test_rules_of_ones_own():
    rules = Ruleset("mine", (Function("long", lambda heads, labels: (4, 1) if labels[3] == "punct" else None),))
    spanned = Words((), WORDS.upos, WORDS.feats, spans=((3, 4), (1, 2)))
    assert broken(rules, spanned, HEADS, LABELS) == [Violation("long", 4, (4, 1)), Violation("spans", 3, (3, 4))]
    assert [each.rule for each in broken(rules, WORDS, [2, 1, 2, 2], LABELS)] == ["non-tree"]


def test_what_is_not_known_breaks_nothing():
    assert not places({"mask": [{"label": ["!nsubj", "!root"]}]}, labels=["nsubj", "root", "", ""])
    assert not places({"mask": [{"label": "obj", "upos": "NOUN", "allow": True}]})
    assert places({"mask": [{"distance": [2, 9], "label": []}]}, labels=["", "", "", ""])


def test_another_number_of_heads_or_labels():
    with pytest.raises(DeptreeError, match="3 heads given for a sentence of 4 words"):
        places({"leaf": ["punct"]}, HEADS[:3])
    with pytest.raises(DeptreeError, match="1 label given for a sentence of 4 words"):
        places({"leaf": ["punct"]}, HEADS, LABELS[:1])


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
def test_what_is_no_tree(heads, found):
    """Each cycle is a place, so are all roots together, and all words without a head; what hangs there is not named."""
    expected = [(name, words[0], tuple(words)) for name, *words in found]
    assert broken(NONE, WORDS, heads, LABELS) == expected
    several = broken(NONE, WORDS, heads, LABELS, MULTI_ROOT)
    assert several == [each for each in expected if each[0] != "multiple-roots"]


def test_trees_of_another_space():
    crossed = [("projective", 1, (1, 2)), ("projective", 2, (2, 1))]
    assert broken(NONE, WORDS, [3, 4, 4, 0], LABELS, PROJECTIVE) == crossed
    assert broken(NONE, WORDS, [3, 4, 4, 0], LABELS) == []
    assert broken(NONE, WORDS, [3, 4, 9, 0], LABELS, PROJECTIVE) == [("unknown-head", 3, (3,)), *crossed]


def test_what_heads_that_are_missing_would_decide_is_left_out():
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


def test_what_is_broken_without_a_head_is_so_with_any_head():
    rng, found = np.random.default_rng(20261126), 0
    for seed in range(600):
        case = random_case(MULTI_ROOT, seed)
        n, trees = case.words.n, all_trees(case.words.n, MULTI_ROOT)
        heads = rng.integers(-1, n + 2, n)
        labels = [str(rng.choice([*filter(None, case.names), "det"])) for _ in range(n)]
        rules = {each.rule for each in broken(case.rules, case.known, heads.tolist(), labels, MULTI_ROOT)}
        rules -= {"invalid-head", "unknown-head", "head-self-loop", "multiple-roots", "non-tree"}
        known = (heads >= 0) & (heads <= n) & (heads != np.arange(1, n + 1))
        trees = trees[(trees == heads)[:, known].all(axis=1)].tolist()
        for tree in trees:
            assert rules <= {each.rule for each in broken(case.rules, case.known, tree, labels, MULTI_ROOT)}
        found += bool(rules and trees) and not known.all()
    assert found > 80


def rules_of(case, kind):
    if kind == "spans":
        yield Together().bound(case.known), lambda tree: hangs_together(tree, case.words)
    for own, table in case.tables:
        if own == kind:
            (rule,) = ruleset_of("x", {kind: [table]}).rules
            yield rule.bound(case.known), lambda tree, table=table: obeys(tree, kind, table, case.words)


def check(nogood, tree, heads, labels):
    """A nogood is of choices that the tree made and that no tree makes that obeys, (trees, n); what goes along is in
    none of these that make all but the last."""

    def made(choice, heads=heads, labels=labels):
        word = choice.word - 1
        return choice.arcs[heads[:, word], labels[:, word] * (choice.arcs.shape[1] > 1)]

    *first, last = nogood.choices
    assert len({choice.word for choice in nogood.choices}) == len(nogood.choices)
    assert all(made(choice, np.array([tree.heads]), np.array([tree.labels])) for choice in nogood.choices)
    left = np.all([np.ones(len(heads), dtype=bool), *map(made, first)], axis=0)
    for choice in (last, *nogood.also_excluded()):
        assert not (left & made(choice)).any(), (tree.heads, nogood.words, choice.word)


@pytest.mark.slow("size")
@pytest.mark.parametrize("kind", [*KINDS[1:], "spans"])  # without masks, which forbid arcs
def test_conflicts_are_where_trees_break_a_rule_and_lose_none_that_obey(kind):
    broken = kept = 0
    for seed in range(1000, 1160):
        case = random_case(MULTI_ROOT, seed)
        number = case.known.labels.index
        trees = [LabelledTree(tree.heads, [*map(number, tree.labels)]) for tree in case.unmasked]
        heads, labels = (np.array([getattr(tree, name) for tree in trees]) for name in ("heads", "labels"))
        for find, is_obeyed in rules_of(case, kind):
            obedient = np.array([is_obeyed(tree) for tree in case.unmasked])
            for tree, is_good in list(zip(trees, obedient, strict=True))[::3]:
                nogoods = [] if find is None else list(find.nogoods(tree))
                assert bool(nogoods) != is_good, (seed, tree.heads)
                broken, kept = broken + bool(nogoods), kept + (not nogoods)
                for nogood in nogoods[:2]:
                    check(nogood, tree, heads[obedient], labels[obedient])
    assert min(broken, kept) > 100


@pytest.mark.slow("size")
@pytest.mark.parametrize("kind", ["projective", "out-of-gaps"])
def test_conflicts_about_gaps_lose_no_tree_of_five_words_that_obeys(kind):
    n, count, names = 5, 0, ("dep", "punct")
    (rule,) = ruleset_of("x", {kind: [{"name": "it", "label": ["punct"]}]}).rules
    find = rule.bound(Words(names, [None] * n, [frozenset()] * n))
    trees, known = all_trees(n, MULTI_ROOT).tolist(), Sentence([None] * n, [frozenset()] * n)
    labels = [each for each in product(names, repeat=n) if each.count("punct") >= n - 2]
    every = [pair for pair in product(trees, labels) if obeys(Tree(*pair), kind, {"label": "punct"}, known)]
    obedient = np.array([heads for heads, _ in every]), np.array([list(map(names.index, each)) for _, each in every])
    for tree in (LabelledTree(heads, [1] * n) for heads in trees):
        for nogood in find.nogoods(tree):
            assert set(nogood.words) == {choice.word for choice in nogood.choices}
            check(nogood, tree, *obedient)
            count += 1
    assert count > 500


def test_words_that_a_function_names():
    words = Words(("a",), [None] * 2, [frozenset()] * 2)
    asked = {"__call__": lambda _, heads, labels: [2, 1, 2] if list(heads) == [0, 0] else None, "__hash__": None}
    rule = Function("both below ROOT", type("Asked", (), asked)())  # what has no hash can be asked too
    (nogood,) = rule.bound(words).nogoods(LabelledTree([0, 0], [0, 0]))
    assert [choice.word for choice in nogood.choices] == [2, 1]
    for word in (0, 3, -1):
        rule = Function("odd", lambda heads, labels, word=word: [1, word])
        with pytest.raises(DeptreeError, match=f"the rule 'odd' names word {word} of 2. Let it return words from 1 on"):
            list(rule.bound(words).nogoods(LabelledTree([0, 0], [0, 0])))


def first_gap(heads, labels, word):
    """The first word that may not stand between a word with label 0 and its head: with label 2, or 0 elsewhere."""
    head = heads[word - 1]
    between = range(min(head, word) + 1, max(head, word)) if head and labels[word - 1] == 0 else ()
    return next(
        (gap for gap in between if labels[gap - 1] != 1 and (labels[gap - 1], heads[gap - 1]) != (0, head)), None
    )


def test_the_first_gap_of_each_word():
    known, rng, found = Words(("flat", "punct", "x"), [None] * 8, [frozenset()] * 8), random.Random(1), 0
    find = NoGaps("no", ("flat",), ("punct",)).bound(known)
    for _ in range(2000):
        heads = [rng.choice([0, 1, 4, 4, 8, 8]) for _ in range(8)]
        labels = rng.choices(range(3), [6, 3, 1], k=8)
        expected = [(word, gap) for word in range(1, 9) if (gap := first_gap(heads, labels, word))]
        assert [each.words for each in find.nogoods(LabelledTree(heads, labels))] == expected
        found += len(expected)
    assert found > 1000


TAGS = ("NOUN", "PROPN", "ADP", "PUNCT", "X", None)
FEATS = (frozenset(), frozenset({"Typo=Yes"}), frozenset({"Poss=Yes", "Case=Gen"}))
MASKS = [
    "flat",
    {"label": "conj", "distance": [1, 2]},
    {"label": "case", "upos": ["ADP"], "root": True},
    {"label": "det", "head-upos": "NOUN", "direction": "right", "allow": True},
    {"label": "conj", "feats": "Case=Gen", "allow": True, "name": "genitives"},
]
NAMES = (
    ("root", "case", "punct", "fixed", "goeswith", "conj", "flat", "det"),
    ("det", "nsubj", "root", "flat:name"),
    ("",),
)


@pytest.mark.parametrize("rules", [read_rules("ud"), ruleset_of("others", {"mask": MASKS})], ids=["ud", "others"])
def test_masks_together_forbid_what_each_forbids(rules):
    """Sentences with other labels come in between, as what is kept belongs to labels; column 0 has no arcs."""
    rng, forbidden_arcs = np.random.default_rng(1), 0
    for sentence in range(60):
        n = int(rng.integers(1, 7))
        upos = [TAGS[i] for i in rng.integers(len(TAGS), size=n)]
        feats = [FEATS[i] for i in rng.integers(len(FEATS), size=n)]
        words = Words(NAMES[sentence % 3], upos, feats)
        found = rules.forbidden(words)
        each = np.logical_or.reduce([forbidden([mask], words) for mask in rules.masks])
        assert (found == each)[:, 1:].all(), words
        assert not found[:, 0].any()
        forbidden_arcs += int(found.sum())
    assert forbidden_arcs > 1000


def test_labels_keep_their_numbers():
    """Names are one tuple for all once they are known; beyond a limit numbers begin anew, so that a file in which every
    word has a label of its own stays cheap."""
    numbered, most = LabelNumbers(), LabelNumbers.MOST
    first, _ = numbered.of(["det", "nsubj", "det"])
    assert numbered.of(["", "nsubj"])[0][: len(first)] == first
    assert numbered.of(["det"])[0] is numbered.of(["nsubj", ""])[0]
    sentences = [[*(f"label{number}" for number in range(start, start + 7)), ""] for start in range(0, 3 * most, 7)]
    for labels in (*sentences, [f"other{number}" for number in range(2 * most)]):
        names, numbers = numbered.of(labels)
        assert [names[each] for each in numbers] == labels
        assert len(names) <= max(most, len(labels))
