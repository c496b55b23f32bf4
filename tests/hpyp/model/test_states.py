"""Several states of the sampler in one parser: what is averaged over them, and that training keeps the right ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.model_file import read_model, write_model
from deptree_cli.hpyp.model.parsing import evidence, filtered, parse
from deptree_cli.hpyp.model.sentences import kept_iterations
from deptree_cli.hpyp.model.training import Trained, check_targets
from tests.hpyp.model.small_treebank import TREEBANK, begun, run, same

KEPT = kept_iterations(2, 3)


def trained_up_to(last: int, before: Trained | None = None) -> Trained:
    training = begun(trained=before)
    for _ in range(training.progress.iterations, last):
        training.iterate(KEPT)
    return training.trained()


@pytest.fixture(scope="module")
def three() -> Trained:
    return trained_up_to(KEPT[-1])


def test_states_are_those_of_shorter_trainings(three: Trained) -> None:
    assert len(three.states) == 3
    for state, iterations in zip(three.states, KEPT, strict=True):
        alone = run(begun(), iterations).processes
        for own, other in zip(state.processes, alone, strict=True):
            assert np.array_equal(own.seated, other.seated)
            assert np.array_equal(own.discounts, other.discounts)


@pytest.mark.parametrize("stop", [1, 2, 3, 7, 8])
def test_going_on_keeps_the_same(three: Trained, stop: int, tmp_path: Path) -> None:
    """Through a file, byte for byte."""
    half, whole, again = (str(tmp_path / name) for name in ("half", "whole", "again"))
    write_model(half, trained_up_to(stop), "")
    write_model(whole, three, "")
    write_model(again, trained_up_to(KEPT[-1], read_model(half)[0]), "")
    assert Path(again).read_bytes() == Path(whole).read_bytes()
    assert same(read_model(whole)[0], three)
    assert [each.iterations for each in read_model(whole)[0].earlier] == [*KEPT[:-1]]


def test_other_states_are_refused(three: Trained) -> None:
    check_targets(three, KEPT, 0)
    check_targets(run(begun(), 2), KEPT, 0)
    for before, kept in ((three, kept_iterations(3, 3)), (three, kept_iterations(12, 1)), (run(begun(), 4), KEPT)):
        with pytest.raises(DeptreeError, match="kept states"):
            check_targets(before, kept, 0)


def test_evidence_is_the_mean_of_the_states(three: Trained) -> None:
    """Of every beginning of a sentence, so that the states may take turns to be the better one."""
    sentence = TREEBANK[0]
    alone = [filtered(state, sentence, np.random.default_rng(1), 5000) for state in three.states]
    means = np.mean(np.exp([each.log_evidence.cumsum() for each in alone]), axis=0)
    found = evidence(three, sentence, np.random.default_rng(2), 5000, filters=2)
    np.testing.assert_allclose(2.0**found.log2, means, rtol=0.1)
    spread = np.exp([each.log_evidence.sum() for each in alone])
    assert spread.max() > 1.2 * means[-1]


def test_every_state_has_its_share_of_the_trees(three: Trained) -> None:
    """Marginals of 5,000 particles: means of the states', off by their Monte Carlo error.

    2,000 draws: arcs' shares are within 5 standard errors, 0.056 at most, of the marginals that they are drawn from.
    """
    sentence = TREEBANK[0]
    found = filtered(three, sentence, np.random.default_rng(1), 5000, draws=2000)
    alone = [filtered(state, sentence, np.random.default_rng(2), 5000).marginals for state in three.states]
    np.testing.assert_allclose(found.marginals, np.mean(alone, axis=0), atol=0.03)
    assert found.deprels.shape == (2000, sentence.n)
    drawn = np.zeros_like(found.marginals)
    np.add.at(drawn, (found.heads[found.drawn], np.arange(1, sentence.n + 1)), 1 / 2000)
    np.testing.assert_allclose(drawn, found.marginals, atol=0.056)


def test_the_tree_that_most_states_agree_with(three: Trained) -> None:
    for sentence in TREEBANK:
        alone = [parse(state, sentence, 100) for state in three.states]
        heads = np.array([each.heads for each in alone])
        agreeing = (heads[:, None] == heads).sum(axis=(1, 2))
        found = parse(three, sentence, 100)
        assert found.log_prob == alone[int(agreeing.argmax())].log_prob
