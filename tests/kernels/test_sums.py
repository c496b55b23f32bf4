"""Sums over trees beyond what tests/core enumerates: elimination against the Laplacian, Eisner's chart by closed forms.

Lengths go over two panels and a bit, so that there are full panels, one that the first word cuts short, and none.
"""

from __future__ import annotations

from collections import namedtuple
from math import comb, log

import numpy as np
import pytest

from benchmarks.sums import matrix_tree
from deptree_cli.core.factorisation import shift
from deptree_cli.core.numbers import REAL, WIDE
from deptree_cli.core.spaces import space
from deptree_cli.kernels.charts import TABLES, best_projective_trees, inside
from deptree_cli.kernels.charts import best_tree as best_projective_tree
from deptree_cli.kernels.elimination import WIDTH, arc_marginals, eliminate, factorise, log_of_product, put_products
from deptree_cli.kernels.numbers import Dual
from deptree_cli.kernels.operations import logarithm
from deptree_cli.kernels.trees import best_tree
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)
LENGTHS = pytest.mark.parametrize("n", [1, 2, 5, 8, 13])


# What goes into `factorise` and comes out of it; constant: what the shift of columns took off.
Factors = namedtuple("Factors", "kind single_root weights final_word A S log_z in_range constant nodes")


def room(kind, *shape):
    """Numbers that nobody may read: not zeros."""
    return kind.each(lambda part: np.full_like(part, 77), kind.zeros(shape))


def factors(log_scores, single_root, kind, final_word=None):
    """Shift, exponentiate and eliminate; the root of the best tree is eliminated last unless it is said."""
    shifted, nodes = shift(log_scores, space(single_root)), len(log_scores)
    if final_word is None:
        heads = np.empty(nodes - 1, dtype=np.int32)
        best_tree(shifted.log_weights, single_root, heads)
        final_word = int(heads.argmin()) + 1
    weights = kind.exp(shifted.log_weights)
    A, S, workspace = map(kind.zeros, ((nodes, nodes), nodes, (3, WIDTH, nodes)))
    found = factorise(weights, final_word, A, S, workspace, single_root)
    return Factors(kind, single_root, weights, final_word, A, S, *found, shifted.constant, nodes)


def marginals_of(f):
    """P(head -> dependent), (n+1, n+1), in the kind's numbers, by the sweep backwards; all memory is full of others."""
    adjoints, workspace, out = (room(f.kind, *shape, f.nodes) for shape in ((f.nodes,), (3, WIDTH), (f.nodes,)))
    arc_marginals(f.weights, f.final_word, f.A, f.S, adjoints, workspace, f.single_root, out)
    return out


def covariances_of(f, values):
    """Marginals and covariances of arcs, (n+1, n+1): by both sweeps on dual numbers."""
    W, shapes = Dual(f.weights, f.kind.scaled(f.weights, values)), [(f.nodes,)] * 3 + [(), (3, WIDTH)]
    A, adjoints, out, S, workspace = (Dual(*(room(f.kind, *each, f.nodes) for _ in range(2))) for each in shapes)
    assert factorise(W, f.final_word, A, S, workspace, f.single_root)[0] == pytest.approx(f.log_z, rel=1e-14, abs=1e-14)
    arc_marginals(W, f.final_word, A, S, adjoints, workspace, f.single_root, out)
    return Dual(*map(f.kind.floats, out))


@BOTH
@KINDS
@LENGTHS
def test_against_the_laplacian(kind, single_root, n, graphs):
    """An independent program, on flat scores; whichever word is eliminated last."""
    log_scores = graphs.gaussian(n, 1, seed=n)
    for final_word in {1, (n + 1) // 2, n}:
        f = factors(log_scores, single_root, kind, final_word)
        marginals = kind.floats(marginals_of(f))
        assert f.log_z + f.constant == pytest.approx(matrix_tree.log_partition(log_scores, single_root), rel=1e-13)
        np.testing.assert_allclose(marginals, matrix_tree.marginals(log_scores, single_root), rtol=0, atol=1e-12)
        np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-13)


@BOTH
@KINDS
@LENGTHS
def test_covariances_are_slopes(kind, single_root, n, graphs):
    """Of the marginals, by central differences of fourth order, h = 1e-3."""
    log_scores, h = graphs.gaussian(n, 3, seed=n), 1e-3
    values = np.random.default_rng(n).normal(size=(n + 1, n + 1))
    steps = (factors(log_scores + step * h * values, single_root, kind) for step in (-2, -1, 0, 1, 2))
    at = [kind.floats(marginals_of(each)) for each in steps]
    found = covariances_of(factors(log_scores, single_root, kind), values)
    np.testing.assert_allclose(found.tangent, (8 * (at[3] - at[1]) - (at[4] - at[0])) / (12 * h), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.value, at[2], rtol=0, atol=1e-14)


@BOTH
@KINDS
@pytest.mark.parametrize("n", [2, 5, 9])
def test_pivots_of_zero(kind, single_root, n, graphs):
    """There are trees, but no arc from an earlier word to a later one: a pivot of 0 with a single root, no sums.

    With several roots, ROOT's arcs are part of the pivots.
    """
    one_way = graphs.one_way(n)
    hopeless = int(np.isfinite(one_way[1:]).any(axis=1).argmin()) + 1  # a word that is nobody's head
    f, found = factors(one_way, single_root, kind), factors(one_way, single_root, kind, hopeless)
    assert f.log_z > -np.inf
    assert found.log_z == (-np.inf if single_root else pytest.approx(f.log_z))
    assert found.in_range == (kind is WIDE or not single_root)


@pytest.mark.slow("size")
@BOTH
@KINDS
@pytest.mark.parametrize("n", [1, 3, 6])
def test_no_tree(kind, single_root, n, graphs):
    """ROOT has no arc; no word has any; two words have none from outside; and NaN is no positive pivot: no NaN."""
    rootless, nothing, cut, wrong = graphs.uniform(n), np.full((n + 1, n + 1), -np.inf), graphs.uniform(n), []
    rootless[0] = -np.inf
    cut[:2, 2:] = -np.inf
    if kind is REAL and n > 1:
        wrong = [graphs.gaussian(n) for _ in range(3)]
        wrong[0][1, n] = wrong[1][n - 1, 1] = wrong[2][0, 1] = np.nan
    for log_weights in (rootless, nothing, *([cut] if n > 2 else []), *wrong):
        weights = kind.exp(log_weights)
        S, workspace = kind.zeros(n + 1), kind.zeros((3, WIDTH, n + 1))
        assert eliminate(weights, S, workspace, single_root) == (-np.inf, kind is WIDE)


def test_what_the_logarithms_add_up_to():
    """Worked by hand: pivots e^-5 and e^4 (and e^-3), of which the depth counts the negative ones only."""
    S, workspace = np.zeros(3), np.zeros((3, WIDTH, 3))
    for into, of_root, log_z, depth in ((-5.0, 4.0, -1.0, -5.0), (-5.0, -3.0, -8.0, -8.0), (7.0, -3.0, 4.0, -3.0)):
        A = np.array([[0.0, np.exp(of_root), 0.0], [0.0, 0.0, np.exp(into)], [0.0, np.exp(2.0), 0.0]])
        assert eliminate(A, S, workspace, True) == (pytest.approx(log_z), True)
        assert log_of_product(S) == (pytest.approx(log_z), pytest.approx(depth))


def test_what_underflows_is_reported(graphs):
    """Halves of a sentence e^-800 apart: float64 finds no tree at all, or says that it may have lost some."""
    log_scores = graphs.disconnected(4, 800.0)
    assert not factors(log_scores, True, REAL).in_range
    wide = factors(log_scores, True, WIDE)
    assert wide.log_z + wide.constant == pytest.approx(Oracle(graphs.distribution(log_scores)).log_z, rel=1e-14)


def test_probabilities_that_do_not_sum_to_one():
    """An adjoint that left the range of float64, or lost digits, is told of; by 1e-10 a sum may fail."""
    W = np.array([[0.0, 0.5, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    fine = np.array([[np.nan, 1.5, 1.0], [0.0, np.nan, np.inf], [0.0, 0.25, np.inf]])
    for change in (0.0, 1e-10, 1e-8, -1e-8, np.nan, np.inf):
        for place in ((0, 2), (2, 1)):
            J, out = fine.copy(), np.full((3, 3), np.nan)
            J[place] += change
            assert put_products(W, J, np.empty(3), out) == (abs(change) < 1e-9)
            assert (out[W == 0.0] == 0.0).all()


def test_rounding_makes_no_probability_negative():
    W = np.array([[0.0, 0.5, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    J, out = np.array([[0.0, 1.0, 1.0], [0.0, 0.0, -1e-17], [0.0, 0.5, 0.0]]), np.zeros((3, 3))
    assert put_products(W, J, np.empty(3), out)
    assert out.min() == 0.0


@BOTH
@KINDS
def test_the_number_of_trees(single_root, kind, graphs):
    for n in (1, 2, 3, 4, 5, 6, 7, 12):
        number = comb(3 * n - 2, n - 1) // n if single_root else comb(3 * n, n) // (2 * n + 1)
        total = inside(kind.exp(graphs.uniform(n)), single_root, kind.zeros((TABLES, n + 1, n + 1)))
        assert logarithm(total) == pytest.approx(log(number), rel=1e-14, abs=1e-14)


def test_no_projective_tree():
    """Word 2 has no head; two words have ROOT only; only crossing arcs are left."""
    scores, nothing = np.full((3, 3), -np.inf), np.empty(2, dtype=np.int32)
    for word in (1, 2):
        scores[0, word] = 1.0
        assert best_projective_tree(scores, True, nothing) == -np.inf
        assert best_projective_trees(scores, True, 5).shape == (0, 2)
    assert best_projective_tree(scores, False, nothing) == 2.0
    crossing = np.full((5, 5), -np.inf)
    crossing[[0, 1, 1, 2], [1, 2, 3, 4]] = 0.0
    assert best_projective_tree(crossing, False, np.empty(4, dtype=np.int32)) == -np.inf
    assert best_projective_trees(crossing, False, 5).shape == (0, 4)
