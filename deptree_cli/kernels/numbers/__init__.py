"""The arithmetic that sweeps are compiled for, one file for each kind of numbers; a new kind is one more file.

`operations.py` names the operations and gives them their bodies for float64; `wide.py` adds numbers with an exponent of
their own, `dual.py` numbers of either kind with a derivative, `tropical.py` scores of which sweeps find the best.
Importing this package makes these known. `lanes.py` has numbers of several sentences side by side, known to what
imports it.
"""

from deptree_cli.kernels.numbers import dual, operations, tropical, wide

__all__ = ["dual", "operations", "tropical", "wide"]
