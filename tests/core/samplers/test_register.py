"""Every line of the register: complete, importable, and what its sampler promises besides the right distribution."""

from __future__ import annotations

import time
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import are_trees
from deptree_cli.core.samplers import SAMPLERS, names, sampler
from deptree_cli.core.sentence import Sentence

LINES = sorted(SAMPLERS)
SERVED = [(name, root == "single") for name in LINES for root in SAMPLERS[name].roots]

# Weights next to each other, and as far apart as a product of six of them in float64 allows.
EXTREME = [0.0, 1e-40, 1e-15, 0.5, 1.0 - 1e-15, 1.0, 1.0 + 1e-15, 1e15]


@pytest.mark.parametrize("name", LINES)
def test_lines_are_complete(name: str) -> None:
    line = SAMPLERS[name]
    assert line.name == name
    assert line.roots
    assert set(line.roots) <= {"single", "multi"}
    assert line.cost
    assert line.source
    for target in filter(None, [line.target, line.root_probs]):
        file, function = target.split(":")
        assert callable(getattr(import_module(f"deptree_cli.core.samplers.{file}"), function))


def test_names_are_unique_and_found() -> None:
    module = import_module("deptree_cli.core.samplers")
    assert len({line.name for line in module._LINES}) == len(module._LINES) == len(SAMPLERS)
    assert names() == list(SAMPLERS)
    assert set(names(True)) | set(names(False)) == set(SAMPLERS)
    assert sampler("auto") is SAMPLERS["auto"]
    with pytest.raises(DeptreeError, match=r"there is no sampler 'wilsn'\. Choose one of auto, elimination, "):
        sampler("wilsn")


def test_each_root_constraint_has_an_exact_default() -> None:
    assert SAMPLERS["auto"].exact
    assert SAMPLERS["auto"].roots == ("single", "multi")
    assert [name for name in LINES if not SAMPLERS[name].exact] == ["wilson-rc"]


@pytest.mark.parametrize(("name", "single_root"), SERVED)
def test_shape_and_type(name: str, single_root: bool, graphs) -> None:
    for n, size in [(1, 3), (2, 1), (5, 100)]:
        heads = SAMPLERS[name].draw(graphs.sentence(graphs.gaussian(n), single_root), size, np.random.default_rng(1))
        assert heads.shape == (size, n)
        assert heads.dtype == np.int32
        assert are_trees(heads, single_root).all()


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid value")
@pytest.mark.parametrize(("name", "single_root"), SERVED)
def test_no_trees_at_all(name: str, single_root: bool, graphs) -> None:
    sentence = graphs.sentence(graphs.gaussian(3), single_root)
    assert SAMPLERS[name].draw(sentence, 0, np.random.default_rng(1)).shape == (0, 3)


@pytest.mark.parametrize("name", LINES)
def test_a_root_constraint_not_served_is_refused(name: str, graphs) -> None:
    for single_root in (True, False):
        if SAMPLERS[name].serves(single_root):
            SAMPLERS[name].check_serves(single_root)
            continue
        with pytest.raises(DeptreeError) as caught:
            SAMPLERS[name].draw(graphs.sentence(graphs.uniform(2), single_root), 1, np.random.default_rng(0))
        wanted = "single-root trees" if single_root else "spanning trees with several roots"
        assert f"the sampler {name} does not draw {wanted}" in str(caught.value)
        assert ("or add --multi-root" if single_root else "or leave out --multi-root") in str(caught.value)
        assert "auto, elimination" in str(caught.value)


@pytest.mark.parametrize(("name", "single_root"), SERVED)
def test_the_stream_decides_everything(name: str, single_root: bool, graphs) -> None:
    """One stream, one result, whatever was computed before on the same sentence; another stream, another result."""
    log_scores = graphs.gaussian(6)
    sentence = graphs.sentence(log_scores, single_root)
    first = SAMPLERS[name].draw(sentence, 200, np.random.default_rng(3))
    np.random.seed(5)  # the global generator must not matter
    assert np.array_equal(SAMPLERS[name].draw(sentence, 200, np.random.default_rng(3)), first)
    fresh = graphs.sentence(log_scores, single_root)
    assert np.array_equal(SAMPLERS[name].draw(fresh, 200, np.random.default_rng(3)), first)
    assert not np.array_equal(SAMPLERS[name].draw(sentence, 200, np.random.default_rng(4)), first)


@pytest.mark.parametrize(("name", "single_root"), SERVED)
def test_one_stream_goes_on(name: str, single_root: bool, graphs) -> None:
    sentence, rng = graphs.sentence(graphs.gaussian(6), single_root), np.random.default_rng(3)
    first, second = (SAMPLERS[name].draw(sentence, 100, rng) for _ in range(2))
    assert not np.array_equal(first, second)


def random_tree(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The heads of some single-root tree."""
    order, heads = rng.permutation(n) + 1, np.zeros(n, dtype=np.int64)
    for place in range(1, n):
        heads[order[place] - 1] = order[rng.integers(place)]
    return heads


def random_sentence(n: int, seed: int, single_root: bool) -> Sentence:
    """Extreme weights, among them zeros; one tree is kept possible."""
    rng = np.random.default_rng(seed)
    weights = rng.choice(EXTREME, size=(n + 1, n + 1))
    weights[rng.random(weights.shape) < rng.random()] = 0.0
    arcs = random_tree(n, rng), np.arange(1, n + 1)
    weights[arcs] = rng.choice(EXTREME[1:], size=n)
    return Sentence.from_scores(weights, single_root=single_root)


@pytest.mark.parametrize(("name", "single_root"), SERVED)
@given(n=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_only_trees_and_never_a_forbidden_arc(name: str, single_root: bool, n: int, seed: int) -> None:
    sentence = random_sentence(n, seed, single_root)
    heads = SAMPLERS[name].draw(sentence, 40, np.random.default_rng(seed))
    assert are_trees(heads, single_root).all()
    assert (sentence.log_weights(heads) > -np.inf).all()


@pytest.mark.parametrize(("name", "single_root"), SERVED)
def test_saturated_words_do_not_hold_a_sampler_up(name: str, single_root: bool, graphs) -> None:
    """Unguarded, a walk out of words that choose each other with probability 1 - 1e-12 takes 1e12 steps, some hours;
    with a budget of 1e6 steps for the first 32 trees it is a tenth of a second. Five seconds are for a slow machine."""
    sentences = [graphs.sentence(graphs.saturated(n), single_root) for n in (4, 20)]
    for sentence in sentences:
        SAMPLERS[name].draw(sentence, 1, np.random.default_rng(0))  # compile
        start = time.perf_counter()
        heads = SAMPLERS[name].draw(sentence, 1000, np.random.default_rng(1))
        assert time.perf_counter() - start < 5
        assert are_trees(heads, single_root).all()


@pytest.mark.parametrize(("name", "single_root"), SERVED)
@pytest.mark.parametrize("log_gap", [1000.0, 1e9])
def test_trees_beyond_the_range_of_float64(name: str, single_root: bool, log_gap: float, graphs) -> None:
    sentence = graphs.sentence(graphs.disconnected(6, log_gap), single_root)
    heads = SAMPLERS[name].draw(sentence, 100, np.random.default_rng(2))
    assert are_trees(heads, single_root).all()
    crossings = (heads == 0) | ((heads > 3) != (np.arange(1, 7) > 3))
    assert (crossings.sum(axis=1) == 2).all()  # ROOT to one half, and from there or from ROOT to the other


def test_bias_is_known_where_it_has_a_closed_form(graphs) -> None:
    sentence = graphs.sentence(graphs.figure1())
    assert SAMPLERS["wilson-rc"].bias(sentence) == pytest.approx(1 / 6, abs=1e-15)
    assert all(SAMPLERS[name].bias(sentence) is None for name in LINES if SAMPLERS[name].exact)
