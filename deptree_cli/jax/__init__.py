"""Distributions over dependency trees in JAX: sums that are differentiated, trees that are sampled, under jit and vmap.

Log-scores are arrays (..., N, N), ``[head, dependent]``, of natural logarithms of arc weights; node 0 is ROOT, column 0
and the diagonal are ignored. -inf (or a mask of -1e15 and below) forbids an arc. `lengths` (...,) says how many words
each sentence has, at most N - 1, which is what all have without it; entries beyond are padding, whatever they hold.
Trees are arrays (..., N), int32, of heads: entry j is the head of node j, and entry 0 (ROOT) and padding are -1.

With `projective=True` only trees count in which no two arcs cross.

By elimination, or by Eisner's chart, in plain JAX, on any device, as often differentiable as JAX can:

- `log_partition`, `marginals`: the logarithm of the sum over all trees, and the probabilities of arcs.
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

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import jax as _jax  # noqa: F401
except ModuleNotFoundError:
    raise ImportError("deptree_cli.jax needs JAX: pip install 'deptree-cli[jax]'") from None

if TYPE_CHECKING:
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

_HOMES = {
    "BeamSample": "beam",
    "DistinctTrees": "sampling",
    "argmax": "decoding",
    "cross_entropy": "information",
    "log_prob": "information",
    "entropy": "information",
    "kl": "information",
    "log_partition": "partition",
    "marginals": "partition",
    "mbr": "decoding",
    "sample": "sampling",
    "sample_without_replacement": "sampling",
    "stochastic_beam_search": "beam",
    "top_k": "decoding",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted(__all__)
