"""The one object that users hold: every answer against enumeration, given heads and tempered too, every refusal."""

from importlib.metadata import EntryPoint, EntryPoints, entry_points
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.conditionals import draw_labelled
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.samplers import SAMPLERS, names
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, SPACES
from deptree_cli.core.streams import sentence_stream
from deptree_cli.core.swor import ALGORITHMS
from tests.oracle import Oracle

EACH_SPACE = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)


@EACH_SPACE
@pytest.mark.parametrize("kind", [("gaussian", 4), ("gaussian", 4, 20, 1), ("holes", 4, 5), ("disconnected", 4, 1000)])
def test_every_answer_against_enumeration(kind, trees, graphs):
    """Of every four numbers from -1 to 5 trees of the space have their probability, all else -inf."""
    distribution = graphs.over(getattr(graphs, kind[0])(*kind[1:]), trees)
    heads = np.stack(np.meshgrid(*[np.arange(-1, 6)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    oracle = Oracle(distribution)
    exact = dict(zip(map(tuple, oracle.trees.tolist()), oracle.log_probs.tolist(), strict=True))
    expected = [exact.get(tuple(row), -np.inf) for row in heads.tolist()]
    found = distribution.log_probs(heads)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)
    assert found.max() <= 0.0
    assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-12)
    log_p, p, order = oracle.log_probs, np.exp(oracle.log_probs), np.sort(oracle.log_probs)[::-1]
    assert distribution.log_prob(distribution.argmax()) == pytest.approx(order[0], abs=1e-11)
    np.testing.assert_allclose(distribution.log_probs(distribution.top_k(7)), order[:7], rtol=1e-12, atol=1e-11)
    right = (oracle.trees[:, None] == oracle.trees[None]).sum(axis=2) @ p
    assert (oracle.trees == distribution.mbr()).sum(axis=1) @ p == pytest.approx(right.max())
    other = graphs.over(graphs.gaussian(4, seed=8), distribution.space)
    log_q = other.log_probs(oracle.trees)
    # log Z and the expected log-score may be 1e3 each and cancel
    assert distribution.entropy() == pytest.approx(-p @ log_p, rel=1e-10, abs=1e-11)
    assert distribution.renyi(2.0) == pytest.approx(-np.log((p**2).sum()), rel=1e-10, abs=1e-11)
    assert distribution.kl(other) == pytest.approx(p @ (log_p - log_q), rel=1e-10, abs=1e-11)
    assert distribution.cross_entropy(other) == pytest.approx(-p @ log_q, rel=1e-10, abs=1e-11)


NO_HEADS = [[0, 1], [0, 1, 2, 3], [[0, 1, 2]], [0.0, 1.0, 2.0], [None, 1, 2], [True, False, True], 3, "abc", []]


@pytest.mark.quick
@pytest.mark.parametrize("heads", [*NO_HEADS, [[0, 1], [0]]], ids=str)
def test_heads_that_are_refused(heads, graphs):
    with pytest.raises(DeptreeError, match=r"1: heads of .* for a sentence of 3 words\. Give one integer per word"):
        graphs.distribution(graphs.gaussian(3)).log_prob(heads)


def test_heads_that_are_taken(graphs):
    distribution = graphs.distribution(graphs.gaussian(3))
    assert isinstance(distribution.log_prob([0, 1, 2]), float)
    assert distribution.log_prob((0, 1, 2)) == distribution.log_probs(np.array([[0, 1, 2]], dtype=np.uint8))[0]
    assert distribution.log_probs(np.zeros((0, 3), dtype=np.int32)).shape == (0,)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda d, other: d.kl(other), "words"),
        (lambda d, other: d.cross_entropy(other), "words"),
        *((lambda d, _, order=order: d.renyi(order), "order") for order in (0.0, -1.0, np.nan, np.inf)),
        *((lambda d, _, t=t: d.tempered(t), "the temperature is") for t in (0.0, -1.0, np.nan, np.inf)),
        (lambda d, _: d.tempered(1e-300), "takes scores out of range"),
        (lambda d, _: d.sample(1, 1, "eliminatio"), r"there is no sampler 'eliminatio'\. Did you mean elimination\?"),
        (lambda d, _: d.sample(1, 1, "wilson"), "the sampler wilson does not draw single-root trees"),
        (lambda d, _: d.sample_without_replacement(1, 1, "tri"), r"no SWOR algorithm 'tri'\. Did you mean trie\?"),
    ],
)
def test_questions_that_are_refused(question, message, graphs):
    with pytest.raises(DeptreeError, match=message):
        question(*(graphs.distribution(graphs.gaussian(n)) for n in (3, 5)))


@EACH_SPACE
@pytest.mark.parametrize("size", [1, 30])
def test_a_seed_is_the_sentences_own_stream(trees, size, graphs):
    """The trees of `deptree sample --seed`; a Generator is used, and used up, as it is."""
    distribution, elsewhere = (TreeDistribution(graphs.gaussian(5), space=trees, id=each) for each in ("s-1", "s-2"))
    seeded = distribution.sample(size, 7)
    assert np.array_equal(seeded, SAMPLERS.get("auto").draw(distribution, size, sentence_stream(7, "s-1")))
    assert np.array_equal(seeded, distribution.sample(size, sentence_stream(7, "s-1")))
    distinct = ALGORITHMS.get("trie").draw(distribution, size, sentence_stream(7, "s-1")).heads
    assert np.array_equal(distribution.sample_without_replacement(size, 7, "trie").heads, distinct)
    labelled = distribution.labelled(("root", "a"), np.zeros((6, 6, 2)))
    distinct = draw_labelled(ALGORITHMS.get("auto"), labelled, size, sentence_stream(7, "s-1")).heads
    assert np.array_equal(labelled.sample_without_replacement(size, 7, labelled=True).heads, distinct)
    rng, named = sentence_stream(7, "s-1"), names(trees)[1]
    first, second = distribution.sample(30, rng, named), distribution.sample(30, rng, named)
    assert np.array_equal(first, distribution.sample(30, 7, named))
    assert not np.array_equal(first, second)
    assert not np.array_equal(distribution.sample(30, 7), elsewhere.sample(30, 7))


def test_another_space_and_back(graphs):
    distribution = graphs.distribution(graphs.gaussian(4))
    spanning = distribution.multi_root()
    assert (distribution.space, spanning.space) == (SINGLE_ROOT, MULTI_ROOT)
    assert spanning.multi_root() is spanning
    assert distribution.over(SINGLE_ROOT) is distribution
    assert spanning.log_partition == pytest.approx(Oracle(spanning).log_z)
    assert spanning.over(SINGLE_ROOT).log_partition == distribution.log_partition
    star = TreeDistribution([[0, 1, 1], [0, 0, 0], [0, 0, 0]], "weight", single_root=False, id="s")
    with pytest.raises(DeptreeError, match="s: no single-root tree is possible: words 1 and 2 can attach to ROOT only"):
        star.over(SINGLE_ROOT)
    assert distribution.labels is None
    labelled = distribution.labelled(("root", "a", "b"), np.ones((5, 5, 3)))
    for changed in (labelled.multi_root(), labelled.tempered(2.0), labelled.given([None, 1, None, None])):
        assert changed.labels is labelled.labels


@EACH_SPACE
@given(seed=st.integers(0, 2**32 - 1), known=st.lists(st.booleans(), min_size=4, max_size=4))
def test_given_some_heads_of_a_tree(trees, graphs, seed, known):
    """P(tree) / P(trees that have these heads), and 0 for others."""
    distribution = graphs.over(graphs.holes(4, seed % 50, trees.single_root, 3.0, trees.projective), trees)
    oracle = Oracle(distribution)
    tree = oracle.trees[seed % len(oracle.trees)]
    heads = [int(head) if is_known else None for head, is_known in zip(tree, known, strict=True)]
    agrees = (oracle.trees == tree)[:, known].all(axis=1)
    expected = np.where(agrees, oracle.log_probs - np.logaddexp.reduce(oracle.log_probs[agrees]), -np.inf)
    found = distribution.given(heads)
    np.testing.assert_allclose(found.log_probs(oracle.trees), expected, rtol=0, atol=1e-11)
    assert (found.id, found.space) == (distribution.id, trees)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([99, None, None], "the head of word 1 is 99, not 0 to 3. Give 0 for ROOT, the number of a word, or None."),
        ([None, -1, None], "the head of word 2 is -1, not 0 to 3."),
        ([0.0, None, None], "the head of word 1 is 0.0, not 0 to 3."),
        (["1", None, None], "the head of word 1 is '1', not 0 to 3."),
        ([np.nan, None, None], "the head of word 1 is nan, not 0 to 3."),
        ([True, None, None], "the head of word 1 is True, not 0 to 3."),
        ([[0], None, None], "the head of word 1 is [0], not 0 to 3."),
        ([1, 2], "2 heads given for a sentence of 3 words. Give one head per word, None where it is open."),
        ([], "0 heads given for a sentence of 3 words."),
        ([3, None, None], "the head of word 1 is fixed to 3, an arc that the scores forbid."),
        ([0, 0, None], "no single-root tree is possible: words 1 and 2 can attach to ROOT only."),
        ([2, 1, None], "no single-root tree is possible: words 1 and 2 cannot be reached from the possible root 3."),
    ],
    ids=str,
)
def test_given_heads_that_are_refused(heads, message):
    scores = np.ones((4, 4))
    scores[3, 1] = 0.0
    with pytest.raises(DeptreeError) as caught:
        TreeDistribution(scores, "weight", id="x").given(heads)
    assert str(caught.value).startswith(f"x: {message}")


@EACH_SPACE
@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_tempered(trees, temperature, graphs):
    """Trees in proportion to p^(1/T); 1 changes nothing."""
    distribution = graphs.over(graphs.holes(4, 3, trees.single_root, projective=trees.projective), trees)
    oracle, hot = Oracle(distribution), distribution.tempered(temperature)
    log_weights = oracle.log_probs / temperature
    expected = log_weights - np.logaddexp.reduce(log_weights)
    np.testing.assert_allclose(hot.log_probs(oracle.trees), expected, atol=1e-12)
    np.testing.assert_allclose(distribution.raised_to(1 / temperature).log_probs(oracle.trees), expected, atol=1e-12)
    assert np.array_equal(hot.log_scores, distribution.log_scores / temperature)
    assert (hot.id, hot.space) == (distribution.id, trees)


def test_repr():
    one, two = TreeDistribution(np.ones((3, 3)), "weight", "multi-root", id="s 1"), TreeDistribution(np.ones((3, 3)))
    assert repr(one) == "<TreeDistribution 's 1': 2 words, 4 arcs, spanning trees with several roots>"
    labelled = two.labelled(("root", "dep"), np.ones((3, 3, 2))).given([0, None])
    assert repr(labelled) == "<TreeDistribution '1': 2 words, 3 arcs, single-root trees, 2 labels>"


def test_a_picture_is_drawn_by_whoever_offers_one(graphs, monkeypatch):
    """`core` imports nothing from the floor above it."""
    distribution = graphs.distribution(graphs.gaussian(3))
    both = ("png", "builtins:len"), ("svg", "builtins:repr")
    points = EntryPoints(EntryPoint(*each, "deptree.pictures") for each in both)
    for offered, drawn in ((points, repr(distribution)), (EntryPoints(), None)):
        monkeypatch.setattr("importlib.metadata.entry_points", lambda o=offered, **wanted: o.select(**wanted))
        assert distribution._repr_svg_() == drawn


@pytest.mark.skipif(not entry_points(group="deptree.pictures"), reason="this version is not installed")
def test_our_own_picture(graphs):
    for distribution in (graphs.distribution(graphs.gaussian(3)), graphs.distribution(graphs.uniform(3), False)):
        labelled = distribution.labelled(("root", "nsubj"), np.zeros((4, 4, 2)))
        for each in (distribution, labelled, distribution.given([0, 1, 2])):
            picture = ElementTree.fromstring(each._repr_svg_())
            assert picture.tag == "{http://www.w3.org/2000/svg}svg"
            assert {"1", "2", "3"} <= {(text.text or "").strip() for text in picture.iter() if text.text}
