"""Trees in CoNLL-U: samples are usually named ``X/sample_3``, and ``# tree_count = 5`` says how often one was drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.trees.base import GivenTree, SworNotes, TreeFormat, checked_count, swor_notes

# What stands in the comments on a tree, if anything does: a glance that settles most sentences.
_NOTES = re.compile(rb"tree_logprob|tree_count|label_logprob|swor_")

# How containers of arrays begin.
_BINARY = b"PK", b"\x93NUMPY", b"\x80", b"\x89HDF"


def _read(stream: BinaryIO, place: str) -> Iterator[GivenTree | DeptreeError]:
    for block in read_blocks_or_errors(stream, place):
        try:
            yield block if isinstance(block, DeptreeError) else tree_of(block)
        except DeptreeError as error:
            yield error


def tree_of(block: Block) -> GivenTree:
    """The tree that a sentence has.

    Raises:
        DeptreeError: a word has no head, or is its own ancestor; or a note on the tree is not understood.
    """
    heads = tuple(head for head in block.heads if head is not None)
    if len(heads) < block.n:
        raise without_heads(block.heads, block.place, block.sent_id)
    labels = tuple(block.deprels)
    labels = () if {*labels} == {"_"} else labels
    tree = GivenTree(block.sent_id, heads, 1, block.place, labels=labels)
    tree = _noted(tree, block) if _NOTES.search(block.raw) else tree
    tree.check_acyclic()
    return tree


def _noted(tree: GivenTree, block: Block) -> GivenTree:
    """A tree with what comments say of it."""
    notes = {field: block.comment(f"swor_{field}") for field in (*SworNotes._fields, "exhausted")}
    notes["log_prob"] = block.comment("tree_logprob")
    count = block.comment("tree_count") or "1"
    number = int(count) if re.fullmatch("[1-9][0-9]{0,17}", count) else count
    times = checked_count(number, block.place, block.sent_id)
    distinct, label_draws = notes["weight"] is not None, block.comment("label_logprob") is not None
    return tree._replace(times=times, notes=swor_notes(notes), distinct=distinct, label_draws=label_draws)


def without_heads(heads: Sequence[int | None], place: str, sent_id: str) -> DeptreeError:
    """What is wrong with a tree in which some words, or all, have no head."""
    some = any(head is not None for head in heads)
    problem = f"word {[*heads].index(None) + 1} has no HEAD" if some else "no word has a HEAD"
    return DeptreeError(problem, "Every word of a tree needs one", place=place, sent_id=sent_id)


CONLLU = TreeFormat("conllu", lambda head: not head.startswith(_BINARY), _read)
