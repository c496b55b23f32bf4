"""Registers: named entries in their order, which other installed packages may join through entry points."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from deptree_cli.core.errors import DeptreeError, did_you_mean, one_of


class Named(Protocol):
    """What every entry has: how users call it."""

    @property
    def name(self) -> str: ...


Entry = TypeVar("Entry", bound=Named)


@dataclass(frozen=True)
class NamedFunction:
    """An entry that is a function, and what it does in a few words for help texts."""

    name: str
    function: Callable[..., Any]
    help: str

    @property
    def line(self) -> str:
        return f"{self.name} ({self.help})"


class Register(Generic[Entry]):
    """The entries of one kind: samplers, containers, parsers, ...

    Help texts, completion, error messages and tests read it; a name is written nowhere else. An installed package adds
    to it by an entry point: an object of the same class in the register's group. Such packages are looked for when the
    entries are listed or a name is asked for that is not ours, so that nobody waits for them otherwise; what they offer
    under a name that is taken is left out, and so is what cannot be imported until it is asked for by name.

    Args:
        noun: what an entry is called in messages, such as ``sampler``.
        entries: ours, in the order of help texts.
        group: of entry points, such as ``deptree.samplers``; None where nobody may join.
        kind: the class of others' entries, where they need not be of a class that one of ours is of.
    """

    def __init__(
        self, noun: str, entries: Iterable[Entry], group: str | None = None, kind: type[Entry] | None = None
    ) -> None:
        self.noun, self.group = noun, group
        self._entries: dict[str, Entry] = {}
        self._kinds: set[type] = {kind} if kind else set()
        self._broken: dict[str, tuple[str, str]] = {}
        self._joined = group is None
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> Entry:
        if entry.name in self._entries:
            raise ValueError(f"there are two {self.noun}s called {entry.name!r}")
        self._entries[entry.name] = entry
        self._kinds.add(type(entry))
        return entry

    def get(self, name: str, others: Iterable[str] = ()) -> Entry:
        """The entry of that name; messages also name `others` that users may have meant."""
        if name not in self:
            if name in self._broken:
                problem, where = self._broken[name]
                raise DeptreeError(problem, f"Mend or uninstall the package of {where}")
            meant = [*self._entries, *others]
            raise DeptreeError(f"there is no {self.noun} {name!r}", did_you_mean(name, meant, one_of(meant)))
        return self._entries[name]

    @property
    def names(self) -> list[str]:
        return [entry.name for entry in self]

    @property
    def known(self) -> list[Entry]:
        return list(self._entries.values())

    def __iter__(self) -> Iterator[Entry]:
        self._join()
        return iter(self.known)

    def __repr__(self) -> str:
        return f"<{self.noun}s: {', '.join(self.names)}>"

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self.names

    def listing(self, describe: Callable[[Entry], str]) -> str:
        """Paragraphs for a terminal of 80 columns, each line of an entry under its own indentation."""

        def wrapped(text: str) -> Iterator[str]:
            for line in text.splitlines():
                indent = " " * (len(line) - len(line.lstrip()))
                yield from textwrap.wrap(line, 76, subsequent_indent=indent, break_on_hyphens=False)

        return "\n\n".join("\b\n" + "\n".join(wrapped(describe(entry))) for entry in self)

    def complete(self, context: object, parameter: object, incomplete: str) -> list[str]:
        """The names that begin so: click's `shell_complete`."""
        return [name for name in self.names if name.startswith(incomplete)]

    def _join(self) -> None:
        """Add what other packages offer, once."""
        if self._joined:
            return
        from importlib.metadata import entry_points

        self._joined = True
        for offer in entry_points(group=self.group or ""):
            if offer.name in self._entries:
                continue
            try:
                entry: Any = offer.load()
                is_one = isinstance(entry, tuple(self._kinds))
                if not is_one or entry.name != offer.name:
                    raise TypeError(f"{offer.value} is no {self.noun} of that name")
                self.add(entry)
            except Exception as error:  # somebody else's code
                self._broken[offer.name] = f"the {self.noun} {offer.name!r} cannot be loaded ({error})", offer.value


def imported(target: str | Callable[..., Any], folder: str) -> Callable[..., Any]:
    """The function that an entry names, imported now: ``package.module:name``, or ``.module:name`` in a package."""
    if not isinstance(target, str):
        return target
    module, name = target.split(":")
    return getattr(import_module(module, folder), name)
