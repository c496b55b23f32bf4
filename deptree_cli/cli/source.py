"""What a command reads, item by item: sentences with scores, sentence pairs, sentences to be parsed, draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

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
