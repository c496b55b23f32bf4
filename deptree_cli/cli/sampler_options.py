"""The option ``--sampler``, and how help explains the samplers."""

from __future__ import annotations

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import entry
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.spaces import SPACES


def _named(entry: Sampler) -> str:
    return entry.name if entry.exact else f"{entry.name} (biased)"


def _described(entry: Sampler) -> str:
    kinds = [trees.name for trees in SPACES if entry.serves(trees)]
    served = " and ".join(filter(None, (", ".join(kinds[:-1]), *kinds[-1:])))
    return f"{_named(entry)}: {served} trees; {entry.cost}\n  {entry.source}"


SAMPLER = entry(SAMPLERS, "--sampler", name=_named)

SAMPLERS_LISTED = Listing(
    "Samplers, with the cost of k trees of n words (h: mean hitting time of the walk)", SAMPLERS, _described
)
