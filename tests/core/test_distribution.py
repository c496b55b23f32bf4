"""The one object that users hold: every answer against enumeration, every refusal in its words.

Pickling, constancy and pictures are in test_immutable.py; scores that are refused in test_arc_factored.py.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.samplers import SAMPLERS, names
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, SPACES, TreeSpace
from deptree_cli.core.streams import sentence_stream
from deptree_cli.core.swor import ALGORITHMS
from tests.oracle import Oracle

Float = NDArray[np.float64]

EACH_SPACE = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)


@pytest.fixture(params=[trees.name for trees in SPACES])
def trees(request: pytest.FixtureRequest) -> TreeSpace:
    """Each tree space."""
    return SPACES.get(request.param)


@pytest.fixture(params=["flat", "peaked", "holes", "beyond float64"])
def distribution(request: pytest.FixtureRequest, trees: TreeSpace, graphs) -> TreeDistribution:
    """Distributions over the trees of four words."""
    log_scores = {
        "flat": lambda: graphs.gaussian(4),
        "peaked": lambda: graphs.gaussian(4, 20, seed=1),
        "holes": lambda: graphs.holes(4, 5, trees.single_root),
        "beyond float64": lambda: graphs.disconnected(4, 1000.0),
    }[request.param]()
    return graphs.over(log_scores, trees)


def test_log_probs_of_all_heads(distribution: TreeDistribution) -> None:
    """Of every four numbers from -1 to 5: trees of the space have their probability, all else -inf."""
    heads = np.stack(np.meshgrid(*[np.arange(-1, 6)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    oracle = Oracle(distribution)
    exact = dict(zip(map(tuple, oracle.trees.tolist()), oracle.log_probs.tolist(), strict=True))
    expected = [exact.get(tuple(row), -np.inf) for row in heads.tolist()]
    found = distribution.log_probs(heads)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)
    assert found.max() <= 0.0
    assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-12)


def test_log_prob_of_one_tree(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(3))
    assert isinstance(distribution.log_prob([0, 1, 2]), float)
    assert distribution.log_prob((0, 1, 2)) == distribution.log_probs(np.array([[0, 1, 2]], dtype=np.uint8))[0]
    for none in ([0, 0, 1], [2, 1, 0], [2, 3, 1], [0, 2, 1], [0, 1, 4], [0, 1, -1]):
        assert distribution.log_prob(none) == -np.inf
    assert distribution.multi_root().log_prob([0, 0, 1]) > -np.inf
    assert distribution.log_probs(np.zeros((0, 3), dtype=np.int32)).shape == (0,)


@pytest.mark.parametrize(
    "heads",
    [
        [0, 1],
        [0, 1, 2, 3],
        [[0, 1, 2]],
        [0.0, 1.0, 2.0],
        [None, 1, 2],
        [True, False, True],
        3,
        "abc",
        [],
        [[0, 1], [0]],
    ],
    ids=str,
)
def test_heads_that_are_refused(heads: Any, graphs) -> None:
    with pytest.raises(DeptreeError, match=r"1: heads of .* for a sentence of 3 words\. Give one integer per word"):
        graphs.distribution(graphs.gaussian(3)).log_prob(heads)


def test_best_trees(distribution: TreeDistribution) -> None:
    oracle = Oracle(distribution)
    order = np.sort(oracle.log_probs)[::-1]
    assert distribution.log_prob(distribution.argmax()) == pytest.approx(order[0], abs=1e-11)
    np.testing.assert_allclose(distribution.log_probs(distribution.top_k(7)), order[:7], rtol=1e-12, atol=1e-11)
    assert sorted(distribution.top_k(10**6).tolist()) == oracle.trees.tolist()
    right = (oracle.trees[:, None] == oracle.trees[None]).sum(axis=2) @ np.exp(oracle.log_probs)
    found = (oracle.trees == distribution.mbr()).sum(axis=1) @ np.exp(oracle.log_probs)
    assert found == pytest.approx(right.max())


def test_entropies(distribution: TreeDistribution, graphs) -> None:
    oracle = Oracle(distribution)
    log_p, p = oracle.log_probs, np.exp(oracle.log_probs)
    other = graphs.over(graphs.gaussian(4, seed=8), distribution.space)
    log_q = other.log_probs(oracle.trees)
    # log Z and the expected log-score may be 1e3 each and cancel
    assert distribution.entropy() == pytest.approx(-p @ log_p, rel=1e-10, abs=1e-11)
    assert distribution.renyi(2.0) == pytest.approx(-np.log((p**2).sum()), rel=1e-10, abs=1e-11)
    assert distribution.kl(other) == pytest.approx(p @ (log_p - log_q), rel=1e-10, abs=1e-11)
    assert distribution.cross_entropy(other) == pytest.approx(-p @ log_q, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("question", ["kl", "cross_entropy"])
def test_a_divergence_from_another_sentences_distribution_is_refused(question: str, graphs) -> None:
    first, second = (graphs.distribution(graphs.gaussian(n)) for n in (3, 5))
    with pytest.raises(DeptreeError, match="words"):
        getattr(first, question)(second)


@pytest.mark.parametrize("order", [0.0, -1.0, np.nan, np.inf])
def test_orders_that_are_refused(order: float, graphs) -> None:
    with pytest.raises(DeptreeError, match="order"):
        graphs.distribution(graphs.gaussian(3)).renyi(order)


@EACH_SPACE
@pytest.mark.parametrize("size", [1, 30])
def test_a_seed_is_the_sentences_own_stream(trees: TreeSpace, size: int, graphs) -> None:
    """The trees of `deptree sample --seed`; a Generator is used, and used up, as it is."""
    distribution = TreeDistribution(graphs.gaussian(5), single_root=trees.single_root, id="s-1").over(trees)
    seeded = distribution.sample(size, 7)
    assert np.array_equal(seeded, SAMPLERS.get("auto").draw(distribution, size, sentence_stream(7, "s-1")))
    assert np.array_equal(seeded, distribution.sample(size, sentence_stream(7, "s-1")))
    assert np.array_equal(seeded, distribution.sample(size, np.int64(7)))
    rng = sentence_stream(7, "s-1")
    named = names(trees)[1]
    first, second = distribution.sample(30, rng, named), distribution.sample(30, rng, named)
    assert np.array_equal(first, distribution.sample(30, 7, named))
    assert not np.array_equal(first, second)
    elsewhere = TreeDistribution(graphs.gaussian(5), single_root=trees.single_root, id="s-2").over(trees)
    assert not np.array_equal(distribution.sample(30, 7), elsewhere.sample(30, 7))


@pytest.mark.parametrize("algorithm", ALGORITHMS.names)
def test_distinct_trees_from_a_seed(algorithm: str, graphs) -> None:
    distribution = TreeDistribution(graphs.gaussian(4), id="s-1")
    seeded = distribution.sample_without_replacement(9, 7, algorithm)
    again = ALGORITHMS.get(algorithm).draw(distribution, 9, sentence_stream(7, "s-1"))
    assert np.array_equal(seeded.heads, again.heads)
    assert (seeded.tau, seeded.exhausted) == (again.tau, False)
    half = distribution.sample_without_replacement(64, 7, algorithm, mass=0.5)
    assert half.first(half.certain).mass >= 0.5 > half.first(half.certain - 1).mass
    every = distribution.sample_without_replacement(100, 7, algorithm)
    assert every.exhausted
    assert sorted(every.heads.tolist()) == all_trees(4).tolist()


def test_names_that_are_refused(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(3))
    with pytest.raises(DeptreeError, match=r"there is no sampler 'eliminatio'\. Did you mean elimination\?"):
        distribution.sample(1, 1, "eliminatio")
    with pytest.raises(DeptreeError, match="the sampler wilson does not draw single-root trees"):
        distribution.sample(1, 1, "wilson")
    with pytest.raises(DeptreeError, match=r"there is no SWOR algorithm 'tri'\. Did you mean trie\?"):
        distribution.sample_without_replacement(1, 1, "tri")


def test_another_space_and_back(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(4))
    spanning = distribution.multi_root()
    assert (distribution.space, spanning.space) == (SINGLE_ROOT, MULTI_ROOT)
    assert spanning.multi_root() is spanning
    assert distribution.over(SINGLE_ROOT) is distribution
    assert spanning.log_partition == pytest.approx(Oracle(spanning).log_z)
    assert spanning.over(SINGLE_ROOT).log_partition == distribution.log_partition
    assert type(spanning) is TreeDistribution
    star = TreeDistribution([[0, 1, 1], [0, 0, 0], [0, 0, 0]], "weight", single_root=False, id="s")
    with pytest.raises(DeptreeError, match="s: no single-root tree is possible: words 1 and 2 can attach to ROOT only"):
        star.over(SINGLE_ROOT)


def test_labels(graphs) -> None:
    names, scores = ("root", "a", "b"), np.random.default_rng(1).normal(size=(4, 4, 3))
    plain = graphs.distribution(graphs.gaussian(3))
    assert plain.labels is None
    labelled = plain.labelled(names, scores)
    assert labelled.labels is not None
    assert labelled.labels.names == names
    assert labelled.log_partition == plain.log_partition
    joint = TreeDistribution(labelled.joint_log_scores(), labels=names)
    np.testing.assert_allclose(joint.marginals(), plain.marginals(), atol=1e-13)
    for changed in (labelled.multi_root(), labelled.tempered(2.0), labelled.given([None, 1, None])):
        assert changed.labels is labelled.labels


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda scores: TreeDistribution(scores), "<TreeDistribution '1': 2 words, 4 arcs, single-root trees>"),
        (
            lambda scores: TreeDistribution(scores, "weight", "multi-root", id="s 1"),
            "<TreeDistribution 's 1': 2 words, 4 arcs, spanning trees with several roots>",
        ),
        (
            lambda scores: TreeDistribution(scores).labelled(("root", "dep"), np.ones((3, 3, 2))).given([0, None]),
            "<TreeDistribution '1': 2 words, 3 arcs, single-root trees, 2 labels>",
        ),
    ],
)
def test_repr(make: Any, text: str) -> None:
    assert repr(make(np.ones((3, 3)))) == text


def offered(*offers: tuple[str, str]) -> Any:
    """A stand-in for the installed entry points of pictures: (name, object reference)."""
    points = [EntryPoint(name, target, "deptree.pictures") for name, target in offers]
    return lambda **wanted: EntryPoints(points).select(**wanted)


def test_a_picture_is_drawn_by_whoever_offers_one(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """`core` imports nothing from the floor above it."""
    distribution = graphs.distribution(graphs.gaussian(3))
    monkeypatch.setattr("importlib.metadata.entry_points", offered(("png", "builtins:len"), ("svg", "builtins:repr")))
    assert distribution._repr_svg_() == repr(distribution)
    monkeypatch.setattr("importlib.metadata.entry_points", offered())
    assert distribution._repr_svg_() is None


@pytest.mark.skipif(not entry_points(group="deptree.pictures"), reason="this version is not installed")
def test_our_own_picture(graphs) -> None:
    names, scores = ("root", "nsubj"), np.zeros((4, 4, 2))
    for distribution in (graphs.distribution(graphs.gaussian(3)), graphs.distribution(graphs.uniform(3), False)):
        for each in (distribution, distribution.labelled(names, scores), distribution.given([0, 1, 2])):
            picture = ElementTree.fromstring(each._repr_svg_())
            assert picture.tag == "{http://www.w3.org/2000/svg}svg"
            assert {"1", "2", "3"} <= {(text.text or "").strip() for text in picture.iter() if text.text}
