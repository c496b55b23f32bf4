"""Distributions over dependency trees in JAX: differentiable sums, samples and best trees, under jit and vmap.

Log-scores are arrays (..., N, N), ``[head, dependent]``, of natural logarithms of arc weights; node 0 is ROOT, column 0
and the diagonal are ignored. -inf (or a mask of -1e15 or below) forbids an arc. `lengths` (...,) are the numbers of
words, at most N - 1 (the default); the rest is padding and ignored.
Trees are arrays (..., N), int32, of heads: entry j is the head of node j, and entry 0 (ROOT) and padding are -1.

`space` is the tree space: single-root (the default), multi-root, projective or projective-multi-root.

By elimination, or by Eisner's chart, in plain JAX, on any device, differentiable any number of times:

- `log_partition`, `marginals`: the logarithm of the sum over all trees, and the probabilities of arcs (on the CPU by
  our kernels, by default).
- `log_prob`: log-probabilities of trees.
- `entropy`, `cross_entropy`, `kl`: in nats.
- `sample`: independent trees (on the CPU by our kernels, by default).
- `stochastic_beam_search`: `BeamSample`, k distinct trees at once; not projective ones.

By our kernels on the CPU, called back from compiled code:

- `argmax`, `mbr`, `top_k`: the most probable tree, the one with the highest expected attachment score, the k best.
- `sample_without_replacement`: `DistinctTrees`, with their log-probabilities, and their weights in estimates.

It needs the extra `jax`.
"""

from __future__ import annotations

try:
    import jax as _  # noqa: F401
except ModuleNotFoundError:
    raise ImportError("deptree_cli.jax needs JAX: pip install 'deptree-cli[jax]'") from None

from deptree_cli.jax.beam import BeamSample, stochastic_beam_search
from deptree_cli.jax.decoding import argmax, mbr, top_k
from deptree_cli.jax.information import cross_entropy, entropy, kl, log_prob
from deptree_cli.jax.partition import log_partition, marginals
from deptree_cli.jax.sampling import DistinctTrees, sample, sample_without_replacement

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
