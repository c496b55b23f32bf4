"""Rows of a sentence, cut into their columns and changed in some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def lines_of(data: bytes) -> list[bytes]:
    """Lines with their newlines; a lone carriage return ends none."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    return [*lines[:-1], lines[-1][:-1]] if lines[-1] != b"\n" else lines[:-1]


def cells_of(data: bytes, places: Sequence[int | None]) -> Iterator[tuple[bytes, ...]]:
    """What rows have in the columns at some places, ``_`` for None."""
    for line in data.split(b"\n"):
        if line:
            row = line.rstrip(b"\r").split(b"\t")
            yield tuple([b"_" if place is None else row[place] for place in places])


def with_values(lines: Sequence[bytes], place: int, values: Sequence[str]) -> list[bytes]:
    """Rows with other values in the column at a place, which is not the first, of those that are words."""
    texts, written = iter(values), []
    for line in lines:
        row = line.split(b"\t")
        if row[0].isdigit():
            newline = row[place][len(row[place].rstrip(b"\r\n")) :]
            row[place] = next(texts).encode() + newline
        written.append(b"\t".join(row))
    return written
