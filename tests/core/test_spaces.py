"""Tree spaces: what each answers against enumeration; long sentences; shifted scores; what has no tree, and why."""

from __future__ import annotations

import math
import pickle
import re
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError, words
from deptree_cli.core.factorisation import Shifted, shift
from deptree_cli.core.feasibility import possible_roots
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.padded import constant_of, shift_batch
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, PROJECTIVE_MULTI, SINGLE_ROOT, SPACES, space
from deptree_cli.kernels.charts import LONGEST
from tests.oracle import Oracle

EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)

GRAPHS = {
    "gaussian": lambda graphs, n: graphs.gaussian(n, 3, seed=n),
    "peaked": lambda graphs, n: graphs.gaussian(n, 80, seed=n),
    "holes": lambda graphs, n: graphs.holes(n, 2, single_root=True),
    "one way": lambda graphs, n: graphs.one_way(n, seed=n),
    "an improbable root": lambda graphs, n: (
        graphs.gaussian(n) - 900.0 * np.outer(np.arange(n + 1) == 0, np.arange(n + 1) == n)
    ),
    "beyond float64": lambda graphs, n: graphs.disconnected(n, 1000.0, seed=n),
}


@pytest.fixture(scope="module", params=SPACES, ids=lambda trees: trees.name)
def cases(request, graphs):
    """Of a space, every kind of graph with 1 to 5 words: scores, their distribution, all trees."""
    found = [kind(graphs, n) for n in (1, 2, 3, 4, 5) for kind in GRAPHS.values()]
    each = [(scores, graphs.over(scores, request.param)) for scores in found]
    return [(request.param, scores, distribution, Oracle(distribution)) for scores, distribution in each]


def test_spaces_by_what_they_allow():
    assert [space(True), space(False)] == [SINGLE_ROOT, MULTI_ROOT]
    assert [space(True, True), space(False, True)] == [PROJECTIVE, PROJECTIVE_MULTI]
    assert space() is SINGLE_ROOT
    assert len({trees.trees for trees in SPACES}) == len(SPACES)


@EACH
def test_contains(trees):
    for n in (1, 2, 3):
        heads = np.stack(np.meshgrid(*[np.arange(-1, n + 2)] * n, indexing="ij"), axis=-1).reshape(-1, n)
        found = heads[trees.contains(heads)]
        assert found.tolist() == all_trees(n, trees).tolist()
        assert set((found == 0).sum(axis=1)) == (set(range(1, n + 1)) if not trees.single_root else {1})


def test_long_chains_and_long_cycles_in_integers_of_any_kind():
    chain = np.arange(100)[None]
    cycle = np.append(chain[:, 1:], [[100]], axis=1)
    cycle[0, -1] = 1
    for dtype in (np.int8, np.uint8, np.int32, np.uint64):
        assert SINGLE_ROOT.contains(chain.astype(dtype)).all()
        assert not MULTI_ROOT.contains(cycle.astype(dtype)).any()
        assert SINGLE_ROOT.contains(chain[:0].astype(dtype)).tolist() == []


@pytest.mark.quick
def test_sums(cases):
    """Log-probabilities of trees: scores of some thousands, as those beyond float64's range, are rounded to 1e-12."""
    for trees, log_scores, _, oracle in cases:
        factors = trees.factorise(log_scores)
        assert factors.log_z == pytest.approx(oracle.log_z, rel=1e-14, abs=1e-13)
        np.testing.assert_allclose(factors.marginals(), oracle.marginals(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(factors.root_marginals(), oracle.marginals()[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(factors.tree_log_probs(oracle.trees), oracle.log_probs, rtol=1e-14, atol=1e-12)


def test_log_root_marginals(cases):
    for trees, log_scores, _, oracle in [case for case in cases if case[0] is SINGLE_ROOT]:
        exact = [np.logaddexp.reduce(oracle.log_probs[heads == 0], initial=-np.inf) for heads in oracle.trees.T]
        found = trees.factorise(log_scores).log_root_marginals()[1:]
        np.testing.assert_allclose(found, exact, rtol=1e-14, atol=1e-13 + 1e-15 * abs(oracle.log_z))


@pytest.mark.quick
def test_arc_covariance(cases):
    """Cov(1[arc], sum of values) over trees by its definition; values of forbidden arcs do not count."""
    for trees, log_scores, _, oracle in cases:
        values = np.random.default_rng(1).normal(size=log_scores.shape)
        probs, words = np.exp(oracle.log_probs), np.arange(1, len(log_scores))
        sums, expected = values[oracle.trees, words].sum(axis=1), np.zeros_like(values)
        for tree, weight in zip(oracle.trees, probs * (sums - probs @ sums), strict=True):
            expected[tree, words] += weight
        found = trees.factorise(log_scores).arc_covariance(values)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.quick
def test_the_best_trees(cases):
    for trees, log_scores, distribution, oracle in cases:
        words = np.arange(1, len(log_scores))
        heads, total = trees.maximum_tree(log_scores)
        assert trees.contains(heads[None]).all()
        assert total == pytest.approx(log_scores[heads, words].sum(), rel=1e-14, abs=1e-12)
        assert total == pytest.approx(log_scores[oracle.trees, words].sum(axis=1).max(), rel=1e-12, abs=1e-9)
        sums = np.sort(distribution.log_weights(oracle.trees))[::-1]
        for size in (0, 1, 2, 7, 50, 130):
            found = trees.best_trees(log_scores, size)
            assert (found.shape, found.dtype) == ((min(size, len(sums)), len(words)), np.int32)
            assert trees.contains(found).all()
            assert len({tuple(tree) for tree in found.tolist()}) == len(found)
            np.testing.assert_allclose(distribution.log_weights(found), sums[:size], rtol=1e-14, atol=1e-12)


def test_a_factorisation_pickles_and_is_not_changed_by_questions(cases):
    for trees, log_scores, *_ in cases[6:18]:
        factors = trees.factorise(log_scores)
        before = pickle.dumps(factors)
        first = factors.marginals(), factors.sample(20, np.random.default_rng(3)), factors.log_z
        for other in (factors, pickle.loads(before), pickle.loads(pickle.dumps(factors))):
            again = other.marginals(), other.sample(20, np.random.default_rng(3)), other.log_z
            assert all(np.array_equal(old, new) for old, new in zip(first, again, strict=True))


@EACH
def test_support_and_what_goes_beyond_other_spaces(trees):
    """The arcs of its trees, exactly, on 400 random patterns; and whether it has trees that another space has not.

    Patterns that have none of its trees, and only these, are refused, with a reason and advice.
    """
    rng, patterns, refused = np.random.default_rng(6), 0, 0
    while patterns < 400:
        n = int(rng.integers(1, 6))
        allowed = rng.random((n + 1, n + 1)) < rng.uniform(0.2, 0.9)
        allowed[:, 0] = False
        np.fill_diagonal(allowed, False)
        before, every, words = allowed.copy(), all_trees(n, trees), np.arange(1, n + 1)
        possible = every[allowed[every, words].all(axis=1)]
        used = np.zeros_like(allowed)
        used[possible, words] = True
        if trees is SINGLE_ROOT:
            assert possible_roots(allowed).tolist() == used[0].tolist()
        if len(possible):
            trees.check_feasible(allowed)
            patterns += 1
            assert (trees.support(allowed) == used).all()
            for other in SPACES:
                assert trees.goes_beyond(other, allowed) == (not other.contains(possible).all())
        else:
            with pytest.raises(DeptreeError, match="is possible") as caught:
                trees.check_feasible(allowed)
            begins = {SINGLE_ROOT: "no single-root tree", MULTI_ROOT: "no tree"}
            assert caught.value.problem.startswith(begins.get(trees, "no "))
            assert caught.value.remedy
            refused += 1
        assert (allowed == before).all()
    assert refused > 50


def test_names_of_words():
    assert words(np.array([4])) == "word 4"
    assert words(np.array([4, 7])) == "words 4 and 7"
    assert words(np.array([1, 2, 3, 4, 5, 6])) == "words 1, 2, 3, 4, 5 and 6"
    assert words(np.arange(1, 13)) == "words 1, 2, 3, 4, 5 and 7 more"


def test_known_graphs(graphs):
    for trees, base in ((SINGLE_ROOT, 30), (MULTI_ROOT, 31)):
        factors = trees.factorise(graphs.uniform(30))
        assert (factors.log_z, factors.n) == (pytest.approx(29 * np.log(base), rel=1e-15), 30)
    roots = SINGLE_ROOT.factorise(graphs.figure1()).root_marginals()
    assert roots == pytest.approx([0, 2 / 3, 0, 1 / 3], abs=1e-16)
    cycle = np.full((4, 4), -np.inf)
    cycle[0, 1] = cycle[2, 3] = cycle[3, 2] = 0.0
    for trees in (SINGLE_ROOT, MULTI_ROOT):
        with pytest.raises(DeptreeError, match="no tree has a positive weight"):
            trees.factorise(cycle)


@pytest.mark.parametrize(("n", "scale"), [(5, 300), (60, 1), (60, 40), (60, 100), (150, 30)])
@EACH
def test_columns_of_marginals_sum_to_one(n, scale, trees, graphs):
    factors = trees.factorise(graphs.gaussian(n, scale, seed=4))
    marginals = factors.marginals()
    assert ((marginals >= 0) & (marginals <= 1 + 1e-12)).all()
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-12)
    assert (marginals[:, 0] == 0).all()
    np.testing.assert_allclose(factors.root_marginals(), marginals[0], rtol=0, atol=1e-12)
    assert not trees.single_root or marginals[0].sum() == pytest.approx(1.0, abs=1e-12)


def test_the_number_of_projective_trees():
    assert [len(all_trees(n, PROJECTIVE)) for n in range(1, 8)] == [1, 2, 7, 30, 143, 728, 3876]
    assert [len(all_trees(n, PROJECTIVE_MULTI)) for n in range(1, 7)] == [1, 3, 12, 55, 273, 1428]


def test_sentences_too_long_for_float64_to_count_their_trees():
    n = LONGEST + 20
    factors = PROJECTIVE.factorise(np.where(np.eye(n + 1, dtype=bool), -np.inf, 0.0))
    assert factors.is_wide
    with mpmath.workdps(40):
        expected = float(mpmath.log(mpmath.binomial(3 * n - 2, n - 1) / n))
    assert factors.log_z == pytest.approx(expected, rel=1e-14)
    heads = factors.sample(3, np.random.default_rng(1))
    assert PROJECTIVE.contains(heads).all()


def only(arcs):
    scores = np.full((len(arcs) + 1,) * 2, -np.inf)
    for word, heads in arcs.items():
        scores[list(heads), word] = 0.0
    return scores


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arcs", "single_root", "told"),
    [
        (
            {1: (0,), 2: (1, 3), 3: (1,), 4: (2,)},
            True,
            "^x: no projective tree is possible: the arcs 1 -> 3 and 2 -> 4 cross, and words 3 and 4 have no other"
            " head. Allow more arcs, or leave out `projective=True`.$",
        ),
        ({1: (0,), 2: (1,), 3: (0,)}, True, "^x: no single-root tree is possible: words 1 and 3 can attach to ROOT"),
        # any head of word 1 crosses word 2's only one, and with a single root word 3 is not a root beside word 2
        (
            {1: (3, 4), 2: (0,), 3: (0, 1), 4: (1, 2)},
            False,
            "in every tree .* some cross, such as 0 -> 2 and (3 -> 1|4 -> 1|1 -> 4)",
        ),
        ({1: (3, 4), 2: (0,), 3: (0, 1), 4: (1, 2)}, True, "the arcs 0 -> 2 and 1 -> 3 cross"),
    ],
)
def test_projective_patterns_that_are_refused(arcs, single_root, told):
    with pytest.raises(DeptreeError, match=told):
        TreeDistribution(only(arcs), single_root=single_root, projective=True, id="x")


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
def test_every_refusal_of_fixed_heads_names_two_arcs_that_cross(n, single_root):
    """All partial assignments of heads that leave trees, but no projective one: the arcs are of one that is left."""
    free = TreeDistribution(np.zeros((n + 1, n + 1)), scale="log", single_root=single_root, projective=True)
    every = [all_trees(n, space(single_root, projective)) for projective in (False, True)]
    refused = 0
    for heads in product([-1, *range(n + 1)], repeat=n):
        left, projective = (rows[((rows == heads) | (np.array(heads) < 0)).all(axis=1)] for rows in every)
        if len(projective) or not len(left):
            continue
        with pytest.raises(DeptreeError, match="no projective") as caught:
            free.given([None if head < 0 else head for head in heads])
        named = re.search(r"(\d+) -> (\d+) and (\d+) -> (\d+)", caught.value.problem).groups()
        head, word, other, below = map(int, named)
        ends = sorted([sorted((head, word)), sorted((other, below))])
        assert ends[0][0] < ends[1][0] < ends[0][1] < ends[1][1]
        assert ((left[:, word - 1] == head) & (left[:, below - 1] == other)).any()
        refused += 1
    assert refused > 5
    if n == 3 and single_root:  # word 2 must be the root, for the others hang on it, whatever the scores allow
        with pytest.raises(DeptreeError, match="the arcs 0 -> 2 and 3 -> 1 cross, and words 1 and 2 have no other"):
            free.given([3, None, 2])


def test_going_between_spaces(graphs):
    distribution = graphs.distribution(graphs.gaussian(5, 2))
    without, exact = distribution.over(PROJECTIVE), Oracle(distribution)
    kept = PROJECTIVE.contains(exact.trees)
    mass = np.logaddexp.reduce(exact.log_probs[kept])
    expected = np.where(kept, exact.log_probs - mass, -np.inf)
    np.testing.assert_allclose(without.log_probs(exact.trees), expected, atol=1e-12)
    assert without.multi_root().space is PROJECTIVE_MULTI
    assert without.kl(distribution) == pytest.approx(-mass, rel=1e-12)
    assert distribution.kl(without) == np.inf


@np.errstate(invalid="ignore")
def shift_in_batch(log_scores, trees):
    nodes = len(log_scores)
    padded = np.full((2, nodes + 1, nodes + 1), -np.inf, dtype=log_scores.dtype)
    padded[1, :nodes, :nodes] = log_scores
    (_, found), parts = shift_batch(np, padded, trees.single_root)
    of_none, constant = constant_of(np, parts)
    assert of_none == 0.0
    assert np.isneginf(found[nodes:]).all()
    assert np.isneginf(found[:, nodes:]).all()
    return Shifted(found[:nodes, :nodes], constant)


WAYS = pytest.mark.parametrize("shift", [shift, shift_in_batch])


@WAYS
@given(n=st.integers(1, 5), seed=st.integers(0, 10**6), single_root=st.booleans(), scale=st.sampled_from([1.0, 50.0]))
def test_every_tree_loses_the_constant(graphs, shift, n, seed, single_root, scale):
    log_scores = graphs.holes(n, seed, single_root, scale)
    shifted, constant = shift(log_scores, space(single_root))
    trees = all_trees(n, space(single_root))
    before, after = (scores[trees, np.arange(1, n + 1)].sum(axis=1) for scores in (log_scores, shifted))
    np.testing.assert_allclose(after + constant, before, rtol=1e-13, atol=1e-12)
    assert (np.isneginf(shifted) == np.isneginf(log_scores)).all()


@WAYS
def test_where_the_maxima_end_up(graphs, shift):
    log_scores = graphs.gaussian(6, 9)
    assert (shift(log_scores, MULTI_ROOT).log_weights[:, 1:].max(axis=0) == 0).all()
    shifted = shift(log_scores, SINGLE_ROOT).log_weights
    assert (shifted[1:, 1:].max(axis=0) == 0).all()
    assert shifted[0, 1:].max() == 0


@WAYS
@pytest.mark.parametrize(
    ("single_root", "offset"), [(True, 0.0), (True, 1e4), (True, -9e14), (False, 0.0), (False, 1e4)]
)
def test_shifts_round_once(shift, single_root, offset, graphs):
    """Differences between trees keep all digits that the scores have: against exact fractions.

    ROOT's row may be masked as a whole where a single arc leaves ROOT; else every tree would need a mask.
    """
    log_scores = graphs.gaussian(5, 3)
    log_scores[0] += offset
    log_scores[:, 2] += offset / 3
    shifted, constant = shift(log_scores, space(single_root))
    lost = []
    for tree in ([0, 1, 2, 3, 4], [2, 0, 2, 2, 4], [5, 3, 4, 5, 0]):
        arcs = [(head, word) for word, head in enumerate(tree, 1)]
        lost.append(sum(Fraction(log_scores[arc]) - Fraction(shifted[arc]) for arc in arcs))
    rounded = 0.0 if single_root else 4 * np.spacing(offset)  # ROOT's row is shifted by words, as all others
    assert max(lost) - min(lost) < 1e-13 + rounded
    assert constant == pytest.approx(float(lost[0]), rel=1e-15, abs=1e-13)


@WAYS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mask", [-1e4, -1e6, -1e9, -9e14])
def test_masks_that_no_tree_needs_are_not_summed(shift, mask, dtype, graphs):
    """Word 2 can only hang on ROOT: what all its other arcs lose, its arc from ROOT gains."""
    log_scores = graphs.gaussian(5, 3).astype(dtype)
    log_scores[1:, 2] = mask
    expected = [*log_scores[1:, [1, 3, 4, 5]].max(axis=0), log_scores[0, 2]]
    constant = shift(log_scores.astype(np.float64) if shift.__name__ == "shift" else log_scores, SINGLE_ROOT).constant
    assert constant == pytest.approx(math.fsum(expected), rel=2 * float(np.finfo(dtype).eps))


@WAYS
def test_peaks_that_cancel_leave_the_digits_of_the_others(shift, graphs):
    log_scores = graphs.gaussian(6)
    log_scores[:, 2] += 1e15 / 3
    log_scores[:, 5] -= 1e15 / 3
    for trees, heads in ((MULTI_ROOT, log_scores), (SINGLE_ROOT, log_scores[1:])):
        peaks = heads[:, 1:].max(axis=0)
        root = 0.0 if trees is MULTI_ROOT else max(map(math.fsum, zip(log_scores[0, 1:], -peaks, strict=True)))
        assert shift(log_scores, trees).constant == pytest.approx(math.fsum([*peaks, root]), rel=1e-15)
