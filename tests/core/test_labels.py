"""Labels, and distributions given labels and heads, against enumeration: every tree with every labeling it may have."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.labels import label_stream
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import SPACES
from deptree_cli.core.streams import sentence_stream
from deptree_cli.second_order.distribution import SecondOrder

NAMES = ("a", "root", "b")
OTHER = "a:special"  # a label that the scores do not know
_ = None  # what is open, as CoNLL-U writes it
EACH_SPACE = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)


def scores(n, seed, labels=3):
    return np.random.default_rng(seed).normal(size=(n + 1, n + 1, labels))


def weights(arcs, labels, trees, is_joint):
    """The weight of every labelled tree, by the definitions: joint scores, or P(label | arc) beside scores of arcs."""
    n, found = len(arcs) - 1, {}
    for heads in map(tuple, all_trees(n, trees).tolist()):
        for numbers in itertools.product(*((1,) if head == 0 else (0, 2) for head in heads)):
            total = 0.0
            for word, (head, number) in enumerate(zip(heads, numbers, strict=True), 1):
                of_arc = labels[head, word]
                own = (of_arc[number] - np.logaddexp(of_arc[0], of_arc[2])) if head else 0.0
                total += of_arc[number] if is_joint else arcs[head, word] + own
            if total > -np.inf:
                found[heads, tuple(NAMES[number] for number in numbers)] = float(np.exp(total))
    return found


def agrees(tree, heads, labels):
    """Whether a labelled tree has what is given; a label without scores: whether its word may have one."""
    for own_head, own_label, head, label in zip(*tree, heads, labels, strict=True):
        if head not in (None, own_head) or (label == OTHER and own_head == 0 and head != 0):
            return False
        if label not in (None, OTHER, own_label) and not (label == "ROOT" and own_label == "root"):
            return False
    return True


@pytest.mark.parametrize("is_joint", [True, False], ids=["joint", "given the arc"])
@EACH_SPACE
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), known=st.lists(st.integers(0, 5), min_size=4, max_size=4))
@settings(max_examples=25, deadline=None)
def test_against_enumeration(trees, is_joint, seed, n, known):
    rng = np.random.default_rng(seed)
    arcs, of_labels = rng.normal(size=(n + 1, n + 1)), rng.normal(size=(n + 1, n + 1, 3))
    of_labels[1:, 1:, 0][rng.random((n, n)) < 0.2] = -np.inf  # labels that some arcs cannot have
    every = weights(arcs, of_labels, trees, is_joint)
    (a_heads, a_labels) = list(every)[seed % len(every)]
    heads = [head if kind in (1, 3, 4) else None for head, kind in zip(a_heads, known, strict=False)]
    labels = [
        {2: own, 3: own, 4: OTHER, 5: own if own == "root" else OTHER}.get(kind)
        for own, kind in zip(a_labels, known, strict=False)
    ]
    if is_joint:
        whole = TreeDistribution(of_labels, labels=NAMES, space=trees)
    else:
        whole = TreeDistribution(arcs, space=trees).labelled(NAMES, of_labels)
        assert whole.log_partition == TreeDistribution(arcs, space=trees).log_partition
    left = {tree: weight for tree, weight in every.items() if agrees(tree, heads, labels)}
    found = whole.given(heads, labels=labels)
    total = sum(left.values())
    assert found.log_partition == pytest.approx(np.log(total), abs=1e-11)
    names = found.labels.names
    expected = np.zeros((n + 1, n + 1, len(names)))
    for (tree, own), weight in left.items():
        for word, (head, label) in enumerate(zip(tree, own, strict=True), 1):
            kept = OTHER if labels[word - 1] == OTHER else label
            expected[head, word, names.index(kept)] += weight / total
    np.testing.assert_allclose(found.labels.marginals(found.marginals()), expected, atol=1e-11)
    np.testing.assert_allclose(found.marginals(), expected.sum(axis=-1), atol=1e-11)
    drawn = found.sample(20, seed=seed)
    for tree, own in zip(drawn.tolist(), found.labels.draw(drawn, seed=seed).tolist(), strict=True):
        assert all(label in (None, names[mine]) for label, mine in zip(labels, own, strict=True))
        assert all(head in (None, mine) for head, mine in zip(heads, tree, strict=True))


@pytest.mark.parametrize("kind", [TreeDistribution, SecondOrder])
def test_without_scores_of_labels_root_is_what_counts(kind):
    scored = kind(np.random.default_rng(2).normal(size=(4, 4)))
    assert scored.given(labels=[None, "ROOT", None]).marginals()[0, 2] == 1.0
    assert scored.given(labels=[None, "x", None]).marginals()[0, 2] == 0.0
    assert scored.given([None, 0, None], [None, "Pred", None]).marginals()[0, 2] == 1.0
    assert scored.given([None, 0, None], [None, "Pred", None]).labels is None


def test_one_condition_after_another():
    whole = TreeDistribution(scores(4, 3), labels=NAMES, id="x")
    at_once = whole.given([2, None, None, None], [None, "b", OTHER, None])
    in_turn = whole.given(labels=[None, "b", None, None]).given([2, None, None, None])
    in_turn = in_turn.given(labels=[None, None, OTHER, None])
    np.testing.assert_allclose(in_turn.log_scores, at_once.log_scores, atol=1e-14)
    np.testing.assert_array_equal(in_turn.labels.names, at_once.labels.names)
    twice = at_once.given(labels=[None, "b", OTHER, None])
    np.testing.assert_array_equal(twice.log_scores, at_once.log_scores)
    with pytest.raises(DeptreeError, match="x: word 2 is given the label 'a', which it cannot have"):
        at_once.given(labels=[None, "a", None, None])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("heads", "labels", "message"),
    [
        (_, ["a"], "1 label given for a sentence of 3 words. Give one label per word"),
        (_, "abc", "3 labels given for a sentence of 3 words."),
        (_, [_, 3, _], "the label of word 2 is 3. Give the name of a label, or None."),
        ([_, 3, _], [_, "root", _], "word 2 is given the label 'root', which it cannot have below its head 3."),
        ([0, _, _], ["a", _, _], "word 1 is given the label 'a', which it cannot have below its head ROOT."),
        (_, [_, _, "b"], "word 3 is given the label 'b', which it cannot have. Correct it, allow it, or put _"),
        (_, ["root", "root", _], "no single-root tree is possible: words 1 and 2 can attach to ROOT only."),
    ],
    ids=str,
)
def test_given_labels_that_are_refused(heads, labels, message):
    of_labels = np.zeros((4, 4, 3))
    of_labels[:, 3, 2] = -np.inf
    with pytest.raises(DeptreeError) as caught:
        TreeDistribution(of_labels, labels=NAMES, id="x").given(heads, labels=labels)
    assert str(caught.value).startswith(f"x: {message}")


@EACH_SPACE
def test_joint_scores_of_arcs_that_no_tree_has(trees):
    """Sums over labels round something off, which must not count beside a score that no tree needs."""
    for seed in range(40):
        whole = TreeDistribution(scores(2, seed), labels=NAMES, space=trees)
        found = whole.given([2, None])
        assert found.log_partition == pytest.approx(whole.log_partition + np.log(whole.marginals()[2, 1]), abs=1e-12)
        assert found.argmax().tolist() == [2, 0]


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_probabilities_and_best_labels_of_every_tree(n, single_root):
    whole = TreeDistribution(scores(n, n), labels=NAMES, single_root=single_root)
    exact = weights(np.zeros((n + 1, n + 1)), scores(n, n), whole.space, True)
    heads = np.array([heads for heads, _ in exact], dtype=np.int32)
    labels = np.array([[NAMES.index(label) for label in labels] for _, labels in exact], dtype=np.int32)
    found = np.exp(whole.log_probs(heads) + whole.labels.log_probs_of(heads, labels))
    np.testing.assert_allclose(found, np.array(list(exact.values())) / sum(exact.values()), rtol=1e-12)
    for tree, best in zip(heads, whole.labels.best(heads), strict=True):
        of_tree = (heads == tree).all(axis=1)
        assert best.tolist() == labels[of_tree][found[of_tree].argmax()].tolist()


def test_temperature_and_scale_are_those_of_joint_scores():
    """And joint scores made of scores of arcs and of labels given the arc are the same distribution."""
    one = TreeDistribution(2 * scores(3, 1), labels=NAMES)
    given = TreeDistribution(one.log_scores).labelled(NAMES, scores(3, 1) * 2 + 5)
    for other in (
        TreeDistribution(scores(3, 1), labels=NAMES, temperature=0.5),
        TreeDistribution(np.exp(2 * scores(3, 1)), "weight", labels=NAMES),
        TreeDistribution(given.joint_log_scores(), labels=NAMES),
    ):
        np.testing.assert_allclose(other.log_scores, one.log_scores, rtol=1e-12)
        np.testing.assert_allclose(other.labels.probs[:, 1:], one.labels.probs[:, 1:], atol=1e-14)


@pytest.mark.quick
@pytest.mark.parametrize(("names", "root"), [("a ROOT b", 1), ("a Root b", 1), ("a b c", 3), ("[PAD] a _", 3)])
def test_the_label_of_root_whatever_the_parser_calls_it(names, root):
    found = TreeDistribution(scores(2, 1), labels=names.split()).labels
    assert found.names[root] == "root"
    np.testing.assert_array_equal(found.probs[0, 1:], [np.eye(len(found.names))[root]] * 2)
    assert found.probs[1, 2, root] == 0


@pytest.mark.quick
@pytest.mark.parametrize("special", ["<pad>", "<unk>", "<bos>", "<PAD>", "[UNK]", "@@PADDING@@", "_", ""])
def test_special_labels_are_never_drawn(special):
    conditional = scores(3, 1)
    conditional[..., 0] = 1000.0
    found = TreeDistribution(np.ones((4, 4)), "weight").labelled((special, "root", "dep"), conditional).labels
    heads = np.array([[0, 1, 2], [2, 0, 2]], dtype=np.int32)
    for labels in (found.draw(heads, sentence_stream(1, "x")), found.best(heads)):
        np.testing.assert_array_equal(labels, np.where(heads == 0, 1, 2))


def test_drawn_labels_follow_their_probabilities():
    """H0: labels of each of 9 arcs are drawn by P(label | arc). Chi-square, 20,000 draws each, p > 1e-3 / 12."""
    size, n = 20_000, 4
    found = TreeDistribution(np.ones((5, 5)), "weight").labelled(("root", "a", "b", "c"), scores(n, 9, labels=4)).labels
    trees = np.array([[2, 0, 2, 3], [3, 3, 0, 3], [4, 4, 4, 0]], dtype=np.int32)
    labels = found.draw(np.repeat(trees, size, axis=0), sentence_stream(7, "s")).reshape(3, size, n)
    for tree, drawn in zip(trees, labels, strict=True):
        for word, head in enumerate(tree):
            probs = found.probs[head, word + 1]
            counts = np.bincount(drawn[:, word], minlength=4)
            assert counts[probs == 0].sum() == 0
            assert not head or stats.chisquare(counts[1:], probs[1:] * size).pvalue > 1e-3 / 12


def test_the_first_labels_do_not_depend_on_how_many_are_drawn():
    whole = TreeDistribution(scores(4, 1), labels=NAMES)
    heads = np.tile(np.array([2, 0, 2, 3], dtype=np.int32), (50, 1))
    many = whole.labels.draw(heads, seed=1)
    np.testing.assert_array_equal(whole.labels.draw(heads[:7], seed=1), many[:7])
    rng = sentence_stream(1, whole.id)
    rng.random(1000)
    np.testing.assert_array_equal(whole.labels.draw_by(heads, label_stream(rng)), many)
    first = {label_stream(rng).random(), label_stream(rng, 0).random(), label_stream(rng, 1).random()}
    assert len(first | {sentence_stream(1, whole.id).random(), label_stream(sentence_stream(2, "x")).random()}) == 5


DUMB = np.ones((3, 3, 3))
DUMB[1, 2, [0, 2]] = -np.inf


def plain(**how):
    return TreeDistribution(np.ones((3, 3)), **how)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda **x: TreeDistribution(np.ones((3, 3)), labels=NAMES, **x), "shape (3, 3), not (n+1, n+1, labels)"),
        (lambda **x: TreeDistribution(DUMB * np.nan, labels=NAMES, **x), "ROOT -> 1, label 0 (nan) is NaN"),
        (lambda **x: TreeDistribution(np.ones((3, 3, 3)), labels=("_", "root", "<x>"), **x), "no single-root tree"),
        (lambda **x: plain(**x).labelled(NAMES, DUMB), "labels: the arc 1 -> 2 has no label with a finite score"),
        (lambda **x: plain(**x).labelled(NAMES, np.ones((4, 4, 3))), "labels are of 3 words, those of arcs of 2"),
    ],
)
def test_scores_of_labels_that_are_refused(make, part):
    with np.errstate(all="ignore"), pytest.raises(DeptreeError, match="x: ") as caught:
        make(id="x")
    assert part in str(caught.value)
