"""One side of a join: its items, in order or by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import attrgetter
from typing import Generic, Protocol, TypeVar

from deptree_cli.core.errors import DeptreeError

Item = TypeVar("Item")
Found = TypeVar("Found", covariant=True)

# How far a stream is searched for the first name before it is paired by order: what is passed over stays in memory.
AHEAD = 1000


def nameless(_: object) -> Sequence[str]:
    """The names of items that have none."""
    return ()


_UNORDERED = (
    "Use the same names in both files, or save the scores as .npz:"
    " safetensors sorts by name, and only deptree notes the order"
)


class Lookup(Protocol[Found]):
    """Items that are asked for by name, each once."""

    def take(self, names: Sequence[str]) -> Found | DeptreeError | None:
        """The next item of one of these names, if there is one."""

    def rest(self) -> Iterator[Found | DeptreeError]:
        """What nobody asked for."""


@dataclass(frozen=True)
class Side(Generic[Item]):
    """One of the two files that are joined, or whatever its items come from.

    Attributes:
        items: in their order, each of which may be the error of one that cannot be used; a mapping loads what is asked
            for by name.
        what: they are called in messages, in the plural.
        place: the file, for messages; empty if there is no single one.
        names: of an item, likeliest first, of which a companion has one; none if it has only a running number. Usually
            its attribute.
        ordered: False if nobody knows the order.
    """

    items: Mapping[str, Item] | Iterable[Item | DeptreeError]
    what: str
    place: str = ""
    names: Callable[[Item], Sequence[str]] = attrgetter("names")
    ordered: bool = True

    def name(self, item: Item | DeptreeError) -> str | None:
        """The first name of an item, or that of an error."""
        if isinstance(item, DeptreeError):
            return item.sent_id or None
        return next(iter(self.names(item)), None)

    def in_order(self) -> Iterator[Item | DeptreeError]:
        """All items."""
        return in_order(self.items)

    def check_ordered(self, names: Sequence[str]) -> None:
        """Raise unless there is an order; `names`: of the first leader, which the companions lack."""
        if not self.ordered:
            missing = f", and no name {names[0]!r} on both sides" if names else ""
            raise DeptreeError(f"the order of the {self.what} is not known{missing}", _UNORDERED, place=self.place)

    def found(self, names: Sequence[str]) -> tuple[Lookup[Item] | None, Iterator[Item | DeptreeError]]:
        """Where items are found by name, None unless one of the names is there; and all items in order."""
        if isinstance(self.items, Mapping):
            there = any(name in self.items for name in names)
            return (_InMapping(self.items) if there else None), self.in_order()
        if not names:
            return None, self.in_order()
        items, decisive = looked_ahead(self.in_order(), lambda item: self._decides(item, names))
        there = decisive is not None and self.name(decisive) in names
        return (_InStream(items, self) if there else None), items

    def _decides(self, item: Item | DeptreeError, names: Sequence[str]) -> bool:
        """Whether there is no need to look on: it has one of the names, or a sound item has none."""
        name = self.name(item)
        return name in names or (name is None and not isinstance(item, DeptreeError))


def in_order(source: Mapping[str, Item] | Iterable[Item | DeptreeError]) -> Iterator[Item | DeptreeError]:
    """The items of a source in their order."""
    return (_loaded(source, key) for key in source) if isinstance(source, Mapping) else iter(source)


def _loaded(source: Mapping[str, Item], key: str) -> Item | DeptreeError:
    try:
        return source[key]
    except DeptreeError as error:
        return error.at(sent_id=key)


def looked_ahead(items: Iterator[Item], wanted: Callable[[Item], bool]) -> tuple[Iterator[Item], Item | None]:
    """The items as they were, and the first one that is wanted if it is among the next ones."""
    looked_at = []
    for item in islice(items, AHEAD):
        looked_at.append(item)
        if wanted(item):
            return chain(looked_at, items), item
    return chain(looked_at, items), None


def place_of_item(item: object) -> str:
    """Where an item was read, if it knows."""
    return getattr(item, "place", "")


class _InMapping(Generic[Item]):
    """Companions that are asked for by name, each once."""

    def __init__(self, items: Mapping[str, Item]) -> None:
        self._items = items
        self._taken: set[str] = set()

    def take(self, names: Sequence[str]) -> Item | DeptreeError | None:
        """The one of the first of these names that is there, if there is one."""
        name = next((name for name in names if name in self._items and name not in self._taken), None)
        if name is None:
            return None
        self._taken.add(name)
        return _loaded(self._items, name)

    def rest(self) -> Iterator[Item | DeptreeError]:
        """What nobody asked for."""
        return (_loaded(self._items, name) for name in self._items if name not in self._taken)


class _InStream(Generic[Item]):
    """Companions that are read on until one of a name comes; what is passed over waits, in the same order nothing."""

    def __init__(self, items: Iterator[Item | DeptreeError], side: Side[Item]) -> None:
        self._items = items
        self._side = side
        self._waiting: dict[str | None, deque[Item | DeptreeError]] = {}

    def take(self, names: Sequence[str]) -> Item | DeptreeError | None:
        """The next one of one of these names; else an error that may be of it, for nobody knows its name."""
        for name in names:
            if name in self._waiting:
                return self._waiter(name)
        for item in self._items:
            own = self._side.name(item)
            if own in names or (own is None and not self._waiting):
                return item
            self._waiting.setdefault(own, deque()).append(item)
        return self._waiter(None) if None in self._waiting else None

    def _waiter(self, name: str | None) -> Item | DeptreeError:
        waiting = self._waiting[name]
        if len(waiting) == 1:
            del self._waiting[name]
        return waiting.popleft()

    def rest(self) -> Iterator[Item | DeptreeError]:
        """What nobody asked for, but for errors of which nobody knows whose they are."""
        left = chain(chain.from_iterable(self._waiting.values()), self._items)
        return (each for each in left if self._side.name(each) is not None or not isinstance(each, DeptreeError))
