"""What a command reads, item by item: sentences with scores, sentence pairs, sentences to be parsed, draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from deptree_cli.cli.progress import Counted
from deptree_cli.core.errors import DeptreeError


class Item(Protocol):
    """What is read: a sentence, or a batch of them."""

    @property
    def sent_id(self) -> str:
        """Its name, on which its random numbers depend."""

    @property
    def place(self) -> str:
        """Where it was read."""

    @property
    def notice(self) -> str:
        """What the user must hear of how it was read, each line once in a run; or nothing."""


Read = TypeVar("Read", bound=Item)
Prepared = TypeVar("Prepared")
Made = TypeVar("Made", covariant=True)


class Source(Protocol[Read, Made]):
    """What the options of reading become."""

    def items(self) -> Counted[Read | DeptreeError]:
        """The items as they are read, or what is wrong with one; to be called once."""

    @property
    def prepare(self) -> Callable[[Read], Made]:
        """What a worker makes of an item before the work proper; picklable."""

    @property
    def signature_fields(self) -> Mapping[str, object]:
        """What of these options a run must repeat to give the same result."""

    @property
    def is_conllu(self) -> bool:
        """Whether the sentences are CoNLL-U, which is then the usual format of results."""

    def check_words(self) -> None:
        """Raise unless the sentences have words, which CoNLL-U needs."""


def unchanged(item: Any) -> Any:
    """Prepare nothing."""
    return item


@dataclass(frozen=True)
class Plain(Generic[Read]):
    """A source of items that are worked on as they are."""

    counted: Counted[Read | DeptreeError]
    is_conllu: bool = False
    signature_fields: Mapping[str, object] = field(default_factory=dict)
    prepare: Callable[[Read], Any] = unchanged

    def items(self) -> Counted[Read | DeptreeError]:
        """The items."""
        return self.counted

    def check_words(self) -> None:
        """Accept any format."""
