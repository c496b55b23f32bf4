"""The particle filter against sums over all derivations."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.hpyp.kernels.columns import SHIFT
from deptree_cli.hpyp.kernels.configurations import Model
from deptree_cli.hpyp.kernels.filter import filter_trees
from deptree_cli.hpyp.kernels.restaurants import NONE
from deptree_cli.hpyp.model.process import Process, predictions
from tests.hpyp.kernels.toy_models import Known, Toy, as_arrays
from tests.hpyp.model.reference_parser import Enumeration

Float = NDArray[np.float64]
Numbers = NDArray[np.int64]

FAR = 5.5  # standard errors: a mean is farther from the truth once in 26 million means
CASES = [
    pytest.param(0, True, Known.ALL, id="tags given"),
    pytest.param(1, True, Known.NONE, id="tags predicted"),
    pytest.param(3, True, Known.SOME, id="some tags given"),
    pytest.param(2, False, Known.ALL, id="unlexicalised"),
    pytest.param(4, False, Known.SOME, id="unlexicalised, some tags given"),
]


class Case(NamedTuple):
    """A model, a sentence with tags, null for those that are not known, and all derivations."""

    toy: Toy
    words: list[int]
    tags: list[int]
    exact: Enumeration


def case(seed: int, lexicalised: bool, known: Known) -> Case:
    """Four words, or three if tags are to be predicted."""
    toy = Toy(seed, lexicalised=lexicalised)
    words, tags = toy.sentence(4 if known is Known.ALL else 3, known)
    return Case(toy, words, tags, Enumeration(toy.reference, words, toy.candidates(tags)))


class Run(NamedTuple):
    """What a filter finds: trees (trees, n) with their weights, and which of them were drawn (draws,), with labels from
    0 (draws, n); log-evidences (n + 1,)."""

    heads: Numbers
    tags: Numbers
    weights: Float
    drawn: Numbers
    deprels: Numbers
    log_evidence: Float

    def marginals(self) -> Float:
        """The weights of trees with an arc, (n + 1, n + 1)."""
        n = self.heads.shape[1]
        found = np.zeros((n + 1, n + 1))
        for heads, weight in zip(self.heads, self.weights, strict=True):
            found[heads, np.arange(1, n + 1)] += weight
        return found

    def labelled(self, labels: int) -> Float:
        """The share of draws with a labelled arc, (n + 1, n + 1, L + 1)."""
        n = self.heads.shape[1]
        found = np.zeros((n + 1, n + 1, labels + 1))
        for heads, deprels in zip(self.heads[self.drawn], self.deprels, strict=True):
            found[heads, np.arange(1, n + 1), deprels + 1] += 1 / len(self.drawn)
        return found


def run(of: Case, size: int, state: NDArray[np.uint64], draws: int = 10) -> Run:
    """Filter the sentence of a case."""
    return Run(*filter_trees(of.toy.model, *as_arrays(of.words, of.tags), size, draws, state))


def check_unbiased(samples: list[Float], expected: Float) -> None:
    """H0: the samples' mean is what is expected; where they do not vary they are it."""
    values = np.array(samples)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - expected) <= FAR * error + 1e-12 * np.abs(expected)).all()


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(("seed", "lexicalised", "known"), CASES)
@pytest.mark.parametrize("size", [3, 9, 40])
def test_evidences_are_unbiased(seed: int, lexicalised: bool, known: Known, size: int, draws, state) -> None:
    """H0: the product of mean weights up to each word, and to the end, has the exact evidence as its mean.

    The same for the evidence times the weights of all trees with an arc, and times the share of draws with a labelled
    arc, for marginals above 0.1 (means of rarer ones are far from normal). Every mean is of 5,000 filters (150 in plain
    Python), and farther than 5.5 standard errors away by chance once in 26 million means; a test has at most 40.
    """
    of = case(seed, lexicalised, known)
    runs = [run(of, size, state) for _ in range(draws // 4)]
    exact, marginals = np.array([*of.exact.prefix_evidences, of.exact.evidence]), of.exact.marginals()
    check_unbiased([np.exp(np.cumsum(one.log_evidence)) / exact for one in runs], np.ones(len(exact)))
    shares = [np.exp(one.log_evidence.sum()) / of.exact.evidence for one in runs]
    for expected, found in [
        (marginals.sum(axis=2), [one.marginals() for one in runs]),
        (marginals, [one.labelled(of.toy.labels) for one in runs]),
    ]:
        frequent = expected > 0.1
        assert 4 < frequent.sum() <= 17
        weighted = [share * one[frequent] for share, one in zip(shares, found, strict=True)]
        check_unbiased(weighted, expected[frequent])


@pytest.mark.slow("size")
@pytest.mark.parametrize(("seed", "lexicalised", "known"), CASES)
def test_many_particles_come_close(seed: int, lexicalised: bool, known: Known, draws: int, state) -> None:
    """Surprisals within 0.05 bits, marginals and weights of trees within 0.02; drawn labels as far as draws tell."""
    of = case(seed, lexicalised, known)
    found = run(of, 20_000, state, draws)
    np.testing.assert_allclose(-found.log_evidence[:-1] / np.log(2), of.exact.surprisals(), atol=0.05)
    assert found.log_evidence.sum() == pytest.approx(np.log(of.exact.evidence), abs=0.05)
    np.testing.assert_allclose(found.marginals(), of.exact.marginals().sum(axis=2), atol=0.02)
    np.testing.assert_allclose(found.labelled(of.toy.labels), of.exact.marginals(), atol=0.02 + 2 / np.sqrt(draws))
    expected: defaultdict[tuple[tuple[int, ...], ...], float] = defaultdict(float)
    for one in of.exact.derivations:
        expected[tuple(head for head, _ in one.tree), one.tags] += one.prob / of.exact.evidence
    weights: defaultdict[tuple[tuple[int, ...], ...], float] = defaultdict(float)
    for heads, tags, weight in zip(found.heads.tolist(), found.tags.tolist(), found.weights, strict=True):
        weights[tuple(heads), tuple(tags)] += weight
    assert set(weights) <= set(expected)
    assert max(abs(weights[tree] - prob) for tree, prob in expected.items()) < 0.02
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)


def test_a_wrong_evidence_is_noticed(draws, state) -> None:
    """The law above fails if the evidence were a fifth larger."""
    of = case(0, True, Known.ALL)
    evidences = [np.exp(run(of, 100, state).log_evidence.sum()) for _ in range(draws // 4)]
    with pytest.raises(AssertionError):
        check_unbiased(evidences, np.array(1.2 * of.exact.evidence))


@pytest.mark.parametrize("known", Known)
@pytest.mark.parametrize("size", [1, 500])
def test_long_sentences(known: Known, size: int, draws: int, state) -> None:
    """Records move to larger arrays; trees have a single root, evidence is finite."""
    toy = Toy(1)
    words, tags = toy.sentence(120 if draws > 1000 else 15, known)
    found = filter_trees(toy.model, *as_arrays(words, tags), size, 5, state)
    heads, found_tags, weights, drawn, deprels, log_evidence = found
    assert np.isfinite(log_evidence).all()
    assert ((heads == 0).sum(axis=1) == 1).all()
    assert ((drawn >= 0) & (drawn < len(heads))).all()
    assert ((deprels >= 0) & (deprels < toy.labels)).all()
    assert ((found_tags == tags) | (np.array(tags) == 0)).all()
    assert ((found_tags >= 2) & (found_tags < toy.tags)).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)


def test_weights_below_the_range_of_floats(state) -> None:
    """A parser that has hardly ever seen a reduction: 300 of them at the end weigh less than any float64."""
    processes = [Process(0, 3), Process(0, 2)]
    for process, dish in zip(processes, (SHIFT, 2), strict=True):
        dishes = np.full(50_000, dish, dtype=np.int32)
        paths = process.index(np.empty((len(dishes), 0), dtype=np.int32), dishes)
        process.sweep(paths, np.array([0, len(dishes)]), np.zeros(1, dtype=np.int64), False, state)
    tables, roots = predictions([process.at_rest() for process in processes], (3, 3))
    model = Model(tables, np.append(roots, NONE), (np.empty(0, np.int64),) * 3, 1, 3)
    words, tags = np.zeros(300, dtype=np.int32), np.full(300, 2, dtype=np.int32)
    _, _, weights, _, _, log_evidence = filter_trees(model, words, tags, 10, 1, state)
    assert np.log(np.finfo(float).tiny) > log_evidence[-1] > -np.inf
    assert weights.sum() == pytest.approx(1, abs=1e-12)
