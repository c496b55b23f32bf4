"""A distribution is a value: it travels between processes, and nothing that it is asked changes it."""

import copy
import pickle

import numpy as np
import pytest

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.combination import jensen_shannon
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.expectations import DISTRIBUTION, FEATURES, HEADS, NUMBER, VECTOR
from deptree_cli.core.partition import partition
from deptree_cli.core.peakedness import peakedness
from deptree_cli.core.quantities import EXPECTED
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.swor import ALGORITHMS

N = 4


class Ours(TreeDistribution):
    """Somebody's subclass."""


@pytest.fixture(params=["float64", "wide", "labelled", "several roots"])
def distribution(request, graphs):
    flat = TreeDistribution(graphs.gaussian(N), id="s-1")
    of_labels = np.random.default_rng(1).normal(size=(N + 1, N + 1, 3))
    return {
        "float64": lambda: flat,
        "wide": lambda: graphs.distribution(graphs.disconnected(N, 1000.0)),
        "labelled": lambda: flat.labelled(("root", "a", "b"), of_labels),
        "several roots": flat.multi_root,
    }[request.param]()


def answers(d):
    """Everything that one can ask, as arrays and numbers."""
    yield from (d.log_partition, d.marginals(), d.root_marginals, d.argmax(), d.mbr(), d.top_k(5), d.entropy())
    yield from (d.renyi(0.5), d.sample(3, 1), d.sample(30, 1), d.log_prob([0, 1, 2, 3]), repr(d), d.joint_log_scores())
    draws = [d.sample_without_replacement(6, 1, name) for name in ALGORITHMS.names]
    yield from (array for each in draws for array in (each.heads, each.log_probs, each.arrivals, each.tau))
    yield from (d.sample(20, 1, sampler.name) for sampler in SAMPLERS if sampler.serves(d.space))
    other = TreeDistribution(np.zeros((N + 1, N + 1))).over(d.space)
    by_kind = {NUMBER: 2.0, DISTRIBUTION: other, HEADS: np.arange(N, dtype=np.int32), VECTOR: np.ones(2)}
    by_kind[FEATURES] = np.ones((N + 1, N + 1, 2))
    for quantity in EXPECTED:
        if quantity.name in ("mean_length", "head_final", "root_place") and not d.single_root:
            continue  # no sums over arcs there
        given = [by_kind[each.kind] for each in quantity.inputs]
        for function in filter(None, (quantity.value, quantity.gradient, quantity.gradient_other)):
            yield function(d, *given)
    yield from (d.given([0, None, None, None]).log_scores, d.tempered(2.0).log_scores, d.multi_root().log_partition)
    yield jensen_shannon(d, other, 5, np.random.default_rng(1))
    yield from (repr(partition(d)), repr(peakedness(d)))
    if d.labels:
        yield from (d.labels.probs, d.labels.marginals(d.marginals()), d.labels.best(d.sample(3, 1)))


def same(first, second):
    pairs = zip(first, second, strict=True)
    return all(np.array_equal(ours, theirs, equal_nan=not isinstance(ours, str)) for ours, theirs in pairs)


def arrays_of(distribution):
    return [distribution.log_scores, distribution.marginals(), distribution.root_marginals]


def test_twins_answer_alike_and_are_read_only(distribution):
    """Of every protocol of pickles, and copies. What was worked out stays at home."""
    before, protocols = pickle.dumps(distribution), range(2, pickle.HIGHEST_PROTOCOL + 1)
    twins = [copy.copy(distribution), copy.deepcopy(distribution)]
    twins += [pickle.loads(pickle.dumps(distribution, each)) for each in protocols]
    expected = list(answers(distribution))
    for twin in twins:
        assert (twin.id, twin.space, twin.n) == (distribution.id, distribution.space, distribution.n)
        assert same(answers(twin), expected)
    assert pickle.dumps(distribution) == before
    made = [twins[-1].given([None] * N), twins[-1].tempered(2.0), twins[-1].multi_root()]
    for array in (array for each in (distribution, *twins, *made) for array in arrays_of(each)):
        assert not array.flags.writeable
        assert array.base is None or not array.base.flags.writeable


@pytest.mark.parametrize("kind", [ArcFactored, TreeDistribution, Ours])
def test_subclasses_stay_what_they_are(graphs, kind):
    made = kind(graphs.gaussian(N))
    twins = [pickle.loads(pickle.dumps(made)), copy.copy(made), made.multi_root(), made.tempered(2.0)]
    assert {type(twin) for twin in [*twins, made.given([None] * N), made.raised_to(2.0)]} == {kind}


def test_no_question_changes_an_answer(distribution):
    """The second time everything is what it was, also after the first answers were written over."""
    factors = distribution.factorisation
    arrays = [array.copy() for array in arrays_of(distribution)]
    fields = pickle.dumps([factors.log_z, factors.marginals()])
    first = copy.deepcopy(list(answers(distribution)))
    for answer in answers(distribution):
        if isinstance(answer, np.ndarray) and answer.flags.writeable:
            answer[...] = 7
    assert same(first, answers(distribution))
    assert same(arrays, arrays_of(distribution))
    assert pickle.dumps([factors.log_z, factors.marginals()]) == fields


def test_the_scores_given_may_change_afterwards(graphs):
    scores = graphs.gaussian(N)
    distribution = graphs.distribution(scores)
    before = distribution.marginals().copy()
    scores += np.random.default_rng(1).normal(size=scores.shape)
    assert np.array_equal(distribution.marginals(), before)
    assert scores.flags.writeable
