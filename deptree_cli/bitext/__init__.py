"""Sentence pairs: distributions over the alignments of their words, by inversion transduction grammars (Wu 1997).

- `AlignmentDistribution`: a distribution over the alignments of a sentence pair.
- `read_pairs`: the pairs of a score file, each with its distribution, as the commands read them.

Rooms: `kernels`, `scores`, `distribution`, `files` and `picture`, `options`, `commands`. It imports the main house and
`deptree_cli.pruning`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptree_cli.lazy import lazy_names

if TYPE_CHECKING:
    from deptree_cli.bitext.distribution import AlignmentDistribution
    from deptree_cli.bitext.files import read_pairs

__all__ = ["AlignmentDistribution", "read_pairs"]

__getattr__, __dir__ = lazy_names(__name__, {"AlignmentDistribution": "distribution", "read_pairs": "files"})
