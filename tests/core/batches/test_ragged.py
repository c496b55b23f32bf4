"""Many distributions at once: to the last bit what each answers by itself, or not sound."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.batches.ragged import PLAIN, TreeBatch
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Int
from deptree_cli.core.partition import partition, partitions
from deptree_cli.core.streams import kernel_state, sentence_stream

SIZE = 3

# How scores are spread: as parsers', peaked, and so that the best trees have nearly everything.
SPREADS = [0.0, 1.0, 8.0, 40.0]


def sentences(spread: float, single_root: bool) -> list[TreeDistribution]:
    """Of all lengths up to 12, and one beyond a panel."""
    rng = np.random.default_rng(5)
    lengths = [*range(1, 13), 40]
    scores = [spread * rng.normal(size=(n + 1, n + 1)) for n in lengths]
    return [TreeDistribution(each, id=str(n), single_root=single_root) for n, each in zip(lengths, scores, strict=True)]


def together(alone: list[TreeDistribution]) -> TreeBatch:
    """The same in a batch."""
    lengths: Int = np.array([each.n for each in alone])
    return TreeBatch.of(np.concatenate([each.log_scores.ravel() for each in alone]), lengths, alone[0].single_root)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("spread", SPREADS)
def test_answers_are_those_of_each(spread: float, single_root: bool) -> None:
    alone = sentences(spread, single_root)
    batch = together(alone)
    states = np.array([kernel_state(sentence_stream(7, each.id)) for each in alone])
    best, drawn = batch.argmax(), batch.sample(SIZE, states)
    log_probs, probs = batch.tree_log_probs(drawn), np.split(batch.probs_of(best), np.cumsum(batch.lengths)[:-1])
    marginals = np.split(batch.marginals, batch.offsets[1:])
    sums, entropies = partitions(batch), batch.entropies
    columns = zip(alone, best, drawn, log_probs, probs, marginals, sums, entropies, strict=True)
    for sound, (each, tree, trees, logs, of_heads, arcs, found, entropy) in zip(batch.sound, columns, strict=True):
        if sound:
            assert found == partition(each)
            assert entropy == each.entropy()
            np.testing.assert_array_equal(arcs, each.marginals().ravel())
            np.testing.assert_array_equal(tree[0], each.argmax())
            np.testing.assert_array_equal(of_heads, each.marginals()[each.argmax(), np.arange(1, each.n + 1)])
            np.testing.assert_array_equal(trees, each.sample(SIZE, seed=7))
            np.testing.assert_array_equal(logs, each.tree_log_probs(trees))
    assert batch.sound.all() == (spread <= 1.0)
    assert spread > 8.0 or batch.sound.sum() >= 9


@pytest.mark.parametrize("score", [-np.inf, np.nan, np.inf, PLAIN, -PLAIN])
def test_what_is_not_plain_is_not_sound_and_spoils_nothing(score: float) -> None:
    alone = sentences(1.0, True)
    odd = together(alone)
    scores = odd.log_scores.copy()
    scores[odd.offsets[5] + 1] = score  # an arc of ROOT
    spoilt = TreeBatch.of(scores, odd.lengths, True)
    assert np.flatnonzero(~spoilt.sound).tolist() == [5]
    np.testing.assert_array_equal(np.delete(spoilt.log_partitions, 5, 0), np.delete(odd.log_partitions, 5, 0))
    spoilt.argmax()
