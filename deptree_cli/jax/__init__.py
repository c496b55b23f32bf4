"""Distributions over dependency trees in JAX: differentiable sums, samples and best trees, under jit and vmap.

Log-scores are arrays (..., N, N), ``[head, dependent]``, of natural logarithms of arc weights. Node 0 is ROOT; column 0
and the diagonal are ignored. -inf (or a mask of -1e15 or below) forbids an arc. `lengths` (...,) is the number of words
of each sentence, ROOT not counted; N - 1 by default. The rest is padding, ignored.
Trees are arrays (..., N), int32, of heads: entry j is the head of node j, and entry 0 (ROOT) and padding are -1.

`space` chooses the trees: "single-root" (the default), "multi-root", "projective" or "projective-multi-root";
`single_root` and `projective` (True or False) choose it too. All are static under jit.

By our kernels on the CPU, called back from compiled code:

- `log_partition`, `marginals`: log Z and the probabilities of arcs. log Z can be differentiated twice.
- `log_prob`: log-probabilities of trees.
- `entropy`, `cross_entropy`, `kl`: in nats; they have gradients.
- `argmax`, `mbr`, `top_k`: the most probable tree, the one with the highest expected attachment score, the k best.
- `sample`: independent trees.
- `sample_without_replacement`: `DistinctTrees`, with their log-probabilities, and their weights in estimates.

In plain JAX on any device, for trees that may cross, in the range of float32 or float64:

- `log_partition`, `marginals` with `implementation="device"`, the default on an accelerator.
- `stochastic_beam_search`: `BeamSample`, k distinct trees at once.

It needs the extra `jax`.
"""

from __future__ import annotations

try:
    import jax as _  # noqa: F401
except ModuleNotFoundError:
    raise ImportError("deptree_cli.jax needs JAX: pip install 'deptree-cli[jax]'") from None

from deptree_cli.jax.beam import BeamSample, stochastic_beam_search
from deptree_cli.jax.sums import log_partition, marginals
from deptree_cli.jax.trees import (
    DistinctTrees,
    argmax,
    cross_entropy,
    entropy,
    kl,
    log_prob,
    mbr,
    sample,
    sample_without_replacement,
    top_k,
)

__all__ = [
    "BeamSample",
    "DistinctTrees",
    "argmax",
    "cross_entropy",
    "entropy",
    "kl",
    "log_partition",
    "log_prob",
    "marginals",
    "mbr",
    "sample",
    "sample_without_replacement",
    "stochastic_beam_search",
    "top_k",
]
