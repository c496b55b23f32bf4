"""Score files in their order, each with what belongs to it, and how far reading them has come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click

from deptree_cli.cli.provenance import mark_provenance
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.beside import with_gold
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.files.streams import STDIN, open_input, share_read
from deptree_cli.io.scores.assumptions import Warn, with_assumptions
from deptree_cli.io.scores.labels import LabelScores
from deptree_cli.io.scores.layout import Layout, words_in
from deptree_cli.io.scores.pairing import read_both, read_records, records_side
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sides import Side


@dataclass(frozen=True)
class ScoreFiles:
    """One score file, and the paths of what belongs to it, None where there is none.

    Attributes:
        source: the scores.
        conllu: the sentences.
        lengths: of a padded batch.
        label_scores: scores of labels; without them labels and arcs are scored together.
        gold: the sentences with gold heads.
    """

    source: ScoreSource
    conllu: str | None = None
    lengths: str | None = None
    label_scores: str | None = None
    gold: str | None = None

    @property
    def paths(self) -> list[str]:
        """The paths of all that there is."""
        found = (self.source.path, self.conllu, self.lengths, self.label_scores, self.gold)
        return [path for path in found if path is not None]

    def read(
        self, layout: Layout, other: ScoreSource | None, warn: Warn, first: int
    ) -> Iterator[Record | DeptreeError]:
        """The sentences of the file, the first of which has this running number."""
        labels = LabelScores(self.label_scores, layout.labelled) if self.label_scores else None
        if other is not None:
            records = read_both(self.source, other, layout, self.conllu, self.lengths, labels)
        else:
            records = read_records(self.source, layout, self.conllu, self.lengths, labels, first)
        records = with_assumptions(records, self.source, layout, warn)
        if not self.gold:
            return records
        side = records_side(records, self.source, self.conllu)
        return with_gold(side, [self.gold], lambda record: words_in(record.scores.shape, layout), first)

    def read_of(self, blocks: Side[Block], layout: Layout, warn: Warn) -> Iterator[Record | DeptreeError]:
        """The same of sentences that somebody else reads."""
        labels = LabelScores(self.label_scores, layout.labelled) if self.label_scores else None
        records = read_records(self.source, layout, None, self.lengths, labels, blocks=blocks)
        return with_assumptions(records, self.source, layout, warn)

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


class ScoreStream:
    """The sentences of several score files, one file after another; it knows how far it has come."""

    def __init__(self, files: tuple[ScoreFiles, ...], layout: Layout, other: ScoreSource | None, warn: Warn) -> None:
        self._files = files
        self._how = layout, other, warn
        self._current = 0
        self._before = 0
        self._read = 0

    def __iter__(self) -> Iterator[Record | DeptreeError]:
        for number, files in enumerate(self._files):
            self._current, self._before = number, self._read
            for record in files.read(*self._how, self._before + 1):
                self._read += 1
                yield record

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


def paired(scores: Sequence[str], **belonging: Sequence[str]) -> tuple[ScoreFiles, ...]:
    """The score files, each with what belongs to it: of every kind one for each of SCORES, or none at all."""
    for name, paths in belonging.items():
        if paths and len(paths) != len(scores):
            option = f"--{name.replace('_', '-')}"
            counts = f"{len(paths)} {option} for {len(scores)} SCORES"
            raise click.UsageError(f"{counts}: give one for each, in the same order.")
    found = tuple(
        ScoreFiles(ScoreSource(path), **{name: paths[number] for name, paths in belonging.items() if paths})
        for number, path in enumerate(scores)
    )
    if len(found) > 1:
        for each in found:
            check_readable(each.paths)
    return found


def check_readable(paths: Sequence[str]) -> None:
    """Raise for a file that cannot be opened: before the results of those in front of it are written."""
    for path in paths:
        if path != STDIN and (Path(path).is_file() or not Path(path).exists()):
            with open_input(path):
                pass


def own_trees(found: Sequence[ScoreFiles]) -> str:
    """What the files say that their trees are, which is news to the user, empty if they say nothing.

    Raises:
        DeptreeError: some do, and others do not.
    """
    kinds = {each.source.meta.trees: each for each in found}
    own = next(filter(None, kinds), "")
    if own:
        if len(kinds) > 1:
            place = kinds[own].source.place
            raise DeptreeError(f"is of {own} trees, and not all others are", "Read them one by one", place=place)
        mark_provenance(click.get_current_context(silent=True), "trees")
    return own


def one_layout(sources: Sequence[ScoreSource], asked: Layout) -> Layout:
    """The layout of all the files, as they say of themselves, which is news to the user, or as the options ask.

    Raises:
        DeptreeError: one file says another than the others, or than the options.
    """
    layouts = [each.layout(asked) for each in sources]
    for each, own in zip(sources, layouts, strict=True):
        if own.reading != layouts[0].reading:
            problem = f"is read in another layout than {sources[0].place}"
            remedy = "Read them one by one, or pass --from if one of them does not name its layout"
            raise DeptreeError(problem, remedy, place=each.place)
    if layouts[0].reading != asked.reading:
        mark_provenance(click.get_current_context(silent=True), "from")
    return layouts[0]
