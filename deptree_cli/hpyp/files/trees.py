"""Trees of the generative parser as output: labels and tags by their names; sentences that were read from no file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.hpyp.files.treebank import Tags as Column
from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.hpyp.model.symbols import Symbols
from deptree_cli.io.conllu.blocks import block_of
from deptree_cli.io.conllu.splicing import Deprels
from deptree_cli.io.conllu.trees import Tags
from deptree_cli.kernels.text.columns import NO_HEAD

# The label of ROOT's dependent in Universal Dependencies, and that of words of which nothing else is known.
ROOT, DEP = "root", "dep"


def deprels_by_name(symbols: Symbols, heads: Heads, labels: Heads) -> Deprels:
    """The labels of k trees: `root` stands exactly where HEAD is 0, if the treebank had it.

    Once in ten thousand words the parser gives it to another word, which becomes `dep`.

    Args:
        heads: (k, n).
        labels: (k, n), numbers of labels.
    """
    names = symbols.labels
    if ROOT not in names:
        return Deprels(names, labels)
    names = names if DEP in names else (*names, DEP)
    root, dep = (np.int32(names.index(name)) for name in (ROOT, DEP))
    return Deprels(names, np.where(heads == 0, root, np.where(labels == root, dep, labels)))


def tags_by_name(symbols: Symbols, column: str, tags: Heads | Sequence[Sequence[int]]) -> Tags:
    """The tags of k trees, (k, n) numbers, which go into this column."""
    return Tags(column, tuple(map(symbols.tags.symbol, range(symbols.tags.size))), np.asarray(tags, dtype=np.int32))


def to_conllu(sentence: Annotated, tags: Column) -> bytes:
    """The sentence with an empty line behind it.

    tags: the column in which its tags stand.
    """
    heads = [UNKNOWN if head == NO_HEAD else str(head) for head in sentence.heads.tolist()]
    block = block_of(sentence.sent_id, sentence.forms)
    for name, values in ((tags, sentence.tags), ("head", heads), ("deprel", sentence.deprels)):
        block = block.with_column(name, values)
    return block.raw
