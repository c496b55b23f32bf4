"""Rules about gaps: on every tree of up to five words what dominance says, and what the validator says."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rule_search import BranchAndBound
from deptree_cli.core.rules import Bound, Choice, LabelledTree, OutOfGaps, ProjectiveArcs, TreeRule, Words
from deptree_cli.core.ruleset import Ruleset, broken
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, TreeSpace
from tests.brute_rules import Sentence, Tree, obeys
from tests.tree_files import read_blocks

RULES: dict[str, TreeRule] = {
    "projective": ProjectiveArcs("punct-is-nonproj", ("punct",)),
    "out-of-gaps": OutOfGaps("punct-causes-nonproj", ("punct",)),
}
LABELS = "dep", "punct"
PUNCT = LABELS.index("punct")
NAMES = tuple(rule.name for rule in RULES.values())

each_kind = pytest.mark.parametrize("kind", RULES)


def words_of_size(n: int) -> Words:
    return Words(LABELS, [None] * n, [frozenset()] * n)


def bound(kind: str, n: int) -> Bound:
    """What finds the nogoods of a rule in trees of n words."""
    found = RULES[kind].bound(words_of_size(n))
    assert found is not None
    return found


@cache
def breaking(n: int, kind: str, space: TreeSpace = MULTI_ROOT) -> np.ndarray:
    """Which words of which trees, (T, n), break a rule by dominance if they are punctuation."""
    known = Sentence([None] * n, [frozenset()] * n)
    found = []
    for heads in all_trees(n, space).tolist():
        marked = [[LABELS[own == word] for own in range(n)] for word in range(n)]
        found.append(
            [not obeys(Tree(tuple(heads), tuple(labels)), kind, {"label": "punct"}, known) for labels in marked]
        )
    return np.array(found)


@pytest.mark.slow("size")
@each_kind
def test_a_rule_names_the_words_that_break_it_by_dominance(kind: str) -> None:
    """All trees of up to five words, with one root or several, with all labels; each word at most once."""
    for n in range(1, 6):
        find = bound(kind, n)
        for heads, bad in zip(all_trees(n, MULTI_ROOT).tolist(), breaking(n, kind).tolist(), strict=True):
            for labels in product(range(2), repeat=n):
                found = [nogood.words[0] for nogood in find.nogoods(LabelledTree(heads, labels))]
                marked = enumerate(zip(bad, labels, strict=True), 1)
                assert found == [word for word, (is_bad, label) in marked if is_bad and label]


@pytest.mark.slow("size")
@each_kind
def test_its_conflicts_lose_no_tree_of_five_words_that_obeys(kind: str) -> None:
    """Choices are those of the tree; no tree that obeys makes all; none that makes all but the last makes more."""
    n, count = 5, 0
    trees, bad = all_trees(n, MULTI_ROOT), breaking(n, kind)
    labels = np.array([each for each in product(range(2), repeat=n) if sum(each) >= n - 2])
    obedient = ~(bad[:, None] & (labels == PUNCT)).any(axis=2)  # (T, labels)

    def made(choice: Choice) -> np.ndarray:
        """Which labelled trees make a choice, (T, labels)."""
        own = labels[:, choice.word - 1] if choice.arcs.shape[1] > 1 else np.zeros(len(labels), dtype=int)
        return choice.arcs[trees[:, choice.word - 1][:, None], own]

    for place, heads in enumerate(trees.tolist()):
        for nogood in bound(kind, n).nogoods(LabelledTree(heads, [PUNCT] * n)):
            *first, last = nogood.choices
            assert len({choice.word for choice in nogood.choices}) == len(nogood.choices)
            assert set(nogood.words) == {choice.word for choice in nogood.choices}
            assert all(made(choice)[place, -1] for choice in nogood.choices)
            left = np.all([obedient, *map(made, first)], axis=0)
            for choice in (last, *nogood.also_excluded()):
                assert not (left & made(choice)).any(), (heads, nogood.words, choice.word)
            count += 1
    assert count > 500


@pytest.mark.slow("size")
@pytest.mark.parametrize("space", [SINGLE_ROOT, MULTI_ROOT], ids=lambda space: space.name)
def test_the_best_trees_of_five_words_are_those_of_enumeration(space: TreeSpace) -> None:
    """Random scores; the best three arrays of heads under both rules, each with its best labels, all certain."""
    rng, changed = np.random.default_rng(44), 0
    for seed in range(150):
        n = 5 - seed % 3 // 2
        trees = all_trees(n, space)
        bad = breaking(n, "projective", space) | breaking(n, "out-of-gaps", space)
        scores = rng.normal(size=(n + 1, n + 1, 2)) * rng.choice([1.0, 5.0]) + [0.0, rng.choice([0.0, 4.0])]
        scores[~(np.arange(n + 1) * ~np.eye(n + 1, dtype=bool) > 0)] = -np.inf
        own = scores[trees, np.arange(1, n + 1)]
        worth = np.where(bad, own[..., 0], own.max(axis=2)).sum(axis=1)
        changed += own.max(axis=2).sum(axis=1).max() > worth.max()
        rules = [bound(kind, n) for kind in RULES]
        found = list(islice(BranchAndBound(scores, space, rules).trees(), 3))
        best = np.argsort(-worth)[:3]
        assert [each.heads.tolist() for each in found] == trees[best].tolist(), seed
        np.testing.assert_allclose([each.score for each in found], worth[best])
        assert all(each.certified for each in found)
    assert changed > 50


def rows_of(heads: Sequence[int], labels: Sequence[str]) -> dict[str, list[int]]:
    """The words that break each rule."""
    found = broken(Ruleset("x", tuple(RULES.values())), words_of_size(len(heads)), heads, labels, MULTI_ROOT)
    return {name: [each.word for each in found if each.rule == name] for name in NAMES}


def validated(trees: Sequence[Sequence[int]], labels: Iterable[Sequence[str]]) -> Iterator[dict[str, list[int]]]:
    """Which punctuation of trees breaks each of the validator's two tests, by its own functions."""
    utils = pytest.importorskip("udtools.utils", reason="udtools is not installed")
    document = pytest.importorskip("udapi.core.document", reason="udapi is not installed")
    rows = (enumerate(heads, 1) for heads in trees)
    text = "\n".join(
        "".join(f"{word}\tw" + "\t_" * 4 + f"\t{head}\tpunct\t_\t_\n" for word, head in row) for row in rows
    )
    tests = dict(zip(NAMES, (utils.get_gap, utils.get_caused_nonprojectivities), strict=True))
    parsed = document.Document()
    parsed.from_conllu_string(text + "\n")
    for bundle, own in zip(parsed.bundles, labels, strict=True):
        nodes = [node for node in bundle.get_tree().descendants if own[node.ord - 1] == "punct"]
        yield {name: [node.ord for node in nodes if test(node)] for name, test in tests.items()}


@pytest.mark.slow("size")
def test_they_name_the_words_that_the_validator_names() -> None:
    """All trees of up to five words, with one root or several, and longer ones at random."""
    rng = np.random.default_rng(7)
    trees = [heads for n in range(1, 6) for heads in all_trees(n, MULTI_ROOT).tolist()]
    trees += [random_heads(rng, int(rng.integers(6, 13))) for _ in range(400)]
    labels, count = [["punct"] * len(heads) for heads in trees], 0
    for heads, own, expected in zip(trees, labels, validated(trees, labels), strict=True):
        found = rows_of(heads, own)
        assert found == expected, heads
        count += sum(map(len, found.values()))
    assert count > 1000


def random_heads(rng: np.random.Generator, n: int) -> list[int]:
    """A tree with one root: each word below one that came before it in a random order."""
    order, heads = (rng.permutation(n) + 1).tolist(), [0] * n
    for place, word in enumerate(order):
        heads[word - 1] = order[rng.integers(place)] if place else 0
    return heads


@pytest.mark.slow("process")
@pytest.mark.parametrize("folder", ["real_ru", "real_en"])
def test_in_treebanks_they_name_the_words_that_the_validator_names(shared: Path, folder: str) -> None:
    """Row by row, in gold trees and in those trees with the heads of some punctuation replaced."""
    rng, trees, labels = np.random.default_rng(44), [], []
    for block in islice(read_blocks(io.BytesIO((shared / folder / "gold.conllu").read_bytes()), "gold"), 400):
        heads = [head or 0 for head in block.heads]
        marks = [word for word, label in enumerate(block.deprels, 1) if label.startswith("punct")]
        trees += [
            heads,
            [
                _other(rng, heads, marks) if word in marks and word not in heads else head
                for word, head in enumerate(heads, 1)
            ],
        ]
        labels += [["punct" if word in marks else "dep" for word in range(1, block.n + 1)]] * 2
    count = 0
    for heads, own, expected in zip(trees, labels, validated(trees, labels), strict=True):
        found = rows_of(heads, own)
        assert found == expected, heads
        count += sum(map(len, found.values()))
    assert count > 200


def _other(rng: np.random.Generator, heads: Sequence[int], marks: Sequence[int]) -> int:
    """A head for punctuation: no other punctuation, which may have got it as a head."""
    return int(rng.choice([each for each in range(len(heads) + 1) if each not in marks]))


# We met a man yesterday who sings . The arc to the clause crosses that of the adverb.
CLAUSE = [2, 0, 4, 2, 2, 7, 4, 2]
# Somebody called yesterday who sings . The arc to the clause crosses that of the full stop.
OVER_THE_ROOT = [2, 0, 2, 5, 1, 2]


@pytest.mark.parametrize(
    ("heads", "mark", "rows"),
    [
        (CLAUSE, 8, []),
        (OVER_THE_ROOT, 6, []),
        ([*CLAUSE[:-1], 4], 8, [("punct-is-nonproj", 8, 5, 2)]),  # over `yesterday`, which is not below `man`
        ([*OVER_THE_ROOT[:-1], 1], 6, [("punct-is-nonproj", 6, 2)]),
        ([2, 0, 2, 2, 6, 3], 4, [("punct-causes-nonproj", 4, 6, 2)]),  # We met somebody , who sings
        ([2, 0, 2, 3, 6, 3], 4, []),  # the same comma below `somebody`
        ([0, 5, 2, 3, 1], 4, []),  # a quotation mark under an arc, with its head there
    ],
)
def test_an_arc_that_crosses_is_wrong_only_where_it_makes_a_gap(
    heads: list[int], mark: int, rows: list[tuple[str, int]]
) -> None:
    labels = ["punct" if word == mark else "dep" for word in range(1, len(heads) + 1)]
    found = broken(Ruleset("x", tuple(RULES.values())), words_of_size(len(heads)), heads, labels)
    assert [(each.rule, *each.words) for each in found] == rows
    (expected,) = validated([heads], [labels])
    assert sorted((name, word) for name, words in expected.items() for word in words) == [each[:2] for each in rows]
