"""What is read together: sides, each a file or whatever items come from, one of which leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.sentence import Sentence

Item = TypeVar("Item")

# Tells the user a line, once for each key.
Warn = Callable[[str, str], None]


def unheard(key: str, line: str) -> None:
    """Tell nobody."""


def in_order(source: Mapping[str, Item] | Iterable[Item | DeptreeError]) -> Iterator[Item | DeptreeError]:
    """The items of a source in their order."""
    return (loaded(source, key) for key in source) if isinstance(source, Mapping) else iter(source)


def loaded(source: Mapping[str, Item], key: str) -> Item | DeptreeError:
    """An entry of a mapping, or what is wrong with it."""
    try:
        return source[key]
    except DeptreeError as error:
        return error.at(sent_id=key)


@dataclass(frozen=True)
class Side:
    """One of the files that are read together, or whatever its items come from.

    Attributes:
        items: in their order, each of which may be the error of one that cannot be used; a mapping loads what is asked
            for by id.
        what: they are called in messages, in the plural.
        place: the file, for messages; empty if there is no single one.
        names: of an item, likeliest first; none if it has only a running number.
        ordered: False if nobody knows the order.
    """

    items: Mapping[str, Any] | Iterable[Any]
    what: str
    place: str = ""
    names: Callable[[Any], Sequence[str]] = attrgetter("names")
    ordered: bool = True

    def in_order(self) -> Iterator[Any]:
        """All items."""
        return in_order(self.items)

    def names_of(self, item: object) -> Sequence[str]:
        """The names of an item or of its error, if it has any."""
        if isinstance(item, DeptreeError):
            return (item.sent_id,) if item.sent_id else ()
        return self.names(item)

    def name(self, item: object) -> str | None:
        """The first of them."""
        return next(iter(self.names_of(item)), None)


def nameless(_: object) -> Sequence[str]:
    """The names of items that have none."""
    return ()


@dataclass(frozen=True)
class Companion:
    """A side that is paired with the leading one.

    Attributes:
        side: its items.
        add: adds an item to the sentence that it belongs to; raises OutOfStep if the two do not fit together. That is
            an error of this sentence alone if their ids say that they belong together, else it ends the reading.
        shared: whether it may have items of other sentences, because one file may serve several.
        again: whether an item that was found by its id serves the next sentences of this id too.
    """

    side: Side
    add: Callable[[Sentence, Any], object]
    shared: bool = False
    again: bool = False


def holding(role: str) -> Callable[[Sentence, Any], object]:
    """What adds an item as it is, under its role."""
    return lambda sentence, item: sentence.companions.update({role: item})
