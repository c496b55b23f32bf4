"""Sentence pairs with the links that annotators made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

from deptree_cli.bitext.files.pharaoh import PharaohLine, read_pharaoh
from deptree_cli.bitext.files.record import PairRecord
from deptree_cli.bitext.model.links import KnownLinks
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.read import read
from deptree_cli.io.sentence import Companion, Side, nameless

# Of the pairs of empty files.
NOTHING_KNOWN = KnownLinks(frozenset(), frozenset())


def with_links(pairs: Iterator[PairRecord | DeptreeError], paths: Sequence[str]) -> Iterator[PairRecord | DeptreeError]:
    """The pairs, each with the links of its line in Pharaoh files, by order.

    Files without a single line stand for pairs of which none has a link.

    Raises:
        OutOfStep: there are more of these than of those, or fewer.
    """
    lines = chain.from_iterable(map(read_pharaoh, paths))
    if (first := next(lines, None)) is None:
        return (pair if isinstance(pair, DeptreeError) else replace(pair, known=NOTHING_KNOWN) for pair in pairs)
    known = Side(chain([first], lines), "lines", ", ".join(map(place_of, paths)), nameless)
    lead = Side(pairs, "sentence pairs", names=lambda pair: (pair.sent_id,))
    return cast(Iterator[PairRecord | DeptreeError], read(lead, [Companion(known, _add)]))


def _add(pair: Any, line: PharaohLine) -> None:
    """Add its gold links to a pair, if these fit it."""
    try:
        line.links.check_within(*pair.scores.shape)
    except DeptreeError as error:
        raise error.at(line.place, pair.sent_id) from None
    pair.known = line.links
