"""The arithmetic that sweeps are compiled for, one file for each kind of numbers; a new kind is one more file.

`operations.py` names the operations and gives them their bodies for float64; `wide.py` adds numbers with an exponent of
their own, `dual.py` numbers of either of these kinds with a derivative. Importing this package makes all of them known.
"""

from deptree_cli.kernels.numbers import dual, operations, wide

__all__ = ["dual", "operations", "wide"]
