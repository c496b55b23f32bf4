"""Methods with one mask: nothing pruned, what is sure pinned, what is not worth it left out."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.methods import expectations
from tests.brute_itg import Alignments, Grammar
from tests.pruning.toy import Segmentations, enumerated, random_segmentations

SCORES = 1.5 * np.eye(4) + 0.5 * np.random.default_rng(1).normal(size=(4, 4))


def pair_of() -> AlignmentDistribution:
    return AlignmentDistribution(SCORES, "log", -0.5, -0.5)


def test_exact() -> None:
    pair = pair_of()
    found = expectations(pair.program(), "exact")
    assert np.array_equal(found.expectations, pair.marginals())
    assert found.log_partition == pair.log_partition
    assert (found.standard_errors, found.iterations, found.r_hat, found.effective_size) == (None,) * 4
    assert repr(found).startswith("<MonteCarloEstimate of (4, 4): log_partition=")


@pytest.mark.parametrize("margin", [1e3, np.inf])
def test_with_a_huge_margin_tic_tac_toe_is_exact(margin: float) -> None:
    found = expectations(pair_of().program(), "tic-tac-toe", margin=margin)
    assert found.expectations == pytest.approx(pair_of().marginals(), rel=1e-12)


def test_with_smaller_margins_it_is_biased() -> None:
    """More and more; with none at all only the best target span of every source span is left, and what is always."""
    pair, errors = pair_of(), []
    for margin in (8.0, 4.0, 1.0, 0.0):
        found = expectations(pair.program(), "tic-tac-toe", margin=margin).expectations
        errors.append(float(np.abs(found - pair.marginals()).max()))
    assert errors == sorted(errors)
    assert errors[0] < 0.05
    assert errors[-1] > 3 * errors[0]


def test_what_tic_tac_toe_keeps() -> None:
    """States within the margin of the best of their cell, those that are always kept beside them; no others."""
    program, masks = pair_of().program(), []
    merits, keep = program.merits(), program.keep
    program.keep = lambda kept, log_weights=None: masks.append(kept) or keep(kept, log_weights)  # type: ignore
    expectations(program, "tic-tac-toe", margin=2.0)
    for row, kept in zip(merits, masks[0], strict=True):
        finite = row[np.isfinite(row)]
        best = finite.max() if len(finite) else np.inf
        assert kept.tolist() == [merit == np.inf or merit >= best - 2.0 for merit in row]


def test_fixed() -> None:
    """All that is sure is pinned, if it goes together: expectations are those under that condition, and biased."""
    program = pair_of().program()
    confident = program.confident()
    assert len(confident)
    pins = {(int(k) // 4, int(k) % 4): True for k in confident}
    under = Alignments(Grammar(SCORES, np.full(4, -0.5), np.full(4, -0.5)), pins).marginals()
    found = expectations(program, "fixed")
    assert found.expectations == pytest.approx(under, rel=1e-10)
    assert found.log_partition is None
    assert np.abs(found.expectations - pair_of().marginals()).max() > 0.1


def test_fixed_where_not_all_goes_together() -> None:
    """Boundaries 1 and 2 exclude each other: either the one is there and the other not, or the other way round."""
    scores = np.zeros((5, 5))
    scores[1, 2] = -np.inf
    found = {tuple(expectations(Segmentations(scores, np.arange(2)), "fixed", k).expectations) for k in range(20)}
    assert found == {(1.0, 0.0, 0.5), (0.0, 1.0, 0.5)}


def test_fixed_where_nothing_is_sure_is_exact() -> None:
    program = random_segmentations(5, 0)
    assert expectations(program, "fixed").expectations == pytest.approx(enumerated(program)[1], rel=1e-12)


def test_nothing_to_sum_over() -> None:
    program = Segmentations(np.full((4, 4), -np.inf), np.arange(2))
    for method in ("exact", "fixed"):
        with pytest.raises(DeptreeError, match=r"^there is no structure to sum over\. Allow more structures\.$"):
            expectations(program, method)


def test_a_mask_that_prunes_everything() -> None:
    """Words of either side must be linked in inverted order, which the simpler model does not expect."""
    scores = np.full((4, 4), -np.inf)
    scores[np.arange(4), [1, 0, 3, 2]] = 0.0
    other = AlignmentDistribution(8.0 * np.eye(4)[::-1].copy(), "log", -9.0, -9.0)
    program = AlignmentDistribution(scores, "log", -np.inf, -np.inf).program(other)
    with pytest.raises(DeptreeError, match=r"^the pruning mask removes every structure\. Use a larger margin\.$"):
        expectations(program, "tic-tac-toe", margin=0.0)
