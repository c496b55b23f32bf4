"""Nogoods by what they promise: found exactly in trees that break a rule, and no tree that obeys is lost by them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.rules import Choice, Function, LabelledTree, NoGaps, Nogood, Together, Words
from deptree_cli.core.spaces import MULTI_ROOT
from deptree_cli.io.rules.reading import ruleset_of
from tests.brute_rules import Tree, hangs_together, obeys
from tests.random_rules import Case, random_case

KINDS = "at-most-one", "leaf", "below", "no-gaps", "projective", "out-of-gaps", "no-crossing"


def is_made(choice: Choice, tree: Tree, names: Sequence[str]) -> bool:
    """Whether a tree made a choice."""
    label = names.index(tree.labels[choice.word - 1]) if choice.arcs.shape[1] > 1 else 0
    return bool(choice.arcs[tree.heads[choice.word - 1], label])


def rules_of(case: Case, kind: str):
    """Rules of a kind: what finds their nogoods, and whether a tree keeps one."""
    if kind == "spans":
        yield Together().bound(case.known), lambda tree: hangs_together(tree, case.words)
    for own, table in case.tables:
        if own == kind:
            (rule,) = ruleset_of("x", {kind: [table]}).rules
            yield rule.bound(case.known), lambda tree, table=table: obeys(tree, kind, table, case.words)


def check(nogood: Nogood, tree: Tree, obedient: Sequence[Tree], names: Sequence[str]) -> None:
    """A nogood is of choices that the tree made and that no tree makes that obeys; what goes along is in none of
    these that make all but the last."""
    choices, also = nogood.choices, nogood.also_excluded()
    assert len({choice.word for choice in choices}) == len(choices)
    assert all(is_made(choice, tree, names) for choice in choices)
    for other in obedient:
        if all(is_made(choice, other, names) for choice in choices[:-1]):
            assert not any(is_made(choice, other, names) for choice in (choices[-1], *also)), (tree, other)


@pytest.mark.slow("size")
@pytest.mark.parametrize("kind", [*KINDS, "spans"])
def test_conflicts_are_where_trees_break_a_rule_and_lose_none_that_obey(kind: str) -> None:
    broken = kept = 0
    for seed in range(1000, 1160):
        case = random_case(MULTI_ROOT, seed)
        names = case.known.labels
        for find, is_obeyed in rules_of(case, kind):
            obedient = [tree for tree in case.unmasked if is_obeyed(tree)]
            for tree in case.unmasked[::3]:
                numbers = [names.index(label) for label in tree.labels]
                nogoods = [] if find is None else list(find.nogoods(LabelledTree(tree.heads, numbers)))
                assert bool(nogoods) != is_obeyed(tree), (seed, tree)
                broken, kept = broken + bool(nogoods), kept + (not nogoods)
                for nogood in nogoods[:2]:
                    check(nogood, tree, obedient[:60], names)
    assert min(broken, kept) > 100


def test_a_function_may_name_a_word_twice() -> None:
    words = Words(("a",), [None] * 2, [frozenset()] * 2)
    rule = Function("both below ROOT", lambda heads, labels: [2, 1, 2] if list(heads) == [0, 0] else None)
    (nogood,) = rule.bound(words).nogoods(LabelledTree([0, 0], [0, 0]))
    assert [choice.word for choice in nogood.choices] == [2, 1]


@pytest.mark.parametrize("word", [0, 3, -1])
def test_a_function_may_not_name_a_word_that_is_not_there(word: int) -> None:
    words = Words(("a",), [None] * 2, [frozenset()] * 2)
    rule = Function("odd", lambda heads, labels: [1, word])
    with pytest.raises(DeptreeError, match=f"the rule 'odd' names word {word} of 2. Let it return words from 1 on"):
        list(rule.bound(words).nogoods(LabelledTree([0, 0], [0, 0])))


class Counted(list):
    """A list that counts how often somebody asks for one of its items."""

    asked = 0

    def __getitem__(self, at):
        self.asked += 1
        return super().__getitem__(at)


def first_gap(heads: list[int], labels: list[int], word: int) -> int | None:
    """The first word that may not stand between a word with label 0 and its head: with label 2, or 0 elsewhere."""
    head = heads[word - 1]
    between = range(min(head, word) + 1, max(head, word)) if head and labels[word - 1] == 0 else ()
    return next(
        (gap for gap in between if labels[gap - 1] != 1 and (labels[gap - 1], heads[gap - 1]) != (0, head)), None
    )


def test_the_first_gap_of_each_word() -> None:
    """By definition; and of a star, where all words may stand, none is looked at again for each word beyond it."""
    known, rng, found = Words(("flat", "punct", "x"), [None] * 8, [frozenset()] * 8), random.Random(1), 0
    find = NoGaps("no", ("flat",), ("punct",)).bound(known)
    for _ in range(2000):
        heads = [rng.choice([0, 1, 4, 4, 8, 8]) for _ in range(8)]
        labels = rng.choices(range(3), [6, 3, 1], k=8)
        expected = [(word, gap) for word in range(1, 9) if (gap := first_gap(heads, labels, word))]
        assert [each.words for each in find.nogoods(LabelledTree(heads, labels))] == expected
        found += len(expected)
    assert found > 1000
    for head in (1, 500, 1000):
        star = LabelledTree(Counted([0 if word == head else head for word in range(1, 1001)]), [0] * 1000)
        assert not list(find.nogoods(star))
        assert star.heads.asked < 3000
