"""Sums over padded batches, sentence by sentence against `TreeDistribution`, enumeration and 400 digits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.sums import exact
from deptree_cli.core.batches import sums, threads
from deptree_cli.core.batches.packed import Batch
from deptree_cli.core.batches.sums import covariances, log_partitions, log_partitions_and_marginals
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT, SPACES, TreeSpace, space
from tests.oracle import Oracle

Float = NDArray[np.float64]


@pytest.fixture(autouse=True)
def every_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are taken for the smallest batches, too."""
    monkeypatch.setattr(threads, "COST", 1.0)


EACH_SPACE = pytest.mark.parametrize("trees", list(SPACES), ids=lambda trees: trees.name)
FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def padded(sentences: list[Float], trees: TreeSpace, dtype: Any = np.float64) -> Batch:
    """A batch with NaN in the padding and in column 0, and NaN or 99 on diagonals: nobody may look there."""
    size = max(map(len, sentences)) + 1
    scores = np.full((len(sentences), size, size), np.nan, dtype=dtype)
    for b, (out, of_one) in enumerate(zip(scores, sentences, strict=True)):
        out[: len(of_one), 1 : len(of_one)] = of_one[:, 1:]
        np.fill_diagonal(out, 99.0 if b % 2 else np.nan)
    return Batch(scores, np.array([len(of_one) - 1 for of_one in sentences]), trees)


def alone(batch: Batch, b: int) -> TreeDistribution:
    """Sentence b by itself."""
    nodes, trees = batch.lengths[b] + 1, batch.space
    scores = batch.log_scores[b, :nodes, :nodes]
    return TreeDistribution(scores, single_root=trees.single_root, projective=trees.projective)


def check(batch: Batch, atol: float = 1e-13, count: int = 1) -> None:
    """log Z, marginals and covariances are those of each sentence; exactly 0 where an arc is forbidden or padded."""
    dtype, size = batch.log_scores.dtype, batch.log_scores.shape
    values = np.random.default_rng(7).normal(size=size).astype(dtype)
    before = batch.log_scores.tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log_z, marginals, _ = log_partitions_and_marginals(batch, count)
        found, of_values = log_partitions(batch, count), covariances(batch, values, count)
    assert batch.log_scores.tobytes() == before
    assert log_z.dtype == np.float64
    assert marginals.dtype == of_values.dtype == dtype
    atol = max(atol, float(np.finfo(dtype).eps))
    for b, n in enumerate(batch.lengths):
        sentence, nodes = alone(batch, b), n + 1
        assert log_z[b] == pytest.approx(sentence.factorisation.log_z, rel=1e-14, abs=1e-13)
        assert found[b] == pytest.approx(sentence.factorisation.log_z, rel=1e-14, abs=1e-13)
        direction = np.where(sentence.support, values[b, :nodes, :nodes], 0.0)
        pairs = (marginals, sentence.marginals()), (of_values, sentence.factorisation.arc_covariance(direction))
        for results, expected in pairs:
            np.testing.assert_allclose(results[b, :nodes, :nodes], expected, rtol=1e-6, atol=atol)
            np.testing.assert_allclose(results[b, :nodes, :nodes], expected, rtol=0, atol=atol)
            assert not results[b, :nodes, :nodes][np.isneginf(sentence.log_scores)].any()
            assert not results[b, nodes:].any()
            assert not results[b, :, nodes:].any()


@pytest.fixture
def slow(monkeypatch) -> list[int]:
    """Which sentences float64 kernels did not suffice for, as they come."""
    taken: list[int] = []
    by_itself = sums._sentence

    def counted(batch: Batch, b: int) -> Any:
        taken.append(b)
        return by_itself(batch, b)

    monkeypatch.setattr(sums, "_sentence", counted)
    return taken


@pytest.mark.slow("compile")
@EACH_SPACE
@FLOATS
@pytest.mark.parametrize("scale", [1, 10, 30])
def test_random_lengths(graphs, slow, trees: TreeSpace, dtype: Any, scale: int) -> None:
    """One word to fourteen: full panels and cut ones. Nothing is left to the slow path."""
    lengths = np.random.default_rng(scale).integers(1, 15, size=12).tolist()
    check(padded([graphs.gaussian(n, scale, seed=b) for b, n in enumerate(lengths)], trees, dtype))
    assert not slow


@EACH_SPACE
@FLOATS
@pytest.mark.parametrize("scale", [100, 300, 1000])
def test_peaked_scores(graphs, trees: TreeSpace, dtype: Any, scale: int) -> None:
    """Whichever path serves them: to 15 digits of what the largest score is."""
    lengths = np.random.default_rng(scale).integers(2, 12, size=12).tolist()
    batch = padded([graphs.gaussian(n, scale, seed=b) for b, n in enumerate(lengths)], trees, dtype)
    check(batch, atol=1e-14 * scale)


@pytest.mark.slow("size")
@EACH_SPACE
@FLOATS
def test_forbidden_arcs(graphs, trees: TreeSpace, dtype: Any) -> None:
    """By -inf, and by the masks of parsers: the same bytes."""
    lengths = [1 + seed % 8 for seed in range(24)]
    sentences = [graphs.holes(n, b, trees.single_root, 2, trees.projective) for b, n in enumerate(lengths)]
    batch = padded(sentences, trees, dtype)
    check(batch)
    expected = log_partitions_and_marginals(batch)
    for mask in (np.nextafter(dtype(-1e15), dtype(-np.inf)), dtype(-1e32)):  # float32 has no -1e15, only one above it
        scores = np.where(np.isneginf(batch.log_scores), mask, batch.log_scores)
        found = log_partitions_and_marginals(Batch(scores, batch.lengths, trees))
        assert [part.tobytes() for part in found] == [part.tobytes() for part in expected]


@EACH_SPACE
def test_against_enumeration(graphs, trees: TreeSpace) -> None:
    sentences = [graphs.gaussian(n, 5, seed=n) for n in (4, 1, 5, 2, 3)]
    batch = padded(sentences, trees)
    log_z, marginals, _ = log_partitions_and_marginals(batch, 2)
    for b, scores in enumerate(sentences):
        oracle = Oracle(graphs.over(scores, trees))
        assert log_z[b] == pytest.approx(oracle.log_z, rel=1e-14)
        np.testing.assert_allclose(marginals[b, : len(scores), : len(scores)], oracle.marginals(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("scale", [1, 20, 80, 200])
def test_against_400_digits(graphs, scale: int) -> None:
    sentences = [graphs.gaussian(n, scale, seed=n) for n in (6, 9)] + [graphs.saturated(7, 10.0**-scale)]
    marginals = log_partitions_and_marginals(padded(sentences, SINGLE_ROOT))[1]
    for b, scores in enumerate(sentences):
        expected = exact.marginals(graphs.distribution(scores))
        np.testing.assert_allclose(marginals[b, : len(scores), : len(scores)], expected, rtol=0, atol=1e-13)


@EACH_SPACE
@pytest.mark.parametrize("offset", [1e6, -3e9])
def test_offsets_cost_no_digits(graphs, slow, trees: TreeSpace, offset: float) -> None:
    """A constant on ROOT's row (which counts once with a single root), or on a word's column: the same marginals."""
    plain = np.round(graphs.gaussian(6, 4) * 1024) / 1024  # sums of these are exact in float64
    in_column, in_row = plain.copy(), plain.copy()
    in_column[:, 3] += offset
    in_row[0] += offset
    sentences = [plain, in_column, in_row] if trees.single_root else [plain, in_column]
    log_z, marginals, _ = log_partitions_and_marginals(padded(sentences, trees))
    for b in range(1, len(sentences)):
        np.testing.assert_allclose(marginals[b], marginals[0], rtol=1e-14, atol=0)
        assert log_z[b] == pytest.approx(log_z[0] + offset, rel=1e-15)
    assert not slow


@EACH_SPACE
@FLOATS
def test_where_float64_does_not_suffice(graphs, slow, trees: TreeSpace, dtype: Any) -> None:
    """Halves e^-2000 apart, or log Z near -640, every other sentence: those alone are worked out by themselves."""
    near = 640.0 if trees.single_root else 320.0
    sentences = [graphs.disconnected(6, 2000.0), graphs.gaussian(4), graphs.disconnected(5, near), graphs.gaussian(6)]
    batch = padded(sentences, trees, dtype)
    log_partitions(batch)
    assert slow == [0, 2]
    log_partitions_and_marginals(batch)
    assert slow == [0, 2] * 2
    covariances(batch, np.ones_like(batch.log_scores))
    assert slow == [0, 2] * 3
    check(batch)


@pytest.mark.parametrize("n", [3, 5, 9])
def test_graphs_that_take_a_search_for_pivots(graphs, slow, n: int) -> None:
    """ROOT prefers a word that governs none: with a single root it cannot come last. With several ROOT reaches all."""
    misled = graphs.gaussian(n)
    misled[n, :] = -np.inf
    misled[0, n] = 20.0
    for trees, taken in ((space(True), [2]), (space(False), [])):
        slow.clear()
        batch = padded([graphs.gaussian(n), graphs.one_way(n), misled], trees)
        log_partitions(batch)
        assert slow == taken
        check(batch)


@EACH_SPACE
def test_values_of_impossible_arcs_do_not_count(graphs, trees: TreeSpace) -> None:
    """NaN as a value of a forbidden arc, of one that no tree contains, and of padding: no NaN in a covariance."""
    scores = graphs.gaussian(4)
    scores[:, 2] = -np.inf
    scores[1, 2] = 0.0  # word 2 hangs on word 1, so word 1 never on word 2
    batch = padded([scores, graphs.gaussian(2)], trees)
    values = np.full(batch.log_scores.shape, np.nan)
    for b in range(2):
        support = alone(batch, b).support
        values[b, : len(support), : len(support)][support] = np.random.default_rng(b).normal(size=int(support.sum()))
    assert np.isnan(values[0, 2, 1])
    found = covariances(batch, values)
    for b in range(2):
        sentence = alone(batch, b)
        nodes = sentence.n + 1
        expected = sentence.factorisation.arc_covariance(np.nan_to_num(values[b, :nodes, :nodes]))
        np.testing.assert_allclose(found[b, :nodes, :nodes], expected, rtol=0, atol=1e-14)


@EACH_SPACE
@pytest.mark.parametrize("bad", [np.nan, np.inf, 2e15])
@pytest.mark.parametrize("arc", [(1, 2), (0, 2)])
def test_a_bad_sentence_is_named(graphs, trees: TreeSpace, bad: float, arc: tuple[int, int]) -> None:
    """By its number in the batch, whichever function and thread; and nothing is said on the way."""
    sentences = [graphs.gaussian(3, seed=b) for b in range(5)]
    sentences[3][arc] = bad
    batch = padded(sentences, trees)
    values = np.ones_like(batch.log_scores)
    head = "ROOT" if arc[0] == 0 else arc[0]
    for function in (log_partitions, log_partitions_and_marginals, lambda b, t: covariances(b, values, t)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(DeptreeError, match=f"^sentence 3 of the batch: the score of {head} -> 2 "):
                function(batch, 2)


@EACH_SPACE
def test_a_sentence_without_a_tree_is_named(graphs, trees: TreeSpace) -> None:
    """The first of them; where ROOT has no arc, or a word has none."""
    sentences = [graphs.gaussian(3, seed=b) for b in range(4)]
    sentences[2][0], sentences[3][:, 2] = -np.inf, -np.inf
    values = np.ones((4, 5, 5))
    for kept, reason in ((sentences, "sentence 2 .*"), (sentences[:2] + sentences[3:], "sentence 2 .*word 2.*")):
        batch = padded(kept, trees)
        for function in (
            log_partitions,
            log_partitions_and_marginals,
            lambda b: covariances(b, values[: len(b.lengths)]),
        ):
            with pytest.raises(DeptreeError, match=reason):
                function(batch)


@EACH_SPACE
def test_the_same_bytes_from_any_threads_and_blocks(graphs, monkeypatch, trees: TreeSpace) -> None:
    lengths = np.random.default_rng(1).integers(1, 12, size=17).tolist()
    sentences = [graphs.gaussian(n, 8, seed=b) for b, n in enumerate(lengths)]
    sentences[5] = graphs.disconnected(lengths[5] + 2, 2000.0)
    batch = padded(sentences, trees, np.float32)
    values = np.random.default_rng(2).normal(size=batch.log_scores.shape).astype(np.float32)
    outcomes = set()
    for block in (1, 500, 1 << 16):
        monkeypatch.setattr(threads, "BLOCK", block)
        for count in (1, 2, 3, 40):
            log_z, marginals, _ = log_partitions_and_marginals(batch, count)
            results = log_partitions(batch, count), log_z, marginals, covariances(batch, values, count)
            outcomes.add(b"".join(array.tobytes() for array in results))
    assert len(outcomes) == 1


@EACH_SPACE
def test_a_batch_of_one_and_of_none(graphs, trees: TreeSpace) -> None:
    check(padded([graphs.gaussian(1)], trees), count=3)
    check(padded([graphs.gaussian(9)], trees), count=3)
    none = Batch(np.empty((0, 4, 4)), np.empty(0, dtype=np.int64), trees)
    assert [part.shape for part in log_partitions_and_marginals(none, 2)] == [(0,), (0, 4, 4), (0,)]
    assert log_partitions(none).shape == (0,)
    assert covariances(none, none.log_scores).shape == (0, 4, 4)


def test_known_heads_take_no_search_for_pivots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Partial annotation, the root among the known heads: one word only ROOT may govern, other words may be roots."""
    monkeypatch.setattr(sums, "ArcFactored", None)
    rng = np.random.default_rng(3)
    for n in (3, 6, 9):
        log_scores = rng.normal(size=(n + 1, n + 1)) * 3.0
        root = int(rng.integers(1, n + 1))
        log_scores[1:, root] = -np.inf
        log_scores[0, root] = -9.0
        (log_z,) = sums.log_partitions(Batch(log_scores[None], np.array([n]), SINGLE_ROOT))
        assert log_z == pytest.approx(TreeDistribution(log_scores).log_partition, rel=1e-14)
