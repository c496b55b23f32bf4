"""The one pairing of whatever belongs to the same sentences: by names if both sides have them, else by order.

One side leads: results come in its order. If its first sound item is found on the other side under a name of its own,
all are paired by names: the n-th item of a name gets the n-th companion of that name, and an item whose name is not
found becomes an error. Otherwise both sides are paired by order and must be equally many, and names that show that they
are out of step end the run: names that agree and then differ, or that were paired with another one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import zip_longest
from typing import Any, TypeVar

from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.sides import Lookup, Side, looked_ahead, place_of_item

Leader = TypeVar("Leader")
Companion = TypeVar("Companion")
Result = TypeVar("Result")

# What becomes of companions that are paired by names and that no item asks for.
REFUSE, IGNORE = "refuse", "ignore"

_SAME = "Check that both files hold the same sentences in the same order"


def joined(
    leaders: Side[Leader],
    companions: Side[Companion],
    combine: Callable[[Leader, Companion, int], Result],
    *,
    leftover: str = REFUSE,
    first: int = 1,
    again: bool = False,
) -> Iterator[Result | DeptreeError]:
    """What `combine` makes of each leader and its companion, in the order of the leaders.

    Args:
        combine: of a leader, its companion and its running number; raises OutOfStep if the two do not fit together,
            their lengths differ for example. That is an error of this item alone if their names agree.
        leftover: REFUSE or IGNORE companions that were found by names and that no leader asks for.
        first: the running number of the first leader, which nameless ones are called by in errors.
        again: whether a companion that was found by name serves the next leaders of this name too.

    Yields:
        results, and errors in place of items that cannot be used.

    Raises:
        DeptreeError: neither names nor an order are known.
        OutOfStep: the sides do not hold the same items.
    """
    for number, (leader, companion, sure) in enumerate(_pairs(leaders, companions, leftover, again), first):
        sent_id = leaders.name(leader) or str(number)
        if isinstance(leader, DeptreeError) or isinstance(companion, DeptreeError):
            yield leader if isinstance(leader, DeptreeError) else companion.at(sent_id=sent_id)
            continue
        try:
            yield combine(leader, companion, number)
        except DeptreeError as error:
            error.at(place_of_item(leader), sent_id)
            if isinstance(error, OutOfStep) and not sure:
                raise
            yield error


# A leader or its error, its companion or what is wrong with that, and whether names say that they belong together.
_Pair = tuple[Any, Any, bool]


def _pairs(leaders: Side[Any], companions: Side[Any], leftover: str, again: bool) -> Iterator[_Pair]:
    """The pairs by names if the first sound leader's is on the other side."""
    items, chief = looked_ahead(leaders.in_order(), lambda item: not isinstance(item, DeptreeError))
    names = () if chief is None or isinstance(chief, DeptreeError) else leaders.names(chief)
    found, others = companions.found(names)
    if found is None:
        companions.check_ordered(names)
        leaders.check_ordered(names)
        return _by_order(leaders, items, companions, others)
    return _by_names(leaders, items, companions, found, leftover, again)


def _by_names(
    leaders: Side[Any], items: Iterator[Any], companions: Side[Any], found: Lookup[Any], leftover: str, again: bool
) -> Iterator[_Pair]:
    nameless = 0  # errors of the leaders whose companions nobody knows: as many may be left over
    seen: set[str] = set()
    last = None
    for leader in items:
        names = [leader.sent_id] if isinstance(leader, DeptreeError) else list(leaders.names(leader))
        error = isinstance(leader, DeptreeError)
        still = again and (error or (last is not None and companions.name(last) in names))
        companion = last if still else found.take(names) if any(names) else None
        last = last if companion is None else companion
        if companion is not None and not isinstance(companion, DeptreeError) and companions.name(companion) is None:
            raise _out_of_step(leader, names, companion, None)
        nameless += error and companion is None
        if companion is None:
            companion = _missing(companions, names, seen).at(place_of_item(leader))
        else:
            seen.update(names)
        yield leader, companion, True
    if leftover == REFUSE:
        _refuse(found.rest(), nameless, companions, leaders)


def _missing(companions: Side[Any], names: Sequence[str], seen: Set[str]) -> DeptreeError:
    if not any(names):
        return DeptreeError(
            f"it has no name to be found by in {companions.place}", "Name all as the first one is named"
        )
    problem = f"{companions.place} has nothing {'' if seen.isdisjoint(names) else 'more '}of this name"
    return DeptreeError(problem, "The first one was found there by its name, so all others must be there too")


def _refuse(left: Iterator[Any], excused: int, companions: Side[Any], leaders: Side[Any]) -> None:
    """Raise for the first of those that are left, if there are more than are excused."""
    if (first := next(left, None)) is None or (others := sum(1 for _ in left) - excused) < 0:
        return
    within = f" in {leaders.place}" if leaders.place else ""
    more = f", nor to {counted(others, 'other')}" if others else ""
    problem = f"no {leaders.what}{within} belong to this one{more}"
    remedy = "Check that both files hold the same sentences"
    raise OutOfStep(problem, remedy, place=place_of_item(first), sent_id=companions.name(first) or "")


def _by_order(
    leaders: Side[Any], items: Iterator[Any], companions: Side[Any], others: Iterator[Any]
) -> Iterator[_Pair]:
    names = _NamesInOrder(companions.items if isinstance(companions.items, Mapping) else {})
    for number, (leader, other) in enumerate(zip_longest(items, others)):
        if leader is None or other is None:
            ends = number, number + 1 + sum(1 for _ in items) + sum(1 for _ in others)
            led, beside = ends if leader is None else ends[::-1]
            within = f" in {leaders.place}" if leaders.place else ""
            problem = f"the number of {companions.what} is {beside}, that of {leaders.what}{within} is {led}"
            raise OutOfStep(problem, _SAME, place=companions.place)
        sound = not isinstance(leader, DeptreeError) and not isinstance(other, DeptreeError)
        yield leader, other, sound and names.agree(leader, leaders.names(leader), other, companions.name(other))


class _NamesInOrder:
    """The names of what is paired by order: they may be of two kinds, but then of two kinds to the end."""

    def __init__(self, known: Mapping[str, object]) -> None:
        self._known = known
        self._alike: bool | None = None
        self._of_leaders: set[str] = set()
        self._of_companions: set[str] = set()

    def agree(self, leader: object, names: Sequence[str], companion: object, name: str | None) -> bool:
        """Whether both have the same name.

        Raises:
            OutOfStep: they should have: those before had it, or one of the names stands elsewhere.
        """
        if not names or name is None:
            return False
        alike = name in names
        self._alike = alike if self._alike is None else self._alike
        elsewhere = name in self._of_leaders or not self._of_companions.isdisjoint(names)
        if not alike and (self._alike or elsewhere or any(each in self._known for each in names)):
            raise _out_of_step(leader, names, companion, name)
        if alike and not self._alike:
            problem = f"out of step: here both names are {name!r}, but those of the first two differ"
            raise OutOfStep(problem, _SAME, place=place_of_item(companion))
        if not alike:
            self._of_leaders.update(names)
            self._of_companions.add(name)
        return alike


def _out_of_step(leader: object, names: Sequence[str], companion: object, name: str | None) -> OutOfStep:
    whose = "without a name" if name is None else repr(name)
    there = f"the one at {place_of_item(leader)}" if place_of_item(leader) else "the other one"
    return OutOfStep(f"out of step: this is {whose}, {there} is {names[0]!r}", _SAME, place=place_of_item(companion))
