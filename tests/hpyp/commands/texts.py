"""Sentences for the tests of `deptree hpyp`, and what a command wrote of them, read again."""

from __future__ import annotations

import io

from deptree_cli.io.conllu.blocks import Block
from tests.sample import DATA
from tests.tree_files import read_blocks

# Twelve sentences with tags and without trees, and with both.
RAW, GOLD = DATA / "raw.conllu", DATA / "raw_gold.conllu"


def blocks_of(data: bytes) -> list[Block]:
    """The sentences of CoNLL-U."""
    return list(read_blocks(io.BytesIO(data), "output"))
