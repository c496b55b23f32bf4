"""Tree distributions in a PyTorch training loop: differentiable sums, samples, best trees and losses.

- `log_partition`, `marginals`, `log_partition_and_marginals`: padded batches of log-scores in, in any precision.
- `TreeDistribution`: a `torch.distributions.Distribution` over the trees of a batch; its `top_k` returns `BestTrees`,
  its `sample_without_replacement` returns `DistinctTrees`.
- `losses`: training losses, one function each.
"""

from __future__ import annotations

try:
    import torch as _  # noqa: F401
except ModuleNotFoundError:
    raise ImportError("deptree_cli.torch needs PyTorch: pip install 'deptree-cli[torch]'") from None

from deptree_cli.torch import losses
from deptree_cli.torch.distribution import BestTrees, DistinctTrees, TreeDistribution
from deptree_cli.torch.ops import log_partition, log_partition_and_marginals, marginals

__all__ = [
    "BestTrees",
    "DistinctTrees",
    "TreeDistribution",
    "log_partition",
    "log_partition_and_marginals",
    "losses",
    "marginals",
]
