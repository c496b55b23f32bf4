"""A distribution is a value: it travels between processes, and nothing that it is asked changes it."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.combination import jensen_shannon
from deptree_cli.core.corpus import Workers, ordered_map
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.expectations import DISTRIBUTION, FEATURES, HEADS, NUMBER, VECTOR
from deptree_cli.core.partition import partition
from deptree_cli.core.peakedness import peakedness
from deptree_cli.core.quantities import EXPECTED
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.swor import ALGORITHMS

N = 4
NAMES = ("root", "a", "b")


class Ours(TreeDistribution):
    """Somebody's subclass."""


@pytest.fixture(params=["float64", "wide", "labelled", "several roots"])
def distribution(request: pytest.FixtureRequest, graphs) -> TreeDistribution:
    """One of each kind."""
    flat = TreeDistribution(graphs.gaussian(N), id="s-1")
    return {
        "float64": lambda: flat,
        "wide": lambda: graphs.distribution(graphs.disconnected(N, 1000.0)),
        "labelled": lambda: flat.labelled(NAMES, np.random.default_rng(1).normal(size=(N + 1, N + 1, 3))),
        "several roots": flat.multi_root,
    }[request.param]()


def answers(d: TreeDistribution) -> Iterator[Any]:
    """Everything that one can ask, as arrays and numbers."""
    yield from (d.log_partition, d.marginals(), d.root_marginals, d.argmax(), d.mbr(), d.top_k(5), d.entropy())
    yield from (d.renyi(0.5), d.sample(3, 1), d.sample(30, 1), d.log_prob([0, 1, 2, 3]), repr(d), d.joint_log_scores())
    draws = [d.sample_without_replacement(6, 1, name) for name in ALGORITHMS.names]
    yield from (array for each in draws for array in (each.heads, each.log_probs, each.arrivals, each.tau))
    yield from (d.sample(20, 1, sampler.name) for sampler in SAMPLERS if sampler.serves(d.space))
    other = TreeDistribution(np.zeros((N + 1, N + 1))).over(d.space)
    by_kind = {
        NUMBER: 2.0,
        DISTRIBUTION: other,
        HEADS: np.arange(N, dtype=np.int32),
        FEATURES: np.ones((N + 1, N + 1, 2)),
        VECTOR: np.ones(2),
    }
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


def equal(first: TreeDistribution, second: TreeDistribution) -> bool:
    """Whether all answers are the same to the last bit."""
    pairs = zip(answers(first), answers(second), strict=True)
    return all(np.array_equal(ours, theirs, equal_nan=not isinstance(ours, str)) for ours, theirs in pairs)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_it_pickles(distribution: TreeDistribution, protocol: int) -> None:
    twin = pickle.loads(pickle.dumps(distribution, protocol))
    assert type(twin) is TreeDistribution
    assert (twin.id, twin.space, twin.n) == (distribution.id, distribution.space, distribution.n)
    assert equal(twin, distribution)


def test_what_was_worked_out_stays_at_home(distribution: TreeDistribution) -> None:
    before = pickle.dumps(distribution)
    list(answers(distribution))
    assert pickle.dumps(distribution) == before


def test_copies(distribution: TreeDistribution) -> None:
    for twin in (copy.copy(distribution), copy.deepcopy(distribution)):
        assert twin is not distribution
        assert equal(twin, distribution)


def test_subclasses_stay_what_they_are(graphs) -> None:
    for kind in (ArcFactored, TreeDistribution, Ours):
        made = kind(graphs.gaussian(N))
        twins = [pickle.loads(pickle.dumps(made)), copy.copy(made), made.multi_root(), made.tempered(2.0)]
        assert {type(twin) for twin in [*twins, made.given([None] * N), made.raised_to(2.0)]} == {kind}


def test_it_travels_to_worker_processes(distribution: TreeDistribution) -> None:
    many = [distribution] * 3
    found = list(ordered_map(operator.methodcaller("marginals"), many, Workers(2)))
    assert all(np.array_equal(each, distribution.marginals()) for each in found)


def test_the_factorisation_pickles(distribution: TreeDistribution) -> None:
    """In either kind of numbers, before and after it was used, and what it gives is the same."""
    factors = distribution.factorisation
    unused = pickle.dumps(factors)
    direction = np.random.default_rng(2).normal(size=(N + 1, N + 1))

    def asked(one: Any) -> list[Any]:
        log_roots = one.log_root_marginals() if one.space.single_root else None
        return [one.log_z, one.marginals(), one.sample(30, np.random.default_rng(1)), log_roots, one.is_wide]

    expected = asked(factors)
    for twin in (pickle.loads(unused), pickle.loads(pickle.dumps(factors)), copy.deepcopy(factors)):
        for ours, theirs in zip(asked(twin), expected, strict=True):
            assert np.array_equal(ours, theirs)
        assert np.array_equal(twin.arc_covariance(direction), factors.arc_covariance(direction))


def arrays_of(distribution: TreeDistribution) -> dict[str, np.ndarray]:
    return {
        "log_scores": distribution.log_scores,
        "marginals": distribution.marginals(),
        "root_marginals": distribution.root_marginals,
    }


@pytest.mark.parametrize("name", ["log_scores", "marginals", "root_marginals"])
def test_arrays_are_read_only(distribution: TreeDistribution, name: str) -> None:
    """Also those of a twin, and of distributions made from one."""
    twin = pickle.loads(pickle.dumps(distribution))
    for each in (distribution, twin, twin.given([None] * N), twin.tempered(2.0), twin.multi_root()):
        array = arrays_of(each)[name]
        assert not array.flags.writeable
        assert array.base is None or not array.base.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[..., 1] = 0.0


def test_attributes_cannot_be_put_in_place_of_others(graphs) -> None:
    """What was worked out of the old ones would stay."""
    distribution = graphs.distribution(graphs.gaussian(N))
    for name in ("log_scores", "space", "id", "labels"):
        with pytest.raises(AttributeError):
            setattr(distribution, name, getattr(distribution, name))


def test_no_question_changes_an_answer(distribution: TreeDistribution) -> None:
    """The second time everything is what it was, also after the first answers were written over."""
    arrays = {name: array.copy() for name, array in arrays_of(distribution).items()}
    fields = pickle.dumps([distribution.factorisation.log_z, distribution.factorisation.marginals()])
    first = copy.deepcopy(list(answers(distribution)))
    for answer in answers(distribution):
        if isinstance(answer, np.ndarray) and answer.flags.writeable:
            answer[...] = 7
    for before, again in zip(first, answers(distribution), strict=True):
        assert np.array_equal(before, again, equal_nan=not isinstance(before, str))
    for name, array in arrays_of(distribution).items():
        assert np.array_equal(array, arrays[name])
    assert pickle.dumps([distribution.factorisation.log_z, distribution.factorisation.marginals()]) == fields


def test_the_scores_given_may_change_afterwards(graphs) -> None:
    scores = graphs.gaussian(N)
    distribution = graphs.distribution(scores)
    before = distribution.marginals().copy()
    scores += np.random.default_rng(1).normal(size=scores.shape)
    assert np.array_equal(distribution.marginals(), before)
    assert scores.flags.writeable
