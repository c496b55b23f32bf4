"""The exact probabilities, the events and their counts of either kind of sentence, against enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from deptree_cli.core.audit import Enumerated, Summed, rival_tree
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import SPACES, TreeSpace
from tests.oracle import Oracle

GRAPHS = {
    "gaussian": lambda graphs, n: graphs.gaussian(n, 2.0, seed=n),
    "saturated": lambda graphs, n: graphs.saturated(n),
    "holes": lambda graphs, n: graphs.holes(n, 3),
    "far apart": lambda graphs, n: graphs.disconnected(n, 900.0),
}
EACH = pytest.mark.parametrize("graph", GRAPHS)
ALL = pytest.mark.parametrize("trees", SPACES, ids=SPACES.names)


def distribution_of(graphs, graph: str, n: int, trees: TreeSpace) -> TreeDistribution:
    return graphs.over(GRAPHS[graph](graphs, n), trees)


@EACH
@ALL
def test_probabilities_of_trees(graph: str, trees: TreeSpace, graphs) -> None:
    distribution = distribution_of(graphs, graph, 4, trees)
    tests, oracle = Enumerated(distribution), Oracle(distribution)
    assert np.abs(tests.probs[tests.probs > 0].sum() - 1) < tests.slack
    numbers = np.searchsorted(all_trees(4, distribution.space) @ [125, 25, 5, 1], oracle.trees @ [125, 25, 5, 1])
    assert np.abs(tests.probs[numbers] - np.exp(oracle.log_probs)).max() < tests.slack


def test_offsets_cost_no_digits(graphs) -> None:
    """Columns may be shifted: log-scores near 2^40 have the probabilities of those near 0."""
    scores = np.round(graphs.gaussian(4) * 1024) / 1024
    far = TreeDistribution(scores + np.array([0, 2.0**40, -(2.0**40), 2.0**39, 0]))
    assert Enumerated(far).probs == pytest.approx(Enumerated(TreeDistribution(scores)).probs, abs=1e-14)
    assert Enumerated(far).slack < 2e-12


@EACH
@ALL
def test_events_count_what_they_say(graph: str, trees: TreeSpace, graphs) -> None:
    """Every event's probability is the sum over its trees, as its count is; each is tested once, none is certain."""
    tests = Enumerated(distribution_of(graphs, graph, 4, trees))
    units = np.eye(len(tests.probs))
    possible, sets = tests._possible, []
    for events in tests._events:
        members = np.stack([events.count(unit) for unit in units], axis=1)[events.tested]
        assert np.isin(members, (0, 1)).all()
        assert members @ tests.probs == pytest.approx(events.probs[events.tested], abs=1e-14)
        assert (members[:, tests._rival] == events.rival[events.tested]).all()
        sets += [tuple(row) for row in members[:, possible].astype(int).tolist()]
    canonical = [min(one, tuple(1 - x for x in one)) for one in sets]
    assert len(set(canonical)) == len(canonical)
    assert all(0 < sum(one) < possible.sum() for one in canonical)


def test_the_same_set_is_tested_once(graphs) -> None:
    """Figure 1's six arcs and its pairs of arcs are its three trees or all but one of them; two trees are one test."""
    figure1 = Enumerated(graphs.distribution(graphs.figure1()))
    assert [int(events.tested.sum()) for events in figure1._events] == [3, 0, 0, 0]
    two = Enumerated(TreeDistribution(np.zeros((3, 3))))
    assert [int(events.tested.sum()) for events in two._events] == [1, 0, 0, 0]
    assert Enumerated(TreeDistribution([[0, 0], [0, 0]]))._events == []


@pytest.mark.slow("statistics")
@EACH
@ALL
@pytest.mark.parametrize("n", [3, 5])
def test_joint_probabilities_of_arcs(graph: str, trees: TreeSpace, n: int, graphs) -> None:
    distribution = distribution_of(graphs, graph, n, trees)
    tests, oracle = Summed(distribution), Oracle(distribution)
    marks = np.zeros((len(oracle.trees), (n + 1) ** 2))
    for number, tree in enumerate(oracle.trees):
        marks[number, tree * (n + 1) + np.arange(1, n + 1)] = 1
    exact = (marks * np.exp(oracle.log_probs)[:, None]).T @ marks
    for row, arc in enumerate(tests.paired.tolist()):
        partners = tests._partners[row]
        assert np.abs(tests._joint(np.array([row]))[0] - exact[arc])[partners].max() < tests.slack
        apart = np.setdiff1d(np.flatnonzero(~partners), tests.paired[:row])
        assert exact[arc, apart[apart != arc]].max(initial=0.0) == 0


@pytest.mark.parametrize("n", [3, 5])
@ALL
def test_arcs_that_cross_are_no_pair_among_projective_trees(trees: TreeSpace, n: int, graphs) -> None:
    tests = Summed(graphs.over(graphs.gaussian(n), trees))
    pairs = 0
    for row, arc in enumerate(tests.paired.tolist()):
        a, b = sorted(divmod(arc, n + 1))
        for other in np.flatnonzero(tests._partners[row]).tolist():
            c, d = sorted(divmod(other, n + 1))
            pairs += a < c < b < d or c < a < d < b
    assert (pairs == 0) == trees.projective


def test_pairs_are_counted(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(7))
    tests, rng = Summed(distribution), np.random.default_rng(1)
    trees, times = distribution.factorisation.sample(50, rng), rng.integers(0, 4, 50)
    counts = tests.empty()
    tests.add(counts, trees[:20], times[:20])
    tests.add(counts, trees[20:], times[20:])
    naive = np.zeros((64, 64), dtype=np.int64)
    for tree, number in zip(trees.tolist(), times.tolist(), strict=True):
        arcs = [head * 8 + word for word, head in enumerate(tree, 1)]
        for one, other in combinations(arcs, 2):
            naive[one, other] += number
            naive[other, one] += number
        naive[arcs, arcs] += number
    assert (counts[0] == np.diag(naive)).all()
    assert (counts[1:] == naive[tests.paired]).all()


def test_the_arcs_that_are_paired(graphs) -> None:
    """All but each word's likeliest up to 14 words; 16 of the most uncertain from 32 words on, none from 257 on."""
    assert [len(Summed(graphs.distribution(graphs.gaussian(n))).paired) for n in (8, 14, 260)] == [8 * 7, 14 * 13, 0]
    long = graphs.distribution(graphs.gaussian(40))
    paired = Summed(long).paired
    assert len(paired) == 16
    assert not (paired == long.marginals().argmax(axis=0)[paired % 41] * 41 + paired % 41).any()


@ALL
def test_moments_of_the_log_probability(trees: TreeSpace, graphs) -> None:
    distribution = graphs.over(graphs.gaussian(5, 2.0), trees)
    oracle, tests = Oracle(distribution), Summed(distribution)
    probs = np.exp(oracle.log_probs)
    variance = probs @ (oracle.log_probs - probs @ oracle.log_probs) ** 2
    assert tests.log_weight[1] == pytest.approx(variance, rel=1e-10)
    counts, size = tests.empty(), 200
    drawn = np.random.default_rng(2).multinomial(size, probs / probs.sum())
    tests.add(counts, oracle.trees, drawn)
    z_score = (drawn @ oracle.log_probs / size - probs @ oracle.log_probs) / np.sqrt(variance / size)
    assert tests.log_prob_z(counts, size) == pytest.approx(z_score, rel=1e-8)
    few = Enumerated(distribution)
    of_trees = few.empty()
    few.add(of_trees, oracle.trees, drawn)
    assert few.log_prob_z(of_trees, size) == pytest.approx(z_score, rel=1e-8)


def test_equally_probable_trees_have_no_z_score(graphs) -> None:
    for kind, n in ((Enumerated, 4), (Summed, 8)):
        distribution = graphs.distribution(graphs.uniform(n))
        tests = kind(distribution)
        counts, trees = tests.empty(), distribution.factorisation.sample(9, np.random.default_rng(1))
        tests.add(counts, trees, np.ones(9, dtype=np.int64))
        assert tests.log_prob_z(counts, 9) is None


@EACH
@ALL
def test_the_rival_is_the_best_tree_with_a_second_choice(graph: str, trees: TreeSpace, graphs) -> None:
    distribution = distribution_of(graphs, graph, 5, trees)
    oracle, marginals = Oracle(distribution), distribution.marginals()
    rival = rival_tree(distribution, marginals)
    open_words = [word for word in range(1, 6) if distribution.support[:, word].sum() > 1]
    word = min(open_words, key=lambda word: marginals[:, word].max())
    assert marginals[rival[word - 1], word] == np.sort(marginals[:, word])[-2]
    rivals = oracle.trees[:, word - 1] == rival[word - 1]
    best = oracle.log_probs[rivals].max()
    assert distribution.tree_log_probs(rival[None])[0] == pytest.approx(best, abs=1e-9)


def test_a_single_tree_has_no_rival() -> None:
    one = TreeDistribution([[0, 0], [0, 0]])
    assert rival_tree(one, one.marginals()) is None
