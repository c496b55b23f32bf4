"""Distributions over dependency trees in JAX: sums that are differentiated, trees that are sampled, under jit and vmap.

Log-scores are arrays (..., N, N), ``[head, dependent]``, of natural logarithms of arc weights; node 0 is ROOT, column 0
and the diagonal are ignored. -inf (or a mask of -1e15 and below) forbids an arc. `lengths` (...,) says how many words
each sentence has, at most N - 1, which is what all have without it; entries beyond are padding, whatever they hold.
Trees are arrays (..., N), int32, of heads: entry j is the head of node j, and entry 0 (ROOT) and padding are -1.

`space` says which trees count: single-root ones if none is given, or multi-root, projective, projective-multi-root.

By elimination, or by Eisner's chart, in plain JAX, on any device, as often differentiable as JAX can:

- `log_partition`, `marginals`: the logarithm of the sum over all trees, and the probabilities of arcs (on the CPU by
  our kernels, if not told otherwise).
- `log_prob`: log-probabilities of trees.
- `entropy`, `cross_entropy`, `kl`: in nats.
- `sample`: independent trees (on the CPU by our kernels, if not told otherwise).
- `stochastic_beam_search`: `BeamSample`, distinct trees, k at once; no projective ones.

By our kernels on the CPU, called back from compiled code:

- `argmax`, `mbr`, `top_k`: the most probable tree, the one with the highest expected attachment score, the k best.
- `sample_without_replacement`: `DistinctTrees`, with their log-probabilities and what each counts for in estimates.

It takes the extra `jax`.
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
