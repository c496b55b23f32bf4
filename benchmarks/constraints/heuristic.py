"""Stanza's repair of second subjects and objects (stanfordnlp/stanza #1340, #1638), written again from its description.

The tree comes from scores of arcs, labels from the arcs. As long as a head has two dependents with labels of a group,
for at most five rounds: for each of them, the tree is found again in which the others may not have the group there, by
the scores of their arcs with the best labels that are left to them; of these trees the one that scores best stays,
and what it denies remains denied. It may miss the best tree, and may end with a group that a head has twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.constraints.labelled import Labelled, gold_trees, universal
from benchmarks.table import Cell, Table
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.rule_search import BranchAndBound, LogScores
from deptree_cli.core.rules import AtMostOne, Words, labels_named

ROUNDS = 5
GROUPS = ("nsubj", "csubj", "!nsubj:outer", "!csubj:outer"), ("obj",)


class Answer(NamedTuple):
    """A labelled tree.

    Attributes:
        score: of its arcs with their labels.
        obeys: whether no head has two dependents of a group.
        trees: how many maximum trees it took.
    """

    heads: Heads
    labels: Heads
    score: float
    obeys: bool
    trees: int


def repaired(scored: TreeDistribution, joint: bool) -> Answer:
    """The tree of the heuristic; `joint`: all arcs weigh with their labels, not only those of words in conflict."""
    whole = LogScores(scored).whole
    arcs = scored.factorisation.shifted.log_weights
    groups = _groups(scored)
    heads, labels = _tree(scored, whole, whole.max(axis=2) if joint else arcs)
    trees = 1
    for _ in range(ROUNDS):
        conflict = _conflict(heads, labels, groups)
        if conflict is None:
            break
        head, group, words = conflict
        found = []
        for kept in words:
            left, by_arcs = whole.copy(), arcs.copy()
            others = [word for word in words if word != kept]
            left[np.ix_([head], others, np.flatnonzero(group))] = -np.inf
            by_arcs[:, others] = left[:, others].max(axis=2)
            tree = _tree(scored, left, left.max(axis=2) if joint else by_arcs)
            found.append((_score(left, *tree), tree, left))
        trees += len(words)
        _, (heads, labels), whole = max(found, key=lambda each: each[0])
    return Answer(heads, labels, _score(whole, heads, labels), _conflict(heads, labels, groups) is None, trees)


def best(scored: TreeDistribution) -> Answer:
    """The best tree that obeys, certified."""
    words = Words(scored.labels.names, [None] * scored.n, [frozenset()] * scored.n)
    rules = [find for each in GROUPS if (find := AtMostOne("", each).bound(words))]
    (found,) = [BranchAndBound(LogScores(scored), scored.space, rules).best()]
    return Answer(found.heads, found.labels, found.score, found.certified, found.opened)


def _tree(scored: TreeDistribution, whole: Float, arcs: Float) -> tuple[Heads, Heads]:
    heads, _ = scored.space.maximum_tree(arcs)
    return heads, whole[heads, np.arange(1, len(heads) + 1)].argmax(axis=1)


def _score(whole: Float, heads: Heads, labels: Heads) -> float:
    return float(whole[heads, np.arange(1, len(heads) + 1), labels].sum())


def _conflict(heads: Heads, labels: Heads, groups: Sequence[Bool]) -> tuple[int, Bool, list[int]] | None:
    """The first head with several dependents of a group, that group, and these."""
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for word, (head, label) in enumerate(zip(heads.tolist(), labels.tolist(), strict=True), 1):
        for number, group in enumerate(groups):
            if group[label]:
                found[head, number].append(word)
    return next(((head, groups[number], words) for (head, number), words in found.items() if len(words) > 1), None)


def table(treebank: Labelled) -> Table:
    """The heuristic, the same on arcs with labels, and the best tree."""
    sentences = [each.distribution for each in treebank.read()]
    optima = [best(each) for each in sentences]
    gold = gold_trees(treebank)
    ways = {
        "decode": [_plain(each) for each in sentences],
        "heuristic": [repaired(each, joint=False) for each in sentences],
        "heuristic, joint arcs and labels": [repaired(each, joint=True) for each in sentences],
        "certified": optima,
    }
    columns = "trees", "still broken", "not the best", "nats lost: mean", "most", "UAS", "LAS", "trees: mean", "at most"
    title = f"{treebank.language}: one subject and one object of a head"
    return Table(title, columns, (_row(name, found, optima, sentences, gold) for name, found in ways.items()))


def _groups(scored: TreeDistribution) -> list[Bool]:
    return [labels_named(each, scored.labels.names) for each in GROUPS]


def _plain(scored: TreeDistribution) -> Answer:
    """The best tree without rules."""
    whole = LogScores(scored).whole
    heads, labels = _tree(scored, whole, whole.max(axis=2))
    obeys = _conflict(heads, labels, _groups(scored)) is None
    return Answer(heads, labels, _score(whole, heads, labels), obeys, 1)


def _row(
    name: str,
    found: Sequence[Answer],
    optima: Sequence[Answer],
    sentences: Sequence[TreeDistribution],
    gold: Sequence[tuple[list[int], list[str]]],
) -> list[Cell]:
    lost = [best.score - each.score for each, best in zip(found, optima, strict=True) if each.obeys]
    missed = [each for each in lost if each > 1e-6]
    right = labelled = words = 0
    for each, scored, (heads, labels) in zip(found, sentences, gold, strict=True):
        for head, label, own_head, own_label in zip(each.heads, each.labels, heads, labels, strict=True):
            fits = head == own_head
            named = universal(scored.labels.names[label]) == universal(own_label)
            right, labelled, words = right + fits, labelled + (fits and named), words + 1
    shares = [f"{100 * count / words:.2f}" for count in (right, labelled)]
    mean, most = (float(np.mean(missed)), max(missed)) if missed else (0, 0)
    trees, broken = [each.trees for each in found], sum(not each.obeys for each in found)
    return [name, broken, len(missed), mean, most, *shares, float(np.mean(trees)), max(trees)]
