"""Items that travel together: whoever works on one asks it, and many are worked on when the first one asks."""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.sentence import Chunk, Row


class Item(NamedTuple):
    sent_id: str


class Batch(NamedTuple):
    places: list[int]
    names: list[str]


class Prepare:
    """All can be worked on together but those called `alone`."""

    def __call__(self, item: Item) -> str:
        return item.sent_id.upper()

    def batch(self, items: list[Item]) -> Batch | None:
        places = [at for at, item in enumerate(items) if item.sent_id != "alone"]
        return Batch(places, [items[at].sent_id for at in places]) if places else None


def chunk(names: str, seed: int | None = None) -> Chunk:
    tasks = [(Item(name), names.split()[:at].count(name)) for at, name in enumerate(names.split())]
    return Chunk(tasks, Prepare(), seed)


def test_what_is_asked_of_many_is_found_once_and_each_gets_its_part() -> None:
    asked = []

    def lengths(batch: Batch, streams: Any) -> list[int]:
        asked.append((batch.names, streams))
        return [len(name) for name in batch.names]

    found = chunk("a alone ccc")
    rows = [Row(found, at) for at in range(3)]
    assert [row.ask(lengths) for row in rows] == [1, None, 3]
    assert asked == [(["a", "ccc"], None)]
    assert [row.alone for row in rows] == ["A", "ALONE", "CCC"]
    assert found.row(2).ask(lengths) == 3
    assert len(asked) == 1


def test_an_error_of_many_leaves_each_to_itself() -> None:
    tries = []

    def fails(batch: Batch, streams: Any) -> list[int]:
        tries.append(batch)
        raise DeptreeError("one of them is bad")

    found = chunk("a b")
    assert [found.part(fails, at) for at in range(2)] == [None, None]
    assert len(tries) == 1
    assert chunk("alone alone").part(fails, 0) is None


def test_streams_are_those_of_each_sentence_from_the_start() -> None:
    """Also where one question has moved them on, or did not come to its end and is asked again."""
    found, given = chunk("a alone a", seed=7), []

    def draw(batch: Batch, streams: Any) -> list[float]:
        given.append(streams)
        streams.states[:] = 0  # as a kernel moves them on
        if len(given) == 1:
            raise KeyboardInterrupt
        return [streams.of(at).random() for at in range(len(batch.names))]

    try:
        found.part(draw, 0)
    except KeyboardInterrupt:
        drawn = [found.part(draw, at) for at in (0, 2)]
    assert [each.names for each in given] == [[("a", 0), ("a", 1)]] * 2
    assert given[0] is not given[1]
    assert drawn[0] != drawn[1]
