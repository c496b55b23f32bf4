"""A batch equals its sentences: whatever route a question takes, each sentence is answered as by itself.

Routes are rows of one table, questions its columns; each is asked about the trees of every space.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli import TreeDistribution
from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.blocks import starts_of
from deptree_cli.core.spaces import SPACES

Float = NDArray[np.float64]
QUESTIONS = ("log_partition", "marginals", "covariance")
LENGTHS = [4, 1, 14, 6, 2, 9, 3, 53]  # 53 words go side by side in float32 only


def padded(sentences, rubbish, dtype=np.float64):
    size = max(map(len, sentences)) + 1
    scores = np.full((len(sentences), size, size), rubbish, dtype)
    for out, given in zip(scores, sentences, strict=True):
        out[: len(given), 1 : len(given)] = given[:, 1:]
        np.fill_diagonal(out, rubbish)
    return scores


def lengths_of(sentences):
    return np.array([len(each) - 1 for each in sentences])


def by_batch(batch, question, values):
    before = batch.log_scores.tobytes()
    found = {
        "log_partition": batch.log_partitions,
        "marginals": lambda: batch.log_partitions_and_marginals()[1],
        "covariance": lambda: batch.covariances(values),
    }[question]()
    assert batch.log_scores.tobytes() == before
    return found


def in_padding(dtype, precision):
    def ask(sentences, space, question, values):
        scores, directions = padded(sentences, np.nan, dtype), padded(values, np.nan, dtype)
        return by_batch(TreeBatch(scores, lengths_of(sentences), space, precision, 2), question, directions)

    return ask


def one_after_another(sentences, space, question, values):
    scores, directions = (np.concatenate([each.ravel() for each in some]) for some in (sentences, values))
    lengths = lengths_of(sentences)
    found = by_batch(TreeBatch(scores, lengths, space, side_by_side=False), question, directions)
    if question == "log_partition":
        return found
    ends = starts_of((lengths + 1) ** 2)[1:]
    return [part.reshape(n + 1, n + 1) for part, n in zip(np.split(found, ends), lengths, strict=True)]


def by_torch(sentences, space, question, values):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from deptree_cli.torch import log_partition

    scores, lengths = torch.tensor(padded(sentences, 99.0), requires_grad=True), torch.tensor(lengths_of(sentences))
    log_z = log_partition(scores, lengths, space)
    if question == "log_partition":
        return log_z.detach().numpy()
    (marginals,) = torch.autograd.grad(log_z.sum(), scores, create_graph=True)
    if question == "marginals":
        return marginals.detach().numpy()
    return torch.autograd.grad(marginals, scores, torch.tensor(padded(values, 0.0)))[0].numpy()


def by_jax(sentences, space, question, values):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    from deptree_cli.jax import log_partition

    with jax.enable_x64(True):
        lengths, names = jax.numpy.array(lengths_of(sentences)), space.name

        def total(scores):
            return log_partition(scores, lengths, names).sum()

        scores = jax.numpy.array(padded(sentences, 99.0))
        if question == "log_partition":
            return np.asarray(log_partition(scores, lengths, names))
        if question == "marginals":
            return np.asarray(jax.grad(total)(scores))
        return np.asarray(jax.jvp(jax.grad(total), (scores,), (jax.numpy.array(padded(values, 0.0)),))[1])


# Each route with the type that scores have there and the error that this and the precision allow.
ROUTES = {
    "padded": (in_padding(np.float64, "float64"), np.float64, 1e-13),
    "float32": (in_padding(np.float32, "float64"), np.float32, 1.2e-7),
    "in float32": (in_padding(np.float64, "float32"), np.float64, 3e-6),
    "one after another": (one_after_another, np.float64, 1e-13),
    "torch": (by_torch, np.float64, 1e-13),
    "jax": (by_jax, np.float64, 1e-13),
}
SENTENCES = {
    "parsers'": lambda graphs, space, n, seed: graphs.gaussian(n, 10, seed),
    "peaked": lambda graphs, space, n, seed: graphs.gaussian(n, 300, seed),
    "arcs forbidden": lambda graphs, space, n, seed: graphs.holes(
        min(n, 8), seed, space.single_root, 2, space.projective
    ),
    "far halves": lambda graphs, space, n, seed: graphs.disconnected(n, (0.0, 100.0, 640.0, 2000.0)[seed % 4], seed),
    "one way": lambda graphs, space, n, seed: graphs.one_way(n, seed),
    "offsets": lambda graphs, space, n, seed: graphs.gaussian(n, 3, seed) + np.arange(n + 1) * 2.0**20,
}


@pytest.mark.slow("compile")
@pytest.mark.parametrize("space", list(SPACES), ids=lambda space: space.name)
@pytest.mark.parametrize("kind", SENTENCES)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("route", ROUTES)
def test_a_batch_equals_its_sentences(graphs, route, question, kind, space):
    ask, dtype, atol = ROUTES[route]
    scores = [SENTENCES[kind](graphs, space, n, seed) for seed, n in enumerate(LENGTHS)]
    scores = [each.astype(dtype).astype(np.float64) for each in scores]
    values = [np.random.default_rng(n).normal(size=each.shape).astype(dtype) for n, each in enumerate(scores)]
    alone = [TreeDistribution(each, space=space) for each in scores]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = ask(scores, space, question, values)
    largest = {"log_partition": 10.0, "marginals": 1.0, "covariance": 10.0}[question]
    for answer, one, direction in zip(answers, alone, values, strict=True):
        if question == "log_partition":
            assert answer == pytest.approx(one.log_partition, rel=1e-6 if atol == 3e-6 else 1e-14, abs=atol * largest)
            continue
        expected = one.marginals()
        if question == "covariance":
            expected = one.factorisation.arc_covariance(np.where(one.support, direction, 0.0).astype(np.float64))
        found = answer[: one.n + 1, : one.n + 1]
        np.testing.assert_allclose(found, expected, rtol=1e-6 if atol > 1e-13 else 1e-12, atol=atol * largest)
        assert not found[np.isneginf(one.log_scores)].any()
        assert np.count_nonzero(answer) == np.count_nonzero(found)
