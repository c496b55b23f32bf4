"""The arithmetic that sweeps are compiled for, one file for each kind of numbers; a new kind is one more file.

`operations.py` names the operations and gives them their bodies for float64; `wide.py` adds numbers with an exponent of
their own, `precise.py` such numbers with twice the digits, `dual.py` numbers of any of these kinds with a derivative,
`tropical.py` and `paired.py` scores of which sweeps find the best. Importing this package makes these known. `lanes.py`
has numbers of several sentences side by side, known to what imports it.
"""

from deptree_cli.kernels.numbers import dual, operations, paired, precise, tropical, wide

__all__ = ["dual", "operations", "paired", "precise", "tropical", "wide"]
