"""The rules of `read` one by one, on plain items; `test_companions.py` has them for the files of every companion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io import read as module
from deptree_cli.io.read import read
from deptree_cli.io.sentence import Companion, Sentence, Side


class Piece(NamedTuple):
    """An item with an id, empty if it has none, of some length."""

    sent_id: str
    place: str
    length: int


def pieces(file: str, text: str) -> list[Piece | DeptreeError]:
    """`a` is an item of that id, `-` one without; `a.2` is of length 2; `!` is malformed, `!a` but for its id."""
    found: list[Piece | DeptreeError] = []
    for line, word in enumerate(text.split(), 1):
        (name, _, length), place = word.partition("."), f"{file}:{line}"
        if name.startswith("!"):
            found.append(DeptreeError("malformed", place=place, sent_id=name[1:]))
        else:
            found.append(Piece(name.strip("-"), place, int(length or 1)))
    return found


def names(piece: Piece) -> list[str]:
    return [piece.sent_id] * bool(piece.sent_id)


def lead(text: str, ordered: bool = True) -> Side:
    found = [
        each if isinstance(each, DeptreeError) else Sentence(each.sent_id or str(n), n, each.length, each.place)
        for n, each in enumerate(pieces("l", text), 1)
    ]
    for each, word in zip(found, text.split(), strict=True):
        if isinstance(each, Sentence):
            each.named = not word.startswith("-")
    return Side(found, "pieces", "l", ordered=ordered)


def fit(sentence: Sentence, piece: Piece) -> None:
    if sentence.n != piece.length:
        raise OutOfStep(f"lengths {sentence.n} and {piece.length}", "Check")
    sentence.companions["c"] = f"{sentence.place[2:]}{piece.place[2:]}"


def beside(text: str, mapping: bool = False, ordered: bool = True, **how: Any) -> Companion:
    items: Any = pieces("c", text)
    if mapping:
        items = {piece.sent_id: piece for piece in items}
    return Companion(Side(items, "pieces", "c", names, ordered), how.pop("add", fit), **how)


def lines(found: Iterator[Sentence | DeptreeError]) -> list[str]:
    return [each.companions["c"] if isinstance(each, Sentence) else str(each) for each in found]


def found(leaders: str, companions: str, shared: bool = False, mapping: bool = False) -> list[str]:
    """What was read, ``13`` is the first with the third, and errors as text."""
    return lines(read(lead(leaders), [beside(companions, mapping, shared=shared)]))


@pytest.mark.parametrize("mapping", [False, True], ids=["stream", "mapping"])
@pytest.mark.parametrize(
    ("leaders", "companions", "pairs"),
    [
        ("a b c", "a b c", "11 22 33"),
        ("a b c", "c b a", "13 22 31"),
        ("a b.2 c", "c a b.2", "12 23 31"),
        ("- -", "a b", "11 22"),
        ("- b c", "a b c", "11 22 33"),
        ("a b", "arr_0 arr_1", "11 22"),  # running numbers are no ids
        ("dev-1 dev-2", "s000 s001", "11 22"),
        ("arr_0 arr_1", "arr_1 arr_0", "12 21"),  # unless both sides have them
        ("s1 s2", "s2 s1", "12 21"),
        ("7 8", "8 7", "12 21"),
        ("a/sample_1 b-sample_1", "b a", "12 21"),
    ],
)
def test_pairs(leaders: str, companions: str, pairs: str, mapping: bool) -> None:
    assert found(leaders, companions, mapping=mapping) == pairs.split()


def test_the_nth_of_an_id_goes_with_the_nth() -> None:
    assert found("a b a c", "b a c a") == ["12", "21", "34", "43"]
    *pairs, error = found("a a a", "a a")
    assert pairs == ["11", "22"]
    assert error.startswith("l:3 (a): c has no sentence with this id.")
    assert found("a a", "a", mapping=True)[1].startswith("l:2 (a): c has no sentence with this id")


@pytest.mark.parametrize("mapping", [False, True], ids=["stream", "mapping"])
def test_what_is_missing_is_an_error_of_its_own_wherever_it_is(mapping: bool) -> None:
    for leaders, companions, pairs in [("x a b", "a b", "21 32"), ("a x b", "a b", "11 32"), ("a b x", "b a", "12 21")]:
        both = found(leaders, companions, mapping=mapping)
        (error,) = [each for each in both if not each.isdigit()]
        assert [each for each in both if each.isdigit()] == pairs.split()
        assert "(x): c has no sentence with this id. Both files have ids" in error
    assert all("has no sentence with this id" in each for each in found("a b", "x y", shared=True))


@pytest.mark.parametrize("mapping", [False, True], ids=["stream", "mapping"])
def test_what_is_left_over_is_an_error_of_its_own(mapping: bool) -> None:
    *pairs, one, two = found("a b", "d b a c", mapping=mapping)
    assert pairs == ["13", "22"]
    place = ("c", "c") if mapping else ("c:1", "c:4")
    assert one.startswith(f"{place[0]} (d): no pieces in l have this id.")
    assert two.startswith(f"{place[1]} (c): no pieces in l have this id.")
    assert found("a b", "d b a c", True, mapping) == ["13", "22"]
    with pytest.raises(OutOfStep, match=r"c: the number of pieces is 3, that of pieces in l is 2"):
        found("- -", "a b c", True, mapping)


def test_lengths_that_differ_are_an_error_of_this_one_alone_if_ids_agree() -> None:
    assert found("a b.2 c", "a b c")[1:] == ["l:2 (b): lengths 2 and 1. Check.", "33"]
    assert found("- b.2 c", "x b c")[1:] == ["l:2 (b): lengths 2 and 1. Check.", "33"]
    with pytest.raises(OutOfStep, match=r"l:2 \(2\): lengths 2 and 1"):
        found("- -.2 -", "a b c")


@pytest.mark.parametrize(
    ("leaders", "companions", "message"),
    [
        ("- - -", "- -", r"c: the number of pieces is 2, that of pieces in l is 3"),
        ("a b", "- c d e", r"c: the number of pieces is 4, that of pieces in l is 2"),
        ("- b c d", "- b x c", r"c:3: out of step: this is 'x', the one at l:3 is 'c'"),
    ],
)
def test_out_of_step(leaders: str, companions: str, message: str) -> None:
    for shared in (False, True):
        with pytest.raises(OutOfStep, match=message):
            found(leaders, companions, shared)


def test_an_id_of_a_mapping_is_never_passed_by() -> None:
    with pytest.raises(OutOfStep, match=r"c:2: out of step: this is 'c', the one at l:2 is 'b'"):
        found("- b c", "x c b", mapping=True)


def test_errors_use_up_what_belongs_to_them() -> None:
    assert found("- ! -", "- - -") == ["11", "l:2: malformed.", "33"]
    assert found("- - -", "- ! -") == ["11", "c:2 (2): malformed.", "33"]
    assert found("a !b c", "c b a") == ["13", "l:2 (b): malformed.", "31"]
    assert found("a ! c", "c b a") == ["13", "l:2: malformed.", "31"]  # b may be of it
    assert len(found("a ! c", "c b a d")) == 5


def test_errors_without_an_id_stand_for_an_id_that_is_missing() -> None:
    assert found("a b c", "a ! c") == ["11", "c:2 (b): malformed.", "33"]
    assert found("a b c", "c ! a") == ["13", "c:2 (b): malformed.", "31"]
    assert found("! a b", "a b") == ["l:1: malformed.", "21", "32"]
    assert found("a b", "a -")[1].startswith("c:2 (b): this has no id, but the first one has")
    assert found("a -", "a", shared=True)[1].startswith("l:2 (2): it has no id to be found by in c")


def test_nobody_knows_the_order() -> None:
    for leaders in ("arr_0", "-"):
        for known in (True, False):
            with pytest.raises(DeptreeError, match=r"^[lc]: the order of the pieces is not known"):
                list(read(lead(leaders, ordered=known), [beside("a", ordered=not known)]))
    assert lines(read(lead("b a"), [beside("a b", ordered=False)])) == ["12", "21"]


def test_several_companions_and_what_serves_again() -> None:
    both = read(
        lead("b a c"), [beside("a b c"), beside("c b a", add=lambda each, item: each.companions.update(d=item))]
    )
    assert [each.companions["d"].sent_id for each in both if isinstance(each, Sentence)] == ["b", "a", "c"]
    again = read(lead("a a !a a b"), [beside("a b", again=True)])
    assert lines(again) == ["11", "21", "l:3 (a): malformed.", "41", "52"]


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
    """Also behind a malformed item, and without ids."""
    for leaders, companions in [("a b c d", "a b c d"), ("a b c d", "a ! c d"), ("- - - -", "- - - -")]:
        watched = Watched(pieces("c", companions))
        others = Companion(Side(watched, "pieces", "c", names), fit)
        taken = [watched.taken for _ in read(lead(leaders), [others])]
        assert taken == [1, 2, 3, 4]


class Arrays(dict[str, Any]):
    """Arrays by name, which tell how many were loaded."""

    loaded = 0

    def __getitem__(self, name: str) -> Any:
        self.loaded += 1
        return super().__getitem__(name)


def arrays_beside(text: str) -> tuple[Arrays, Companion]:
    items = Arrays({piece.sent_id: piece for piece in pieces("c", text)})  # type: ignore[union-attr]
    return items, Companion(Side(items, "arrays", "c", names, keys=items.keys()), fit, shared=True)


def test_running_keys_are_paired_by_order_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """No array is loaded before its sentence comes; so many sentences as are looked at ahead are all that waits."""
    monkeypatch.setattr(module, "AHEAD", 3)
    items, companion = arrays_beside("s-7 s-8 s-9 s-10 s-11")
    told: list[str] = []
    seen = read(lead("a b c d e"), [companion], lambda _, line: told.append(line))
    assert [(items.loaded, *lines(iter([each]))) for each in seen] == [(n, f"{n}{n}") for n in range(1, 6)]
    assert told == ["no key of c is a sent_id, and keys run on from 's-7': paired by order"]
    with pytest.raises(OutOfStep, match=r"^c:4: out of step: this is 's-10', the one at l:4 is 's-8'.*by sent_id\.$"):
        list(read(lead("a b c s-8 e"), [arrays_beside("s-7 s-8 s-9 s-10 s-11")[1]]))
    with pytest.raises(OutOfStep, match=r"lengths 2 and 1. Check, or name the arrays by sent_id\."):
        list(read(lead("a b.2"), [arrays_beside("s-7 s-8")[1]]))


@pytest.mark.parametrize(
    "keys", ["s-7 s-9 s-10", "s-7 s-8 t-9", "s-8 s-7 s-9", "s-7 s-8 b/sample_1", "x y z", "s-7 s-8 b"]
)
def test_other_keys_are_ids(keys: str) -> None:
    found = lines(read(lead("a b c"), [arrays_beside(keys)[1]]))
    assert found[0].startswith(
        "l:1 (a): c has no sentence with this id. Both files have ids, and sentences are paired by"
    )
    assert found[1] == "23" if "b" in keys.split() else found[1].startswith("l:2 (b): c has no sentence")


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is further away is an error that says so, and reading goes on."""
    monkeypatch.setattr(module, "MOST_WAITING", 2 * module.USUAL)
    watched = Watched(pieces("c", "b c x y a d"))
    said: Callable[[Any], str] = lambda each: each.companions["c"] if isinstance(each, Sentence) else str(each)  # noqa: E731
    sentences = read(lead("a b c d"), [Companion(Side(watched, "pieces", "c", names), fit, shared=True)])
    assert said(next(sentences)).startswith("l:1 (a): c has no sentence with this id before 0 MiB of pieces")
    assert watched.taken == 2
    assert [said(next(sentences)) for _ in range(2)] == ["21", "32"]
    assert "before 0 MiB" in said(next(sentences))
