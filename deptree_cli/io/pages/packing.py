"""A sentence as the page needs it: its CoNLL-U, arc scores from which the page computes, and what it is sorted by.

Arcs are a bitmap and a float32 for each arc that counts: where the page computes, each that is possible, for given an
improbable head any of them can be certain. Scores are stored less that of the most probable tree's head of the same
word: a constant of a word changes no probability, and the numbers that matter are then small and keep their digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.decoding import maximum_tree
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.doubt import doubts_of_heads, expected_errors
from deptree_cli.core.dtypes import Bool, Float, Heads, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.partition import log_projective_mass
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.blocks import Block, block_of
from deptree_cli.io.rules.constraints import Constraints
from deptree_cli.io.scores.records import ScoredSentence

# Up to this length the page is given scores, and computes probabilities given some heads.
LONGEST = 60

# Of longer sentences arc probabilities below this one are left out.
SMALLEST_SHOWN = 1e-4

# Labels are told for arcs of at least this probability, so many of each.
LABELLED, MOST_LABELS = 0.01, 3

# So many samples of a sentence are enough to look at.
MOST_SAMPLES = 100

# The head of a word that has none.
NO_HEAD = 0xFFFF


@dataclass(frozen=True, eq=False)
class PackedSentence:
    """A sentence for the page.

    Attributes:
        sent_id: its name.
        text: its CoNLL-U.
        tree, best, gold: n heads each: those shown, of the most probable tree, and known to be right (or `NO_HEAD`).
        probs: (2, n): the probabilities of the first two's heads.
        computes: whether `numbers` are log-scores, from which the page computes, and not arc probabilities.
        mask: (n+1, n), ``[head, dependent - 1]``: which arcs have a number.
        numbers: float32, of these arcs in order.
        labels: (a, 4) of uint16: head, dependent, number of a label, its probability given the arc times 65,535.
        facts: entropy, log-probability of the tree (-inf: impossible), projective mass, expected errors of the tree
            shown and of the most probable one.
        broken: what the tree breaks: names of rules with the words at which they do.
        samples: (k, n) heads.
        deprels: the labels that its words have.
    """

    sent_id: str
    text: str
    tree: Heads
    best: Heads
    gold: Heads
    probs: Float
    computes: bool
    mask: Bool
    numbers: Float
    labels: Integers
    facts: tuple[float, float, float, float, float]
    broken: list[tuple[str, int]]
    samples: Integers
    deprels: frozenset[str] = frozenset()

    @property
    def doubt(self) -> float:
        """The expected errors of the tree shown."""
        return self.facts[3]

    @property
    def counted(self) -> tuple[int, float, frozenset[str]]:
        """Its words, how many more heads are expected to be wrong than in the best tree, and its labels."""
        return len(self.tree), self.doubt - self.facts[4], self.deprels

    def for_page(self) -> PackedSentence:
        """Return itself, as results do that are more than this."""
        return self


def for_page(
    sentence: ScoredSentence, constraints: Constraints | None, has_gold: bool, samples: Integers | None = None
) -> PackedSentence:
    """Return a sentence for the page.

    Args:
        constraints: whose breaks by the tree are counted; the distribution is taken as it is.
        has_gold: whether the record's gold heads are to be compared with.
        samples: (k, n) heads.

    Raises:
        DeptreeError: what is asked of words does not fit them.
    """
    distribution = sentence.distribution
    n, marginals, best = distribution.n, distribution.marginals(), maximum_tree(distribution)
    block = sentence.record.block or block_of(sentence.id, [str(word) for word in range(1, n + 1)])
    tree = np.array([b if head is None else head for head, b in zip(block.heads, best.tolist(), strict=True)])
    computes = n <= LONGEST and not distribution.space.projective and distribution.space.kind == ""
    mask = _mask(distribution, marginals, computes, (tree, best))
    numbers = (_relative(distribution, best) if computes else marginals[:, 1:])[mask]
    gold = sentence.record.known_heads if has_gold else np.full(n, NO_HEAD)
    return PackedSentence(
        sentence.id,
        _text_of(block),
        tree,
        best,
        np.where(gold < 0, NO_HEAD, gold),
        np.array([marginals[heads, np.arange(1, n + 1)] for heads in (tree, best)]),
        computes,
        mask,
        numbers,
        _labels(distribution, marginals),
        _facts(distribution, marginals, tree, best),
        _broken(sentence.id, block, tree, constraints, distribution.space),
        np.empty((0, n), dtype=np.int32) if samples is None else samples[:MOST_SAMPLES],
        frozenset(block.deprels),
    )


def _text_of(block: Block) -> str:
    try:
        return block.raw.decode()
    except UnicodeDecodeError:
        raise DeptreeError("the sentence is not UTF-8", "Convert the file to UTF-8", place=block.place) from None


def _mask(distribution: TreeDistribution, marginals: Float, computes: bool, trees: Sequence[Heads]) -> Bool:
    """Which arcs have a number: all that may be where the page computes, else the probable ones and those of trees."""
    possible = np.isfinite(distribution.log_scores[:, 1:])
    if computes:
        return possible
    mask = marginals[:, 1:] >= SMALLEST_SHOWN
    for heads in trees:
        mask[heads, np.arange(distribution.n)] = True
    return mask & possible


def _relative(distribution: TreeDistribution, best: Heads) -> Float:
    """Log-scores (n+1, n) less those of a tree's arcs."""
    log_scores = distribution.log_scores[:, 1:]
    return log_scores - log_scores[best, np.arange(distribution.n)]


def _facts(
    distribution: TreeDistribution, marginals: Float, tree: Heads, best: Heads
) -> tuple[float, float, float, float, float]:
    is_tree = distribution.space.contains(tree[None])[0]
    log_prob = float(distribution.tree_log_probs(tree[None])[0]) if is_tree else -np.inf
    errors, best_errors = (float(expected_errors(doubts_of_heads(marginals, heads).doubts)) for heads in (tree, best))
    projective = 1.0 if distribution.space.projective else min(1.0, float(np.exp(log_projective_mass(distribution))))
    return (distribution.entropy(), log_prob, projective, errors, best_errors)


def _labels(distribution: TreeDistribution, marginals: Float) -> Integers:
    rows = []
    if distribution.labels is not None:
        probs = np.nan_to_num(distribution.labels.probs)
        for head, word in np.argwhere(marginals >= LABELLED).tolist():
            likeliest = np.argsort(-probs[head, word], kind="stable")[:MOST_LABELS].tolist()
            shares = (round(float(probs[head, word, label]) * 0xFFFF) for label in likeliest)
            rows += [(head, word, label, share) for label, share in zip(likeliest, shares, strict=True) if share]
    return np.array(rows, dtype=np.uint16).reshape(-1, 4)


def _broken(
    sent_id: str, block: Block, tree: Heads, constraints: Constraints | None, space: TreeSpace
) -> list[tuple[str, int]]:
    if constraints is None:
        return []
    labels = ["" if label == "_" else label for label in block.deprels]
    found = constraints.of(sent_id, block, block.n, None).broken(tree.tolist(), labels, space)
    return [(each.rule, each.word) for each in found]
