"""Read score files with second-order scores beside those of arcs: for Python.

The parts of the sentence `KEY` are under `KEY.grandparent` and `KEY.sibling` of a `.npz`, each (n+1, n+1, n+1) with
ROOT among the nodes, on the scale of the scores of arcs:

    grandparent[grandparent, head, dependent]     the head of the head; an arc from ROOT has no such part
    sibling[head, sibling, dependent]             the next dependent of the head between it and this one; for the first
                                                  one on its side the head itself: sibling[head, head, dependent]

If the scores of arcs are ``[dependent, head]``, the axes of these are reversed too: ``[dependent, head, grandparent]``
and ``[dependent, sibling, head]``; and ROOT is the last of all three if it is the last there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array, Heads
from deptree_cli.core.errors import DeptreeError, counted, located
from deptree_cli.io.conllu.splicing import Deprels
from deptree_cli.io.read import prepared
from deptree_cli.io.scores.arrays import Source
from deptree_cli.io.scores.containers.npz import Archive, owner_of
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource
from deptree_cli.io.scores.layout import Layout, layout, orientation, to_head_dep, words_in
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.records import SentenceAsRead
from deptree_cli.io.sentence import Sentence
from deptree_cli.second_order.distribution import PARTS, SecondOrder


def read(
    scores: str,
    conllu: str | None = None,
    *,
    preset: str | None = None,
    single_root: bool = True,
    temperature: float = 1.0,
    fix_heads: bool = False,
    on_error: Callable[[DeptreeError], None] | None = None,
) -> Iterator[SecondOrderSentence]:
    """Read the sentences of a `.npz`, one at a time, each with the second-order distribution over its trees.

    Args:
        scores: path of the file; `-` is standard input. Sentences may lack either kind of parts, or both.
        conllu: path of the sentences of these scores, in CoNLL-U.
        preset, temperature, fix_heads, on_error: as of `deptree_cli.read`; scale and temperature apply to parts too.
        single_root: as of `SecondOrder`.

    Raises:
        DeptreeError: the file cannot be read, or (without `on_error`) a sentence cannot be used.
    """
    if fix_heads and not conllu:
        raise DeptreeError("fix_heads needs the sentences", "Name them with conllu")
    source = ScoresWithParts(scores)
    found = replace(source.layout(layout(preset)), labels=None)
    trees = space_of(source.meta.trees, None, single_root=single_root, projective=True)
    how: dict[str, Any] = {"single_root": trees.single_root, "temperature": temperature}

    def sentence(record: Sentence) -> SecondOrderSentence:
        with located(record.place, record.sent_id):
            parts: dict[str, Any] = parts_to_head_dep(source.parts_of(record), record.scores.shape, found)
            arcs, scale = to_head_dep(record.scores, found), found.scale or "weight"
            distribution = SecondOrder(arcs, scale=scale, id=record.sent_id, **parts, **how)
            if fix_heads and record.block:
                distribution = distribution.given(record.block.heads, record.block.labels)
        return SecondOrderSentence(record, distribution, fix_heads)

    return prepared(ScoreFiles(source, conllu).read(found), sentence, on_error)


@dataclass(frozen=True)
class SecondOrderSentence(SentenceAsRead):
    """A sentence with its second-order distribution.

    Attributes:
        distribution: the distribution over its projective trees.
        fix_heads: whether the HEADs and DEPRELs of the CoNLL-U are conditions.
    """

    distribution: SecondOrder
    fix_heads: bool = False

    def deprels(self, labels: Heads | None, trees: int) -> Deprels | None:
        return Deprels.given(self.record.sentence.labels, trees) if self.fix_heads else None


class ScoresWithParts(ScoreSource):
    """A `.npz` whose sentences may have second-order scores; these are loaded when needed."""

    _archive: Archive

    @contextmanager
    def read(self, layout: Layout, lengths: str | None = None) -> Iterator[Source]:
        """Return the scores of arcs by sentence, without those of parts."""
        with self._opened:
            if not isinstance(self.file, Archive):
                problem = "second-order scores are read from .npz files only"
                raise DeptreeError(problem, "Save them with np.savez", place=self.place)
            self._archive = archive = self.file
            parts = {key: owner for key in archive if (owner := owner_of(key))}
            for key, owner in parts.items():
                if owner in parts or owner not in archive:
                    problem = f"these are second-order scores, but there is no key {owner!r} with scores of arcs"
                    raise DeptreeError(problem, "Save both, or choose another key", place=f"{archive.place}[{key}]")
            yield archive.without(parts)

    def parts_of(self, record: Sentence) -> dict[str, Array]:
        """The second-order scores of a sentence as read, by their names in `PARTS`."""
        keys = ((name, f"{record.key}.{name}") for name in PARTS)
        return {name: self._archive.load(key) for name, key in keys if key in self._archive}


def parts_to_head_dep(parts: Mapping[str, Array], arcs: tuple[int, ...], layout: Layout) -> dict[str, Array]:
    """Second-order scores by name, each (n+1, n+1, n+1), heads before dependents and ROOT first.

    They have the layout of the arc scores. `arcs` is the shape of these as read: the orientation of a rectangle follows
    from its shape.
    """
    if parts and layout.root == "diagonal":
        problem = "second-order scores have a place of their own for ROOT, but it is to be on the diagonal"
        raise DeptreeError(problem, 'Give the scores of arcs with ROOT too: `root="first"` or `root="last"`')
    rows, columns = layout.arcs(arcs)
    is_turned, n, found = orientation(rows, columns, layout) == "dep-head", words_in(arcs, layout), {}
    for name, array in parts.items():
        if array.shape != (n + 1,) * 3:
            problem = f"the {name} scores have shape {array.shape}, those of arcs are of {counted(n, 'word')}"
            raise DeptreeError(problem, f"Give an array {(n + 1,) * 3}, ROOT included")
        scores = array.T if is_turned else array
        found[name] = np.roll(scores, 1, axis=(0, 1, 2)) if layout.root == "last" else scores
    return found
