"""What became of the sentences' own labels, DEPS and empty nodes in a run that wrote trees into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deptree_cli.cli.folds import Fold
from deptree_cli.core.errors import counted_thousands
from deptree_cli.io.conllu.splicing import Spliced


class OwnAnnotation(Fold[Spliced]):
    """Counts the labels that were copied beside predicted heads, and the sentences and empty nodes that lost by it.

    What was left out because a file of CoNLL-U Plus has no column for it is named.
    """

    def __init__(self) -> None:
        self._labels = self._sentences = self._empty_nodes = 0
        self._left_out: dict[str, None] = {}

    def add(self, counts: Spliced) -> None:
        self._labels += counts.own_labels
        self._sentences += counts.is_reduced
        self._empty_nodes += counts.empty_nodes
        self._left_out.update(dict.fromkeys(counts.left_out))

    def lines(self) -> Iterator[str]:
        if self._labels:
            labels = counted_thousands(self._labels, "label")
            yield f"{labels} copied from the input, where the head is unchanged: not predicted, so LAS means nothing"
        if self._sentences:
            nodes = f" and {counted_thousands(self._empty_nodes, 'empty node')}" if self._empty_nodes else ""
            yield f"DEPS{nodes} of {counted_thousands(self._sentences, 'sentence')} removed: they describe another tree"
        if self._left_out:
            yield without_columns(self._left_out)


def without_columns(left_out: Iterable[str]) -> str:
    """The line that names what was left out because a file of CoNLL-U Plus has no column for it."""
    return f"not written, because # global.columns names no column for it: {', '.join(left_out)}"
