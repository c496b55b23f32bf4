"""The rules of `joined` one by one, on plain items; `test_join.py` has them for the files of every companion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io import sides
from deptree_cli.io.join import IGNORE, REFUSE, joined
from deptree_cli.io.sides import Side


class Piece(NamedTuple):
    """An item with a name, empty if it has none, of some length."""

    name: str
    place: str
    length: int


def pieces(file: str, names: list[str]) -> list[Piece | DeptreeError]:
    """`a` is an item of that name, `-` one without; `a2` is of length 2; `!` is malformed, `!a` but for its name."""
    found: list[Piece | DeptreeError] = []
    for line, name in enumerate(names, 1):
        place = f"{file}:{line}"
        if name.startswith("!"):
            found.append(DeptreeError("malformed", place=place, sent_id=name[1:]))
        else:
            found.append(Piece(name.strip("-23"), place, int(name[-1]) if name[-1].isdigit() else 1))
    return found


def side(file: str, text: str, *, mapping: bool = False, ordered: bool = True) -> Side[Piece]:
    items = pieces(file, text.split())
    named = {piece.name: piece for piece in items if isinstance(piece, Piece)}
    return Side(
        named if mapping else iter(items), "pieces", file, lambda piece: [piece.name] * bool(piece.name), ordered
    )


def fit(leader: Piece, companion: Piece, number: int) -> str:
    if leader.length != companion.length:
        raise OutOfStep(f"lengths {leader.length} and {companion.length}")
    return f"{leader.place[2:]}{companion.place[2:]}"


def found(leaders: str, companions: str, leftover: str = REFUSE, mapping: bool = False) -> list[str]:
    """The lines of what was joined, ``13`` is the first with the third, and errors as text."""
    pairs = joined(side("l", leaders), side("c", companions, mapping=mapping), fit, leftover=leftover)
    return [str(each) for each in pairs]


@pytest.mark.parametrize("mapping", [False, True], ids=["stream", "mapping"])
@pytest.mark.parametrize(
    ("leaders", "companions", "pairs"),
    [
        ("a b c", "a b c", "11 22 33"),
        ("a b c", "c b a", "13 22 31"),
        ("a b2 c", "c a b2", "12 23 31"),
        ("a b", "x y", "11 22"),  # names of two kinds
        ("- -", "a b", "11 22"),
        ("- b c", "a b c", "11 22 33"),
        ("- b", "x y", "11 22"),
    ],
)
def test_pairs(leaders: str, companions: str, pairs: str, mapping: bool) -> None:
    assert found(leaders, companions, mapping=mapping) == pairs.split()


def test_the_nth_of_a_name_goes_with_the_nth() -> None:
    assert found("a b a c", "b a c a") == ["12", "21", "34", "43"]
    *pairs, error = found("a a a", "a a")
    assert pairs == ["11", "22"]
    assert error.startswith("l:3 (a): c has nothing more of this name.")
    assert found("a a", "a", mapping=True)[1].startswith("l:2 (a): c has nothing more")


def test_one_that_is_not_there_is_an_error_of_its_own() -> None:
    first, error, last = found("a x b", "a b")
    assert (first, last) == ("11", "32")
    assert error.startswith("l:2 (x): c has nothing of this name. The first one was found there")


def test_lengths_that_differ_are_an_error_of_this_one_alone_if_the_names_agree() -> None:
    assert found("a b2 c", "a b c")[1:] == ["l:2 (b): lengths 2 and 1.", "33"]
    assert found("- b2 c", "x b c")[1:] == ["l:2 (b): lengths 2 and 1.", "33"]
    for leaders in ("x y2 z", "x -2 z"):
        with pytest.raises(OutOfStep, match=r"l:2 \([y2]\): lengths 2 and 1"):
            found(leaders, "a b c")


@pytest.mark.parametrize("mapping", [False, True], ids=["stream", "mapping"])
def test_what_is_left_over(mapping: bool) -> None:
    with pytest.raises(OutOfStep) as caught:
        found("a b", "d b a c", mapping=mapping)
    assert str(caught.value).startswith("c:1 (d): no pieces in l belong to this one, nor to 1 other.")
    assert found("a b", "d b a c", IGNORE, mapping) == ["13", "22"]
    with pytest.raises(OutOfStep, match=r"c: the number of pieces is 3, that of pieces in l is 2"):
        found("- -", "a b c", IGNORE, mapping)


@pytest.mark.parametrize(
    ("leaders", "companions", "message"),
    [
        ("a b c", "x y", r"c: the number of pieces is 2, that of pieces in l is 3"),
        ("- - -", "- -", r"c: the number of pieces is 2, that of pieces in l is 3"),
        ("a b", "- c d e", r"c: the number of pieces is 4, that of pieces in l is 2"),
        ("a b c", "b c d", r"c:2: out of step: this is 'c', the one at l:2 is 'b'"),
        ("b a y", "x y a", r"c:3: out of step: this is .a., the one at l:3 is .y."),
        ("- b c d", "- b x c", r"c:3: out of step: this is 'x', the one at l:3 is 'c'"),
        ("x b", "a b", r"c:2: out of step: here both names are 'b', but those of the first two differ"),
        ("a b", "a -", r"c:2: out of step: this is without a name, the one at l:2 is 'b'"),
    ],
)
def test_out_of_step(leaders: str, companions: str, message: str) -> None:
    for leftover in (REFUSE, IGNORE):
        with pytest.raises(OutOfStep, match=message):
            found(leaders, companions, leftover)


def test_a_name_of_a_mapping_is_never_passed_by() -> None:
    with pytest.raises(OutOfStep, match=r"c:2: out of step: this is 'c', the one at l:2 is 'b'"):
        found("a b c", "x c b", mapping=True)


def test_errors_use_up_what_belongs_to_them() -> None:
    assert found("- ! -", "- - -") == ["11", "l:2: malformed.", "33"]
    assert found("- - -", "- ! -") == ["11", "c:2 (2): malformed.", "33"]
    assert found("a !b c", "c b a") == ["13", "l:2 (b): malformed.", "31"]
    assert found("a ! c", "c b a") == ["13", "l:2: malformed.", "31"]  # b may be of it
    with pytest.raises(OutOfStep, match=r"c:2 \(b\): no pieces in l belong to this one\."):
        found("a ! c", "c b a d")


def test_errors_without_a_name_stand_for_a_name_that_is_missing() -> None:
    assert found("a b c", "a ! c") == ["11", "c:2 (b): malformed.", "33"]
    assert found("a b c", "c ! a") == ["13", "c:2 (b): malformed.", "31"]
    assert found("! a b", "a b") == ["l:1: malformed.", "21", "32"]


def test_nobody_knows_the_order() -> None:
    for names in ("x", "-"):
        for known in (True, False):
            with pytest.raises(DeptreeError, match=r"^[lc]: the order of the pieces is not known"):
                list(joined(side("l", names, ordered=known), side("c", "a", ordered=not known), fit))
    assert list(joined(side("l", "b a"), side("c", "a b", ordered=False), fit)) == ["12", "21"]


class Watched:
    """Items that tell how many were taken."""

    def __init__(self, items: list[Piece | DeptreeError]) -> None:
        self._items = items
        self.taken = 0

    def __iter__(self) -> Iterator[Piece | DeptreeError]:
        for item in self._items:
            self.taken += 1
            yield item


def test_files_in_the_same_order_stream() -> None:
    """Also behind a malformed item, and without names."""
    for leaders, companions in [("a b c d", "a b c d"), ("a b c d", "a ! c d"), ("- - - -", "- - - -")]:
        watched = Watched(pieces("c", companions.split()))
        others = Side(watched, "pieces", "c", lambda piece: [piece.name] * bool(piece.name))
        taken = [watched.taken for _ in joined(side("l", leaders), others, fit)]
        assert taken == [1, 2, 3, 4]


def test_how_far_a_stream_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides, "AHEAD", 2)
    assert found("b a", "a b") == ["12", "21"]
    watched = Watched(pieces("c", ["x", "y", "z", "w"]))
    others = Side(watched, "pieces", "c", lambda piece: [piece.name])
    assert next(joined(side("l", "a b c d"), others, fit)) == "11"
    assert watched.taken == 2
