"""What a command reads, item by item, and what it does to the items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from deptree_cli.core.errors import DeptreeError

Each = TypeVar("Each")


class Counted(Generic[Each]):
    """Items, to be iterated once, with what is known of their number.

    Args:
        total: the exact number, None if it is not known (yet).
        share: how much of the input has been read, from 0 to 1; None if that is not known.
        noun: what one item is called.
        note: what to show behind the numbers.
    """

    def __init__(
        self,
        items: Iterable[Each],
        total: Callable[[], int | None] = lambda: None,
        share: Callable[[], float | None] = lambda: None,
        noun: str = "sentence",
        note: Callable[[], str] = str,
    ) -> None:
        self._items = iter(items)
        self._total = total
        self._share = share
        self.noun = noun
        self.note = note
        self.read = 0

    def __iter__(self) -> Iterator[Each]:
        for item in self._items:
            self.read += 1
            yield item
        self._total = lambda: self.read

    def expected(self) -> tuple[int, bool] | None:
        """The number of items that there will be, and whether it is exact; None where nothing is known."""
        if (total := self._total()) is not None:
            return total, True
        share = self._share()
        return (max(round(self.read / share), self.read), False) if share else None


class Item(Protocol):
    """What is read: a sentence, or a batch of them."""

    @property
    def sent_id(self) -> str:
        """Its name, on which its random numbers depend."""

    @property
    def place(self) -> str:
        """Where it was read."""

    @property
    def weight(self) -> int:
        """How many numbers it has, which are kept for as long as others are waited for."""


@runtime_checkable
class PreparesBatches(Protocol):
    """What prepares items also many at once."""

    def batch(self, items: Sequence[Any]) -> Any:
        """Those that can be worked on at once, with their `places` among all; None where there are none."""


Read = TypeVar("Read", bound=Item)
Prepared = TypeVar("Prepared")


def unchanged(item: Any) -> Any:
    """Prepare nothing."""
    return item


@dataclass(frozen=True)
class Source(Generic[Read, Prepared]):
    """What the options of reading become.

    Attributes:
        items: as they are read, or what is wrong with one; once.
        prepare: what a worker makes of an item before the work proper; picklable.
        signature_fields: what of these options a run must repeat to give the same result.
        is_conllu: whether the sentences are CoNLL-U, which is then the usual format of results.
        check_words: raises unless the sentences have words, which CoNLL-U needs.
    """

    items: Counted[Read | DeptreeError]
    prepare: Callable[[Read], Prepared] = unchanged
    signature_fields: Mapping[str, object] = field(default_factory=dict)
    is_conllu: bool = False
    check_words: Callable[[], None] = lambda: None


Result = TypeVar("Result", covariant=True)

# Work on one item, prepared; its random stream is None where the run has no seed, and so nothing is random.
Function = Callable[[Any, Any], Result]


@runtime_checkable
class Work(Protocol[Result]):
    """What is done to items; it travels to worker processes."""

    @property
    def trees(self) -> int:
        """How many trees are drawn of an item."""
        return 0

    @property
    def in_batches(self) -> bool:
        """Whether many items are worked on at once, where they can be."""
        return False

    def one(self, prepared: Any, stream: Any) -> Result:
        """The result of an item. `stream`: its random numbers."""

    def batch(self, prepared: Any, streams: Any) -> Sequence[Any]:
        """The results of the items of a batch, None for what has to be worked on by itself."""
        return ()


@dataclass(frozen=True)
class Alone(Work[Result], Generic[Result]):
    """A function as work: of one item after another."""

    function: Function[Result]

    def one(self, prepared: Any, stream: Any) -> Result:
        """The result of an item."""
        return self.function(prepared, stream)


def as_work(work: Work[Result] | Function[Result]) -> Work[Result]:
    """Work, a plain function too."""
    return work if isinstance(work, Work) else Alone(work)
