"""Score files in their order, each with what belongs to it and what is assumed of it, and how far reading has come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import MASK
from deptree_cli.io.files.streams import STDIN, share_read
from deptree_cli.io.read import read, sentences, trees_in
from deptree_cli.io.scores.fitting import add_labels, add_other, add_scores, sentences_of
from deptree_cli.io.scores.layout import Layout, to_head_dep
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.scores.presets import text_of
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sentence import Companion, Sentence, Side, Warn, unheard

# What is assumed where nobody answers.
_ASSUMED = {"scale": "as weights", "orient": "heads in rows", "root": "ROOT first"}

PROBABILITIES = "these are probabilities of arcs, as deptree marginals wrote them: reading them as weights"

# From here on the sum of a word's weights is not that of probabilities.
FAR = 0.1

# Weights are exponentials of logits, which differ by more than logits do.
SPREAD = 100.0


class Assumptions:
    """The line about the sentences of a file that are read so.

    Args:
        meta: what the file says of itself.
        layout: how it is read.
    """

    def __init__(self, meta: Meta, layout: Layout) -> None:
        self._meta = meta
        self._layout = layout
        self._lines: dict[bool, str] = {}

    def line(self, scores: Array) -> str:
        """Return it, empty if nothing is assumed; the first matrix decides what the numbers look like."""
        square = self._layout.is_square(scores.shape)
        if square not in self._lines:
            self._lines[square] = PROBABILITIES if self._meta.are_probabilities else self._assumed(square, scores)
        return self._lines[square]

    def _assumed(self, square: bool, scores: Array) -> str:
        assumed = self._layout.assumed(square)
        if not assumed:
            return ""
        said = {name: words for name, words in _ASSUMED.items() if name in assumed}
        given = f"only --from {known}" if (known := text_of(self._layout)) else "no --from"
        if "scale" in said and look_like_logits(scores, self._layout):
            said["scale"] += " (they look like logits: if so, pass --from log)"
        return f"{given} given: reading {', '.join(said.values())}; `deptree inspect` shows more"


def with_assumptions(
    records: Iterable[Sentence | DeptreeError], scores: ScoreSource, layout: Layout, warn: Warn
) -> Iterator[Sentence | DeptreeError]:
    """The sentences of these scores, as they are; what is assumed of them is told."""
    assumptions = Assumptions(scores.meta, layout)
    for record in records:
        if isinstance(record, Sentence):
            line = assumptions.line(record.scores)
            warn(line, line)
        yield record


def look_like_logits(scores: Array, layout: Layout) -> bool:
    """Whether weights would be odd ones: sums over heads far from 1 for most words, and numbers close together.

    Args:
        scores: of one sentence, as read, which may be no scores at all.
    """
    try:
        matrix = to_head_dep(scores, layout)
    except DeptreeError:
        return False  # raised where the sentence is made
    matrix = matrix.reshape(*matrix.shape[:2], -1).sum(axis=2)
    numbers = matrix[np.isfinite(matrix) & (np.abs(matrix) < MASK) & (matrix != 0)]
    sums = matrix[:, 1:].sum(axis=0), matrix[1:, :].sum(axis=1)  # rows too: the orientation may be assumed
    far = all(np.abs(np.median(each) - 1) > FAR for each in sums)
    return bool(far and numbers.size > 1 and 0 < np.ptp(numbers) < SPREAD)


@dataclass(frozen=True)
class ScoreFiles:
    """One score file, and what belongs to it, None where there is none.

    Attributes:
        source: the scores.
        conllu: the path of the sentences.
        lengths: the path of the lengths of a padded batch.
        label_scores: the path of scores of labels; without them labels and arcs are scored together.
        gold: the path of the sentences with gold heads.
        other: a second score file of the same sentences.
        any_heads: whether HEAD of the sentences may be anything, as of `Block`.
        feats: whether rules ask if words of the file of sentences have FEATS.
    """

    source: ScoreSource
    conllu: str | None = None
    lengths: str | None = None
    label_scores: str | None = None
    gold: str | None = None
    other: ScoreSource | None = None
    any_heads: bool = False
    feats: bool = False

    @property
    def paths(self) -> list[str]:
        """The paths of all that there is, but for the second score file."""
        found = (self.source.path, self.conllu, self.lengths, self.label_scores, self.gold)
        return [path for path in found if path is not None]

    def read(
        self,
        layout: Layout,
        first: int = 1,
        warn: Warn = unheard,
        lead: Side | None = None,
    ) -> Iterator[Sentence | DeptreeError]:
        """The sentences, each with what there is of it.

        Args:
            layout: of the scores.
            first: the running number of the first sentence.
            warn: tells a line, once for each key: what is assumed of the scores.
            lead: the sentences, instead of a file.

        Raises:
            DeptreeError: reading cannot begin or go on, or the files do not hold the same sentences (`io.read`).
        """
        self._check_standard_input()
        with ExitStack() as opened:
            source = opened.enter_context(self.source.read(layout, self.lengths))
            if self.conllu is not None:
                lead = sentences([self.conllu], first, any_heads=self.any_heads, feats=self.feats)
            scores, companions = side_of(source, self.source), self._companions(layout, opened)
            if lead is not None:
                companions.insert(0, Companion(scores, partial(add_scores, layout), shared=True))
            else:
                lead = replace(scores, items=sentences_of(source, layout, first))
            yield from with_assumptions(read(lead, companions, warn), self.source, layout, warn)

    def _companions(self, layout: Layout, opened: ExitStack) -> list[Companion]:
        """What belongs to the scores."""
        found = []
        if self.other is not None:
            other = side_of(opened.enter_context(self.other.read(layout, self.lengths)), self.other)
            # an archive that serves several files of sentences has those of the others too
            found.append(Companion(other, partial(add_other, layout), shared=self.conllu is not None))
        if self.label_scores is not None:
            labels = ScoreSource(self.label_scores)
            labels.check_no_results()
            side = replace(side_of(opened.enter_context(labels.read(layout.labelled)), labels), what="label scores")
            found.append(Companion(side, partial(add_labels, layout.labelled), shared=True))
        return [*found, trees_in([self.gold])] if self.gold else found

    def _check_standard_input(self) -> None:
        """Raise if something would have to be read twice."""
        if [*self.paths, self.other and self.other.path].count(STDIN) > 1:
            raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
        if self.other is not None and self.lengths == STDIN:
            raise DeptreeError("two score files need the lengths twice", "Give --lengths as a file")

    @property
    def share(self) -> float | None:
        """How much has been read by now, from 0 to 1, if the bytes tell: those of the sentences, if there are any."""
        return share_read(self.conllu or self.source.path)

    @property
    def size(self) -> int | None:
        """The number of bytes of what `share` is of."""
        with suppress(OSError, ValueError):
            return Path(self.conllu or self.source.path).stat().st_size
        return None


def side_of(source: Iterable[Any], scores: ScoreSource) -> Side:
    """What is read of a score file, to be paired with others."""
    keys = source if isinstance(source, Mapping) else scores.keys
    return Side(source, "matrices", scores.place, ordered=scores.meta.ordered, keys=keys)


class ScoreStream:
    """The sentences of several score files, one file after another; it knows how far it has come."""

    def __init__(self, files: Sequence[ScoreFiles], layout: Layout, warn: Warn = unheard) -> None:
        self._files = files
        self._layout, self._warn = layout, warn
        self._current = 0
        self._before = 0
        self._read = 0

    def __iter__(self) -> Iterator[Sentence | DeptreeError]:
        for number, files in enumerate(self._files):
            self._current, self._before = number, self._read
            for sentence in files.read(self._layout, self._before + 1, self._warn):
                self._read += 1
                yield sentence

    def total(self) -> int | None:
        """The number of sentences, where the scores alone are read and their container says how many it has."""
        one = len(self._files) == 1 and not self._files[0].conllu
        return self._files[0].source.count if one else None

    def share(self) -> float | None:
        """How much of all files has been read, by their sizes; None where that is not known."""
        here = self._files[self._current]
        within = here.share
        if not here.conllu and here.source.count:
            within = (self._read - self._before) / here.source.count
        if len(self._files) == 1 or within is None:
            return within
        sizes = [each.size for each in self._files]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes) or not sum(known):
            return None
        return (sum(known[: self._current]) + within * known[self._current]) / sum(known)
