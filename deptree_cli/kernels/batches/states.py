"""The first numbers of many streams, without an object for each: those of NumPy's SFC64 (Doty-Humphrey).

It adds, shifts and rotates three words and a counter; NumPy leaves out the first twelve numbers.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import U64, rotate_left

SKIPPED = 12


@kernel
def fill_states(words, states):
    """Fill states (B, K) with the first K numbers of 64 bits of SFC64 seeded with words (B, 3)."""
    for i in range(states.shape[0]):
        a, b, c = words[i, 0], words[i, 1], words[i, 2]
        for step in range(SKIPPED + states.shape[1]):
            bits = a + b + U64(step + 1)
            a, b, c = b ^ (b >> U64(11)), c + (c << U64(3)), rotate_left(c, 24) + bits
            if step >= SKIPPED:
                states[i, step - SKIPPED] = bits
