"""xoshiro256++ against its definition in integers, numbers in [0, 1) made of it, and draws by weight."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from deptree_cli.core.numbers import REAL, WIDE
from deptree_cli.kernels.categorical import NONE, draw_categorical
from deptree_cli.kernels.xoshiro import uniform
from tests.pearson import chi_square

MASK = 2**64 - 1


@njit
def draw_uniform(state, count):
    out = np.empty(count)
    for i in range(count):
        out[i] = uniform(state)
    return out


def rotl(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


def reference(s):
    """Blackman and Vigna's C code, next(), in Python's integers."""
    result = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
    t = (s[1] << 17) & MASK
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = rotl(s[3], 45)
    return result


def test_the_definition_gives_what_is_published():
    """The first outputs from the state 1, 2, 3, 4, as in the test vectors of rand_xoshiro and others."""
    state = [1, 2, 3, 4]
    assert [reference(state) for _ in range(4)] == [41943041, 58720359, 3588806011781223, 3591011842654386]


def test_uniform_takes_the_upper_53_bits_and_advances_the_state():
    state = np.random.default_rng(2).integers(0, 2**64, size=4, dtype=np.uint64)
    plain = state.tolist()
    assert draw_uniform(state, 500).tolist() == [(reference(plain) >> 11) / 2**53 for _ in range(500)]
    assert state.tolist() == plain


KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def numbers_of(kind, weights):
    with np.errstate(divide="ignore"):
        return kind.exp(np.log(weights))


def total_of(kind, weights):
    return kind.each(lambda part: part[0], numbers_of(kind, [sum(weights)]))


@KINDS
def test_draws_follow_the_weights(kind, draws, state):
    """H0: an index is drawn in proportion to its weight; chi-square, p < 1e-6 by chance."""
    weights = [0.05, 0.2, 0.4, 0.0, 0.35]
    numbers, total = numbers_of(kind, weights), total_of(kind, weights[1:])
    counts = np.bincount([draw_categorical(numbers, 1, 5, total, state) for _ in range(draws)], minlength=5)
    assert counts[[0, 3]].sum() == 0
    assert chi_square(counts[[1, 2, 4]], np.array([0.2, 0.4, 0.35]) / 0.95)[2] > 1e-6


@KINDS
@pytest.mark.parametrize(("weights", "total", "last"), [([0.0, 0.25, 0.25, 0.0], 0.75, 2), ([0.0] * 4, 0.0, NONE)])
def test_what_rounding_leaves_over_goes_to_the_last_possible_index(kind, weights, total, last):
    """The total is larger than the sum of weights, and the random number as large as there is: all bits set."""
    all_bits = np.array([MASK, 0, 0, 0], dtype=np.uint64)  # the first output is rotl(s0 + s3, 23) + s0
    assert draw_categorical(numbers_of(kind, weights), 0, 4, total_of(kind, [total]), all_bits) == last
