"""Audits of samplers: p-values by adding up all outcomes, what is counted, what is caught, and verdicts."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from benchmarks.audits.control import SwappedPairs
from deptree_cli.core import audit as module
from deptree_cli.core.audit import BIASED, UNBIASED, UNDECIDED, Enumerated, Summed, Tally, holm, judge, omnibus
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT, SPACES
from tests.oracle import Oracle

ALL = pytest.mark.parametrize("trees", SPACES, ids=SPACES.names)
EITHER = pytest.mark.parametrize("trees", [SINGLE_ROOT, PROJECTIVE], ids=["single", "projective"])
GRAPHS = {
    "gaussian": lambda graphs, n: graphs.gaussian(n, 2.0, seed=n),
    "saturated": lambda graphs, n: graphs.saturated(n),
    "holes": lambda graphs, n: graphs.holes(n, 3),
    "far apart": lambda graphs, n: graphs.disconnected(n, 900.0),
}
EACH = pytest.mark.parametrize("graph", GRAPHS)


def worst_excess(p_value, probs, size):
    """The largest P(p-value <= u) / u over all u, at most 1 if valid; all counts of cells are stars and bars."""
    bars = combinations(range(size + len(probs) - 1), len(probs) - 1)
    every = [np.diff(np.array([-1, *each, size + len(probs) - 1])) - 1 for each in bars]
    log_probs = [gammaln(size + 1) - gammaln(one + 1).sum() + (one * np.log(probs)).sum() for one in every]
    p_values = np.array([p_value(one) for one in every])
    order = np.argsort(p_values)
    ranked, reached = p_values[order], np.cumsum(np.exp(log_probs)[order])
    last = np.append(ranked[1:] > ranked[:-1], True)
    return float((reached[last] / ranked[last]).max())


@pytest.mark.slow("size")
@pytest.mark.parametrize("p", [[1 / 6] * 6, [0.02, 0.05, 0.08, 0.15, 0.3, 0.4], [0.05, 0.06, 0.07, 0.08, 0.09, 0.65]])
@pytest.mark.parametrize("size", [4, 9])
def test_all_cells_together_are_a_valid_test(p, size, monkeypatch):
    monkeypatch.setattr(module, "EXPECTED", 0.05)
    probs = np.array(p)
    assert omnibus(np.zeros(6), size, probs, 0.0) is not None
    assert worst_excess(lambda counts: omnibus(counts.astype(float), size, probs, 0.0).smallest, probs, size) < 1 + 1e-9


@pytest.mark.parametrize(
    ("kind", "graph", "size"),
    [
        (Enumerated, lambda graphs: graphs.uniform(3), 5),
        (Enumerated, lambda graphs: graphs.gaussian(3, 1.5, seed=1), 5),
        (Enumerated, lambda graphs: graphs.figure1(), 60),
        (Summed, lambda graphs: graphs.gaussian(3, 1.0, seed=2), 4),
    ],
)
def test_the_whole_family_is_a_valid_test(kind, graph, size, graphs, monkeypatch):
    """C(13, 8) = 1,287 outcomes of 5 draws of the 9 trees of three words, C(62, 2) = 1,891 of 60 of Figure 1's three;
    arcs, pairs and log-probability, as for sentences that are not enumerated, of the nine trees."""
    if kind is Summed:
        monkeypatch.setattr(module, "EXPECTED", 0.01)
    distribution = graphs.distribution(graph(graphs))
    oracle, tests = Oracle(distribution), kind(distribution)

    def p_values(drawn, of=lambda counts: module.combine(tests.findings(counts, size)).p_value):
        counts = tests.empty()
        tests.add(counts, oracle.trees, drawn)
        return of(counts)

    assert worst_excess(p_values, np.exp(oracle.log_probs), size) < 1 + 1e-9
    if kind is Summed:
        of_mean = lambda drawn: p_values(drawn, lambda counts: tests._log_prob_p(counts, size))  # noqa: E731
        assert worst_excess(of_mean, np.exp(oracle.log_probs), size) < 1 + 1e-9


@EACH
@ALL
def test_events_count_what_they_say(graph, trees, graphs):
    """Every event's probability is the sum over its trees, as its count is; each is tested once, none is certain."""
    distribution = graphs.over(GRAPHS[graph](graphs, 4), trees)
    tests, oracle = Enumerated(distribution), Oracle(distribution)
    assert np.abs(tests.probs[tests.probs > 0].sum() - 1) < tests.slack
    numbers = np.searchsorted(all_trees(4, trees) @ [125, 25, 5, 1], oracle.trees @ [125, 25, 5, 1])
    assert np.abs(tests.probs[numbers] - np.exp(oracle.log_probs)).max() < tests.slack
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


def test_the_same_set_is_tested_once(graphs):
    """Figure 1's six arcs and its pairs of arcs are its three trees or all but one of them; two trees are one test."""
    for distribution, tested in (
        (graphs.distribution(graphs.figure1()), [3, 0, 0, 0]),
        (TreeDistribution(np.zeros((3, 3))), [1, 0, 0, 0]),
        (TreeDistribution([[0, 0], [0, 0]]), []),
    ):
        assert [int(events.tested.sum()) for events in Enumerated(distribution)._events] == tested


def test_offsets_cost_no_digits(graphs):
    """Columns may be shifted: log-scores near 2^40 have the probabilities of those near 0."""
    scores = np.round(graphs.gaussian(4) * 1024) / 1024
    far = TreeDistribution(scores + np.array([0, 2.0**40, -(2.0**40), 2.0**39, 0]))
    assert Enumerated(far).probs == pytest.approx(Enumerated(TreeDistribution(scores)).probs, abs=1e-14)
    assert Enumerated(far).slack < 2e-12


@EACH
@ALL
@pytest.mark.parametrize("n", [3, 5])
def test_joint_probabilities_of_arcs(graph, trees, n, graphs):
    """Of pairs that may be; among projective trees, of none that cross."""
    distribution = graphs.over(GRAPHS[graph](graphs, n), trees)
    tests, oracle = Summed(distribution), Oracle(distribution)
    marks = np.zeros((len(oracle.trees), (n + 1) ** 2))
    for number, tree in enumerate(oracle.trees):
        marks[number, tree * (n + 1) + np.arange(1, n + 1)] = 1
    exact = (marks * np.exp(oracle.log_probs)[:, None]).T @ marks
    for row, arc in enumerate(tests.paired.tolist()):
        partners = tests._partners[row]
        a, b = sorted(divmod(arc, n + 1))
        for c, d in (sorted(divmod(other, n + 1)) for other in np.flatnonzero(partners).tolist()):
            assert not (trees.projective and (a < c < b < d or c < a < d < b))
        assert np.abs(tests._joint(np.array([row]))[0] - exact[arc])[partners].max() < tests.slack
        apart = np.setdiff1d(np.flatnonzero(~partners), tests.paired[:row])
        assert exact[arc, apart[apart != arc]].max(initial=0.0) == 0


def test_pairs_are_counted(graphs):
    distribution = graphs.distribution(graphs.gaussian(7))
    tests, rng = Summed(distribution), np.random.default_rng(1)
    trees, times = distribution.factorisation.sample(50, rng), rng.integers(0, 4, 50)
    counts = tests.empty()
    tests.add(counts, trees[:20], times[:20])
    tests.add(counts, trees[20:], times[20:])
    naive = np.zeros((64, 64), dtype=np.int64)
    for tree, number in zip(trees.tolist(), times.tolist(), strict=True):
        arcs = [head * 8 + word for word, head in enumerate(tree, 1)]
        for one in arcs:
            naive[one, arcs] += number
    assert (counts[0] == np.diag(naive)).all()
    assert (counts[1:] == naive[tests.paired]).all()


def test_the_arcs_that_are_paired(graphs):
    """All but each word's likeliest up to 14 words; 16 of the most uncertain from 32 words on, none from 257 on."""
    assert [len(Summed(graphs.distribution(graphs.gaussian(n))).paired) for n in (8, 14, 260)] == [8 * 7, 14 * 13, 0]
    long = graphs.distribution(graphs.gaussian(40))
    paired = Summed(long).paired
    assert len(paired) == 16
    assert not (paired == long.marginals().argmax(axis=0)[paired % 41] * 41 + paired % 41).any()


@ALL
def test_moments_of_the_log_probability(trees, graphs):
    distribution, size = graphs.over(graphs.gaussian(5, 2.0), trees), 200
    oracle = Oracle(distribution)
    probs = np.exp(oracle.log_probs)
    variance = probs @ (oracle.log_probs - probs @ oracle.log_probs) ** 2
    assert Summed(distribution).log_weight[1] == pytest.approx(variance, rel=1e-10)
    drawn = np.random.default_rng(2).multinomial(size, probs / probs.sum())
    z_score = (drawn @ oracle.log_probs / size - probs @ oracle.log_probs) / np.sqrt(variance / size)
    for tests in (Summed(distribution), Enumerated(distribution)):
        counts = tests.empty()
        tests.add(counts, oracle.trees, drawn)
        assert tests.log_prob_z(counts, size) == pytest.approx(z_score, rel=1e-8)


@EACH
@ALL
def test_the_rival_is_the_best_tree_with_a_second_choice(graph, trees, graphs):
    distribution = graphs.over(GRAPHS[graph](graphs, 5), trees)
    oracle, marginals = Oracle(distribution), distribution.marginals()
    rival = module.rival_tree(distribution, marginals)
    open_words = [word for word in range(1, 6) if distribution.support[:, word].sum() > 1]
    word = min(open_words, key=lambda word: marginals[:, word].max())
    assert marginals[rival[word - 1], word] == np.sort(marginals[:, word])[-2]
    rivals = oracle.trees[:, word - 1] == rival[word - 1]
    assert distribution.tree_log_probs(rival[None])[0] == pytest.approx(oracle.log_probs[rivals].max(), abs=1e-9)


def audited(distribution, trees):
    tally = Tally(distribution)
    tally.add(trees)
    return tally.audit()


def verdict(audit, alpha=0.001):
    return judge([audit], alpha)[0].verdict


@pytest.mark.parametrize("n", [4, 8])
def test_equally_probable_trees_have_no_z_score(n, graphs):
    distribution = graphs.distribution(graphs.uniform(n))
    trees = distribution.factorisation.sample(9, np.random.default_rng(1))
    assert audited(distribution, trees).log_prob_z is None


@pytest.mark.quick
@pytest.mark.parametrize("n", [3, 8])
@pytest.mark.parametrize("heads", [[0, 0, 1], [2, 1, 0], [0, 1, 9], [0, 1, -1], [0, 2, 1], [0, 1, 1]])
def test_impossible_trees_are_caught(n, heads, graphs):
    """Two roots, a cycle, no such head (twice), a self-loop, a forbidden arc: one among 500 good trees is enough."""
    log_scores = graphs.gaussian(n)
    log_scores[1, 3] = -np.inf
    distribution = graphs.distribution(log_scores)
    tally = Tally(distribution)
    tally.add(distribution.factorisation.sample(500, np.random.default_rng(1)))
    assert tally.impossible == 0
    tally.add(np.array([[*heads, *range(3, n)]]))
    audit = tally.audit()
    assert (audit.size, audit.impossible, audit.p_value) == (501, 1, 0.0)
    assert audit.method == ("enumeration" if n == 3 else "marginals")
    assert (verdict(audit, 1e-9), audit.evidence, audit.log_prob_z) == (BIASED, "impossible trees", None)


def test_distances_by_hand(graphs):
    """Figure 1's trees with probability 1/3 each, drawn 3, 1 and 0 times: distance 3/4 - 1/3."""
    tally = Tally(graphs.distribution(graphs.figure1()))
    tally.add(np.array([[0, 1, 1], [0, 3, 1]]), np.array([3, 1]))
    audit = tally.audit()
    assert audit.tv_distance == pytest.approx(3 / 4 - 1 / 3)
    by_chance = math.fsum(math.comb(4, k) * (1 / 3) ** k * (2 / 3) ** (4 - k) * abs(k / 4 - 1 / 3) for k in range(5))
    assert audit.tv_expected_by_chance == pytest.approx(1.5 * by_chance)


@pytest.mark.parametrize("n", [4, 9])
def test_impossible_trees_count_in_the_distance(n):
    """A quarter of the trees where only one is possible: every distribution of heads has moved by a quarter."""
    chain = np.arange(n)
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[chain, chain + 1] = 0.0
    tally = Tally(TreeDistribution(scores))
    tally.add(np.array([chain, np.minimum(chain, 1)]), np.array([6, 2]))
    audit = tally.audit()
    assert (audit.impossible, audit.tv_distance, audit.tv_expected_by_chance) == (2, pytest.approx(1 / 4), 0.0)


@pytest.mark.slow("statistics")
@ALL
@pytest.mark.parametrize("n", [5, 10])
def test_unbiased_samples_are_rejected_no_more_often_than_the_level_says(n, trees, graphs):
    """H0: p < 0.05 in at most 5 % of unbiased samples. 200 audits of 300 trees: more than 26 rejections (mean 10 at
    most, standard deviation 3.1) with probability below 4e-6."""
    distribution, rng = graphs.over(graphs.gaussian(n), trees), np.random.default_rng(6)
    sample = distribution.factorisation.sample
    assert sum(audited(distribution, sample(300, rng)).p_value < 0.05 for _ in range(200)) <= 26


def test_a_small_bias_in_a_long_sentence_is_caught(graphs):
    """H0 is false at n = 10: three trees in a hundred are forced to have word 1 as root.
    With P(root 1) = 0.1 (uniform weights) its frequency becomes 0.1 + 0.03 * 0.9 = 0.127. 10,000 trees: standard
    deviation sqrt(0.1 * 0.9 / 10,000) = 0.003, so the mean z-score is 9; the threshold 0.001 * 4/7 / 100 arcs asks for
    4.6, missed with probability P(z < -4.4) = 6e-6. Without the bias the same is not caught.
    """
    distribution, rng = graphs.distribution(graphs.uniform(10)), np.random.default_rng(7)
    forced = distribution.log_scores.copy()
    forced[0, 2:] = -np.inf
    instead = TreeDistribution(forced).factorisation.sample(10_000, rng)
    trees = distribution.factorisation.sample(10_000, rng)
    audit = audited(distribution, np.where((rng.random(10_000) < 0.03)[:, None], instead, trees))
    assert (audit.method, audit.evidence, verdict(audit)) == ("marginals", "arcs", BIASED)
    assert verdict(audited(distribution, trees)) == UNBIASED


@EITHER
@pytest.mark.parametrize("temperature", [0.97, 1.03])
def test_another_temperature_is_caught(temperature, trees, graphs):
    """H0 is false at n = 15: 20,000 trees are drawn 3 % too hot or too cold.
    The mean log-probability is off by 0.03 variances, 0.03 * sqrt(20,000) = 4.2 times its standard deviation, 2.8:
    twelve standard deviations, of which Chernoff's bound at 1e-3 / 7 asks for 4.5. (Of projective trees as many.)
    """
    distribution = graphs.over(graphs.gaussian(15, 1.5, seed=3), trees)
    drawn = distribution.tempered(temperature).factorisation.sample(20_000, np.random.default_rng(8))
    audit = audited(distribution, drawn)
    assert np.sign(audit.log_prob_z) == np.sign(1 - temperature)
    assert abs(audit.log_prob_z) > 7
    assert (audit.evidence, verdict(audit)) == ("log-probability", BIASED)


@EITHER
@pytest.mark.parametrize("n", [8, 10, 12])
def test_right_marginals_and_wrong_pairs_are_caught(n, trees, graphs):
    """H0 is false: 0.03 of the mass is moved, no arc's probability changes. 20,000 trees; in 20 runs of other seeds
    each was caught (benchmarks/README.md)."""
    distribution, rng = graphs.over(graphs.gaussian(n, 1.0, seed=n), trees), np.random.default_rng(9)
    control = SwappedPairs(distribution, 0.03, rng)
    audit = audited(distribution, control.draw(20_000, rng))
    assert (audit.evidence, verdict(audit)) == ("pairs", BIASED)


def test_where_there_is_one_tree_only_impossible_ones_can_be_found(graphs):
    """Nine good trees: a sampler with a quarter of impossible ones would show one with 1 - 0.75^9 = 0.92."""
    distribution = graphs.distribution(np.zeros((2, 2)))
    none, few, enough = (audited(distribution, np.zeros((size, 1), dtype=np.int32)) for size in (0, 8, 9))
    assert [verdict(none), verdict(few), verdict(enough)] == [UNDECIDED, UNDECIDED, UNBIASED]
    assert (none.size, none.p_value, none.tv_distance, none.tv_expected_by_chance) == (0, 1.0, None, None)
    assert module.detectable_tvs([enough], 0.001)[0] == pytest.approx(1 - 0.1 ** (1 / 9))
    assert (enough.evidence, enough.tests, enough.p_value) == (None, 0, 1.0)


def test_trees_without_replacement_are_refused(graphs):
    """They are distinct by design: an audit of independent trees would call any of them biased."""
    distribution = graphs.distribution(graphs.gaussian(4))
    with pytest.raises(DeptreeError, match=r"without replacement \(swor\).*Audit independent trees, as `sample`"):
        Tally(distribution).add(distribution.sample_without_replacement(9, np.random.default_rng(1)))


DETECTORS = module.Detector(0.3, 0.5), module.Detector(0.1, 0.001)
AUDIT = module.Audit("enumeration", 2000, "trees", 1.0, 9, 0.02, 0.1, 0.1, 0.0, 0, 1e-12, 0.05, DETECTORS)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_procedure_says(p_values, alpha):
    found = [p < level for p, level in zip(p_values, holm(p_values, alpha), strict=True)]
    naive, going = [False] * len(p_values), True
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        going = going and p_values[index] < alpha / (len(p_values) - rank)
        naive[index] = going
    assert found == naive


def test_holm_by_hand():
    assert holm([0.03, 0.001, 0.02], 0.05) == [0.05, pytest.approx(0.05 / 3), 0.025]
    assert holm([0.03, 0.04], 0.05) == [0.0, 0.0]
    assert holm([], 0.05) == []


def test_verdicts_on_one_sentence_and_on_several():
    assert [judge([AUDIT], alpha)[0].verdict for alpha in (0.05, 0.01)] == [BIASED, UNBIASED]
    fine = replace(AUDIT, p_value=0.5)
    assert [one.verdict for one in judge([fine, AUDIT, fine], 0.05)] == [UNBIASED] * 3
    assert judge([], 0.05) == []


def test_nothing_found_by_too_few_trees_is_undecided():
    few = replace(AUDIT, size=20, p_value=0.5)
    assert judge([few], 0.05)[0].detectable_tv > 0.25
    assert verdict(few, 0.05) == UNDECIDED
    assert verdict(replace(few, p_value=1e-9), 0.05) == BIASED
    one = judge([replace(AUDIT, size=1, p_value=0.5)], 0.05)[0]
    assert (one.detectable_tv, one.verdict) == (None, UNDECIDED)


def test_shares_of_the_level_add_up_to_one():
    found = ("trees", 0.01, 10, 0.1), ("tails", 0.001, 1, 0.2), ("together", 1, 1)
    family = module.combine([None, *(module.Finding(*each) for each in found)])
    trees, tails = family.detectors
    assert 10 * trees.share + tails.share == pytest.approx(5 / 7)
    assert (family.evidence, family.smallest, family.tests) == ("tails", 0.001, 12)
    assert family.p_value == pytest.approx(0.001 * 7)
    assert module.combine([None]).p_value == 1.0


@pytest.mark.slow("size")
@pytest.mark.parametrize(("n", "size"), [(4, 300), (9, 1000)])
def test_what_is_detectable_is_detected(n, size, graphs):
    """H0: a mixture with the rival tree at the distance given is called biased with probability 0.9 at least. 100
    samples; fewer than 75 rejections with probability P(Binomial(100, 0.9) < 75) = 5e-6."""
    distribution, rng = graphs.distribution(graphs.gaussian(n)), np.random.default_rng(10)
    rival, rejected = module.rival_tree(distribution, distribution.marginals()), 0
    prob = float(np.exp(distribution.tree_log_probs(rival[None])[0]))
    unmixed = audited(distribution, distribution.factorisation.sample(size, rng))
    mixed = module.detectable_tvs([unmixed], 0.001)[0] / (1 - prob)
    for _ in range(100):
        trees = distribution.factorisation.sample(size, rng)
        audit = audited(distribution, np.where((rng.random(size) < mixed)[:, None], rival, trees))
        rejected += audit.p_value < 0.001
    assert rejected >= 75


def test_more_trees_detect_less():
    found = module.detectable_tvs([replace(AUDIT, size=size) for size in (50, 500, 5000, 10**9)], 0.001)
    assert found == sorted(found, reverse=True)
    assert found[-1] < 3e-4
