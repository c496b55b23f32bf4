"""deptree: unbiased samples, sums and audits of dependency-tree distributions.

The house has four floors; an import goes down a floor, never up or sideways between commands:

- `cli`, `commands`: the command line; read, map over sentences, write.
- `io`: bytes <-> sentences; what was not touched is written back unchanged.
- `core`: arrays in, arrays out; a library by itself, without files, terminal or click.
- `kernels`: numba loops that trust their input.

The public Python API, by name: `Sentence`, `Elimination`, `Oracle`, `sampler`, `algorithm`, `estimate`, `maximum_tree`,
`best_trees`, `quantity`, `sentence_stream`, `DeptreeError`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from deptree_cli.version import __version__

_API = {
    "DeptreeError": "deptree_cli.core.errors",
    "Elimination": "deptree_cli.core.elimination",
    "Oracle": "deptree_cli.core.oracle",
    "Sentence": "deptree_cli.core.sentence",
    "algorithm": "deptree_cli.core.swor",
    "best_trees": "deptree_cli.core.decoding",
    "estimate": "deptree_cli.core.estimate",
    "maximum_tree": "deptree_cli.core.decoding",
    "quantity": "deptree_cli.core.expectations",
    "sampler": "deptree_cli.core.samplers",
    "sentence_stream": "deptree_cli.core.streams",
}

__all__ = ["__version__", *_API]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `deptree --help` must not wait for numba."""
    if name in _API:
        return getattr(import_module(_API[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
