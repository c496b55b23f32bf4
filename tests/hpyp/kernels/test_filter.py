"""The particle filter, derivations drawn given their tree, and parses drawn given their words, against enumerations."""

from collections import Counter, defaultdict, namedtuple
from itertools import product

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import SHIFT
from deptree_cli.hpyp.kernels.configurations import Model, read_actions
from deptree_cli.hpyp.kernels.filter import Grammar, Treebank, draw_derivation, draw_parse, filter_trees
from deptree_cli.hpyp.kernels.restaurants import NONE
from deptree_cli.hpyp.model.process import Process, predictions
from deptree_cli.hpyp.model.training import are_derivations
from tests.hpyp.reference import Configuration, Enumeration
from tests.hpyp.toys import KINDS, Toy, as_arrays, check_law, indexed

FAR = 5.5  # standard errors: a mean is farther from the truth once in 26 million means
Run = namedtuple("Run", "heads tags weights drawn deprels log_evidence")  # what `filter_trees` returns


def shares(shape, weights, *places):
    """Weights added up in their places."""
    found = np.zeros(shape)
    np.add.at(found, places, weights)
    return found


def check_unbiased(samples, expected):
    """H0: the samples' mean is what is expected; where they do not vary they are it."""
    values = np.array(samples)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - expected) <= FAR * error + 1e-12 * np.abs(expected)).all()


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("size", [3, 9, 40])
@pytest.mark.parametrize(("seed", "lexicalised", "known"), [(seed, *kind) for seed, kind in enumerate(KINDS)])
def test_evidences_are_unbiased(seed, lexicalised, known, size, draws, state):
    """H0: the product of mean weights up to each word, and to the end, has the exact evidence as its mean.

    The same for the evidence times the weights of all trees with an arc, or with a tag, and times the share of draws
    with a labelled arc, for marginals above 0.1 (means of rarer ones are far from normal). Every mean is of 5,000
    filters (150 in plain Python), and farther than 5.5 standard errors away by chance once in 26 million means; a test
    has at most 50.
    """
    toy = Toy(seed, lexicalised=lexicalised)
    words, tags = toy.sentence(4 if known == "all tags" else 3, known)
    every, sentence = Enumeration(toy.reference, words, toy.candidates(tags)), as_arrays(words, tags)
    runs = [Run(*filter_trees(toy.model, *sentence, size, 10, state)) for _ in range(draws // 4)]
    exact, marginals = np.array([*every.prefix_evidences, every.evidence]), every.marginals()
    check_unbiased([np.exp(np.cumsum(one.log_evidence)) / exact for one in runs], np.ones(len(exact)))
    words, of_tags = np.arange(1, len(sentence[0]) + 1), [one.tags for one in every.derivations]
    probs = np.array([[one.prob] for one in every.derivations]) / every.evidence
    tagged = shares((len(words) + 1, toy.tags), probs, words, np.array(of_tags))
    for expected, found_by in [
        (marginals.sum(axis=2), lambda run: (run.weights[:, None], run.heads, words)),
        (marginals, lambda run: (1 / len(run.drawn), run.heads[run.drawn], words, run.deprels + 1)),
        (tagged, lambda run: (run.weights[:, None], words, run.tags)),
    ]:
        frequent = expected > 0.1
        assert 3 <= frequent.sum() <= 17
        weighted = [
            np.exp(run.log_evidence.sum()) / every.evidence * shares(expected.shape, *found_by(run))[frequent]
            for run in runs
        ]
        check_unbiased(weighted, expected[frequent])


def test_weights_below_the_range_of_floats(state):
    """A parser that has hardly ever seen a reduction: 300 of them at the end weigh less than any float64.

    Records move to larger arrays; trees have a single root.
    """
    processes = [Process(0, 3), Process(0, 2)]
    for process, dish in zip(processes, (SHIFT, 2), strict=True):
        paths = indexed(process, [((), dish)] * 50_000)
        process.sweep(paths, np.array([0, 50_000]), np.zeros(1, dtype=np.int64), False, state)
    tables, roots = predictions([process.at_rest() for process in processes], (3, 3))
    model = Model(tables, np.append(roots, NONE), (np.empty(0, np.int64),) * 3, 1, 3)
    words, tags = np.zeros(300, dtype=np.int32), np.full(300, 2, dtype=np.int32)
    found = Run(*filter_trees(model, words, tags, 10, 1, state))
    assert np.log(np.finfo(float).tiny) > found.log_evidence[-1] > -np.inf
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)
    assert ((found.heads == 0).sum(axis=1) == 1).all()


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(
    "tree",
    [  # of three, three, two derivations, and one
        ((2, 1), (0, 2), (2, 1), (2, 2)),
        ((3, 1), (3, 2), (0, 1), (3, 2)),
        ((2, 1), (0, 1), (4, 2), (2, 2)),
        ((4, 2), (3, 1), (1, 1), (0, 2)),
    ],
)
@pytest.mark.parametrize("lexicalised", [True, False], ids=["lexicalised", "unlexicalised"])
def test_derivations_have_their_posterior(tree, lexicalised, draws, state):
    """H0: derivations are drawn by their probabilities given the tree.

    2,500 draws (75 in plain Python) with 1,000 particles each, so that what resampling distorts is far below what could
    be noticed; chi-square, derivations expected fewer than five times pooled; p < 1e-6 by chance.
    """
    toy = Toy(3, lexicalised=lexicalised)
    words, tags = toy.sentence(4)
    exact = Enumeration(toy.reference, words, [[tag] for tag in tags])
    probs = {one.actions: one.prob for one in exact.derivations if one.tree == tree}
    grammar, actions, found = Grammar(toy.restaurants, toy.model.codes, toy.labels), np.empty(8, np.int32), Counter()
    heads, labels = np.transpose(tree)
    treebank = Treebank(np.array([0, 4]), *as_arrays(words, tags, heads, labels - 1))
    for _ in range(draws // 8):
        draw_derivation(grammar, treebank, 0, 1000, state, actions)
        found[tuple(actions.tolist())] += 1
    check_law(found, probs)


@pytest.mark.parametrize(("n", "labels"), [(1, 2), (2, 1), (2, 2), (3, 1)])
def test_what_is_a_derivation(n, labels):
    """Every sequence of 2 n actions, and numbers that are none."""

    def derivations(configuration, actions=()):
        legal = configuration.legal()
        for action in legal:
            yield from derivations(configuration.after(action), (*actions, action))
        if not legal:
            yield actions

    expected = {*derivations(Configuration(n, labels))}
    for actions in product(range(-1, 2 * labels + 2), repeat=2 * n):
        found = are_derivations(np.array([0, n]), labels, np.array(actions, dtype=np.int32))
        assert found == (actions in expected), actions


def test_derivations_of_several_sentences():
    """Each by itself: what one shifts too often another cannot make up for."""
    cuts = np.array([0, 1, 3])
    for actions, expected in {(0, 2, 0, 0, 1, 2): True, (0, 0, 2, 2, 0, 2): False, (0, 2, 0, 0, 1, 1): False}.items():
        assert are_derivations(cuts, 1, np.array(actions, dtype=np.int32)) == expected


def unlabelled(actions, labels):
    """0 shifts, 1 is a left-arc, 2 a right-arc."""
    return tuple((action > 0) + (action > labels) for action in actions)


@pytest.mark.slow("statistics")
def test_parses_have_their_posterior(draws, state):
    """H0: tags and derivations, labels summed out, are drawn by their probabilities given three words.

    5,000 draws (150 in plain Python) with 3,000 particles each, so that what resampling distorts is far below what
    could be noticed; chi-square, parses expected fewer than five times pooled; p < 1e-6 by chance.
    """
    toy = Toy(5)
    words, _ = toy.sentence(3)
    probs = defaultdict(float)
    for one in Enumeration(toy.reference, words, toy.candidates([0, 0, 0])).derivations:
        probs[one.tags, unlabelled(one.actions, toy.labels)] += one.prob
    tags, actions, found = np.empty(3, np.int32), np.empty(6, np.int32), Counter()
    for _ in range(draws // 4):
        read_actions(*draw_parse(toy.model, *as_arrays(words), 3000, state), actions, tags)
        found[tuple(tags.tolist()), unlabelled(actions.tolist(), toy.labels)] += 1
    check_law(found, probs)
