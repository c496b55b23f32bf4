"""The reference parser by itself: how many derivations there are, what oracles reach, and what sums to one."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import space
from tests.hpyp.model.reference_parser import (
    ACTION,
    WORD,
    Configuration,
    Enumeration,
    Model,
    RandomTable,
    Tree,
    all_derivations,
    oracle_derivations,
    static_oracle,
)

BOTH_ROOTS = pytest.mark.parametrize("single_root", [True, False])
SIZES = pytest.mark.parametrize(("n", "labels"), [(1, 2), (2, 2), (3, 2), (4, 1), (5, 1)])


def derivations_of_each_tree(n: int, labels: int, single_root: bool) -> dict[Tree, set[tuple[int, ...]]]:
    """All derivations by what they derive."""
    found: defaultdict[Tree, set[tuple[int, ...]]] = defaultdict(set)
    for actions, tree in all_derivations(n, labels, single_root):
        found[tree].add(tuple(actions))
    return dict(found)


def segments(n: int, labels: int) -> int:
    """Derivations of n words below one child of the root: Catalan's binary trees, a direction for each inner node, a
    label for each arc."""
    return math.comb(2 * n - 2, n - 1) // n * 2 ** (n - 1) * labels**n


def sequences(n: int, labels: int) -> int:
    """The same below any number of children of the root, one after the other."""
    return sum(segments(first, labels) * sequences(n - first, labels) for first in range(1, n + 1)) if n else 1


@BOTH_ROOTS
@SIZES
def test_there_are_as_many_derivations_as_binary_trees(n: int, labels: int, single_root: bool) -> None:
    found = [tuple(actions) for actions, _ in all_derivations(n, labels, single_root)]
    assert len(set(found)) == len(found) == (segments(n, labels) if single_root else sequences(n, labels))
    assert {len(actions) for actions in found} == {2 * n}


@BOTH_ROOTS
@SIZES
def test_every_projective_tree_is_derived(n: int, labels: int, single_root: bool) -> None:
    trees = all_trees(n, space(single_root, projective=True)).tolist()
    expected = {
        tuple(zip(tree, chosen, strict=True)) for tree in trees for chosen in product(range(1, labels + 1), repeat=n)
    }
    assert set(derivations_of_each_tree(n, labels, single_root)) == expected


@BOTH_ROOTS
@SIZES
def test_the_oracle_finds_all_derivations_of_a_tree(n: int, labels: int, single_root: bool) -> None:
    for tree, expected in derivations_of_each_tree(n, labels, single_root).items():
        found = [tuple(actions) for actions in oracle_derivations(tree, labels, single_root)]
        assert len(found) == len(set(found))
        assert set(found) == expected
        assert tuple(static_oracle(tree, labels, single_root)) in expected


def test_a_tree_with_two_derivations() -> None:
    """1 <- 2 -> 3: the left arc is added before or after word 3 comes."""
    tree = ((2, 1), (0, 1), (2, 1))
    assert static_oracle(tree, 1) == [0, 0, 1, 0, 2, 2]
    assert list(oracle_derivations(tree, 1)) == [[0, 0, 0, 2, 1, 2], [0, 0, 1, 0, 2, 2]]


def test_contexts_of_a_configuration_worked_out_by_hand() -> None:
    """Words 1 and 2 hang on 3 from the left, 4 and 5 on 3 from the right; 6 is shifted, 7 comes next."""
    arcs = frozenset({(3, 2, 1), (3, 1, 1), (3, 4, 1), (3, 5, 1)})
    configuration = Configuration(7, 1, stack=(0, 3, 6), shifted=6, arcs=arcs)
    words, tags = [11, 12, 13, 14, 15, 16, 17], [21, 22, 23, 24, 25, 26, 27]
    assert configuration.context(ACTION, words, tags) == (26, 23, 0, 0, 1, 25, 16, 13)
    assert configuration.context(WORD, words, tags) == (27, 0, 0, 16, 13)
    names = ("lc(s2).t", "lc(s2).w", "rc(s2).w", "s4.t", "s3.w", "rc(s3).t", "lc(s4).t")
    assert configuration.context(names, words, tags) == (21, 11, 15, 0, 1, 0, 0)
    at_the_end = configuration._replace(stack=(0,), shifted=7, arcs=frozenset({(0, 3, 1)}))
    assert at_the_end.context(("s1.t", "rc(s1).t", "lc(s1).t", "b.t", "s2.t"), words, tags) == (1, 23, 0, 0, 0)


def toy(labels: int, seed: int = 0) -> Model:
    """Words and tags 0 to 3."""
    return Model(
        labels, RandomTable(2 * labels + 1, 1.0, seed), RandomTable(4, 1.0, seed + 1), RandomTable(4, 1.0, seed + 2)
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_uniform_distributions_count_derivations(n: int) -> None:
    """All derivations of a sentence have the same probability."""
    model = Model(2, lambda _: [0.2] * 5, lambda _: [0.25] * 4, lambda _: [0.1] * 10)
    found = Enumeration(model, [2] * n, [[2, 3]] * n)
    assert found.evidence == pytest.approx(segments(n, 2) * 2**n * 0.2 ** (2 * n) * 0.25**n * 0.1**n, rel=1e-12)


def test_prefixes_of_all_sentences_sum_to_one() -> None:
    """If no action that is not legal has a probability, which the tags of s2 and s3 (0: nothing there) decide."""
    labels, free = 2, RandomTable(5, 1.0, 3)

    def action(context: tuple[int, ...]) -> list[float]:
        return [1.0, 0, 0, 0, 0] if 0 in (context[1], context[4]) else free(context)

    model = toy(labels)._replace(action=action, tag=RandomTable(4, 1.0, 4, [2, 3]), word=RandomTable(4, 1.0, 5, [2, 3]))
    for n in (1, 2, 3):
        found = [Enumeration(model, words, [[2, 3]] * n).prefix_evidences for words in product([2, 3], repeat=n)]
        totals = np.array(found).sum(axis=0) / 2.0 ** (n - 1 - np.arange(n))  # a prefix is in 2^(n - i) sentences
        np.testing.assert_allclose(totals, 1, rtol=1e-12)


def test_prefixes_do_not_depend_on_what_follows() -> None:
    model = toy(2)
    longer = Enumeration(model, [2, 3, 1, 2], [[2, 3]] * 4).prefix_evidences
    assert Enumeration(model, [2, 3, 1], [[2, 3]] * 3).prefix_evidences == pytest.approx(longer[:3], rel=1e-12)


@BOTH_ROOTS
def test_tags_are_summed_out(single_root: bool) -> None:
    """The evidence is the sum over given tags, and so are marginals."""
    model, words = toy(2, seed=5), [2, 3, 2]
    found = Enumeration(model, words, [[1, 2, 3]] * 3, single_root)
    given = [Enumeration(model, words, [[tag] for tag in tags], single_root) for tags in product([1, 2, 3], repeat=3)]
    assert found.evidence == pytest.approx(math.fsum(one.evidence for one in given), rel=1e-12)
    mixed = sum(one.marginals() * one.evidence for one in given) / found.evidence
    np.testing.assert_allclose(found.marginals(), mixed, atol=1e-12)
    np.testing.assert_allclose(found.marginals().sum(axis=(0, 2))[1:], 1, atol=1e-12)
    assert found.best().prob == max(one.best().prob for one in given)
    assert found.marginals()[0].sum() == pytest.approx(1, abs=1e-12) or not single_root


def test_surprisals_sum_to_the_last_prefix() -> None:
    found = Enumeration(toy(1, seed=9), [1, 2, 3], [[2], [3], [1]])
    assert sum(found.surprisals()) == pytest.approx(-math.log2(found.prefix_evidences[-1]), rel=1e-12)
    assert found.evidence < found.prefix_evidences[-1]  # the completion costs something
