"""The ground floor: numba kernels, plain loops over arrays that write their results into the arrays they are given.

Kernels trust their input: nothing here validates, prints or knows what a sentence is. All of them are compiled with the
flags of `flags.py`; random bits come from the generator state of `xoshiro.py`; sweeps that may leave the range of
float64 are written once, over the operations of `numbers/`. With ``NUMBA_DISABLE_JIT=1`` everything runs as plain
Python. Those that others name as ``kernels.charts`` are loaded when they are first used.
"""

from deptree_cli.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
