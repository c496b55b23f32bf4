"""xoshiro256++ against its definition in integers, and numbers in [0, 1) made of it."""

from __future__ import annotations

import numpy as np
from numba import config, njit

from deptree_cli.kernels.xoshiro import step, uniform

MASK = 2**64 - 1


@njit
def draw_uniform(state, count):
    out = np.empty(count)
    for i in range(count):
        out[i] = uniform(state)
    return out


@njit
def one_step(state):
    bits, s0, s1, s2, s3 = step(state[0], state[1], state[2], state[3])
    return bits, s0, s1, s2, s3


def rotl(x: int, k: int) -> int:
    return ((x << k) | (x >> (64 - k))) & MASK


def reference(s: list[int]) -> int:
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


def test_a_published_start() -> None:
    """The first outputs from the state 1, 2, 3, 4, as in the test vectors of rand_xoshiro and others."""
    state, expected = np.array([1, 2, 3, 4], dtype=np.uint64), [41943041, 58720359, 3588806011781223, 3591011842654386]
    for output in expected:
        bits, *rest = one_step(state)
        assert int(bits) == output
        state = np.array(rest, dtype=np.uint64)


def test_a_thousand_steps() -> None:
    state = np.random.default_rng(1).integers(0, 2**64, size=4, dtype=np.uint64)
    plain = [int(x) for x in state]
    for _ in range(1000):
        bits, *rest = one_step(state)
        assert int(bits) == reference(plain)
        state = np.array(rest, dtype=np.uint64)
        assert [int(x) for x in state] == plain


def test_uniform_takes_the_upper_53_bits_and_advances_the_state() -> None:
    state = np.random.default_rng(2).integers(0, 2**64, size=4, dtype=np.uint64)
    plain = [int(x) for x in state]
    expected = [(reference(plain) >> 11) / 2**53 for _ in range(500)]
    assert draw_uniform(state, 500).tolist() == expected
    assert [int(x) for x in state] == plain


def test_uniform_is_uniform() -> None:
    """H0: uniform on [0, 1). A million numbers in 1,000 cells of 1,000 each; chi-square with 999 degrees of freedom has
    mean 999 and standard deviation 44.7: below 999 + 5 * 44.7 = 1,222, which chance misses once in about a million.
    (20 in each cell without compilation, a hundred times as slow.)"""
    count = 20_000 if config.DISABLE_JIT else 1_000_000
    numbers = draw_uniform(np.array([5, 6, 7, 8], dtype=np.uint64), count)
    assert 0.0 <= numbers.min() < numbers.max() < 1.0
    counts = np.bincount((numbers * 1000).astype(int), minlength=1000)
    assert ((counts - count / 1000) ** 2 / (count / 1000)).sum() < 1222
