"""Sentences of the generative parser as CoNLL-U, where they were not read from any."""

from __future__ import annotations

from deptree_cli.core.hpyp.annotated import UNKNOWN, Annotated
from deptree_cli.io.conllu.blocks import block_of
from deptree_cli.io.hpyp.treebank import Tags
from deptree_cli.kernels.text.columns import NO_HEAD


def to_conllu(sentence: Annotated, tags: Tags) -> bytes:
    """The sentence with an empty line behind it.

    tags: the column in which its tags stand.
    """
    heads = [UNKNOWN if head == NO_HEAD else str(head) for head in sentence.heads.tolist()]
    block = block_of(sentence.sent_id, sentence.forms)
    for name, values in ((tags, sentence.tags), ("head", heads), ("deprel", sentence.deprels)):
        block = block.with_column(name, values)
    return block.raw
