"""log Z, marginals and their derivatives in JAX against enumeration and the core; shapes; and what is refused."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import deptree_cli.jax as wing
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES
from deptree_cli.jax import argmax, entropy, log_partition, marginals, sample, stochastic_beam_search
from deptree_cli.jax.sums import _called
from tests.bounded import bounded
from tests.heads_first import HEADS_FIRST

STATIC = ("single_root", "projective", "implementation")
KINDS = pytest.mark.parametrize("projective", [False, True], ids=["all trees", "projective"])

# Kernels sum over every space of trees, plain JAX where arcs may cross.
WAYS = pytest.mark.parametrize(
    ("sentences", "implementation"),
    [(space, "kernels") for space in SPACES] + [(space, "device") for space in SPACES if not space.projective],
    indirect=["sentences"],
    ids=lambda part: getattr(part, "name", part),
)
SUMS = pytest.mark.parametrize(
    ("projective", "implementation"), [(False, "device"), (False, "kernels"), (True, "kernels")], ids=str
)

# No float holds e^-1000, which the last sentence needs.
IN_RANGE = {"kernels": slice(6), "device": slice(5)}

SIX, DEVICE = np.zeros((6, 5, 5), dtype=np.float32), {"implementation": "device"}


@partial(jax.jit, static_argnames=STATIC)
def summed(scores, **how):
    return log_partition(scores, **how).sum()


gradient = jax.jit(jax.grad(summed), static_argnames=STATIC)


@partial(jax.jit, static_argnames=STATIC)
def forwards(scores, direction, **how):
    """The second derivative in a direction, forwards over backwards."""
    return jax.jvp(lambda scores: gradient(scores, **how), (scores,), (direction,))[1]


@partial(jax.jit, static_argnames=STATIC)
@jax.grad
def backwards(scores, direction, **how):
    return (gradient(scores, **how) * direction).sum()


@WAYS
def test_values_are_those_of_enumeration(sentences, implementation, x64):
    how = {**sentences.how, "implementation": implementation}
    for dtype, digits in ((np.float32, 2e-6), (np.float64, 1e-13)):
        known, scores = IN_RANGE[implementation], sentences.log_scores.astype(dtype)
        log_z, probs = jax.jit(lambda x: (log_partition(x, **how), marginals(x, **how)))(scores)
        assert log_z.dtype == dtype
        np.testing.assert_allclose(log_z[known], [oracle.log_z for oracle in sentences.oracles][known], rtol=digits)
        expected = sentences.padded([oracle.marginals() for oracle in sentences.oracles])
        np.testing.assert_allclose(probs[known], expected[known], atol=digits)
        assert not np.asarray(probs)[~sentences.counted()][known].any()
        assert (np.asarray(probs)[known] >= 0).all()


@WAYS
def test_the_gradient_are_the_marginals(sentences, implementation):
    known, how = IN_RANGE[implementation], sentences.how | {"implementation": implementation}
    how["lengths"] = how["lengths"][known]
    scores = sentences.log_scores[known]
    found, expected = np.asarray(gradient(scores, **how)), marginals(scores, **how)
    np.testing.assert_array_equal(found, expected)
    assert not found[~sentences.counted()[known]].any()
    direction = np.random.default_rng(0).normal(size=scores.shape).astype(np.float32)
    _, tangent = jax.jvp(lambda scores: summed(scores, **how), (scores,), (direction,))
    assert tangent == pytest.approx(float((found * direction).sum()), rel=1e-5)
    one = jax.vmap(lambda scores, n: marginals(scores, n, sentences.space.name, implementation))
    np.testing.assert_allclose(one(scores, how["lengths"]), expected, atol=1e-7)


@WAYS
def test_second_derivatives_are_those_of_finite_differences(sentences, implementation, x64):
    """The sentence e^-1000 apart included; and 0 where nothing counts."""
    known, how = IN_RANGE[implementation], sentences.how | {"implementation": implementation}
    how["lengths"] = how["lengths"][known]
    scores, counted = sentences.log_scores[known].astype(np.float64), sentences.counted()[known]
    direction = np.where(counted, np.random.default_rng(1).normal(size=scores.shape), 0.0)
    found = forwards(scores, direction, **how)
    step = 1e-5 * direction
    expected = (gradient(scores + step, **how) - gradient(scores - step, **how)) / 2e-5
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(backwards(scores, direction, **how), found, atol=1e-13)
    assert not np.asarray(backwards(scores, direction, **how))[~counted].any()
    assert np.abs(found).max() > 0.1


@KINDS
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_directions_that_are_not_finite_pass_on_as_nan(projective, bad, graphs):
    """Forwards and backwards: at all arcs of their sentence; the other has the derivatives that it had."""
    scores = np.stack([graphs.gaussian(3, seed=b) for b in range(2)]).astype(np.float32)
    direction = np.random.default_rng(1).normal(size=scores.shape).astype(np.float32)
    how = {"single_root": True, "projective": projective}
    for ask in (forwards, backwards):
        direction[0, 1, 2] = 1.0
        expected = ask(scores, direction, **how)
        direction[0, 1, 2] = bad
        found = np.asarray(bounded(lambda ask=ask: ask(scores, direction, **how)))
        np.testing.assert_array_equal(np.isnan(found[0]), np.asarray(marginals(scores, **how))[0] > 0)
        np.testing.assert_array_equal(found[1], expected[1])


def test_a_third_derivative_is_refused(sentences):
    def slope(scores):
        return jax.grad(lambda x: entropy(x, **sentences.how).sum())(scores).sum()

    line = r"^a third derivative of log Z is asked for, .*\. Differentiate once less"
    for ask in (jax.grad(slope), jax.jit(jax.grad(slope)), jax.hessian(lambda x: entropy(x, **sentences.how).sum())):
        with pytest.raises(DeptreeError, match=line):
            ask(sentences.log_scores)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_plain_jax_is_right_or_says_that_it_is_not(single_root, dtype, x64):
    """200 graphs of up to 8 words with log-scores of scale 1 to 100 (500 in float64), some of them forbidden, masked or
    with offsets, against the core: of the right ones the errors, of others NaN, which are few."""
    rng, digits = np.random.default_rng(1), np.finfo(dtype).eps
    lengths, scores = rng.integers(1, 9, 200), rng.normal(size=(200, 9, 9))
    scores *= 10 ** rng.uniform(0, 2 if dtype == np.float32 else 2.7, (200, 1, 1))
    scores += rng.normal(size=(200, 1, 9)) * rng.choice([0, 1000], (200, 1, 1))
    scores[rng.random(scores.shape) < rng.choice([0, 0.2, 0.4], (200, 1, 1))] = -np.inf
    scores[rng.random(scores.shape) < rng.choice([0, 0.2], (200, 1, 1))] -= 1e6
    scores = scores.astype(dtype)
    how = {"lengths": lengths, "single_root": single_root, "projective": False}
    both = [partial(ask, **how, implementation=name) for name in IN_RANGE for ask in (log_partition, marginals)]
    expected, exact, log_z, probs = map(np.asarray, jax.jit(lambda x: [ask(x) for ask in both])(scores))
    np.testing.assert_array_equal(np.isneginf(log_z), np.isneginf(expected))
    unknown = np.isnan(log_z)
    assert 0 < unknown.sum() < 40
    assert np.isnan(probs[unknown, 0, 1]).all()
    np.testing.assert_allclose(probs[~unknown], exact[~unknown], atol=30 * digits)
    known = np.isfinite(log_z)
    largest = np.abs(np.where(np.isfinite(scores), scores, 0)).max((1, 2))
    assert (np.abs(log_z[known] - expected[known]) <= 30 * digits * largest[known]).all()
    b = int(np.flatnonzero(unknown)[0])
    with pytest.raises(DeptreeError, match=rf"^sentence 0 of the batch: its sums leave the range of {dtype.__name__}"):
        log_partition(scores[b : b + 1], lengths[b : b + 1], single_root=single_root, **DEVICE)


@KINDS
def test_masks_that_no_tree_needs_are_as_good_as_forbidding(projective, graphs):
    plain = np.stack([graphs.gaussian(4, 3.0, seed=b) for b in range(6)]).astype(np.float32)
    masked = plain.copy()
    plain[1:, [1, 3, 0], [3, 2, 4]] = -np.inf
    masked[1:, [1, 3, 0], [3, 2, 4]] = np.array([-1e6, -1e9, -1e12, -9e14, -1e15], np.float32)[:, None]
    direction = np.random.default_rng(0).normal(size=plain.shape).astype(np.float32)
    how = {"lengths": np.full(6, 4), "single_root": True, "projective": projective}

    @jax.jit
    def answers(x):
        h, slope = jax.value_and_grad(lambda x: entropy(x, **how).sum())(x)
        return log_partition(x, **how), marginals(x, **how), h, slope, backwards(x, direction, **how)

    for found, expected in zip(answers(masked), answers(plain), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


@SUMS
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masks_that_no_tree_needs_cost_no_digits(single_root, projective, implementation, dtype, x64, graphs):
    """log Z, and its gradient: of a padded batch in which word 2 can only hang on ROOT."""
    masked, lengths = np.stack([graphs.gaussian(5, 3, seed=b) for b in range(4)]).astype(dtype), np.array([5, 4, 5, 3])
    masked[:, 1:, 2] = np.array([-1e4, -1e6, -1e9, -9e14])[:, None]
    plain, probs, log_z = masked.astype(np.float64), np.zeros(masked.shape), []
    plain[:, 1:, 2] = -np.inf
    for own, n, out in zip(plain, lengths.tolist(), probs, strict=True):
        sentence = TreeDistribution(own[: n + 1, : n + 1], single_root=single_root, projective=projective)
        log_z.append(sentence.log_partition)
        out[: n + 1, : n + 1] = sentence.marginals()
    how = {"lengths": lengths, "single_root": single_root, "projective": projective, "implementation": implementation}
    digits = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(log_partition(masked, **how), log_z, rtol=digits, atol=digits)
    np.testing.assert_allclose(gradient(masked, **how), probs, rtol=0, atol=digits)


def test_half_precision_is_computed_in_single(graphs):
    scores = jnp.asarray(graphs.gaussian(3), jnp.bfloat16)
    found = log_partition(scores)
    assert found.dtype == jnp.float32
    assert found == log_partition(scores.astype(jnp.float32))
    assert jax.grad(log_partition)(scores).dtype == jnp.bfloat16


@SUMS
def test_compiled_code_gives_minus_infinity_and_gradients_of_0(projective, implementation):
    """Of sentence 1, of which two words hang on ROOT only, or by arcs that cross."""
    scores = SIX.copy()
    scores[1, 1:, 2:4] = -np.inf
    if projective:
        scores[1] = 0
        scores[1, [0, 2, 4], 3] = scores[1, [0, 1, 3], 4] = -np.inf
        line = r"^sentence 1 of the batch: no projective tree is possible: the arcs 1 -> 3 and 2 -> 4 cross"
        for ask in (log_partition, marginals, argmax, entropy, partial(sample, jax.random.key(0), k=2)):
            with pytest.raises(DeptreeError, match=line):
                ask(log_scores=scores, projective=True)
    how = {"single_root": True, "projective": projective, "implementation": implementation}
    found = jax.jit(partial(log_partition, **how))(scores)
    np.testing.assert_array_equal(np.isneginf(found), np.arange(6) == 1)
    other = {"projective": False} if projective else {"single_root": False}  # where there is a tree
    assert np.isfinite(log_partition(scores, **how | other)).all()
    slopes = np.asarray(gradient(scores, lengths=np.full(6, 4), **how))
    assert not slopes[1].any()
    np.testing.assert_allclose(slopes[0].sum(0)[1:], 1, rtol=1e-6)


@pytest.mark.parametrize(("bad", "projective"), [(9, False), (5, True), (0, False), (-1, True)])
def test_lengths_that_cannot_be(bad, projective):
    """Of four words: an error in a line, or NaN for that sentence alone where lengths are traced."""
    lengths = np.array([4, bad, 4, 4, 4, 4])
    for ask in (log_partition, marginals, entropy):
        with pytest.raises(DeptreeError, match=f"sentence 1 of the batch: the length is {bad}, not from 1 to 4"):
            ask(SIX, lengths, projective=projective)
        found = jax.jit(ask, static_argnames="projective")(SIX, lengths, projective=projective)
        np.testing.assert_array_equal(np.isnan(found).reshape(6, -1).all(1), np.arange(6) == 1)
    if not projective:
        found = jax.jit(log_partition, static_argnames="implementation")(SIX, lengths, implementation="device")
        np.testing.assert_array_equal(np.isnan(found), np.arange(6) == 1)


@pytest.mark.parametrize(
    ("scores", "options", "says"),
    [
        (SIX[0, :4, :3], {}, r"shape \(4, 3\)"),
        (SIX, {"lengths": [1, 2, 3]}, r"lengths have shape \(3,\)"),
        (SIX[0].astype(np.complex64), {}, "the log-scores are complex64, not real numbers"),
        ([["1", "2"], ["3", "4"]], {}, "the log-scores are not an array of numbers"),
        (jax.random.key(0), {}, r"the log-scores are key<.*>, not real numbers"),
        (SIX, {"multiroot": True}, r"unexpected keyword argument 'multiroot'.*single_root=False"),
        (SIX, {"implementation": "devices"}, r"unknown implementation 'devices'.*device"),
        (SIX, {"projective": True, **DEVICE}, r"^projective trees are summed by kernels only\. Leave"),
        (SIX, {"space": True}, r"^there is no tree space 'True'\. Choose one of single-root, "),
        (SIX, {"space": "projective", "single_root": False}, '^`space="projective"` contradicts `single_root=False`'),
        (SIX, {"space": HEADS_FIRST}, "^JAX has no sums over trees whose heads all precede"),
    ],
)
def test_what_cannot_be_read_or_is_not_offered_is_refused(scores, options, says):
    for ask in (log_partition, marginals):
        with pytest.raises(TypeError if "multiroot" in options else DeptreeError, match=says):
            ask(scores, **options)


def test_other_refusals():
    with pytest.raises(
        DeptreeError, match=r"^beam search draws non-projective trees only\. Use sample_without_replace"
    ):
        stochastic_beam_search(jax.random.key(0), SIX, 2, projective=True)
    for option in ("single_root", "projective"):
        with pytest.raises(DeptreeError, match=rf"^`{option}` is traced\. Pass True or False, static under jit"):
            jax.jit(log_partition)(SIX, **{option: True})
    # where float64 is enabled for a block of code, a thread of JAX's own may call back, which knows of no float64
    with pytest.raises(DeptreeError, match=r"^float64 is enabled for a part of the program, .*jax_enable_x64"):
        _called(lambda scores: [scores], np.zeros((3, 3)))


def test_nan_is_refused_or_stays_nan_but_in_padding():
    scores, lengths = SIX.copy(), np.full(6, 4)
    scores[1, 2, 4] = np.nan
    with pytest.raises(DeptreeError, match=r"sentence 1 of .* score of 2 -> 4 \(nan\) is NaN.*forbid such arcs: "):
        marginals(scores)
    assert np.isnan(gradient(scores, lengths=lengths, single_root=True, projective=False)[1]).any()
    lengths[1] = 3
    assert np.isfinite(marginals(scores, lengths)).all()


KEY, HEADS = jax.random.key(0), np.array([-1, 2, 0])

# With the shapes of the results, of which B is the shape of the batch: k is 2, N is 3.
FUNCTIONS = {
    "log_partition": (wing.log_partition, "B"),
    "log_partition on the device": (partial(wing.log_partition, **DEVICE), "B"),
    "marginals": (wing.marginals, "B33"),
    "log_prob": (lambda log_scores: wing.log_prob(log_scores, jnp.broadcast_to(HEADS, log_scores.shape[:-1])), "B"),
    "entropy": (wing.entropy, "B"),
    "cross_entropy": (lambda log_scores: wing.cross_entropy(log_scores, log_scores), "B"),
    "kl": (lambda log_scores: wing.kl(log_scores, log_scores), "B"),
    "argmax": (wing.argmax, "B3"),
    "mbr": (wing.mbr, "B3"),
    "top_k": (partial(wing.top_k, k=2), "2B3"),
    "sample": (partial(wing.sample, KEY, k=2), "2B3"),
    "sample_without_replacement": (partial(wing.sample_without_replacement, KEY, k=2), "2B3 2B 2B B"),
    "stochastic_beam_search": (partial(wing.stochastic_beam_search, KEY, k=2), "2B3 2B 2B B"),
}


@pytest.mark.parametrize("batch", [(), (0,)], ids=["one sentence", "no sentence"])
def test_shapes_of_every_function(batch, quick):
    scores = np.random.default_rng(0).normal(size=(*batch, 3, 3)).astype(np.float32)

    def answers(scores):
        return {name: jax.tree.leaves(ask(log_scores=scores)) for name, (ask, _) in FUNCTIONS.items()}

    found, compiled = answers(scores), jax.jit(answers)(scores)
    assert {name for name in wing.__all__ if name.islower()} <= found.keys()
    for name, (_, shapes) in FUNCTIONS.items():
        letters = {"B": batch, "2": (2,), "3": (3,)}
        assert [part.shape for part in found[name]] == [sum(map(letters.get, each), ()) for each in shapes.split()]
        for part, other in zip(found[name], compiled[name], strict=True):
            np.testing.assert_allclose(part, other, rtol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sentence_without_a_tree_is_named(name, quick):
    scores = np.zeros((3, 3, 3), dtype=np.float32)
    scores[1, :, 2] = -np.inf
    with pytest.raises(DeptreeError, match=r"^sentence 1 of the batch: no single-root tree .* word 2 has no head"):
        FUNCTIONS[name][0](log_scores=scores)


def test_a_long_chain_is_a_tree():
    assert float(log_partition(np.where(np.eye(8, k=1), 0.0, -np.inf), implementation="device")) == 0.0


def test_without_jax_there_is_a_line():
    program = "import sys; sys.modules['jax'] = None; import deptree_cli.jax"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1] == "ImportError: deptree_cli.jax needs JAX: pip install 'deptree-cli[jax]'"
    assert ended.stderr.count("Traceback") == 1
