"""Errors that users can mend: place, problem and remedy, and what that tells them to set, in Python or by an option."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """An argument that a message names; its text is how Python writes it.

    Attributes:
        value: the one to pass; None where the message is about the argument as such.
        option: what the command line has in its place, if that is called otherwise.
    """

    argument: str
    value: object = None
    option: str = ""

    def __str__(self) -> str:
        value = f'"{self.value}"' if isinstance(self.value, str) else self.value
        return f"`{self.argument}`" if self.value is None else f"`{self.argument}={value}`"

    @property
    def as_option(self) -> str:
        value = "" if self.value in (None, True) else f" {self.value}"
        return f"--{self.option or self.argument.replace('_', '-') + value}"


# Those of which several modules speak.
BUDGET = Setting("budget")
ITERATIONS = Setting("iterations")
LOG_SCALE = Setting("scale", "log", "from log")
PROJECTIVE = Setting("projective", True)
RELAX = Setting("relax", True)
RESUME = Setting("resume")
SEVERAL_ROOTS = Setting("single_root", False, "multi-root")
STATES = Setting("states")
TEMPERATURE = Setting("temperature")
UNLABELLED = Setting("unlabelled")


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
    return f"sentence {b} of the batch"  # counted through the shape of the batch


class located:  # noqa: N801 (a function to its users; a generator takes two microseconds more, once a sentence)
    """Say of an error within where it is, as far as it does not say so itself."""

    def __init__(self, place: str = "", sent_id: str = "") -> None:
        self.place, self.sent_id = place, sent_id

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, DeptreeError):
            raise error.at(self.place, self.sent_id) from None


class OutOfStep(DeptreeError):  # noqa: N818 (what it is, as ReaderLeft)
    """Two files that are paired by order do not agree: pairs behind it would be wrong, so this is never skipped."""


def printable(text: str) -> str:
    """The text with what a terminal would obey written out: names come from files, and a line must stay a line."""
    if text.isprintable():
        return text

    def written_out(char: str) -> str:
        return f"\\x{ord(char) - 0xDC00:x}" if _UNDECODED.match(char) else repr(char)[1:-1]

    return "".join(char if char.isprintable() else written_out(char) for char in readable(text))


def readable(text: str) -> str:
    """The text with the names of files in it as UTF-8, whatever the locale; bytes that are none stay as they are."""
    if text.isascii():
        return text
    return _UNDECODED.sub(
        lambda found: found[0].encode("ascii", "surrogateescape").decode("utf-8", "surrogateescape"), text
    )


def fits_a_line(text: str) -> bool:
    """Whether text from a file can stand in a line with others without ending it or a column of it."""
    return not _UNFIT.search(text)


def plural(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


def counted(number: int, noun: str) -> str:
    return f"{number} {plural(number, noun)}"


def counted_thousands(number: int, noun: str) -> str:
    return f"{number:,} {plural(number, noun)}"


def words(numbers: Iterable[int]) -> str:
    """``word 4``, ``words 4 and 7``, ``words 1, 2, 3 and 9 more``: for messages."""
    names = [f"{number}" for number in numbers]
    if len(names) == 1:
        return f"word {names[0]}"
    if len(names) > 6:
        return f"words {', '.join(names[:5])} and {len(names) - 5} more"
    return f"words {', '.join(names[:-1])} and {names[-1]}"


class ReaderLeft(Exception):  # noqa: N818 (it is none)
    """Whoever read our output has seen enough; no error (and no OSError, of which others would make one)."""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of some names that is spelt most like another, None if none is much like it."""
    return next(iter(difflib.get_close_matches(name, list(names), 1)), None)


def one_of(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"Choose one of {listed}" if ", " in listed else f"Choose {listed}" * bool(listed)


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """A remedy for a misspelt name: the nearest one, or what to say if none is near."""
    near = nearest(name, names)
    return f"Did you mean {near}?" if near else otherwise
