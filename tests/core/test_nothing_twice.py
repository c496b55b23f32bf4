"""What a distribution works out it works out once: calls of the O(n^3) kernels, counted.

How often commands call them is counted in tests/commands.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.expectations import DISTRIBUTION, FEATURES, HEADS, NUMBER, VECTOR, OfDistribution, kl, kl_gradient
from deptree_cli.core.partition import partition
from deptree_cli.core.peakedness import peakedness
from deptree_cli.core.quantities import EXPECTED
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.core.swor import ALGORITHMS, Algorithm
from deptree_cli.kernels import questions

N = 6
OTHER = TreeDistribution(np.random.default_rng(9).normal(size=(N + 1, N + 1)))
OTHERS = {trees: OTHER.over(trees) for trees in SPACES}
CHAIN = list(range(N))

Verb = Callable[[TreeDistribution], object]

# Everything that one can ask; those in `FREE` need no factorisation, those in `SUMS` its reverse sweep, too.
VERBS: dict[str, Verb] = {
    "repr": repr,
    "argmax": lambda d: d.argmax(),
    "top_k": lambda d: d.top_k(3),
    "given": lambda d: d.given([None] * N),
    "tempered": lambda d: d.tempered(2.0),
    "multi_root": lambda d: d.multi_root(),
    "labelled": lambda d: d.labelled(("root", "dep"), np.zeros((N + 1, N + 1, 2))),
    "log_weights": lambda d: d.log_weights(np.array([CHAIN])),
    "pickle": pickle.dumps,
    "log_partition": lambda d: d.log_partition,
    "log_prob": lambda d: d.log_prob(CHAIN),
    "log_probs": lambda d: d.log_probs([CHAIN, CHAIN]),
    "root_marginals": lambda d: d.root_marginals,
    "sample few": lambda d: d.sample(2, 1),
    "sample many": lambda d: d.sample(50, 1),
    "marginals": lambda d: d.marginals(),
    "mbr": lambda d: d.mbr(),
    "entropy": lambda d: d.entropy(),
    "renyi of order 1": lambda d: d.renyi(1.0),
    "kl": lambda d: d.kl(OTHERS[d.space]),
    "cross_entropy": lambda d: d.cross_entropy(OTHERS[d.space]),
    "sample_without_replacement": lambda d: d.sample_without_replacement(9, 1),
}
FREE = {"repr", "argmax", "top_k", "given", "tempered", "multi_root", "labelled", "log_weights", "pickle"}
SUMS = {"marginals", "mbr", "entropy", "renyi of order 1", "kl", "cross_entropy", "sample_without_replacement"}
EACH_VERB = pytest.mark.parametrize("verb", VERBS)
SERVED = [(sampler, trees) for sampler in SAMPLERS for trees in SPACES if sampler.serves(trees)]
EACH_SPACE = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)


def counting(name: str, kernel: Any, counted: Counter[str]) -> Any:
    """A question that also says which sweeps it takes, in which kind of numbers; covariances are of dual ones."""

    def ask(items: Any, pivots: Any, packed: Any, log_z: Any, is_swept: bool, *others: Any) -> Any:
        kind = "float64" if isinstance(packed[0], np.ndarray) else "wide"
        is_dual = name == "covariances"
        looks_back = is_dual or (name == "sums" and len(others[0][0]) > 0)
        sweeps = ["forth"] * (is_dual or not is_swept) + ["back"] * looks_back
        counted.update(f"{sweep} {'dual' if is_dual else kind}" for sweep in sweeps)
        return kernel(items, pivots, packed, log_z, is_swept, *others)

    return ask


@cache
def all_compiled() -> None:
    """Kernels that call the counted ones are compiled before these are Python's: they were not, with an empty cache."""
    for trees in SPACES:
        distribution = TreeDistribution(np.random.default_rng(8).normal(size=(N + 1, N + 1))).over(trees)
        _ = [verb(distribution) for verb in VERBS.values()]
        _ = [each.draw(distribution, 20, np.random.default_rng(1)) for each in SAMPLERS if each.serves(trees)]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often sums were worked out and their derivatives, in which kind of numbers: by elimination, or in a chart."""
    all_compiled()
    _ = [(other.log_partition, other.marginals()) for other in OTHERS.values()]  # known before anything is counted
    counted: Counter[str] = Counter()
    for name in ("sums", "samples", "covariances"):
        monkeypatch.setattr(questions, name, counting(name, getattr(questions, name), counted))
    return counted


def fresh(graphs, trees: TreeSpace) -> TreeDistribution:
    return graphs.over(graphs.gaussian(N, 2.0), trees)


def needs(verb: str, trees: TreeSpace) -> dict[str, int]:
    """The calls for one question alone: with several roots, root marginals are a row of the marginals; distinct
    projective trees are drawn without them."""
    sweeps = verb in SUMS or (verb == "root_marginals" and not trees.single_root)
    sweeps = sweeps and not (verb == "sample_without_replacement" and trees.projective)
    wanted = {"forth float64": int(verb not in FREE), "back float64": int(sweeps)}
    return {name: count for name, count in wanted.items() if count}


@EACH_VERB
@EACH_SPACE
def test_one_question(verb: str, trees: TreeSpace, graphs, calls: Counter[str]) -> None:
    """No more than it needs; and asked again it costs nothing. (With several roots, walks may need no sums at all.)"""
    distribution = fresh(graphs, trees)
    VERBS[verb](distribution)
    if verb.startswith("sample ") and not trees.single_root:
        assert calls["back float64"] == 0
    else:
        assert calls == needs(verb, trees)
    before = calls.copy()
    VERBS[verb](distribution)
    assert calls == before


@EACH_VERB
@EACH_SPACE
def test_two_questions_in_either_order(verb: str, trees: TreeSpace, graphs, calls: Counter[str]) -> None:
    """Together they cost what the dearer one costs."""
    for other in VERBS:
        for pair in ((verb, other), (other, verb)):
            calls.clear()
            distribution = fresh(graphs, trees)
            for name in pair:
                VERBS[name](distribution)
            both = [needs(name, trees) for name in pair]
            for kernel in ("forth float64", "back float64"):
                assert calls[kernel] <= max(each.get(kernel, 0) for each in both), pair
            assert set(calls) <= {"forth float64", "back float64"}, pair


@EACH_SPACE
def test_everything(trees: TreeSpace, graphs, calls: Counter[str]) -> None:
    """One elimination and one sweep backwards, however often."""
    distribution = fresh(graphs, trees)
    for _ in range(2):
        for verb in VERBS.values():
            verb(distribution)
        for sampler in SAMPLERS:
            if sampler.serves(trees):
                sampler.draw(distribution, 20, np.random.default_rng(1))
    assert calls == {"forth float64": 1, "back float64": 1}


def test_beyond_float64(graphs, calls: Counter[str]) -> None:
    """The try in float64, then all in wide numbers."""
    distribution = graphs.distribution(graphs.disconnected(N, 1000.0))
    for verb in VERBS.values():
        verb(distribution)
    assert calls == {"forth float64": 1, "forth wide": 1, "back wide": 1}


def test_several_roots_are_one_more_elimination(graphs, calls: Counter[str]) -> None:
    distribution = graphs.distribution(graphs.gaussian(N))
    for verb in VERBS.values():
        verb(distribution)
    spanning = distribution.multi_root()
    for _ in range(2):
        _ = spanning.log_partition
    assert calls == {"forth float64": 2, "back float64": 1}
    for verb in VERBS.values():
        verb(spanning)
    assert calls == {"forth float64": 2, "back float64": 2}


@pytest.mark.parametrize("question", [partition, peakedness])
def test_partition_functions_are_worked_out_once(question: Verb, graphs, calls: Counter[str]) -> None:
    """Two eliminations, one for each root constraint, of which the distribution's own is kept; a chart of projective
    trees."""
    distribution = graphs.distribution(graphs.gaussian(N))
    question(distribution)
    assert calls["forth float64"] == 3
    for verb in VERBS.values():
        verb(distribution)
    assert calls == {"forth float64": 3, "back float64": 1}


def test_a_divergence_and_its_gradient(graphs, calls: Counter[str]) -> None:
    """One covariance, that is one sweep forth and back on dual numbers, beside what each distribution needs once."""
    distribution, other = graphs.distribution(graphs.gaussian(N)), graphs.distribution(graphs.gaussian(N, seed=3))
    kl(distribution, other)
    kl_gradient(distribution, other)
    assert calls == {
        "forth float64": 2,
        "back float64": 1,
        "forth dual": 1,
        "back dual": 1,
    }


def inputs(quantity: OfDistribution) -> list[Any]:
    """Renyi's order 1, for any other order is another distribution; two features."""
    rng = np.random.default_rng(1)
    by_kind = {
        NUMBER: 1.0,
        DISTRIBUTION: OTHER,
        HEADS: np.arange(N, dtype=np.int32),
        FEATURES: rng.normal(size=(N + 1, N + 1, 2)),
        VECTOR: rng.normal(size=2),
    }
    return [by_kind[each.kind] for each in quantity.inputs]


@pytest.mark.parametrize("quantity", EXPECTED, ids=lambda quantity: quantity.name)
def test_a_quantity_and_its_gradients(quantity: OfDistribution, graphs, calls: Counter[str]) -> None:
    """One covariance for a number's gradient, one per feature for an array's."""
    distribution, given = graphs.distribution(graphs.gaussian(N)), inputs(quantity)
    size = np.asarray(quantity.value(distribution, *given)).shape
    if quantity.gradient:
        quantity.gradient(distribution, *given)
    if quantity.gradient_other:
        quantity.gradient_other(distribution, *given)
    covariances = size[0] if size else 1
    assert calls["forth float64"] == 1
    assert calls["back float64"] <= 1
    assert calls["forth dual"] == calls["back dual"] == covariances


def test_another_power_is_worked_out_once_for_value_and_gradient(graphs, calls: Counter[str]) -> None:
    """Renyi's entropy and its gradient: the distribution and its power, an elimination each."""
    distribution, quantity = graphs.distribution(graphs.gaussian(N)), EXPECTED.get("renyi")
    quantity.value(distribution, 0.5)
    quantity.gradient(distribution, 0.5)
    assert calls == {"forth float64": 2, "back float64": 2}


@pytest.mark.parametrize(("sampler", "trees"), SERVED, ids=lambda entry: entry.name)
def test_a_sampler_asked_twice(sampler: Sampler, trees: TreeSpace, graphs, calls: Counter[str]) -> None:
    distribution = fresh(graphs, trees)
    for size in (1, 30, 1):
        sampler.draw(distribution, size, np.random.default_rng(size))
    assert calls["forth float64"] <= 1
    assert set(calls) <= {"forth float64", "back float64"}


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
@EACH_SPACE
def test_a_swor_algorithm_asked_twice(algorithm: Algorithm, trees: TreeSpace, graphs, calls: Counter[str]) -> None:
    """Logarithms of root marginals, which some need, are once more an elimination, in wide numbers."""
    distribution = fresh(graphs, trees)
    for size in (1, 5, 1):
        algorithm.draw(distribution, size, np.random.default_rng(size))
    assert all(count == 1 for count in calls.values()), calls
    assert set(calls) <= {"forth float64", "forth wide", "back float64"}
