"""A line for users whose sentences have other tags than the parser was trained on."""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.hpyp.annotated import UNKNOWN
from deptree_cli.io.conllu.blocks import Block


class UnseenTags:
    """Says what to tell of sentences: one line for all of which no tag is known to the parser.

    Args:
        known: the tags that it knows.
        column: where sentences have their tags, ``upos`` or ``xpos``.
    """

    def __init__(self, known: Container[str], column: str) -> None:
        self._known = known
        self._column = column
        self._line = ""

    def __call__(self, block: Block) -> str:
        """The line, which names the first tag of the first such sentence; empty if a tag is known or there is none."""
        tags: list[str] = []
        with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
            tags = block.column(self._column)
        unseen = next((tag for tag in tags if tag != UNKNOWN), None)
        if unseen is None or any(tag in self._known for tag in tags):
            return ""
        self._line = self._line or (
            f"{block.place}: the model has never seen the tag {unseen!r}, nor any other of this sentence in"
            f" {self._column.upper()}: expect poor trees, or say --tags predict"
        )
        return self._line
