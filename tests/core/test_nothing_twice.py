"""What a distribution works out it works out once: calls of the O(n^3) kernels, counted."""

import pickle
from collections import Counter
from functools import cache

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.expectations import DISTRIBUTION, FEATURES, HEADS, NUMBER, VECTOR
from deptree_cli.core.partition import partition
from deptree_cli.core.peakedness import peakedness
from deptree_cli.core.quantities import EXPECTED
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.spaces import SPACES
from deptree_cli.core.swor import ALGORITHMS
from deptree_cli.kernels import questions

N = 6
OTHER = TreeDistribution(np.random.default_rng(9).normal(size=(N + 1, N + 1)))
OTHERS = {trees: OTHER.over(trees) for trees in SPACES}
CHAIN = list(range(N))

# Everything that one can ask: what needs no factorisation, what needs its sums, and what the reverse sweep, too.
FREE = {
    "repr": repr,
    "argmax": lambda d: d.argmax(),
    "top_k": lambda d: d.top_k(3),
    "given": lambda d: d.given([None] * N),
    "tempered": lambda d: d.tempered(2.0),
    "multi_root": lambda d: d.multi_root(),
    "labelled": lambda d: d.labelled(("root", "dep"), np.zeros((N + 1, N + 1, 2))),
    "log_weights": lambda d: d.log_weights(np.array([CHAIN])),
    "pickle": pickle.dumps,
}
SUMS = {
    "log_partition": lambda d: d.log_partition,
    "log_prob": lambda d: d.log_prob(CHAIN),
    "log_probs": lambda d: d.log_probs([CHAIN, CHAIN]),
    "root_marginals": lambda d: d.root_marginals,
    "sample few": lambda d: d.sample(2, 1),
    "sample many": lambda d: d.sample(50, 1),
}
SWEEPS = {
    "marginals": lambda d: d.marginals(),
    "mbr": lambda d: d.mbr(),
    "entropy": lambda d: d.entropy(),
    "renyi of order 1": lambda d: d.renyi(1.0),
    "kl": lambda d: d.kl(OTHERS[d.space]),
    "cross_entropy": lambda d: d.cross_entropy(OTHERS[d.space]),
    "sample_without_replacement": lambda d: d.sample_without_replacement(9, 1),
}
VERBS = FREE | SUMS | SWEEPS
EACH_VERB = pytest.mark.parametrize("verb", VERBS)
EACH_SPACE = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
DRAWING = [(kind, trees) for kind in SAMPLERS for trees in SPACES if kind.serves(trees)]
DRAWING += [(kind, trees) for kind in ALGORITHMS for trees in SPACES]


def counting(name, kernel, counted):
    """A question that also says which sweeps it takes, in which kind of numbers; covariances are of dual ones."""

    def ask(items, pivots, packed, log_z, is_swept, *others):
        kind = "float64" if isinstance(packed[0], np.ndarray) else "wide"
        is_dual = name == "covariances"
        looks_back = is_dual or (name == "sums" and len(others[0][0]) > 0)
        sweeps = ["forth"] * (is_dual or not is_swept) + ["back"] * looks_back
        counted.update(f"{sweep} {'dual' if is_dual else kind}" for sweep in sweeps)
        return kernel(items, pivots, packed, log_z, is_swept, *others)

    return ask


def all_answers(distribution):
    for verb in VERBS.values():
        verb(distribution)


@cache
def all_compiled():
    """Kernels that call the counted ones are compiled before these are Python's: they were not, with an empty cache."""
    for trees in SPACES:
        all_answers(TreeDistribution(np.random.default_rng(8).normal(size=(N + 1, N + 1))).over(trees))
    for kind, trees in DRAWING:
        kind.draw(OTHERS[trees], 20, np.random.default_rng(1))


@pytest.fixture
def calls(monkeypatch):
    """How often sums were worked out and their derivatives, in which kind of numbers: by elimination, or in a chart."""
    all_compiled()
    _ = [(other.log_partition, other.marginals()) for other in OTHERS.values()]  # known before anything is counted
    counted = Counter()
    for name in ("sums", "samples", "covariances"):
        monkeypatch.setattr(questions, name, counting(name, getattr(questions, name), counted))
    return counted


@pytest.fixture
def flat(graphs):
    return graphs.distribution(graphs.gaussian(N))


def fresh(graphs, trees):
    return graphs.over(graphs.gaussian(N, 2.0), trees)


def needs(verb, trees):
    """The calls for one question alone: with several roots, root marginals are a row of the marginals; distinct
    projective trees are drawn without them."""
    sweeps = verb in SWEEPS or (verb == "root_marginals" and not trees.single_root)
    sweeps = sweeps and not (verb == "sample_without_replacement" and trees.projective)
    return Counter({"forth float64": int(verb not in FREE), "back float64": int(sweeps)})


@EACH_VERB
@EACH_SPACE
def test_two_questions_cost_what_the_dearer_one_costs(verb, trees, graphs, calls):
    """The first no more than it needs. (With several roots, walks may need no sums at all.)"""
    for other in VERBS:
        calls.clear()
        distribution = fresh(graphs, trees)
        VERBS[verb](distribution)
        if not verb.startswith("sample ") or trees.single_root:
            assert calls == needs(verb, trees)
        VERBS[other](distribution)
        assert calls <= needs(verb, trees) | needs(other, trees), other


@EACH_SPACE
def test_everything(trees, graphs, calls):
    """One elimination and one sweep backwards, however often."""
    distribution = fresh(graphs, trees)
    for _ in range(2):
        all_answers(distribution)
        for sampler in SAMPLERS:
            if sampler.serves(trees):
                sampler.draw(distribution, 20, np.random.default_rng(1))
    assert calls == {"forth float64": 1, "back float64": 1}


def test_beyond_float64(graphs, calls):
    """The try in float64, then all in wide numbers."""
    all_answers(graphs.distribution(graphs.disconnected(N, 1000.0)))
    assert calls == {"forth float64": 1, "forth wide": 1, "back wide": 1}


@pytest.mark.parametrize("question", [partition, peakedness])
def test_partition_functions_are_worked_out_once(question, flat, calls):
    """Two eliminations, one for each root constraint (its own is kept); a chart of projective trees."""
    question(flat)
    assert calls["forth float64"] == 3
    all_answers(flat)
    assert calls == {"forth float64": 3, "back float64": 1}


@pytest.mark.quick
@pytest.mark.parametrize("quantity", EXPECTED, ids=lambda quantity: quantity.name)
def test_a_quantity_and_its_gradients(quantity, flat, calls):
    """One covariance for a number's gradient, one per feature for an array's. Renyi's order is 1: others are powers."""
    rng = np.random.default_rng(1)
    by_kind = {NUMBER: 1.0, DISTRIBUTION: OTHER, HEADS: np.arange(N, dtype=np.int32), VECTOR: rng.normal(size=2)}
    by_kind[FEATURES] = rng.normal(size=(N + 1, N + 1, 2))
    given = [by_kind[each.kind] for each in quantity.inputs]
    size = np.asarray(quantity.value(flat, *given)).shape
    for gradient in filter(None, (quantity.gradient, quantity.gradient_other)):
        gradient(flat, *given)
    assert calls["forth float64"] == 1
    assert calls["back float64"] <= 1
    assert calls["forth dual"] == calls["back dual"] == (size[0] if size else 1)


def test_another_power_is_worked_out_once_for_value_and_gradient(flat, calls):
    EXPECTED.get("renyi").value(flat, 0.5)
    EXPECTED.get("renyi").gradient(flat, 0.5)
    assert calls == {"forth float64": 2, "back float64": 2}


@pytest.mark.parametrize(("kind", "trees"), DRAWING, ids=lambda entry: entry.name)
def test_drawing_twice(kind, trees, graphs, calls):
    """Logarithms of root marginals, which some algorithms need, are once more an elimination, in wide numbers."""
    distribution = fresh(graphs, trees)
    for size in (1, 30, 1):
        kind.draw(distribution, size, np.random.default_rng(size))
    assert all(count == 1 for count in calls.values()), calls
    assert set(calls) <= {"forth float64", "back float64", "forth wide" if kind in ALGORITHMS.known else "back float64"}
