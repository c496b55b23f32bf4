"""The generative parser of Buys and Blunsom (2015) as a library: train on a treebank, parse, sample, measure.

>>> from deptree_cli.hpyp import Parser
>>> parser = Parser.train("treebank.conllu", seed=1)
>>> parser.parse((["The", "dog", "sleeps"], ["DET", "NOUN", "VERB"])).heads
array([2, 3, 0], dtype=int32)

A sentence is an `Annotated` (as from `Parser.read`), a pair of words and tags, or, if tags are predicted, a list of
words. A tag that is missing (``_``) or unknown to the parser is summed over, or predicted for the best tree. Trees are
arrays of heads, int32: entry i is the head of word i+1, 0 for ROOT. Pass a seed, which gives what the command with
``--seed`` gives for a sentence of this id, or a NumPy Generator; otherwise a fresh seed is used.

Rooms: `kernels`, `model`, `files`, `options`, `commands`, and `parser`, the public `Parser`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptree_cli.lazy import lazy_names

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.sentences import Annotated, Contexts
    from deptree_cli.hpyp.parser import Parser

__all__ = ["Annotated", "Contexts", "Parser"]

__getattr__, __dir__ = lazy_names(
    __name__, {"Annotated": "model.sentences", "Contexts": "model.sentences", "Parser": "parser"}
)
