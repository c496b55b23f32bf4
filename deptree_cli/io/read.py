"""The one reader: the sentences of a leading file, each with what its companions, other files, have of it.

Results come in the order of the leading side. A companion is paired with it by ids if both sides have ids, whatever is
missing or moved: the n-th item of an id with the n-th sentence of that id. Otherwise it is paired by order, and both
sides must have as many items. Which it is, the first items decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.companion import Companion, Side, Warn, unheard
from deptree_cli.io.pairing import ByIds, ByOrder, are_alike, peeked
from deptree_cli.io.sentence import Sentence


def read(lead: Side, companions: Sequence[Companion] = (), warn: Warn = unheard) -> Iterator[Sentence | DeptreeError]:
    """The sentences of the leading side, each with what companions have of it.

    Args:
        warn: tells a line, once for each key: an order that numbers of the other side contradict.

    Yields:
        sentences, and errors in place of those that cannot be used; at the end those of companions' items that belong
        to no sentence.

    Raises:
        DeptreeError: neither ids nor an order are known.
        OutOfStep: sides that are paired by order do not hold the same sentences.
    """
    pairings: list[ByIds | ByOrder] = []
    sentences = lead.in_order()
    for each in companions:
        sentences = _with(sentences, each, lead, pairings, warn)
    yield from sentences
    for pairing in pairings:
        yield from pairing.left()


def _with(
    sentences: Iterator[Any], companion: Companion, lead: Side, pairings: list[ByIds | ByOrder], warn: Warn
) -> Iterator[Any]:
    """The sentences, each with what a companion has of it; also errors have companions."""
    sentences, first = peeked(sentences)
    pairing = _pairing(companion, lead, () if first is None else lead.names_of(first), sentences, warn)
    pairings.append(pairing)
    for item in sentences:
        found = pairing.take(item)
        if isinstance(item, DeptreeError):
            yield item
            continue
        try:
            if isinstance(found, DeptreeError):
                raise found
            companion.add(item, found)
        except DeptreeError as error:
            error.at(item.place, item.sent_id)
            if isinstance(error, OutOfStep) and not pairing.sure:
                raise
            yield error
        else:
            yield item


def _pairing(
    companion: Companion, lead: Side, names: Sequence[str], sentences: Iterator[Any], warn: Warn
) -> ByIds | ByOrder:
    """How a companion is paired with sentences, the first of which has these names."""
    side = companion.side
    items, name = _first(side, names)
    is_known = isinstance(lead.items, Mapping) and name in lead.items
    if name is not None and (is_known or any(are_alike(each, name) for each in names)):
        return ByIds(companion, lead, items)
    for each in (side, lead):
        if not each.ordered:
            missing = f", and {name!r} and {names[0]!r} are names of two kinds" if names and name else ""
            raise DeptreeError(f"the order of the {each.what} is not known{missing}", _UNORDERED, place=each.place)
    return ByOrder(companion, lead, items, sentences, warn)


def _first(side: Side, names: Sequence[str]) -> tuple[Iterator[Any] | None, str | None]:
    """The items of a stream, and the name of the first; None of a mapping, and one of these names if it is there."""
    if isinstance(side.items, Mapping):
        return None, next((each for each in names if each in side.items), next(iter(side.items), None))
    items, first = peeked(iter(side.items))
    return items, None if first is None else side.name(first)


_UNORDERED = (
    "Use the same names in both files, or save the scores as .npz:"
    " safetensors sorts by name, and only deptree notes the order"
)
