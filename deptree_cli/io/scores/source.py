"""A score file that is opened once, when something of it is first asked for: it may be a pipe."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.scores.containers import ScoreFile, open_scores
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.scores.lengths import read_lengths, with_lengths
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.scores.raw import ReadSpec, Source


class ScoreSource:
    """The scores in a file; `-` is standard input.

    Attributes:
        path: as the user gave it.
        place: what messages call it.
        count: the number of matrices, once it is known: in a container with names, from `read` on.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.place = place_of(path)
        self.count: int | None = None
        self._opened = ExitStack()

    @cached_property
    def _file(self) -> ScoreFile:
        return self._opened.enter_context(open_scores(self.path))

    @property
    def meta(self) -> Meta:
        """What the file says of itself; standard input loses nothing by the look."""
        return self._file.meta

    @property
    def keys(self) -> Collection[str]:
        """The names of its arrays; none if the container tells them only one by one."""
        return self._file if isinstance(self._file, Mapping) else ()

    def layout(self, asked: Layout) -> Layout:
        """Return how the scores are read if the options ask for this; errors as of `Meta.read_with`."""
        meta = self.meta
        try:
            return meta.read_with(asked)
        except DeptreeError as error:
            raise error.at(self.place) from None

    def check_no_results(self) -> None:
        """Raise if the file says that it holds results, with the file's name."""
        try:
            self.meta.check_no_results()
        except DeptreeError as error:
            raise error.at(self.place) from None

    @property
    def has_words(self) -> bool:
        """Whether the sentences come with their words, as those of JSON Lines may."""
        return getattr(self._file, "words", False)

    @contextmanager
    def read(self, layout: Layout, lengths: str | None = None) -> Iterator[Source]:
        """The matrices, once: a mapping for a container with names, else an iterator.

        Args:
            layout: how they are laid out.
            lengths: a file with the lengths of a padded batch.

        Raises:
            DeptreeError: reading cannot begin or go on.
        """
        scores = self._file
        with self._opened:
            source = scores.read(ReadSpec(layout.dimensions, layout.forbidden))
            self.count = len(source) if isinstance(source, Mapping) else None
            yield source if lengths is None else with_lengths(source, read_lengths(lengths), self.place)
