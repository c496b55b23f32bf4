"""deptree: unbiased samples, sums and audits of dependency-tree distributions.

The public API, by name:

- `TreeDistribution`: the trees of one sentence, from its scores: samples, sums, best trees and expectations.
- `batch`: the same for many sentences at once, `TreeDistributions`.
- `read`: the sentences of a score file, each with its distribution, as the commands read them.
- `repaired`: the valid tree nearest to given heads and labels.
- `evaluate`: attachment scores of parsed trees, with intervals; their tokens may differ from those of gold trees.
- `estimate`: expectations over all trees, from the trees of `TreeDistribution.sample_without_replacement`.
- `SAMPLERS`, `ALGORITHMS`, `QUANTITIES`: registers of samplers, of algorithms without replacement, of quantities.
- `DeptreeError`: every error that a user can cause.

The main house, trees from arc scores, has four floors; a floor imports from those below, never from above, and
commands never from each other:

- `cli`, `commands`: the command line; read, map over sentences, write.
- `io`: bytes <-> sentences; what did not change is written back unchanged.
- `core`: arrays in, arrays out; a library by itself, without files, terminal or click.
- `kernels`: numba loops that trust their input.

Wings import the main house, which imports none of them; their public names are in their packages:

- `hpyp`: the generative parser, with kernels, model, files, options and commands of its own.
- `bitext`: distributions over the alignments of sentence pairs, with the same rooms.
- `pruning`: expectations of dynamic programs that are too large to sum, by randomized pruning.
- `second_order`: projective trees with scores of grandparents and siblings; a library without commands.
- `torch`, `jax` (extras): padded batches in training loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptree_cli.lazy import lazy_names

if TYPE_CHECKING:
    from deptree_cli.core.batches import TreeDistributions, batch
    from deptree_cli.core.distribution import TreeDistribution
    from deptree_cli.core.errors import DeptreeError
    from deptree_cli.core.estimate import estimate
    from deptree_cli.core.quantities import QUANTITIES
    from deptree_cli.core.samplers import SAMPLERS
    from deptree_cli.core.swor import ALGORITHMS
    from deptree_cli.io.evaluation import evaluate
    from deptree_cli.io.rules.constraints import repaired
    from deptree_cli.io.scores.reading import read
    from deptree_cli.io.scores.records import ScoredSentence
    from deptree_cli.version import __version__

__all__ = [
    "ALGORITHMS",
    "QUANTITIES",
    "SAMPLERS",
    "DeptreeError",
    "ScoredSentence",
    "TreeDistribution",
    "TreeDistributions",
    "__version__",
    "batch",
    "estimate",
    "evaluate",
    "read",
    "repaired",
]

_HOMES = {
    "ALGORITHMS": "core.swor",
    "DeptreeError": "core.errors",
    "QUANTITIES": "core.quantities",
    "SAMPLERS": "core.samplers",
    "ScoredSentence": "io.scores.records",
    "TreeDistribution": "core.distribution",
    "TreeDistributions": "core.batches",
    "__version__": "version",
    "batch": "core.batches",
    "estimate": "core.estimate",
    "evaluate": "io.evaluation",
    "read": "io.scores.reading",
    "repaired": "io.rules.constraints",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
