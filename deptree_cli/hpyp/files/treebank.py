"""Sentences of treebanks, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Literal

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.sentences import UNKNOWN, Annotated
from deptree_cli.hpyp.model.unknown import Symbols
from deptree_cli.io.conllu.blocks import Block, block_of, read_blocks_or_errors
from deptree_cli.io.conllu.splicing import Deprels
from deptree_cli.io.conllu.trees import Tags
from deptree_cli.io.files.streams import open_input
from deptree_cli.kernels.columns import HEAD, NO_HEAD

# Treebanks for the generative parser: the words, tags and trees of CoNLL-U files.


Tagset = Literal["upos", "xpos"]


def read_treebank(paths: Iterable[str], tags: Tagset) -> Iterator[Annotated | DeptreeError]:
    """The sentences of several files in order, one in memory at a time; what is malformed is handed on as its error.

    A sentence without a sent_id is called by its running number, which goes on from file to file.
    """
    numbers = count(1)
    for path in paths:
        with open_input(path) as file:
            for block in read_blocks_or_errors(file.stream, file.place):
                yield _annotated_or_error(block, str(next(numbers)), tags)


def sound_sentences(paths: Iterable[str], tags: Tagset) -> Iterator[Annotated]:
    """The same, but what is malformed is raised."""
    for sentence in read_treebank(paths, tags):
        if isinstance(sentence, DeptreeError):
            raise sentence
        yield sentence


def _annotated_or_error(block: Block | DeptreeError, number: str, tags: Tagset) -> Annotated | DeptreeError:
    if isinstance(block, DeptreeError):
        return block
    try:
        return annotated(block, block.sent_id or number, tags)
    except DeptreeError as error:
        return error.at(sent_id=block.sent_id or number)


def annotated(block: Block, sent_id: str, tags: Tagset) -> Annotated:
    """The words of a block with integer ids, their tags, heads and labels: ``_``, -1 and ``_`` if unknown or empty."""
    forms, tagged, deprels = _columns(block, "form", tags, "deprel")
    heads = np.asarray(block.template.words)[:, HEAD].astype(np.int32)
    return Annotated(sent_id, block.place, forms, _filled(tagged), heads, _filled(deprels))


def _filled(column: tuple[str, ...]) -> tuple[str, ...]:
    return column if all(column) else tuple(value or UNKNOWN for value in column)


def _columns(block: Block, *names: str) -> list[tuple[str, ...]]:
    """Columns of the words, their lines split once: `Block.column` splits them for each."""
    rows = [cells for number, *cells in block.cells("id", *names) if number.isdigit()]
    try:
        return [tuple([cell.decode() for cell in column]) for column in zip(*rows, strict=True)]
    except UnicodeDecodeError:
        problem = "a form, a tag or a label is not UTF-8"
        raise DeptreeError(problem, "Convert the file to UTF-8", place=block.place) from None


# Trees of the generative parser as output: labels and tags by their names; sentences that were read from no file.


# The label of ROOT's dependent in Universal Dependencies, and that of words of which nothing else is known.
ROOT, DEP = "root", "dep"


def deprels_by_name(symbols: Symbols, heads: Heads, labels: Heads) -> Deprels:
    """The labels of k trees, (k, n) numbers: `root` stands exactly where HEAD is 0, if the treebank had it.

    Once in ten thousand words the parser gives it to another word, which becomes `dep`.
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


def to_conllu(sentence: Annotated, tags: Tagset) -> bytes:
    """The sentence with an empty line behind it; `tags` is the column in which its tags stand."""
    heads = [UNKNOWN if head == NO_HEAD else str(head) for head in sentence.heads.tolist()]
    block = block_of(sentence.sent_id, sentence.forms)
    for name, values in ((tags, sentence.tags), ("head", heads), ("deprel", sentence.deprels)):
        block = block.with_column(name, values)
    return block.raw
