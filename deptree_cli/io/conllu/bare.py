"""Sentences that nobody read: nothing is known of them but their words."""

from __future__ import annotations

from collections.abc import Sequence

from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.chunks import Chunk


def block_of(sent_id: str, forms: Sequence[str]) -> Block:
    """A sentence of these words."""
    rows = "".join(f"{word}\t{form}" + "\t_" * 8 + "\n" for word, form in enumerate(forms, 1))
    text = f"# sent_id = {sent_id}\n# text = {' '.join(forms)}\n{rows}\n"
    return Block(Chunk(text.encode(), 1), sent_id)
