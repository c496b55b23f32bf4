"""The one family of errors a user can cause: a line that says where, what is wrong and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deptree_cli.core.settings import Setting

# Controls, separators of lines, halves of surrogate pairs: with them a line would end, or not be UTF-8.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

# Bytes of a file's name that the locale could not decode, as Python keeps them.
_UNDECODED = re.compile(r"[\udc80-\udcff]+")


class DeptreeError(Exception):
    """An input or an argument that cannot be used.

    Its text is ``place (sent_id): problem. Remedy.``; `place` is a file, ``file:line`` or ``file[key]``. Parts that
    are not known where the error is raised are left empty, and filled in by `at`.

    Args:
        options: the arguments that problem or remedy name, which are options on the command line.
    """

    def __init__(
        self, problem: str, remedy: str = "", *, place: str = "", sent_id: str = "", options: Sequence[Setting] = ()
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy
        self.place = place
        self.sent_id = sent_id
        self.options = tuple(options)

    def at(self, place: str = "", sent_id: str = "") -> DeptreeError:
        """Return this error, its place and sentence id filled in if they were empty."""
        self.place = self.place or place
        self.sent_id = self.sent_id or sent_id
        return self

    def __str__(self) -> str:
        where = self.place + (f" ({self.sent_id})" if self.place and self.sent_id else self.sent_id)
        line = (f"{where}: " if where else "") + _sentence(self.problem)
        return printable(f"{line} {_sentence(self.remedy)}" if self.remedy else line)

    @property
    def on_command_line(self) -> str:
        """The message with command-line options in place of the names of arguments."""
        text = str(self)
        for each in self.options:
            text = text.replace(str(each), each.as_option)
        return text


def name_in_batch(b: int) -> str:
    """How messages name a sentence of a padded batch: by its index, counted through the shape of the batch."""
    return f"sentence {b} of the batch"


@contextmanager
def in_batch(name: str) -> Iterator[None]:
    """Name a sentence of a padded batch in errors."""
    try:
        yield
    except DeptreeError as error:
        raise error.at(sent_id=name) from None


class OutOfStep(DeptreeError):  # noqa: N818 (what it is, as ReaderLeft)
    """Two files that are paired by order do not agree: pairs behind it would be wrong, so this is never skipped."""


def printable(text: str) -> str:
    """The text with what a terminal would obey written out: names come from files, and a line must stay a line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _written_out(char) for char in readable(text))


def _written_out(char: str) -> str:
    return f"\\x{ord(char) - 0xDC00:x}" if _UNDECODED.match(char) else repr(char)[1:-1]


def readable(text: str) -> str:
    """The text with the names of files in it as UTF-8, whatever the locale; bytes that are none stay as they are."""
    return text if text.isascii() else _UNDECODED.sub(_decoded, text)


def _decoded(found: re.Match[str]) -> str:
    return found[0].encode("ascii", "surrogateescape").decode("utf-8", "surrogateescape")


def fits_a_line(text: str) -> bool:
    """Whether text from a file can stand in a line with others without ending it or a column of it."""
    return not _UNFIT.search(text)


def plural(number: int, noun: str) -> str:
    """The noun for a number of things."""
    return noun if number == 1 else f"{noun}s"


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 word``, ``2 words``."""
    return f"{number} {plural(number, noun)}"


def counted_thousands(number: int, noun: str) -> str:
    """A number of things with commas: ``11,709 words``."""
    return f"{number:,} {plural(number, noun)}"


class ReaderLeft(Exception):  # noqa: N818 (it is none)
    """Whoever read our output has seen enough; no error (and no OSError, of which others would make one)."""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."
