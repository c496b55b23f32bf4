"""Bytes that are made while they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


class Pieces:
    """Bytes in pieces: a result that is long is never in memory as a whole, unless it leaves its process.

    Args:
        make: makes the pieces, anew whenever they are asked for.
    """

    def __init__(self, make: Callable[[], Iterable[bytes]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._make())

    def __reduce__(self) -> tuple[type[bytes], tuple[bytes]]:
        return bytes, (b"".join(self),)


def pieces_of(data: bytes | Pieces) -> Iterable[bytes]:
    """What there is to write, one after another."""
    return [data] if isinstance(data, bytes) else data
