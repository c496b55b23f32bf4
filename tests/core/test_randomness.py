"""All that takes random numbers: a Generator moves on, a seed does not, and without either no two calls agree."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deptree_cli import ALGORITHMS, SAMPLERS, TreeDistribution
from deptree_cli.bitext import AlignmentDistribution
from deptree_cli.core.combination import jensen_shannon
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.labels import label_stream
from deptree_cli.core.streams import kernel_state, offshoot, sentence_stream
from deptree_cli.hpyp import Parser
from deptree_cli.pruning import METHODS, expectations
from deptree_cli.second_order import SecondOrder

TREEBANK = Path(__file__).parents[2] / "sample_data" / "treebank.conllu"
N, K = 6, 20
RNG = np.random.default_rng(1)
SCORES = RNG.normal(size=(N + 1, N + 1))
FLAT = TreeDistribution(SCORES, id="x").labelled(("root", "a", "b", "c"), RNG.normal(size=(N + 1, N + 1, 4)))
HEADS = np.tile(FLAT.argmax(), (K, 1))
TAGS = ["DET", "NOUN", "VERB", "DET", "NOUN"] + ["ADP", "DET", "NOUN"] * 3
SENTENCE = (["the", "dog", "saw", "the", "cat"] + ["in", "the", "garden"] * 3, TAGS)
PAIR = AlignmentDistribution(4 * RNG.normal(size=(5, 5)), id="x")

Call = Callable[..., Any]


@cache
def parser() -> Parser:
    return Parser.train(TREEBANK, iterations=1, seed=1)


def alike(found: Any) -> tuple[Any, ...]:
    """What was drawn, to be compared."""
    if isinstance(found, np.ndarray):
        return tuple(found.ravel().tolist())
    parts = [getattr(found, name, None) for name in ("heads", "drawn", "labels", "arrivals", "expectations")]
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    return tuple(alike(part) for part in arrays) if arrays else (repr(found),)


def calls() -> dict[str, Call]:
    """Every public thing that takes rng and seed, by name."""
    found: dict[str, Call] = {
        "labels.draw": lambda *r, **s: FLAT.labels.draw(HEADS, *r, **s),
        "second order": lambda *r, **s: SecondOrder(SCORES).sample(K, *r, **s),
        "alignments": lambda *r, **s: PAIR.sample(K, *r, **s),
        "labelled": lambda *r, **s: FLAT.sample_without_replacement(K, *r, labelled=True, **s),
        "parser.filter": lambda *r, **s: parser().filter(SENTENCE, *r, **s, particles=50, draws=K),
        "parser.sample": lambda *r, **s: parser().sample(SENTENCE, K, *r, **s, particles=50),
        "parser.evidence": lambda *r, **s: parser().evidence(SENTENCE, *r, **s, particles=50),
        "parser.surprisal": lambda *r, **s: parser().surprisal(SENTENCE, *r, **s, particles=50),
        "parser.scores": lambda *r, **s: parser().scores(SENTENCE, *r, **s, particles=50).marginals(),
        "parser.generate": lambda *r, **s: parser().generate(K, *r, **s),
    }
    for trees in (FLAT, FLAT.multi_root()):
        for sampler in SAMPLERS:
            if sampler.serves(trees.space):
                found[f"{sampler.name} ({trees.space.name})"] = lambda *r, t=trees, n=sampler.name, **s: t.sample(
                    K, *r, sampler=n, **s
                )
    for name in ALGORITHMS.names:
        found[name] = lambda *r, n=name, **s: FLAT.sample_without_replacement(K, *r, algorithm=n, **s)
        found[f"{name}, labelled"] = lambda *r, n=name, **s: FLAT.sample_without_replacement(
            K, *r, algorithm=n, labelled=True, **s
        )
    for method in METHODS:
        if method.is_random and method.goes_on:
            found[method.name] = lambda *r, n=method.name, **s: expectations(
                PAIR.program(), n, *r, **s, iterations=20, kept=1
            )
    return found


CALLS = calls()
EACH = pytest.mark.parametrize("name", CALLS)


@EACH
def test_a_generator_moves_on(name: str) -> None:
    """Two calls with one Generator differ, and its state with them; two Generators alike agree."""
    call, rng, twin = CALLS[name], np.random.default_rng(5), np.random.default_rng(5)
    states, found = [repr(rng.bit_generator.state)], []
    for _ in range(3):
        found.append(alike(call(rng)))
        states.append(repr(rng.bit_generator.state))
    assert len(set(states)) == 4
    assert len(set(found)) == 3
    assert found == [alike(call(twin)) for _ in range(3)]


@EACH
def test_a_state_put_back_gives_the_same_again(name: str) -> None:
    call, rng = CALLS[name], np.random.default_rng(5)
    call(rng)
    state = rng.bit_generator.state
    first = alike(call(rng))
    rng.bit_generator.state = state
    assert alike(call(rng)) == first


@EACH
def test_a_seed_stays_where_it_is(name: str) -> None:
    call = CALLS[name]
    first = alike(call(5))
    assert alike(call(seed=5)) == alike(call(np.int64(5))) == alike(call(5)) == first
    assert alike(call(6)) != first


@EACH
def test_without_a_seed_there_is_a_fresh_one(name: str) -> None:
    call = CALLS[name]
    assert len({alike(call()) for _ in range(4)}) > 1


@pytest.mark.parametrize(
    "given", [-1, 1.5, "7", True, np.random.RandomState(1)], ids=lambda given: type(given).__name__
)
def test_what_is_no_seed_is_refused(given: Any) -> None:
    with pytest.raises(DeptreeError) as caught:
        FLAT.sample(K, given)
    assert f"{given!r} is not a seed. Give an integer of 0 or more, or a numpy.random.Generator." in str(caught.value)


@EACH
def test_everything_that_takes_a_seed_checks_it(name: str) -> None:
    with pytest.raises(DeptreeError, match="-1 is not a seed"):
        CALLS[name](-1)
    with pytest.raises(DeptreeError, match="rng and seed are both given"):
        CALLS[name](1, seed=2)


def test_labels_of_a_seed_are_those_of_the_command() -> None:
    trees = FLAT.sample(K, 7)
    expected = FLAT.labels.draw_by(trees, label_stream(sentence_stream(7, "x")))
    np.testing.assert_array_equal(FLAT.labels.draw(trees, seed=7), expected)


def test_labels_of_a_generator_follow_their_probabilities() -> None:
    """H0: one Generator, 20,000 calls for one tree: labels of an arc are drawn by P(label | arc). Chi-square, p > 1e-3;
    with the same labels at every call it would be below 1e-300."""
    rng, heads = np.random.default_rng(3), FLAT.argmax()[None]
    word = int(np.flatnonzero(heads[0])[0])
    drawn = [int(FLAT.labels.draw(heads, rng)[0, word]) for _ in range(20_000)]
    probs = FLAT.labels.probs[heads[0, word], word + 1, 1:]
    assert stats.chisquare(np.bincount(drawn, minlength=4)[1:], probs * 20_000).pvalue > 1e-3


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_kernels_get_64_bits_of_every_generator(kind: Any) -> None:
    """H0: each of 64 bits is set in half of 4,000 numbers, within 6 standard deviations of 31.6 (p of about 1e-7).

    MT19937's own numbers have 32 bits.
    """
    state = kernel_state(np.random.Generator(kind(1)), 4_000)
    bits = np.array([((state >> np.uint64(bit)) & np.uint64(1)).sum() for bit in range(64)])
    assert np.abs(bits - 2_000.0).max() < 6 * 31.6


def test_the_first_of_many_bits_decides_nothing() -> None:
    """H0: MT19937 draws the best tree by its probability. 20,000 single draws, within 5 standard deviations."""
    best, rng = FLAT.argmax(), np.random.Generator(np.random.MT19937(1))
    p = float(np.exp(FLAT.log_prob(best)))
    hits = sum(bool((FLAT.sample(1, rng, "elimination")[0] == best).all()) for _ in range(20_000))
    assert abs(hits / 20_000 - p) < 5 * np.sqrt(p * (1 - p) / 20_000)


def test_offshoots_differ() -> None:
    rng = np.random.default_rng(2)
    assert len({offshoot(rng).random() for _ in range(5)}) == 5
    assert len({label_stream(offshoot(rng)).random() for _ in range(5)}) == 5


def test_comparisons_move_on() -> None:
    rng, other = np.random.default_rng(2), TreeDistribution(np.zeros((N + 1, N + 1)))
    assert jensen_shannon(FLAT, other, 50, rng) != jensen_shannon(FLAT, other, 50, rng)
