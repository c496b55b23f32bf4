"""Treebanks for the generative parser: the words, tags and trees of CoNLL-U files, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.sentences import UNKNOWN, Annotated
from deptree_cli.hpyp.model.unknown import Symbols
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.splicing import Deprels
from deptree_cli.io.conllu.trees import Tags
from deptree_cli.io.read import prepared, sentences
from deptree_cli.io.sentence import Sentence
from deptree_cli.kernels.columns import HEAD

Tagset = Literal["upos", "xpos"]


def read_treebank(
    paths: Sequence[str],
    tags: Tagset,
    on_error: Callable[[DeptreeError], None] | None = None,
    check: Callable[[Annotated], None] = lambda _: None,
) -> Iterator[Annotated]:
    """Read the sentences of several files in order, one in memory at a time.

    A sentence without a sent_id gets its running number, which goes on from file to file.

    Args:
        on_error: called with the error of each sentence that is malformed or fails `check`, which is then left out;
            without it, the error is raised.
    """

    def checked(read: Sentence) -> Annotated:
        check(found := annotated(read.sentence, read.sent_id, tags))
        return found

    return prepared(sentences(paths).in_order(), checked, on_error)


def annotated(block: Block, sent_id: str, tags: Tagset) -> Annotated:
    """The words of a block with integer ids, their tags, heads and labels: ``_``, -1 and ``_`` if unknown or empty."""
    rows = [cells for number, *cells in block.cells("id", "form", tags, "deprel") if number.isdigit()]
    try:
        forms, *others = (tuple([cell.decode() for cell in column]) for column in zip(*rows, strict=True))
    except UnicodeDecodeError:
        problem = "a form, a tag or a label is not UTF-8"
        raise DeptreeError(problem, "Convert the file to UTF-8", place=block.place, sent_id=sent_id) from None
    tagged, deprels = (tuple([value or UNKNOWN for value in column]) for column in others)
    heads = np.asarray(block.template.words)[:, HEAD].astype(np.int32)
    return Annotated(sent_id, block.place, forms, tagged, heads, deprels)


# The label of ROOT's dependent in Universal Dependencies, and the label for words without a better one.
ROOT, DEP = "root", "dep"


def deprels_by_name(symbols: Symbols, heads: Heads, labels: Heads) -> Deprels:
    """The labels of k trees, (k, n) numbers, by name: `root` exactly if HEAD is 0, if the treebank has that label.

    About once in ten thousand words the parser gives `root` to another word; its label becomes `dep`.
    """
    names = symbols.labels
    if ROOT not in names:
        return Deprels(names, labels)
    names = names if DEP in names else (*names, DEP)
    root, dep = (np.int32(names.index(name)) for name in (ROOT, DEP))
    return Deprels(names, np.where(heads == 0, root, np.where(labels == root, dep, labels)))


def tags_by_name(symbols: Symbols, column: str, tags: Heads | Sequence[Sequence[int]]) -> Tags:
    """The tags of k trees, (k, n) numbers, to be written into a column of CoNLL-U."""
    return Tags(column, tuple(map(symbols.tags.symbol, range(symbols.tags.size))), np.asarray(tags, dtype=np.int32))
