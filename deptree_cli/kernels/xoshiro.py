"""xoshiro256++ (Blackman and Vigna 2019): the random bits of every kernel.

A state is a uint64 array of length 4, seeded from a sentence's own `numpy.random.Generator`. Passing a Generator itself
to a kernel costs more per call than many a kernel does.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

U64 = np.uint64
TO_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@kernel
def rotate_left(x, k):
    """Return x with its bits moved up by k places, those that drop out at the top coming in at the bottom."""
    return (x << U64(k)) | (x >> U64(64 - k))


@kernel
def step(s0, s1, s2, s3):
    """Return 64 random bits and the four words of the next state, given those of this one in local variables."""
    bits = rotate_left(s0 + s3, 23) + s0
    t = s1 << U64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    return bits, s0, s1, s2, rotate_left(s3, 45)


@kernel
def uniform(state):
    """Return a float64 from [0, 1) with 53 random bits, and advance `state`."""
    bits, state[0], state[1], state[2], state[3] = step(state[0], state[1], state[2], state[3])
    return np.float64(bits >> U64(11)) * TO_UNIT
