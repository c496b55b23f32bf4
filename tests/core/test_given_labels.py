"""Distributions given labels, with heads and without, against enumeration of all labelled trees."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.second_order.distribution import SecondOrder

NAMES = ("a", "root", "b")
OTHER = "a:special"  # a label that the scores do not know

LabelledTree = tuple[tuple[int, ...], tuple[str, ...]]


def weights(arcs: np.ndarray, labels: np.ndarray, trees: TreeSpace, is_joint: bool) -> dict[LabelledTree, float]:
    """The weight of every labelled tree, by the definitions: joint scores, or P(label | arc) beside scores of arcs."""
    n, found = len(arcs) - 1, {}
    for heads in map(tuple, all_trees(n, trees).tolist()):
        for numbers in itertools.product(*((1,) if head == 0 else (0, 2) for head in heads)):
            total = 0.0
            for word, (head, number) in enumerate(zip(heads, numbers, strict=True), 1):
                scores = labels[head, word]
                own = (scores[number] - np.logaddexp(scores[0], scores[2])) if head else 0.0
                total += scores[number] if is_joint else arcs[head, word] + own
            if total > -np.inf:
                found[heads, tuple(NAMES[number] for number in numbers)] = float(np.exp(total))
    return found


def agrees(tree: LabelledTree, heads: list[int | None], labels: list[str | None]) -> bool:
    """Whether a labelled tree has what is given; a label without scores: whether its word may have one."""
    for own_head, own_label, head, label in zip(*tree, heads, labels, strict=True):
        if head not in (None, own_head):
            return False
        if label == OTHER and own_head == 0 and head != 0:
            return False
        if label not in (None, OTHER, own_label) and not (label == "ROOT" and own_label == "root"):
            return False
    return True


@pytest.mark.parametrize("is_joint", [True, False], ids=["joint", "given the arc"])
@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), known=st.lists(st.integers(0, 5), min_size=4, max_size=4))
@settings(max_examples=25, deadline=None)
def test_against_enumeration(trees: TreeSpace, is_joint: bool, seed: int, n: int, known: list[int]) -> None:
    """log Z, P(head), P(head, label), log-probabilities and best labels given some heads and labels of a tree."""
    rng = np.random.default_rng(seed)
    arcs, scores = rng.normal(size=(n + 1, n + 1)), rng.normal(size=(n + 1, n + 1, 3))
    scores[1:, 1:, 0][rng.random((n, n)) < 0.2] = -np.inf  # labels that some arcs cannot have
    every = weights(arcs, scores, trees, is_joint)
    (a_heads, a_labels) = list(every)[seed % len(every)]
    heads: list[int | None] = [head if kind in (1, 3, 4) else None for head, kind in zip(a_heads, known, strict=False)]
    chosen = {
        2: lambda own: own,
        3: lambda own: own,
        4: lambda _: OTHER,
        5: lambda own: own if own == "root" else OTHER,
    }
    labels: list[str | None] = [
        chosen.get(kind, lambda _: None)(own) for own, kind in zip(a_labels, known, strict=False)
    ]
    how = {"single_root": trees.single_root, "projective": trees.projective}
    if is_joint:
        whole = TreeDistribution(scores, labels=NAMES, **how)
    else:
        whole = TreeDistribution(arcs, **how).labelled(NAMES, scores)
    left = {tree: weight for tree, weight in every.items() if agrees(tree, heads, labels)}
    found = whole.given(heads, labels=labels)
    total = sum(left.values())
    assert found.log_partition == pytest.approx(np.log(total), abs=1e-11)
    assert found.labels is not None
    names = found.labels.names
    expected = np.zeros((n + 1, n + 1, len(names)))
    for (tree, own), weight in left.items():
        for word, (head, label) in enumerate(zip(tree, own, strict=True), 1):
            kept = OTHER if labels[word - 1] == OTHER else label
            expected[head, word, names.index(kept)] += weight / total
    np.testing.assert_allclose(found.labels.marginals(found.marginals()), expected, atol=1e-11)
    np.testing.assert_allclose(found.marginals(), expected.sum(axis=-1), atol=1e-11)
    drawn = found.sample(20, seed=seed)
    drawn_labels = [[names[label] for label in row] for row in found.labels.draw(drawn, seed=seed).tolist()]
    for tree, own in [*zip(drawn.tolist(), drawn_labels, strict=True)]:
        assert all(label in (None, mine) for label, mine in zip(labels, own, strict=True))
        assert all(head in (None, mine) for head, mine in zip(heads, tree, strict=True))


def test_distinct_labelled_trees_given_labels() -> None:
    """All there are, each once, with its probability."""
    scores = np.random.default_rng(4).normal(size=(4, 4, 3))
    every = weights(np.zeros((4, 4)), scores, SPACES.get("single-root"), True)
    labels: list[str | None] = [None, "a", None]
    left = {tree: weight for tree, weight in every.items() if agrees(tree, [None] * 3, labels)}
    draws = TreeDistribution(scores, labels=NAMES).given(labels=labels).sample_without_replacement(99, 1, labelled=True)
    assert draws.exhausted
    assert draws.labels is not None
    found = {
        (tuple(heads), tuple(NAMES[label] for label in own)): log_prob
        for heads, own, log_prob in zip(draws.heads.tolist(), draws.labels.tolist(), draws.log_probs, strict=True)
    }
    assert found.keys() == left.keys()
    for tree, weight in left.items():
        assert found[tree] == pytest.approx(np.log(weight / sum(left.values())), abs=1e-11)


def test_log_z_falls_by_the_probability_of_the_condition() -> None:
    whole = TreeDistribution(np.random.default_rng(1).normal(size=(5, 5, 3)), labels=NAMES)
    assert whole.labels is not None
    share = whole.labels.marginals(whole.marginals())[:, 2, 0].sum()
    assert whole.given(labels=[None, "a", None, None]).log_partition == pytest.approx(
        whole.log_partition + np.log(share), abs=1e-12
    )


@pytest.mark.parametrize("kind", ["without labels", "second order"])
def test_without_scores_of_labels_root_is_what_counts(kind: str) -> None:
    arcs = np.random.default_rng(2).normal(size=(4, 4))
    scored: Any = SecondOrder(arcs) if kind == "second order" else TreeDistribution(arcs)
    assert scored.given(labels=[None, "ROOT", None]).marginals()[0, 2] == 1.0
    assert scored.given(labels=[None, "x", None]).marginals()[0, 2] == 0.0
    assert scored.given([None, 0, None], [None, "Pred", None]).marginals()[0, 2] == 1.0
    assert scored.given([None, 0, None], [None, "Pred", None]).labels is None


def test_one_condition_after_another() -> None:
    whole = TreeDistribution(np.random.default_rng(3).normal(size=(5, 5, 3)), labels=NAMES, id="x")
    at_once = whole.given([2, None, None, None], [None, "b", OTHER, None])
    in_turn = (
        whole.given(labels=[None, "b", None, None]).given([2, None, None, None]).given(labels=[None, None, OTHER, None])
    )
    np.testing.assert_allclose(in_turn.log_scores, at_once.log_scores, atol=1e-14)
    assert in_turn.labels is not None
    assert at_once.labels is not None
    np.testing.assert_array_equal(in_turn.labels.names, at_once.labels.names)
    twice = at_once.given(labels=[None, "b", OTHER, None])
    np.testing.assert_array_equal(twice.log_scores, at_once.log_scores)
    with pytest.raises(DeptreeError, match="x: word 2 is given the label 'a', which it cannot have"):
        at_once.given(labels=[None, "a", None, None])


@pytest.mark.parametrize(
    ("heads", "labels", "message"),
    [
        (None, ["a"], "x: 1 label given for a sentence of 3 words. Give one label per word"),
        (None, "abc", "x: 3 labels given for a sentence of 3 words."),
        (None, [None, 3, None], "x: the label of word 2 is 3. Give the name of a label, or None."),
        (
            [None, 3, None],
            [None, "root", None],
            "x: word 2 is given the label 'root', which it cannot have below its head 3.",
        ),
        (
            [0, None, None],
            ["a", None, None],
            "x: word 1 is given the label 'a', which it cannot have below its head ROOT.",
        ),
        (
            None,
            [None, None, "b"],
            "x: word 3 is given the label 'b', which it cannot have. Correct it, allow it, or put _",
        ),
        (None, ["root", "root", None], "x: no single-root tree is possible: words 1 and 2 can attach to ROOT only."),
    ],
    ids=str,
)
def test_labels_that_are_refused(heads: Any, labels: Any, message: str) -> None:
    scores = np.zeros((4, 4, 3))
    scores[:, 3, 2] = -np.inf
    with pytest.raises(DeptreeError) as caught:
        TreeDistribution(scores, labels=NAMES, id="x").given(heads, labels=labels)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
def test_joint_scores_of_arcs_that_no_tree_has(trees: TreeSpace) -> None:
    """Sums over labels round something off, which must not count beside a score that no tree needs."""
    how = {"single_root": trees.single_root, "projective": trees.projective}
    for seed in range(40):
        whole = TreeDistribution(np.random.default_rng(seed).normal(size=(3, 3, 3)), labels=NAMES, **how)
        given = whole.given([2, None])
        expected = whole.log_partition + np.log(whole.marginals()[2, 1])
        assert given.log_partition == pytest.approx(expected, abs=1e-12)
        assert given.argmax().tolist() == [2, 0]
