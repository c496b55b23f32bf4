"""deptree: unbiased samples, sums and audits of dependency-tree distributions.

The package has four floors. Modules import from the floors below, and commands never from each other:

- `cli`, `commands`: the command line: read, map over sentences, write.
- `io`: bytes <-> sentences; what does not change is written back byte for byte.
- `core`: arrays in, arrays out; a library without files or terminal.
- `kernels`: Numba loops that do not check their input.

`torch` and `jax` are extras that nothing else imports: the same distributions in training loops.

The public Python API, by name:

- `TreeDistribution`: the distribution of one sentence: scores in; samples, sums, best trees and expectations out.
- `batch`: the same for many sentences at once (`TreeDistributions`).
- `SecondOrder`: projective trees with scores of grandparents and siblings; it has fewer methods.
- `read`: the sentences of a score file, each with its distribution, as the commands read them.
- `estimate`: expectations estimated from what `TreeDistribution.sample_without_replacement` returns.
- `AlignmentDistribution`: a distribution over the alignments of a sentence pair; `read_pairs` reads a file of them.
- `Program`, `expectations`: your own dynamic program, and the expectations of its features by randomized pruning.
- `SAMPLERS`, `ALGORITHMS`, `QUANTITIES`, `FUNCTIONALS`, `METHODS`: the registers of names that arguments accept.
- `DeptreeError`: every error that a user can cause.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deptree_cli.version import __version__

if TYPE_CHECKING:
    from deptree_cli.core.batches.distributions import TreeDistributions, batch
    from deptree_cli.core.bitext.distribution import AlignmentDistribution
    from deptree_cli.core.distribution import TreeDistribution
    from deptree_cli.core.errors import DeptreeError
    from deptree_cli.core.estimate import FUNCTIONALS, estimate
    from deptree_cli.core.expectations import QUANTITIES
    from deptree_cli.core.pruning.methods import METHODS, expectations
    from deptree_cli.core.pruning.program import CellProgram, Program
    from deptree_cli.core.samplers import SAMPLERS
    from deptree_cli.core.second_order import SecondOrder
    from deptree_cli.core.swor import ALGORITHMS
    from deptree_cli.io.bitext.reading import read_pairs
    from deptree_cli.io.scores.reading import read
    from deptree_cli.io.scores.records import ScoredSentence

__all__ = [
    "ALGORITHMS",
    "FUNCTIONALS",
    "METHODS",
    "QUANTITIES",
    "SAMPLERS",
    "AlignmentDistribution",
    "CellProgram",
    "DeptreeError",
    "Program",
    "ScoredSentence",
    "SecondOrder",
    "TreeDistribution",
    "TreeDistributions",
    "__version__",
    "batch",
    "estimate",
    "expectations",
    "read",
    "read_pairs",
]

_HOMES = {
    "ALGORITHMS": "core.swor",
    "AlignmentDistribution": "core.bitext.distribution",
    "CellProgram": "core.pruning.program",
    "DeptreeError": "core.errors",
    "FUNCTIONALS": "core.estimate",
    "METHODS": "core.pruning.methods",
    "Program": "core.pruning.program",
    "QUANTITIES": "core.expectations",
    "SAMPLERS": "core.samplers",
    "ScoredSentence": "io.scores.records",
    "SecondOrder": "core.second_order",
    "TreeDistribution": "core.distribution",
    "TreeDistributions": "core.batches.distributions",
    "batch": "core.batches.distributions",
    "estimate": "core.estimate",
    "expectations": "core.pruning.methods",
    "read": "io.scores.reading",
    "read_pairs": "io.bitext.reading",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `deptree --help` must not wait for numba."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted(__all__)
