"""Many sentences at once: each answers as by itself, to the last bit, from any threads and blocks; errors name.

All routes of a batch beside its sentences: tests/laws/test_routes.py.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli import batch
from deptree_cli.core import tree_batch as module
from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.blocks import alike, only_plain
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.partition import partition, partitions
from deptree_cli.core.peakedness import peakedness, peakednesses
from deptree_cli.core.spaces import SINGLE_ROOT, SPACES
from deptree_cli.core.streams import SentenceStreams
from deptree_cli.core.tree_batch import spread
from deptree_cli.kernels.packed import LONG
from tests.bounded import bounded
from tests.laws.test_routes import lengths_of, padded

EACH_SPACE = pytest.mark.parametrize("trees", list(SPACES), ids=lambda trees: trees.name)
QUESTIONS = TreeBatch.log_partitions, TreeBatch.log_partitions_and_marginals, lambda b: b.covariances(b.log_scores)


@pytest.fixture(autouse=True)
def every_thread(monkeypatch):
    monkeypatch.setattr(module, "COST", 1.0)


def batch_of(sentences, trees, dtype=np.float64, **how):
    return TreeBatch(padded(sentences, np.nan, dtype), lengths_of(sentences), trees, **how)


def answers(batch):
    values = np.random.default_rng(2).normal(size=batch.log_scores.shape).astype(batch.log_scores.dtype)
    found = (batch.log_partitions(), *batch.log_partitions_and_marginals(), batch.covariances(values))
    return b"".join(each.tobytes() for each in found)


@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0, 40.0, 1e6])
@EACH_SPACE
def test_answers_are_those_of_each_to_the_last_bit(trees, spread):
    """Of all lengths up to 12, and one beyond a panel; those that leave float64 included."""
    rng, lengths = np.random.default_rng(5), [*range(1, 13), 40]
    scores = [spread * rng.normal(size=(n + 1, n + 1)) for n in lengths]
    for one in scores[2::3]:
        one[1, 2] = -np.inf
    each = [TreeDistribution(one, space=trees, id=str(place)) for place, one in enumerate(scores, 1)]
    together = batch(scores, space=trees)
    assert together.log_partition.tolist() == [one.log_partition for one in each]
    for question in ("marginals", "argmax", "mbr"):
        for found, one in zip(getattr(together, question)(), each, strict=True):
            np.testing.assert_array_equal(found, getattr(one, question)())
    within = TreeBatch(np.concatenate([one.ravel() for one in scores]), np.array(lengths), trees, side_by_side=False)
    assert within.entropies.tolist() == [one.entropy() for one in each]
    assert partitions(within) == [partition(one) for one in each]
    probs = [one.marginals()[one.argmax(), np.arange(1, one.n + 1)] for one in each]
    np.testing.assert_array_equal(within.probs_of(within.argmax()), np.concatenate(probs))
    # few are trees, of some sentences none
    given = [rng.integers(0, n + 1, (n % 3 * 20, n), dtype=np.int32) for n in lengths]
    given = [np.concatenate([heads, one.argmax()[None]]) for heads, one in zip(given, each, strict=True)]
    of_given = within.log_probs_of(given, within.log_partition_parts())
    for found, one, heads in zip(of_given, each, given, strict=True):
        assert found.tolist() == one.log_probs(heads).tolist()
    for size in (0, 1, 8, 100):
        drawn, log_z = within.sample(size, SentenceStreams(7, [(one.id, 0) for one in each]))
        of_drawn = within.tree_log_probs(drawn, log_z)
        for ours, theirs, logs, one in zip(drawn, together.sample(size, 7), of_drawn, each, strict=True):
            np.testing.assert_array_equal(ours, one.sample(size, seed=7))
            np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_array_equal(logs, one.tree_log_probs(ours))


@EACH_SPACE
def test_facts_are_those_of_each_to_the_last_bit(trees):
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
def test_only_what_float64_does_not_hold_is_answered_alone(graphs, trees, monkeypatch):
    """Halves e^-2000 apart, or log Z near -640; and where ROOT prefers a word that governs none, which with a single
    root cannot come last. Known heads take no search: one word only ROOT may govern, though others may be roots."""
    taken, by_itself = [], TreeBatch.alone
    monkeypatch.setattr(TreeBatch, "alone", lambda batch, b: taken.append(b) or by_itself(batch, b))
    near = 640.0 if trees.single_root else 320.0
    sentences = [graphs.disconnected(6, 2000.0), graphs.gaussian(4), graphs.disconnected(5, near), graphs.gaussian(6)]
    for ask in QUESTIONS:
        taken.clear()
        ask(batch_of(sentences, trees))
        assert taken == [0, 2]
    for n in () if trees.projective else (3, 5, 9):
        misled, known = graphs.gaussian(n), graphs.gaussian(n, 3)
        misled[n, :] = known[1:, 2] = -np.inf
        misled[0, n], known[0, 2] = 20.0, -9.0
        taken.clear()
        batch_of([graphs.gaussian(n), graphs.one_way(n), known, misled], trees).log_partitions()
        assert taken == ([3] if trees.single_root else [])


@pytest.mark.slow("size")
@EACH_SPACE
def test_masks_forbid(graphs, trees):
    """By -inf, and by the masks of parsers: the same bytes, in float32 too, which has no -1e15, only one above it."""
    sentences = [graphs.holes(1 + seed % 8, seed, trees.single_root, 2, trees.projective) for seed in range(24)]
    for dtype in (np.float32, np.float64):
        batch = batch_of(sentences, trees, dtype)
        for mask in (np.nextafter(dtype(-1e15), dtype(-np.inf)), dtype(-1e32)):
            scores = np.where(np.isneginf(batch.log_scores), mask, batch.log_scores)
            assert answers(replace(batch, log_scores=scores)) == answers(batch)


@EACH_SPACE
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("far", [0.0, 1000.0], ids=["near", "far apart"])
def test_values_that_are_not_finite_give_nan(graphs, trees, bad, far):
    """At the possible arcs of their sentence; elsewhere they do not count, and neighbours keep every digit. Of values
    1e300 times as large the covariances are as large.

    Word 2 hangs on word 1, so word 1 never on word 2, though the arc is allowed.
    """
    sentences = [graphs.gaussian(4), graphs.disconnected(6, far), graphs.gaussian(5)]
    sentences[1][[0, 2, 3], [3, 5, 4]] = sentences[1][np.arange(7) != 1, 2] = -np.inf
    batch, possible = batch_of(sentences, trees), graphs.over(sentences[1], trees).support
    assert np.isfinite(sentences[1][2, 1]) > possible[2, 1]
    values = np.random.default_rng(1).normal(size=batch.log_scores.shape)
    expected = batch.covariances(values)
    np.testing.assert_allclose(batch.covariances(values * 1e300) * 1e-300, expected, rtol=0, atol=1e-13)
    values[1][~np.pad(possible, (0, 1))] = bad
    np.testing.assert_allclose(bounded(lambda: batch.covariances(values)), expected, rtol=0, atol=1e-14)
    values[1, *np.argwhere(possible)[2]] = bad
    found = bounded(lambda: batch.covariances(values))
    np.testing.assert_array_equal(np.isnan(found[1]), np.pad(possible, (0, 1)))
    np.testing.assert_array_equal(np.delete(found, 1, 0), np.delete(expected, 1, 0))


@EACH_SPACE
@pytest.mark.parametrize("bad", [np.nan, np.inf, 2e15, -np.inf, pytest.param(-1e15, marks=pytest.mark.quick)])
@pytest.mark.parametrize("head", [1, 0])
def test_a_bad_sentence_is_named(graphs, trees, bad, head):
    """By its number in the batch, whichever question and thread, and nothing is said on the way; or left out."""
    sentences = [graphs.gaussian(3, seed=b) for b in range(5)]
    sentences[3][head, 2] = bad
    sentences[3][:, 2] = bad if bad < 0 else sentences[3][:, 2]
    told = "no .*word 2|word 2 " if bad < 0 else f"the score of {head or 'ROOT'} -> 2 "
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
    instead = 0.0 if bad < 0 else np.nan
    np.testing.assert_array_equal(log_z[3], instead or -np.inf)
    np.testing.assert_array_equal(marginals[3, :4, :4], np.full((4, 4), instead))
    np.testing.assert_array_equal(covariances[3, :4, :4], np.full((4, 4), instead))
    assert np.isfinite(np.delete(log_z, 3)).all()


@EACH_SPACE
def test_the_same_bytes_from_any_threads_and_blocks(graphs, monkeypatch, trees):
    lengths = np.random.default_rng(1).integers(1, 12, size=17).tolist()
    sentences = [graphs.gaussian(n, 8, seed=b) for b, n in enumerate(lengths)]
    sentences[5] = graphs.disconnected(lengths[5] + 2, 2000.0)
    outcomes = set()
    for block in (1, 500, 1 << 16):
        monkeypatch.setattr(module, "BLOCK", block)
        for count in (1, 2, 3, 40):
            outcomes.add(answers(batch_of(sentences, trees, np.float32, precision="float32", threads=count)))
    assert len(outcomes) == 1


@pytest.mark.parametrize("score", [-np.inf, np.nan, np.inf, 2500.0, -2500.0])
def test_what_is_not_plain_is_left_out(graphs, score):
    scores = [graphs.gaussian(n) for n in (2, 3, 1)]
    scores[1][0, 1] = score
    plain, found = only_plain(np.concatenate([each.ravel() for each in scores]), np.array([2, 3, 1]))
    assert plain.tolist() == [True, False, True]
    np.testing.assert_array_equal(found, np.concatenate([scores[0].ravel(), scores[2].ravel()]))


def test_float32_keeps_marginals_within_what_it_says():
    """Where it is worst: one or two arcs into a word far ahead of the others. Beyond 100 words it is float64."""
    rng = np.random.default_rng(12)
    for n, most in ((20, 5e-6), (100, 5e-6), (LONG + 1, 1e-12)):
        likely = rng.random((16, n + 1, n + 1)) < 1 / n
        scores = np.where(likely, 16.0, 0.0) + rng.normal(size=likely.shape)
        batches = (TreeBatch(scores, np.full(16, n), SINGLE_ROOT, each) for each in ("float64", "float32"))
        exactly, found = (batch.log_partitions_and_marginals()[1] for batch in batches)
        assert np.abs(exactly - found).max() < most
        assert (np.abs(exactly - found).max() > 1e-9) == (n <= LONG)


def test_padded_scores_and_weights():
    """Neither what is done to the scores afterwards changes anything nor what is done to an answer."""
    scores, lengths = np.abs(np.random.default_rng(0).normal(size=(3, 6, 6))), [3, 5, 1]
    cut = [each[: n + 1, : n + 1].copy() for each, n in zip(scores, lengths, strict=True)]
    found = [batch(scores, lengths, "weight", single_root=False), batch(cut, None, "weight", single_root=False)]
    scores[:] = 9.0
    alone = [TreeDistribution(each, "weight", single_root=False).log_partition for each in cut]
    assert [each.log_partition.tolist() for each in found] == [alone, alone]
    assert [each.n for each in found[0]] == lengths
    assert found[0][1].log_partition == alone[1]
    assert repr(found[0]) == "<TreeDistributions: 3 sentences, spanning trees with several roots>"
    with pytest.raises(ValueError, match="read-only"):
        found[0].marginals()[0][0, 1] = 1.0


@EACH_SPACE
def test_a_batch_of_none(trees):
    assert batch([], space=trees).log_partition.tolist() == batch([], space=trees).sample(2) == []
    none = TreeBatch(np.empty((0, 4, 4)), np.empty(0, dtype=np.int64), trees, threads=2)
    assert [part.shape for part in none.log_partitions_and_marginals()] == [(0,), (0, 4, 4)]
    assert none.log_partitions().shape == (0,)
    assert none.covariances(none.log_scores).shape == (0, 4, 4)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("scores", "lengths", "told"),
    [
        ([np.zeros((3, 3)), np.full((3, 3), np.nan)], None, r"2: .*nan.*: scores\[np\.isnan\(scores\)\] = -np\.inf\."),
        ([np.zeros((3, 3)), np.zeros((2, 3))], None, "2: .*shape"),
        ([np.zeros((3, 3)), np.zeros(3)], None, "2: .*shape"),
        ([np.zeros((3, 3))], [3], "1: its length is 3, its matrix has room for 2 words"),
        ([np.zeros((3, 3))], [1, 2], "there are 1 matrices of scores and 2 lengths"),
        ([np.full((3, 3), -np.inf)], None, "1: "),
    ],
)
def test_what_is_wrong_with_which_sentence(scores, lengths, told):
    with pytest.raises(DeptreeError, match=told):
        batch(scores, lengths)


def test_a_seed_and_a_precision_are_checked():
    with pytest.raises(DeptreeError, match="not a seed"):
        batch([np.zeros((3, 3))]).sample(2, -1)
    with pytest.raises(DeptreeError, match=r"unknown precision 'float16'\. Did you mean float64"):
        TreeBatch(np.zeros((1, 2, 2)), np.ones(1, dtype=np.int64), SINGLE_ROOT, "float16")


@given(st.lists(st.integers(1, 100), max_size=60), st.integers(1, 4))
def test_every_sentence_is_acted_on_once(lengths, count):
    """In blocks: of no more than `BLOCK` numbers, if not of one sentence."""
    blocks = []
    spread(lambda *block: blocks.append(block), np.array(lengths, dtype=np.int64), count)
    assert [each for first, stop in sorted(blocks) for each in range(first, stop)] == list(range(len(lengths)))
    for first, stop in blocks:
        assert stop - first == 1 or (stop - first) * (max(lengths[first:stop]) + 1) ** 2 <= module.BLOCK


@pytest.mark.parametrize(("size", "expected"), [(250, [(0, 2), (2, 4), (4, 5)]), (99, [(b, b + 1) for b in range(5)])])
def test_blocks_are_as_large_as_they_may_be(monkeypatch, size, expected):
    """Five sentences of 100 numbers each; one alone where it is larger than a block."""
    blocks = []
    monkeypatch.setattr(module, "BLOCK", size)
    spread(lambda *block: blocks.append(block), np.full(5, 9), 1)
    assert blocks == expected


@pytest.mark.parametrize("count", [1, 2, 3])
def test_as_many_threads_as_were_asked_for(count):
    """All at work at the same time: each waits for the others."""
    meeting, names = threading.Barrier(count, timeout=30), set()
    spread(lambda *block: (meeting.wait(), names.add(threading.current_thread().name)), np.full(count, 255), count)
    assert len(names) == count
    assert threading.current_thread().name in names


@pytest.mark.parametrize(("n", "expected"), [(10, 1), (20, 1), (40, 4), (100, 8)])
def test_no_more_threads_than_pay(n, expected, monkeypatch):
    """Of 8, for 32 sentences: short ones are done before another thread is awake."""
    monkeypatch.undo()  # costs are what they are
    names = set()
    spread(lambda *block: (names.add(threading.current_thread().name), time.sleep(0.05)), np.full(32, n), 8)
    assert len(names) == expected


@pytest.mark.parametrize("bad", [0, 1, 2, 3])
def test_errors_arrive_from_whatever_thread(bad):
    """And not before every other thread is done: nobody writes into a batch that was given up."""
    done = []

    def act(first, stop):
        if first == bad:
            raise ValueError(f"sentence {first}")
        time.sleep(0.05 * first)
        done.append(first)

    with pytest.raises(ValueError, match=f"sentence {bad}"):
        spread(act, np.full(4, 255), 4)
    assert sorted(done) == [b for b in range(4) if b != bad]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    """The parent's are not there any more; who waited for them would wait forever."""
    acted = []
    spread(lambda *block: acted.append(block), np.full(4, 255), 3)  # the pool is there before the fork
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        spread(lambda *block: acted.append(block), np.full(4, 255), 3)
        os._exit(0 if sum(stop - first for first, stop in acted) == 8 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
