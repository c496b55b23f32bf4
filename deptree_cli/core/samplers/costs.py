"""What elimination costs, in steps of a random walk: counts, not clocks, decide between the two.

A step takes about five nanoseconds while its tables fit into a cache, ten and more from 500 words on. Elimination takes
0.6 ns a multiply-add (6 in wide numbers), 12, 25, 60 and 230 microseconds a tree of 50, 100, 200 and 500 words (23, 55,
130 and 630): counted in steps that is right within a factor of two, which `python -m benchmarks saturated` watches.
"""

from __future__ import annotations

# Up to here a few trees cost less than the tables that would speed up walks (python -m benchmarks few).
FEW = 8

# Steps that a factorisation costs, times n^3: n^3/3 multiply-adds in float64, and in wide numbers.
FACTORS = 0.04
WIDE_FACTORS = 0.45


def steps_of_tree(n: int, wide: bool) -> int:
    """A tree of n words from factors, its root given or not."""
    return 110 * n if wide else 50 * n  # the time of a tree, and that of a step, grow faster than this: memory


def steps_of_tables(n: int, wide: bool) -> int:
    """What precedes the first tree: the factors normalised and copied."""
    return (4 if wide else 2) * n * n + 5_000  # some tens of microseconds outside the kernels
