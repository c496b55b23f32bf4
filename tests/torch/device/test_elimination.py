"""Elimination by torch operations, on the CPU here: against the kernels, multi-precision and finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks.samplers.saturated import saturated
from benchmarks.sums import exact
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.torch.device import by_position, elimination

BOTH = pytest.mark.parametrize("single_root", [True, False])
TYPES = pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 2e-6), (torch.float64, 1e-13)])
SCALES = (1, 2, 5, 10, 20, 50, 100, 200)


@pytest.fixture
def redone(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many sentences were done again with the largest pivots first, and how many by kernels."""
    counts = {"search": 0, "kernels": 0}
    by_position_, kernels = elimination.by_position, elimination.ArcFactored

    def counting_search(log_scores, lengths, single_root: bool, search: bool):
        counts["search"] += search * len(lengths)
        return by_position_(log_scores, lengths, single_root, search)

    def counting_kernels(*args, **named):
        counts["kernels"] += 1
        return kernels(*args, **named)

    monkeypatch.setattr(elimination, "by_position", counting_search)
    monkeypatch.setattr(elimination, "ArcFactored", counting_kernels)
    return counts


def padded(sentences: list[np.ndarray], dtype: object, size: int | None = None):
    """A batch of log-scores (B, N, N) with NaN wherever it is ignored, and lengths."""
    N = size or max(map(len, sentences))
    batch = torch.full((len(sentences), N, N), float("nan"), dtype=dtype)
    for own, scores in zip(batch, sentences, strict=True):
        nodes = len(scores)
        own[:nodes, 1:nodes] = torch.tensor(scores[:, 1:], dtype=dtype)
        own.diagonal().fill_(float("nan"))
    return batch, torch.tensor([len(scores) - 1 for scores in sentences])


def each(batch, lengths, single_root: bool) -> Iterator[TreeDistribution]:
    """The distributions of a batch, of its numbers as they were rounded."""
    for scores, n in zip(batch.double().numpy(), lengths.tolist(), strict=True):
        own = scores[: n + 1, : n + 1].copy()
        own[np.isnan(own)] = 0.0
        yield TreeDistribution(own, single_root=single_root)


def check(sentences: list[np.ndarray], single_root: bool, dtype: object, error: float, size: int | None = None) -> None:
    """Compare log Z, marginals and covariances with the kernels', and see that all else is exactly 0."""
    batch, lengths = padded(sentences, dtype, size)
    values = torch.randn(batch.shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    log_z, marginals, _ = elimination.log_partition_and_marginals(batch, lengths, single_root)
    alone = elimination.log_partition(batch, lengths, single_root)
    covariances = elimination.arc_covariance(batch, lengths, torch.where(batch.isnan(), batch, values), single_root)
    assert log_z.dtype == marginals.dtype == alone.dtype == covariances.dtype == dtype
    assert (marginals >= 0).all()
    found = (part.double().numpy() for part in (marginals, covariances))
    for b, (distribution, *parts) in enumerate(zip(each(batch, lengths, single_root), *found, strict=True)):
        n, factors = distribution.n, distribution.factorisation
        direction = values[b, : n + 1, : n + 1].double().numpy()
        for total in (log_z[b], alone[b]):
            assert total.item() == pytest.approx(factors.log_z, rel=error, abs=error)
        for part, truth in zip(parts, (factors.marginals(), factors.arc_covariance(direction)), strict=True):
            np.testing.assert_allclose(
                part[: n + 1, : n + 1], truth, rtol=0, atol=error * max(1.0, np.abs(truth).max())
            )
            assert (part[: n + 1, : n + 1][np.isneginf(distribution.log_scores)] == 0).all()
            assert (part[n + 1 :] == 0).all()
            assert (part[:, n + 1 :] == 0).all()


@TYPES
@BOTH
def test_padded_batches_of_all_lengths(single_root: bool, dtype: object, error: float, graphs, redone) -> None:
    sentences = [graphs.gaussian(n, scale, seed=n) for n in range(1, 9) for scale in (1, 5)]
    check(sentences, single_root, dtype, error, size=12)
    assert redone == {"search": 0, "kernels": 0}
    check([graphs.gaussian(1, seed=3)], single_root, dtype, error)


@TYPES
@BOTH
def test_forbidden_arcs(single_root: bool, dtype: object, error: float, graphs, redone) -> None:
    check([graphs.holes(n, n, single_root) for n in range(2, 9)], single_root, dtype, error)
    assert redone["kernels"] == 0


@TYPES
@BOTH
def test_scores_of_every_peakedness(single_root: bool, dtype: object, error: float, graphs) -> None:
    sentences = [graphs.gaussian(n, scale, seed=n) for n in (4, 7, 12) for scale in SCALES]
    check(sentences, single_root, dtype, error)


@TYPES
@BOTH
def test_words_that_choose_each_other(single_root: bool, dtype: object, error: float, redone) -> None:
    """Gaps of 5 to 80 are within float64; of 500 and 1000 only within kernels."""
    check([saturated(6, gap).log_scores for gap in (5, 20, 50, 80)], single_root, dtype, error)
    assert redone["kernels"] == 0
    assert redone["search"] == (6 if dtype == torch.float32 else 0)  # with pivots of e^-50 and e^-80
    check([saturated(6, gap).log_scores for gap in (20, 500, 1000)], single_root, dtype, error)
    assert redone["kernels"] == 6  # two gaps: log Z, sums, covariances


def chain(order: list[int]) -> np.ndarray:
    """Log-scores of the one tree in which each governs the next, from ROOT on."""
    scores = np.full((len(order) + 1, len(order) + 1), -np.inf)
    scores[[0, *order[:-1]], order] = np.linspace(-30, 30, len(order))
    return scores


@TYPES
@BOTH
@pytest.mark.parametrize("order", [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [3, 1, 5, 2, 4]])
def test_chains(order: list[int], single_root: bool, dtype: object, error: float, redone) -> None:
    check([chain(order), chain([2, 1, 3])], single_root, dtype, error, size=8)
    assert redone == {"search": 0, "kernels": 0}


@TYPES
def test_where_words_as_they_come_have_pivots_of_0(dtype: object, error: float, redone) -> None:
    """ROOT -> 1 is best, yet 1 governs nothing: of words 2 and 3, which choose each other, the one that is left has no
    head when it is eliminated."""
    scores = np.full((4, 4), -np.inf)
    scores[0, 1], scores[0, 2], scores[2, 1], scores[2, 3], scores[3, 1], scores[3, 2] = 5, 0, 1, 2, 3, 1
    check([scores, np.zeros((5, 5))], True, dtype, error)
    assert redone == {"search": 3, "kernels": 0}  # log Z, sums, covariances


def test_against_multi_precision(graphs) -> None:
    """Gradients of random and of saturated graphs, at logit scales 1 to 200."""
    random = [graphs.gaussian(6, scale, seed=scale) for scale in SCALES]
    for sentences in (random, [saturated(6, scale).log_scores for scale in SCALES]):
        for dtype, error in ((torch.float32, 1e-6), (torch.float64, 1e-12)):
            batch, lengths = padded(sentences, dtype)
            marginals = elimination.log_partition_and_marginals(batch, lengths, True)[1].double().numpy()
            for distribution, found in zip(each(batch, lengths, True), marginals, strict=True):
                np.testing.assert_allclose(found, exact.marginals(distribution), rtol=0, atol=error)


@BOTH
def test_covariances_are_the_derivative_of_marginals(single_root: bool, graphs) -> None:
    """Central differences with h = 1e-5: error of h^2 times third derivatives of a few units, and 1e-15 / h."""
    batch, lengths = padded([graphs.gaussian(5, 2, seed=1), graphs.holes(4, 4, single_root)], torch.float64)
    values, h = torch.randn(batch.shape, generator=torch.Generator().manual_seed(1)).to(batch), 1e-5
    found = elimination.arc_covariance(batch, lengths, values, single_root)
    up, down = (
        elimination.log_partition_and_marginals(batch + step * values, lengths, single_root)[1] for step in (h, -h)
    )
    np.testing.assert_allclose(found, (up - down) / (2 * h), rtol=0, atol=1e-9)


@BOTH
def test_a_constant_of_a_column_changes_no_covariance(single_root: bool, graphs) -> None:
    """Nor does it cost float32 its digits."""
    batch, lengths = padded([graphs.gaussian(8, 2, seed=5)], torch.float32)
    values = torch.randn(batch.shape, generator=torch.Generator().manual_seed(2)).mul(1024).round() / 1024
    expected = elimination.arc_covariance(batch, lengths, values, single_root)
    found = elimination.arc_covariance(batch, lengths, values + 1024 * torch.arange(9), single_root)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_an_offset_of_roots_scores_costs_no_digits(graphs) -> None:
    """They are 2048 above the words', where float32 tells 1/4096 apart; words' scores are finer."""
    scores = graphs.gaussian(7, 2, seed=6)
    scores[0] = np.round(scores[0] * 1024) / 1024
    expected, found = (
        elimination.log_partition_and_marginals(*padded([moved], torch.float32), True)[1]
        for moved in (scores, scores + 2048 * np.eye(8)[:, :1])
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@BOTH
def test_the_order_of_largest_pivots_serves_all(single_root: bool, graphs, monkeypatch, redone) -> None:
    """Among these are graphs in which a word is left with no arc but what detours leave on its diagonal."""
    sentences = [graphs.holes(n, seed, single_root, scale=3) for n in (2, 3, 4, 5, 8) for seed in range(30)]
    batch, lengths = padded(sentences, torch.float64, size=10)
    expected = elimination.log_partition_and_marginals(batch, lengths, single_root)
    searching = partial(by_position.by_position, search=True)
    monkeypatch.setattr(elimination, "by_position", lambda *args: searching(*args[:3]))
    found = elimination.log_partition_and_marginals(batch, lengths, single_root)
    for part, whole in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, whole, rtol=1e-13, atol=1e-13)
    assert redone["kernels"] == 0


@pytest.mark.parametrize("broken", ["value", "tangent"])
def test_sweeps_that_go_wrong_are_found(broken: str, graphs, monkeypatch, redone) -> None:
    """Here all float32 adjoints: sums and covariances come from float64 then."""
    right = elimination.adjoints

    def wrong(A, *args):
        found = right(A, *args)
        part = getattr(found, broken, found if broken == "value" else None)
        if part is not None and part.dtype == torch.float32:
            part += 0.01
        return found

    monkeypatch.setattr(elimination, "adjoints", wrong)
    check([graphs.gaussian(5, 1, seed) for seed in range(4)], True, torch.float32, 1e-6)
    assert redone == {"search": 8 if broken == "value" else 4, "kernels": 0}


@BOTH
def test_a_sentence_without_a_tree_is_named(single_root: bool, graphs) -> None:
    impossible = np.full((4, 4), -np.inf)
    impossible[0, 1:3], impossible[2, 1] = 0.0, 0.0  # nothing governs word 3
    batch, lengths = padded([graphs.gaussian(3), graphs.gaussian(2), impossible], torch.float32)
    with pytest.raises(DeptreeError, match=r"sentence 2 of the batch.*word 3"):
        elimination.log_partition_and_marginals(batch, lengths, single_root)
    with pytest.raises(DeptreeError, match=r"sentence 2 of the batch"):
        elimination.log_partition(batch, lengths, single_root)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_no_number_is_let_through_that_is_none(bad: float, graphs) -> None:
    for head, dependent in ((0, 2), (1, 3), (3, 1)):
        batch, lengths = padded([graphs.gaussian(3), graphs.gaussian(3)], torch.float32)
        batch[1, head, dependent] = bad
        with pytest.raises(DeptreeError, match=r"sentence 1 of the batch"):
            elimination.log_partition_and_marginals(batch, lengths, True)


@pytest.mark.parametrize("mask", [-1e15, float(np.finfo(np.float32).min)])
def test_masks_forbid(mask: float, graphs) -> None:
    scores = graphs.holes(5, 1)
    expected, found = (
        elimination.log_partition_and_marginals(*padded([given], torch.float32), True)
        for given in (scores, np.where(np.isinf(scores), mask, scores))
    )
    for part, whole in zip(found, expected, strict=True):
        assert (part == whole).all()
    scores[:, 3] = mask
    with pytest.raises(DeptreeError, match="word 3 has no head"):
        elimination.log_partition(*padded([scores], torch.float32), True)


def test_results_can_be_saved_and_autocast_costs_no_digits(graphs) -> None:
    batch, lengths = padded([graphs.gaussian(6, 3)], torch.float32)
    expected = elimination.log_partition_and_marginals(batch, lengths, True)
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        found = elimination.log_partition_and_marginals(batch, lengths, True)
    assert not any(part.is_inference() for part in expected)
    assert all((part == whole).all() for part, whole in zip(found, expected, strict=True))
