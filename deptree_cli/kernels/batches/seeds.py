"""The random states of many sentences: what NumPy's `SeedSequence` and PCG64 give, without an object for each.

After O'Neill 2014 (PCG; a generator of 128 bits, XSL-RR) and 2015 (`seed_seq`, as NumPy settled it): both are fixed for
good in NumPy's documentation of reproducible streams.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import U64

POOL = 4

# NumPy's constants: of the hash that mixes entropy, of the one that states come from, and of mixing two words.
INIT_A, MULT_A = U64(0x43B0D7E5), U64(0x931E8875)
INIT_B, MULT_B = U64(0x8B51F9DD), U64(0x58F38DED)
LEFT, RIGHT = U64(0xCA01F9DD), U64(0x4973F715)

# The multiplier of PCG64.
MULTIPLIER = U64(2549297995355413924), U64(4865540595714422341)

LOW = U64(0xFFFFFFFF)
HALF, BYTE = U64(32), U64(16)


@kernel
def hashed(word, constant, multiplier):
    """Return a word of 32 bits hashed, and the next constant."""
    word = (word ^ constant) & LOW
    constant = (constant * multiplier) & LOW
    word = (word * constant) & LOW
    return word ^ (word >> BYTE), constant


@kernel
def mixed(x, y):
    """Return two words of 32 bits mixed."""
    found = (LEFT * x - RIGHT * y) & LOW
    return found ^ (found >> BYTE)


@kernel
def fill_pool(entropy, pool):
    """Fill pool (4,) from at least as many words of 32 bits, as `SeedSequence` does."""
    constant = INIT_A
    for i in range(POOL):
        pool[i], constant = hashed(entropy[i], constant, MULT_A)
    for i in range(POOL):
        for j in range(POOL):
            if i != j:
                word, constant = hashed(pool[i], constant, MULT_A)
                pool[j] = mixed(pool[j], word)
    for i in range(POOL, entropy.shape[0]):
        for j in range(POOL):
            word, constant = hashed(entropy[i], constant, MULT_A)
            pool[j] = mixed(pool[j], word)


@kernel
def product(high, low, other_high, other_low):
    """Return the product of two numbers of 128 bits, halves of 64 bits, modulo 2^128."""
    a, b, c, d = low >> HALF, low & LOW, other_low >> HALF, other_low & LOW
    middle = a * d + ((b * d) >> HALF)
    rest = b * c + (middle & LOW)
    carried = a * c + (middle >> HALF) + (rest >> HALF)
    return high * other_low + low * other_high + carried, low * other_low


@kernel
def advanced(high, low, step_high, step_low):
    """Return the next state of PCG64."""
    high, low = product(high, low, *MULTIPLIER)
    total = low + step_low
    return high + step_high + (U64(1) if total < low else U64(0)), total


@kernel(allocates=True)
def fill_states(entropy, states):
    """Fill states (B, K) with the first K numbers of 64 bits of ``PCG64(SeedSequence(entropy[b]))``.

    entropy: (B, E), at least 4 words of 32 bits each, as uint64.
    """
    pool, seeds = np.empty(POOL, np.uint64), np.empty(POOL, np.uint64)
    for b in range(states.shape[0]):
        fill_pool(entropy[b], pool)
        constant = INIT_B
        for i in range(2 * POOL):
            word, constant = hashed(pool[i % POOL], constant, MULT_B)
            seeds[i // 2] = word if i % 2 == 0 else seeds[i // 2] | (word << HALF)
        step_high, step_low = (seeds[2] << U64(1)) | (seeds[3] >> U64(63)), (seeds[3] << U64(1)) | U64(1)
        low = step_low + seeds[1]
        high = step_high + seeds[0] + (U64(1) if low < seeds[1] else U64(0))
        high, low = advanced(high, low, step_high, step_low)
        for k in range(states.shape[1]):
            high, low = advanced(high, low, step_high, step_low)
            turns, bits = high >> U64(58), high ^ low
            states[b, k] = (bits >> turns) | (bits << ((U64(64) - turns) & U64(63)))
