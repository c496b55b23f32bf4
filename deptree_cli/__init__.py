"""deptree: unbiased samples, sums and audits of dependency-tree distributions.

The public API, by name:

- `TreeDistribution`: the trees of one sentence, from its scores: samples, sums, best trees and expectations.
- `batch`: the same for many sentences at once, `TreeDistributions`.
- `read`: the sentences of a score file, each with its distribution, as the commands read them.
- `repaired`: the nearest valid tree to heads and labels that are none.
- `estimate`: expectations from what `TreeDistribution.sample_without_replacement` returns.
- `AlignmentDistribution`: a distribution over the alignments of a sentence pair; `read_pairs`: those of a score file.
- `Program`, `expectations`: a dynamic program of your own, and the expectations of its features by randomized pruning.
- `SAMPLERS`, `ALGORITHMS`, `QUANTITIES`, `FUNCTIONALS`, `METHODS`: registers, the names that you can choose from.
- `DeptreeError`: every error that a user can cause.
- `deptree_cli.second_order`: distributions over projective trees with scores of grandparents and siblings.
- `deptree_cli.torch`, `deptree_cli.jax` (extras): padded batches in training loops.

The code has four layers; a layer imports from those below, never from above, and commands never from each other:

- `cli`, `commands`: the command line; read, map over sentences, write.
- `io`: bytes <-> sentences; what did not change is written back unchanged.
- `core`: arrays in, arrays out; a library by itself, without files, terminal or click.
- `kernels`: numba loops that trust their input.

Nothing imports `torch` and `jax`; they use `core` and `kernels`.
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
    from deptree_cli.core.swor import ALGORITHMS
    from deptree_cli.io.bitext.reading import read_pairs
    from deptree_cli.io.rules.repairing import repaired
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
    "TreeDistribution",
    "TreeDistributions",
    "__version__",
    "batch",
    "estimate",
    "expectations",
    "read",
    "read_pairs",
    "repaired",
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
    "TreeDistribution": "core.distribution",
    "TreeDistributions": "core.batches.distributions",
    "batch": "core.batches.distributions",
    "estimate": "core.estimate",
    "expectations": "core.pruning.methods",
    "read": "io.scores.reading",
    "read_pairs": "io.bitext.reading",
    "repaired": "io.rules.repairing",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `deptree --help` must not wait for numba."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted(__all__)
