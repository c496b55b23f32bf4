"""Labels against enumeration: every tree with every labeling that it may have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.labels import Labels, label_stream
from deptree_cli.core.streams import sentence_stream
from tests.oracle import Oracle

NAMES = ("<pad>", "nsubj", "root", "obj")
LABELED = {True: (2,), False: (1, 3)}  # by whether the head is ROOT: the numbers of the labels that may be


def scores(n: int, seed: int, scale: float = 1.0, labels: int = len(NAMES)) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n + 1, n + 1, labels)) * scale


def enumerated(n: int, seed: int, single_root: bool) -> dict[tuple[tuple[int, ...], tuple[int, ...]], float]:
    """The probability of every labelled tree under joint scores, by the definition."""
    joint = scores(n, seed)
    every = Oracle(TreeDistribution(np.ones((n + 1, n + 1)), "weight", single_root=single_root)).trees
    weights = {}
    for heads in map(tuple, every.tolist()):
        for labels in itertools.product(*(LABELED[head == 0] for head in heads)):
            arcs = zip(heads, range(1, n + 1), labels, strict=True)
            weights[heads, labels] = float(np.exp(sum(joint[arc] for arc in arcs)))
    total = sum(weights.values())
    return {tree: weight / total for tree, weight in weights.items()}


def labelled(n: int, seed: int, single_root: bool = True) -> TreeDistribution:
    return TreeDistribution(scores(n, seed), labels=NAMES, single_root=single_root)


def found(distribution: TreeDistribution) -> Labels:
    assert distribution.labels is not None
    return distribution.labels


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_joint_scores_are_a_distribution_over_labelled_trees(n: int, single_root: bool) -> None:
    distribution = labelled(n, n, single_root)
    exact = enumerated(n, n, single_root)
    heads = np.array([heads for heads, _ in exact], dtype=np.int32)
    labels = np.array([labels for _, labels in exact], dtype=np.int32)
    log_probs = distribution.log_probs(heads) + found(distribution).log_probs_of(heads, labels)
    np.testing.assert_allclose(np.exp(log_probs), list(exact.values()), rtol=1e-12)


def test_the_best_labels_are_the_most_probable_of_the_tree() -> None:
    exact = enumerated(3, 2, True)
    distribution = labelled(3, 2)
    for heads in {heads for heads, _ in exact}:
        of_tree = {labels: probability for (tree, labels), probability in exact.items() if tree == heads}
        best = found(distribution).best(np.array([heads], dtype=np.int32))
        assert tuple(best[0].tolist()) == max(of_tree, key=of_tree.__getitem__)


def test_conditional_scores_leave_the_trees_alone() -> None:
    arcs = np.random.default_rng(3).normal(size=(4, 4))
    plain = TreeDistribution(arcs)
    conditional = scores(3, 4)
    distribution = plain.labelled(NAMES, conditional)
    assert distribution.log_partition == plain.log_partition
    probs = found(distribution).probs[2, 3]
    weights = np.exp(conditional[2, 3, [1, 3]])
    np.testing.assert_allclose(probs[[1, 3]], weights / weights.sum(), rtol=1e-14)
    assert probs[0] == probs[2] == 0
    np.testing.assert_array_equal(found(distribution).probs[0, 1:], [[0, 0, 1, 0]] * 3)


def test_joint_scores_made_of_both_are_the_same_labels() -> None:
    """joint = arc + log-softmax of labels over those that the arc may have."""
    arcs = np.random.default_rng(3).normal(size=(4, 4))
    given = TreeDistribution(arcs).labelled(NAMES, scores(3, 4))
    both = np.nan_to_num(arcs[..., None] + found(given).log_probs, nan=-np.inf)
    joint = TreeDistribution(both, labels=NAMES)
    np.testing.assert_allclose(joint.log_scores, given.log_scores, rtol=1e-13)
    np.testing.assert_allclose(found(joint).probs[:, 1:], found(given).probs[:, 1:], atol=1e-14)


def test_temperature_divides_the_scores_of_labels_too() -> None:
    sharp = TreeDistribution(scores(3, 1), labels=NAMES, temperature=0.5)
    doubled = TreeDistribution(2 * scores(3, 1), labels=NAMES)
    np.testing.assert_allclose(sharp.log_scores, doubled.log_scores)
    np.testing.assert_allclose(found(sharp).log_probs[1, 2], found(doubled).log_probs[1, 2])


def test_weights_and_log_scores_agree() -> None:
    by_weight = TreeDistribution(np.exp(scores(3, 1)), "weight", labels=NAMES)
    by_log = TreeDistribution(scores(3, 1), labels=NAMES)
    np.testing.assert_allclose(by_weight.log_scores, by_log.log_scores, rtol=1e-12)


@pytest.mark.parametrize(
    ("names", "root"),
    [(("a", "ROOT", "b"), 1), (("a", "Root", "b"), 1), (("a", "b", "c"), 3), (("[PAD]", "a", "_"), 3)],
)
def test_the_label_of_root_whatever_the_parser_calls_it(names: tuple[str, ...], root: int) -> None:
    distribution = TreeDistribution(scores(2, 1, labels=3), labels=names)
    assert found(distribution).names[root] == "root"
    np.testing.assert_array_equal(found(distribution).probs[0, 1:].argmax(axis=-1), [root, root])
    np.testing.assert_array_equal(found(distribution).probs[0, 1:, root], [1, 1])
    assert found(distribution).probs[1, 2, root] == 0


@pytest.mark.parametrize("special", ["<pad>", "<unk>", "<bos>", "<PAD>", "[UNK]", "@@PADDING@@", "_", ""])
def test_special_labels_are_never_drawn(special: str) -> None:
    conditional = scores(3, 1, labels=3)
    conditional[..., 0] = 1000.0
    distribution = TreeDistribution(np.ones((4, 4)), "weight").labelled((special, "root", "dep"), conditional)
    heads = np.array([[0, 1, 2], [2, 0, 2]], dtype=np.int32)
    expected = np.where(heads == 0, 1, 2)
    np.testing.assert_array_equal(found(distribution).draw(heads, sentence_stream(1, "x")), expected)
    np.testing.assert_array_equal(found(distribution).best(heads), expected)


def test_drawn_labels_follow_their_probabilities() -> None:
    """H0: labels of each of 12 arcs are drawn by P(label | arc). Chi-square, 20,000 draws each, p > 1e-3 / 12."""
    size, n = 20_000, 4
    distribution = TreeDistribution(np.ones((n + 1, n + 1)), "weight").labelled(
        ("root", "a", "b", "c"), scores(n, 9, labels=4)
    )
    trees = np.array([[2, 0, 2, 3], [3, 3, 0, 3], [4, 4, 4, 0]], dtype=np.int32)
    labels = found(distribution).draw(np.repeat(trees, size, axis=0), sentence_stream(7, "s")).reshape(3, size, n)
    tested = 0
    for tree, drawn in zip(trees, labels, strict=True):
        for word, head in enumerate(tree):
            probs = found(distribution).probs[head, word + 1]
            counts = np.bincount(drawn[:, word], minlength=4)
            assert counts[probs == 0].sum() == 0
            if head:
                tested += 1
                assert stats.chisquare(counts[1:], probs[1:] * size).pvalue > 1e-3 / 12
    assert tested == 9


def test_the_first_labels_do_not_depend_on_how_many_are_drawn() -> None:
    distribution = labelled(4, 1)
    heads = np.tile(np.array([2, 0, 2, 3], dtype=np.int32), (50, 1))
    many = found(distribution).draw(heads, seed=1)
    np.testing.assert_array_equal(found(distribution).draw(heads[:7], seed=1), many[:7])
    rng = sentence_stream(1, distribution.id)
    rng.random(1000)
    np.testing.assert_array_equal(found(distribution).draw_by(heads, label_stream(rng)), many)


def test_streams_of_labels_differ() -> None:
    rng = sentence_stream(1, "x")
    first = {label_stream(rng).random(), label_stream(rng, 0).random(), label_stream(rng, 1).random()}
    assert len(first | {sentence_stream(1, "x").random(), label_stream(sentence_stream(2, "x")).random()}) == 5


@pytest.mark.parametrize(
    ("array", "names", "part"),
    [
        (np.ones((3, 3, 2)), NAMES, "scores of 2 labels, but 4 names"),
        (np.ones((3, 3)), NAMES, "shape (3, 3), not (n+1, n+1, labels)"),
        (np.full((3, 3, 4), np.nan), NAMES, "ROOT -> 1, label 0 (nan) is NaN"),
        (np.where(np.arange(4) == 1, -np.inf, np.ones((3, 3, 4))), (*NAMES[:3], "<x>"), "no single-root tree"),
    ],
)
def test_what_is_wrong_with_joint_scores(array: np.ndarray, names: tuple[str, ...], part: str) -> None:
    with pytest.raises(Exception, match="x: ") as caught:
        TreeDistribution(array, labels=names, id="x")
    assert part in str(caught.value)


def test_what_is_wrong_with_conditional_scores() -> None:
    plain = TreeDistribution(np.ones((3, 3)), "weight", id="x")
    dumb = np.ones((3, 3, 4))
    dumb[1, 2, [1, 3]] = -np.inf
    with pytest.raises(Exception, match="x: labels: the arc 1 -> 2 has no label with a finite score"):
        plain.labelled(NAMES, dumb)
    with pytest.raises(Exception, match="x: labels: the scores of labels are of 3 words, those of arcs of 2"):
        plain.labelled(NAMES, np.ones((4, 4, 4)))
