"""Many sentences at once: each answers as by itself, to the last bit, whatever its scores and its neighbours are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deptree_cli import DeptreeError, TreeDistribution, batch

SCALES = st.sampled_from([0.0, 1.0, 5.0, 300.0, 1e6])
SENTENCES = st.lists(st.tuples(st.integers(1, 9), SCALES, st.booleans()), min_size=1, max_size=6)
SPACES = st.sampled_from(["single-root", "multi-root", "projective"])


def matrices(sentences: list[tuple[int, float, bool]], seed: int) -> list[np.ndarray]:
    """Scores of sentences, with or without an arc that is forbidden."""
    rng = np.random.default_rng(seed)
    found = [scale * rng.normal(size=(n + 1, n + 1)) for n, scale, _ in sentences]
    for each, (n, _, holes) in zip(found, sentences, strict=True):
        if holes and n > 2:
            each[1, 2] = -np.inf
    return found


@pytest.mark.slow("statistics")
@settings(max_examples=40)
@given(SENTENCES, SPACES, st.integers(0, 99))
def test_each_answers_as_by_itself(sentences: list[tuple[int, float, bool]], space: str, seed: int) -> None:
    scores = matrices(sentences, seed)
    together, alone = (
        batch(scores, space=space),
        [TreeDistribution(each, space=space, id=str(place)) for place, each in enumerate(scores, 1)],
    )
    assert together.log_partition.tolist() == [each.log_partition for each in alone]
    for k in (0, 3, 40):
        for drawn, one in zip(together.sample(k, seed), alone, strict=True):
            assert (drawn == one.sample(k, seed=seed)).all()
    for question in ("marginals", "argmax", "mbr"):
        answers = getattr(together, question)()
        assert all((answer == getattr(one, question)()).all() for answer, one in zip(answers, alone, strict=True))


def test_padded_scores_and_weights() -> None:
    rng, lengths = np.random.default_rng(0), [3, 5, 1]
    padded = np.abs(rng.normal(size=(3, 6, 6)))
    cut = [each[: n + 1, : n + 1] for each, n in zip(padded, lengths, strict=True)]
    by_lengths = batch(padded, lengths, "weight", single_root=False)
    alone = [TreeDistribution(each, "weight", single_root=False).log_partition for each in cut]
    assert by_lengths.log_partition.tolist() == batch(cut, None, "weight", single_root=False).log_partition.tolist()
    assert by_lengths.log_partition.tolist() == alone
    assert [each.n for each in by_lengths] == lengths
    assert repr(by_lengths) == "<TreeDistributions: 3 sentences, spanning trees with several roots>"


def test_nothing_changes_it() -> None:
    """Neither what is done to the scores afterwards nor what is done to an answer."""
    scores = np.zeros((2, 4, 4))
    together = batch(scores)
    scores[:] = 9.0
    assert together[0].log_partition == together.log_partition[0] == TreeDistribution(np.zeros((4, 4))).log_partition
    with pytest.raises(ValueError, match="read-only"):
        together.marginals()[0][0, 1] = 1.0


def test_no_sentence() -> None:
    assert batch([]).log_partition.tolist() == batch([]).sample(2) == []


@pytest.mark.parametrize(
    ("scores", "lengths", "told"),
    [
        (
            [np.zeros((3, 3)), np.full((3, 3), np.nan)],
            None,
            r"2: .*nan.*forbid such arcs: scores\[np\.isnan\(scores\)\] = -np\.inf\.",
        ),
        ([np.zeros((3, 3)), np.zeros((2, 3))], None, "2: .*shape"),
        ([np.zeros((3, 3)), np.zeros(3)], None, "2: .*shape"),
        ([np.zeros((3, 3))], [3], "1: its length is 3, its matrix has room for 2 words"),
        ([np.zeros((3, 3))], [1, 2], "there are 1 matrices of scores and 2 lengths"),
        ([np.full((3, 3), -np.inf)], None, "1: "),
    ],
)
def test_what_is_wrong_with_which_sentence(scores: list[np.ndarray], lengths: list[int] | None, told: str) -> None:
    with pytest.raises(DeptreeError, match=told):
        batch(scores, lengths)


def test_a_seed_is_checked() -> None:
    with pytest.raises(DeptreeError, match="not a seed"):
        batch([np.zeros((3, 3))]).sample(2, -1)
