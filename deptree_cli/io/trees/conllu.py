"""Trees in CoNLL-U: samples are usually named ``X/sample_3``, and ``# tree_count = 5`` says how often one was drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat
from typing import BinaryIO

import numpy as np

from deptree_cli.core.dtypes import Bool, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces.rules import are_trees
from deptree_cli.io.conllu.blocks import Block, columns_of, heads_of, numbered, read_blocks_or_errors, word_starts
from deptree_cli.io.conllu.columns import UNKNOWN, decoded
from deptree_cli.io.files.streams import at_hand
from deptree_cli.io.trees.base import GivenTree, SworNotes, TreeFormat, checked_count, swor_notes

# So many sentences become trees at once.
_TOGETHER = 256

# What notes on trees are called, in comments.
_NOTES = re.compile(rb"swor_|tree_logprob|tree_count|label_logprob")

# How containers of arrays begin.
_BINARY = b"PK", b"\x93NUMPY", b"\x80", b"\x89HDF"


def _read(stream: BinaryIO, place: str) -> Iterator[GivenTree | DeptreeError]:
    for blocks in at_hand(read_blocks_or_errors(stream, place), _TOGETHER):
        yield from trees_of(blocks)


def trees_of(blocks: Sequence[Block | DeptreeError]) -> Iterator[GivenTree | DeptreeError]:
    """The trees that sentences have, and errors in place of others; see `tree_of`."""
    known = [each for each in blocks if not isinstance(each, DeptreeError)]
    trees = _plain_trees(known) if known else iter(())
    for each in blocks:
        try:
            yield each if isinstance(each, DeptreeError) else next(trees) or tree_of(each)
        except DeptreeError as error:
            yield error.at(sent_id=each.sent_id)


def _plain_trees(blocks: Sequence[Block]) -> Iterator[GivenTree | None]:
    """The trees of sentences without notes on them; None for others, and for what is no tree."""
    starts, heads = word_starts(blocks), heads_of(blocks)
    (deprel,) = columns_of(blocks, "deprel")
    names, numbers = numbered(deprel)
    try:
        texts = [decoded(name, "") for name in names]
    except DeptreeError:  # of one sentence, which is told of it by itself
        yield from repeat(None, len(blocks))
        return
    labels, given = [texts[number] for number in numbers.tolist()], heads.tolist()
    sound = sentences_that_are_trees(heads, starts).tolist()
    for block, is_tree, (start, end) in zip(blocks, sound, pairwise(starts.tolist()), strict=True):
        if not is_tree or _NOTES.search(block.raw, block.template.comments, block.template.rows_start):
            yield None
            continue
        own = tuple(labels[start:end])
        known = own if any(label != UNKNOWN for label in own) else ()
        yield GivenTree(block.sent_id, tuple(given[start:end]), 1, block.place, labels=known)


def sentences_that_are_trees(heads: Int, starts: Int) -> Bool:
    """Which sentences have heads that are trees: all of them if they are one tree, sentence beside sentence."""
    sizes = np.diff(starts)
    if are_trees(np.where(heads > 0, heads + np.repeat(starts[:-1], sizes), heads)[None])[0]:
        return np.ones(len(sizes), dtype=np.bool_)
    each = np.split(heads, starts[1:-1])
    return np.array([are_trees(own[None])[0] for own in each])


def tree_of(block: Block) -> GivenTree:
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
    distinct, label_draws = block.comment("swor_weight") is not None, block.comment("label_logprob") is not None
    return tree._replace(times=times, notes=swor_notes(notes), distinct=distinct, label_draws=label_draws)


def without_heads(heads: Sequence[int | None], place: str, sent_id: str) -> DeptreeError:
    """What is wrong with a tree in which some words, or all, have no head."""
    some = any(head is not None for head in heads)
    problem = f"word {[*heads].index(None) + 1} has no HEAD" if some else "no word has a HEAD"
    return DeptreeError(problem, "Every word of a tree needs one", place=place, sent_id=sent_id)


CONLLU = TreeFormat("conllu", lambda head: not head.startswith(_BINARY), _read)
