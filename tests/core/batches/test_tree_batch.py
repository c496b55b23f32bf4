"""What a batch has beside its sentences' answers: no digit depends on neighbours, threads or blocks; errors name."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.sums import exact
from deptree_cli.core import tree_batch as module
from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.blocks import alike, only_plain
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.partition import partition, partitions
from deptree_cli.core.peakedness import peakedness, peakednesses
from deptree_cli.core.spaces import SINGLE_ROOT, SPACES, TreeSpace, space
from deptree_cli.core.streams import SentenceStreams
from deptree_cli.kernels.packed import LONG
from tests.bounded import bounded
from tests.laws.test_routes import lengths_of, padded

Float = NDArray[np.float64]

EACH_SPACE = pytest.mark.parametrize("trees", list(SPACES), ids=lambda trees: trees.name)
QUESTIONS = TreeBatch.log_partitions, TreeBatch.log_partitions_and_marginals, lambda b: b.covariances(b.log_scores)


@pytest.fixture(autouse=True)
def every_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are taken for the smallest batches, too."""
    monkeypatch.setattr(module, "COST", 1.0)


def batch_of(sentences: list[Float], trees: TreeSpace, dtype: Any = np.float64, **how: Any) -> TreeBatch:
    """A padded batch."""
    return TreeBatch(padded(sentences, np.nan, dtype), lengths_of(sentences), trees, **how)


def answers(batch: TreeBatch) -> bytes:
    """Log Z, marginals and covariances."""
    values = np.random.default_rng(2).normal(size=batch.log_scores.shape).astype(batch.log_scores.dtype)
    found = (batch.log_partitions(), *batch.log_partitions_and_marginals(), batch.covariances(values))
    return b"".join(each.tobytes() for each in found)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Which sentences are answered by their own distributions, as they come."""
    taken: list[int] = []
    by_itself = TreeBatch.alone

    def counted(batch: TreeBatch, b: int) -> TreeDistribution:
        taken.append(b)
        return by_itself(batch, b)

    monkeypatch.setattr(TreeBatch, "alone", counted)
    return taken


@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0, 40.0])
@EACH_SPACE
def test_answers_are_those_of_each_to_the_last_bit(trees: TreeSpace, spread: float) -> None:
    """Of all lengths up to 12, and one beyond a panel; those that leave float64 included."""
    rng, lengths = np.random.default_rng(5), [*range(1, 13), 40]
    scores = [spread * rng.normal(size=(n + 1, n + 1)) for n in lengths]
    each = [TreeDistribution(one, space=trees, id=str(n)) for n, one in zip(lengths, scores, strict=True)]
    batch = TreeBatch(np.concatenate([one.ravel() for one in scores]), np.array(lengths), trees, side_by_side=False)
    best = batch.argmax()
    assert batch.log_partitions().tolist() == [one.log_partition for one in each]
    assert batch.entropies.tolist() == [one.entropy() for one in each]
    assert partitions(batch) == [partition(one) for one in each]
    probs = [one.marginals()[one.argmax(), np.arange(1, one.n + 1)] for one in each]
    np.testing.assert_array_equal(batch.probs_of(best), np.concatenate(probs))
    given = [
        rng.integers(0, n + 1, (n % 3 * 20, n), dtype=np.int32) for n in lengths
    ]  # of which few are trees, of some sentences none
    given = [np.concatenate([heads, one.argmax()[None]]) for heads, one in zip(given, each, strict=True)]
    of_given = batch.log_probs_of(given, batch.log_partition_parts())
    assert [found.tolist() for found in of_given] == [
        one.log_probs(heads).tolist() for one, heads in zip(each, given, strict=True)
    ]
    for found, name in ((batch.matrices(batch.marginals), "marginals"), (best, "argmax"), (batch.mbr(), "mbr")):
        for ours, one in zip(found, each, strict=True):
            np.testing.assert_array_equal(np.atleast_2d(ours), np.atleast_2d(getattr(one, name)()))
    for size in (0, 1, 8, 100):
        trees_of, log_z = batch.sample(size, SentenceStreams(7, [(str(n), 0) for n in lengths]))
        for ours, logs, one in zip(trees_of, batch.tree_log_probs(trees_of, log_z), each, strict=True):
            np.testing.assert_array_equal(ours, one.sample(size, seed=7))
            np.testing.assert_array_equal(logs, one.tree_log_probs(ours))


@EACH_SPACE
def test_facts_are_those_of_each_to_the_last_bit(trees: TreeSpace) -> None:
    """Of several sentences of a length, in any order."""
    rng, lengths = np.random.default_rng(6), [3, 1, 20, 3, 7, 1, 20, 3]
    each = [TreeDistribution(3 * rng.normal(size=(n + 1, n + 1)), space=trees) for n in lengths]
    normalised = each[0].log_scores.copy()
    normalised[:, 1:] -= np.logaddexp.reduce(normalised[:, 1:], axis=0)
    each[0] = TreeDistribution(normalised, space=trees)
    flat = np.concatenate([one.log_scores.ravel() for one in each])
    batch = TreeBatch(flat, np.array(lengths), trees, side_by_side=False)
    assert peakednesses(batch) == [peakedness(one) for one in each]
    assert [found.normalised for found in peakednesses(batch)][:3] == [True, False, False]
    for some in alike(batch.lengths):
        for row, heads in zip(some.rows.tolist(), some.of_words(batch.argmax().heads), strict=True):
            assert heads.tolist() == each[row].argmax().tolist()


@EACH_SPACE
def test_where_float64_does_not_suffice(graphs, alone, trees: TreeSpace) -> None:
    """Halves e^-2000 apart, or log Z near -640, every other sentence: those alone are worked out by themselves."""
    near = 640.0 if trees.single_root else 320.0
    sentences = [graphs.disconnected(6, 2000.0), graphs.gaussian(4), graphs.disconnected(5, near), graphs.gaussian(6)]
    for ask in QUESTIONS:
        alone.clear()
        ask(batch_of(sentences, trees))
        assert alone == [0, 2]


@pytest.mark.parametrize("n", [3, 5, 9])
def test_graphs_that_take_a_search_for_pivots(graphs, alone, n: int) -> None:
    """ROOT prefers a word that governs none: with a single root it cannot come last. With several ROOT reaches all.

    Known heads take no search: one word only ROOT may govern, though other words may be roots.
    """
    misled, known = graphs.gaussian(n), graphs.gaussian(n, 3)
    misled[n, :] = known[1:, 2] = -np.inf
    misled[0, n], known[0, 2] = 20.0, -9.0
    for trees, taken in ((space(True), [3]), (space(False), [])):
        alone.clear()
        batch_of([graphs.gaussian(n), graphs.one_way(n), known, misled], trees).log_partitions()
        assert alone == taken


@pytest.mark.parametrize("scale", [1, 20, 80, 200])
def test_against_400_digits(graphs, scale: int) -> None:
    sentences = [graphs.gaussian(n, scale, seed=n) for n in (6, 9)] + [graphs.saturated(7, 10.0**-scale)]
    marginals = batch_of(sentences, SINGLE_ROOT).log_partitions_and_marginals()[1]
    for found, scores in zip(marginals, sentences, strict=True):
        expected = exact.marginals(graphs.distribution(scores))
        np.testing.assert_allclose(found[: len(scores), : len(scores)], expected, rtol=0, atol=1e-13)


@pytest.mark.slow("size")
@EACH_SPACE
def test_masks_forbid(graphs, trees: TreeSpace) -> None:
    """By -inf, and by the masks of parsers: the same bytes, in float32 too, which has no -1e15, only one above it."""
    sentences = [graphs.holes(1 + seed % 8, seed, trees.single_root, 2, trees.projective) for seed in range(24)]
    for dtype in (np.float32, np.float64):
        batch = batch_of(sentences, trees, dtype)
        for mask in (np.nextafter(dtype(-1e15), dtype(-np.inf)), dtype(-1e32)):
            scores = np.where(np.isneginf(batch.log_scores), mask, batch.log_scores)
            assert answers(replace(batch, log_scores=scores)) == answers(batch)


@EACH_SPACE
def test_values_of_impossible_arcs_do_not_count(graphs, trees: TreeSpace) -> None:
    """NaN as a value of a forbidden arc, of one that no tree contains, and of padding: no NaN in a covariance."""
    scores = graphs.gaussian(4)
    scores[:, 2] = -np.inf
    scores[1, 2] = 0.0  # word 2 hangs on word 1, so word 1 never on word 2
    support = graphs.over(scores, trees).support
    values = np.where(support, np.random.default_rng(1).normal(size=support.shape), np.nan)
    assert np.isnan(values[2, 1])
    found = batch_of([scores], trees).covariances(np.pad(values, [(0, 1), (0, 1)], constant_values=np.nan)[None])
    expected = graphs.over(scores, trees).factorisation.arc_covariance(np.nan_to_num(values))
    np.testing.assert_allclose(found[0, :5, :5], expected, rtol=0, atol=1e-14)


@EACH_SPACE
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("far", [0.0, 1000.0], ids=["near", "far apart"])
def test_values_that_are_not_finite_give_nan(graphs, trees: TreeSpace, bad: float, far: float) -> None:
    """At the possible arcs of their sentence; 0 stays where arcs are not possible, and neighbours keep every digit."""
    sentences = [graphs.gaussian(4), graphs.disconnected(6, far), graphs.gaussian(5)]
    sentences[1][[0, 2, 3], [3, 5, 4]] = -np.inf
    batch, possible = batch_of(sentences, trees), graphs.over(sentences[1], trees).support
    values = np.random.default_rng(1).normal(size=batch.log_scores.shape)
    expected = batch.covariances(values)
    values[1, *np.argwhere(possible)[2]] = bad
    found = bounded(lambda: batch.covariances(values))
    np.testing.assert_array_equal(np.isnan(found[1]), np.pad(possible, (0, 1)))
    np.testing.assert_array_equal(np.delete(found, 1, 0), np.delete(expected, 1, 0))


@EACH_SPACE
def test_values_of_any_size(graphs, trees: TreeSpace) -> None:
    """1e300 times as large, the covariances are too, in wide numbers as in float64."""
    batch = batch_of([graphs.gaussian(4), graphs.disconnected(6, 1000.0)], trees)
    values = np.random.default_rng(1).normal(size=batch.log_scores.shape)
    found = bounded(lambda: batch.covariances(values * 1e300))
    np.testing.assert_allclose(found * 1e-300, batch.covariances(values), rtol=0, atol=1e-13)


@EACH_SPACE
@pytest.mark.parametrize("bad", [np.nan, np.inf, 2e15, -np.inf])
@pytest.mark.parametrize("head", [1, 0])
def test_a_bad_sentence_is_named(graphs, trees: TreeSpace, bad: float, head: int) -> None:
    """By its number in the batch, whichever question and thread, and nothing is said on the way; or left out."""
    sentences = [graphs.gaussian(3, seed=b) for b in range(5)]
    sentences[3][head, 2] = bad
    sentences[3][:, 2] = bad if bad == -np.inf else sentences[3][:, 2]
    told = "no .*word 2|word 2 " if bad == -np.inf else f"the score of {head or 'ROOT'} -> 2 "
    batch = batch_of(sentences, trees, threads=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ask in QUESTIONS:
            with pytest.raises(DeptreeError, match=f"^sentence 3 of the batch: .*({told})"):
                ask(batch)
        lenient = replace(batch, raises=False)
        log_z, marginals = lenient.log_partitions_and_marginals()
        np.testing.assert_array_equal(log_z, lenient.log_partitions())
        covariances = lenient.covariances(batch.log_scores)
    instead = np.nan if bad != -np.inf else 0.0
    np.testing.assert_array_equal(log_z[3], instead or -np.inf)
    np.testing.assert_array_equal(marginals[3, :4, :4], np.full((4, 4), instead))
    np.testing.assert_array_equal(covariances[3, :4, :4], np.full((4, 4), instead))
    assert np.isfinite(np.delete(log_z, 3)).all()


@EACH_SPACE
def test_the_same_bytes_from_any_threads_and_blocks(graphs, monkeypatch, trees: TreeSpace) -> None:
    lengths = np.random.default_rng(1).integers(1, 12, size=17).tolist()
    sentences = [graphs.gaussian(n, 8, seed=b) for b, n in enumerate(lengths)]
    sentences[5] = graphs.disconnected(lengths[5] + 2, 2000.0)
    outcomes = set()
    for block in (1, 500, 1 << 16):
        monkeypatch.setattr(module, "BLOCK", block)
        for count in (1, 2, 3, 40):
            outcomes.add(answers(batch_of(sentences, trees, np.float32, precision="float32", threads=count)))
    assert len(outcomes) == 1


def test_neighbours_change_no_digit(graphs) -> None:
    """In float32, where most go side by side."""
    sentences = [graphs.gaussian(n, 10, seed=n) for n in (1, 3, 4, 12, 23, 104)]
    how: dict[str, Any] = {"trees": SINGLE_ROOT, "dtype": np.float32, "precision": "float32"}
    log_z, marginals = batch_of(sentences, **how).log_partitions_and_marginals()
    for b, scores in enumerate(sentences):
        own_log_z, own = batch_of([scores], **how).log_partitions_and_marginals()
        assert own_log_z[0] == log_z[b]
        np.testing.assert_array_equal(own[0, :-1, :-1], marginals[b, : len(scores), : len(scores)])


@EACH_SPACE
def test_a_batch_of_none(trees: TreeSpace) -> None:
    none = TreeBatch(np.empty((0, 4, 4)), np.empty(0, dtype=np.int64), trees, threads=2)
    assert [part.shape for part in none.log_partitions_and_marginals()] == [(0,), (0, 4, 4)]
    assert none.log_partitions().shape == (0,)
    assert none.covariances(none.log_scores).shape == (0, 4, 4)


def test_no_such_precision() -> None:
    with pytest.raises(DeptreeError, match=r"unknown precision 'float16'\. Did you mean float64"):
        TreeBatch(np.zeros((1, 2, 2)), np.ones(1, dtype=np.int64), SINGLE_ROOT, "float16")


@pytest.mark.parametrize("score", [-np.inf, np.nan, np.inf, 2500.0, -2500.0])
def test_what_is_not_plain_is_left_out(graphs, score: float) -> None:
    scores = [graphs.gaussian(n) for n in (2, 3, 1)]
    scores[1][0, 1] = score
    plain, found = only_plain(np.concatenate([each.ravel() for each in scores]), np.array([2, 3, 1]))
    assert plain.tolist() == [True, False, True]
    np.testing.assert_array_equal(found, np.concatenate([scores[0].ravel(), scores[2].ravel()]))


def test_float32_keeps_marginals_within_what_it_says() -> None:
    """Where it is worst: one or two arcs into a word far ahead of the others. Beyond 100 words it is float64."""
    rng = np.random.default_rng(12)
    for n, most in ((20, 5e-6), (100, 5e-6), (LONG + 1, 1e-12)):
        likely = rng.random((16, n + 1, n + 1)) < 1 / n
        scores = np.where(likely, 16.0, 0.0) + rng.normal(size=likely.shape)
        batches = (TreeBatch(scores, np.full(16, n), SINGLE_ROOT, each) for each in ("float64", "float32"))
        exactly, found = (batch.log_partitions_and_marginals()[1] for batch in batches)
        assert np.abs(exactly - found).max() < most
        assert (np.abs(exactly - found).max() > 1e-9) == (n <= LONG)
