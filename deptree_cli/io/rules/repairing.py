"""Repair in Python: heads and labels in, the nearest tree that obeys out."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, Unpack

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.branch_and_bound import BUDGET
from deptree_cli.core.constraints.words import Words
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.repair.given import FREE, Costs, Given
from deptree_cli.core.repair.habits import Habits
from deptree_cli.core.repair.nearest import Aims, Repaired, nearest
from deptree_cli.core.repair.ties import Ties
from deptree_cli.core.spaces import Short, TreeSpace, tree_space
from deptree_cli.io.rules.constraints import SentenceConstraints
from deptree_cli.io.rules.reading import read_rules


class RepairOptions(Short, total=False):
    """How `repaired` repairs.

    rules: `ud` (usual), `tree` (one tree and nothing else), or a file of rules. scores: a distribution that says which
    trees are probable; without it `like` does: how words attach in a treebank; without both near heads are the more
    probable. costs: of another head and of another label; (1, 1). worth: how many nats of the scores a cost of 1 is
    worth; without it changes come first, whatever scores say. space, single_root, projective: which trees, as of
    `TreeDistribution`; usually those of the scores. budget: how many maximum trees the search may compute. relax: drop
    the fewest rules if no tree satisfies all.
    """

    rules: str
    scores: ArcFactored
    like: Habits
    costs: tuple[int, int]
    worth: float
    space: TreeSpace | str
    budget: int
    relax: bool


def repaired(
    heads: Sequence[int | None],
    labels: Sequence[str | None] | None = None,
    upos: Sequence[str | None] | None = None,
    feats: Sequence[Collection[str]] | None = None,
    **options: Unpack[RepairOptions],
) -> Repaired:
    """Return the valid tree with the fewest changes, of heads and of labels, and of several the most probable.

    >>> repaired([2, 3, 2], ["det", "nsubj", "root"], ["DET", "NOUN", "VERB"]).heads
    array([2, 3, 0], dtype=int32)

    Args:
        heads: of words 1 to n, 0 for ROOT; None for a word that may have any. They need not be a tree.
        labels: of each word, None (or without the list) where it has none.
        upos, feats: parts of speech, and features ``Key=Value``, which rules ask for.
        options: see `RepairOptions`.

    Raises:
        DeptreeError: lists differ in length, or no tree satisfies the rules.
    """
    given = Given([FREE if head is None else int(head) for head in heads], _of_length("labels", labels, len(heads), ""))
    of_words = [frozenset(each) for each in _of_length("feats", feats, given.n, ())]
    words = Words((), _of_length("upos", upos, given.n, None), of_words)
    scores = options.get("scores")
    if scores is not None and scores.n != given.n:
        problem = f"the scores are of {counted(scores.n, 'word')}, the heads of {given.n}"
        raise DeptreeError(problem, "Check that both are of the same sentence")
    rules = read_rules(options.get("rules", "ud"))
    asked = rules.labels if labels is not None else ()
    names, wanted = Ties(options.get("like") or Habits()).of(given, words.upos, scores, asked)
    obeyed = SentenceConstraints(rules, words.knowing(rules.upos)).with_labels(names)
    if scores is not None and options.keys().isdisjoint(("space", "single_root", "projective")):
        space = scores.space
    else:
        short = options.get("single_root"), options.get("projective")
        space = tree_space(options.get("space"), single_root=short[0], projective=short[1])
    costs, worth = Costs(*options.get("costs", (1, 1))), options.get("worth", math.inf)
    aims = Aims(costs, worth, options.get("budget", BUDGET), options.get("relax", False))
    return nearest(given, obeyed, wanted, space, aims)


def _of_length(what: str, values: Sequence[Any] | None, n: int, missing: Any) -> list[Any]:
    if values is None:
        return [missing] * n
    if len(values) != n:
        raise DeptreeError(f"{len(values)} {what} for {counted(n, 'head')}", f"Give {what} for each word")
    return [missing if each is None else each for each in values]
