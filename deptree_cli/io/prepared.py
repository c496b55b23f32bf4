"""What was read, made into what Python users get: errors raised, or handed on to whoever asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from deptree_cli.core.errors import DeptreeError

Read = TypeVar("Read")
Made = TypeVar("Made")


def prepared(
    records: Iterable[Read | DeptreeError],
    prepare: Callable[[Read], Made],
    on_error: Callable[[DeptreeError], None] | None,
) -> Iterator[Made]:
    """Yield what `prepare` makes of every record.

    Args:
        on_error: called with what is wrong with a record that cannot be used, which is then left out.

    Raises:
        DeptreeError: a record cannot be used, without `on_error`.
    """
    for record in records:
        try:
            if isinstance(record, DeptreeError):
                raise record
            yield prepare(record)
        except DeptreeError as error:
            if on_error is None:
                raise
            on_error(error)
