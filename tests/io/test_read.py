"""The rules by which sentences meet what belongs to them, on plain items; test_companions.py has files of each kind."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from itertools import accumulate
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io import read as module
from deptree_cli.io.conllu.blocks import read_blocks_or_errors
from deptree_cli.io.pairing import LOST, OPEN, Tokens, aligned_words, known_tokens, nearest, tokens_in, words_of
from deptree_cli.io.read import add_gold, blocks_side, read, sentence_of
from deptree_cli.io.sentence import Chunk, Companion, Row, Sentence, Side
from deptree_cli.io.trees.sets import TreeSet
from tests.retokenised import cut
from tests.tree_files import word as row_of


class Piece(NamedTuple):
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


def line(each: Sentence | DeptreeError) -> str:
    """``13`` is the first with the third."""
    return each.companions["c"] if isinstance(each, Sentence) else str(each)


# What is said of one, by a word.
SAYS = {
    "missing": "c has no sentence with this id. Both files have ids, and sentences are paired by id",
    "left": "no pieces in l have this id. Check that both files hold the same sentences.",
    "malformed": "malformed.",
    "lengths": "lengths 2 and 1. Check.",
    "nameless": "this has no id, but the first one has",
    "unfindable": "it has no id to be found by in c",
}

# Leaders, companions, and what comes of them: pairs, errors of one with its place, or behind ! the error of all.
RULES = """\
a b c | a b c | 11 22 33
a b c | c b a | 13 22 31
a b.2 c | c a b.2 | 12 23 31
- - | a b | 11 22
- b c | a b c | 11 22 33
a b | arr_0 arr_1 | 11 22
dev-1 dev-2 | s000 s001 | 11 22
arr_0 arr_1 | arr_1 arr_0 | 12 21
s1 s2 | s2 s1 | 12 21
7 8 | 8 7 | 12 21
a/sample_1 b-sample_1 | b a | 12 21
a b a c | b a c a | 12 21 34 43
a a a | a a | 11 22 l:3(a)=missing
a a | a | 11 l:2(a)=missing
x a b | a b | l:1(x)=missing 21 32
a x b | a b | 11 l:2(x)=missing 32
a b x | b a | 12 21 l:3(x)=missing
a b | x y | l:1(a)=missing l:2(b)=missing c:1(x)=left c:2(y)=left
a b | d b a c | 13 22 c:1(d)=left c:4(c)=left
a b.2 c | a b c | 11 l:2(b)=lengths 33
- b.2 c | x b c | 11 l:2(b)=lengths 33
- -.2 - | a b c | ! l:2 (2): lengths 2 and 1
- - | a b c | ! c: the number of pieces is 3, that of pieces in l is 2
- - - | - - | ! c: the number of pieces is 2, that of pieces in l is 3
a b | - c d e | ! c: the number of pieces is 4, that of pieces in l is 2
- b c d | - b x c | ! c:3: out of step: this is 'x', the one at l:3 is 'c'
- ! - | - - - | 11 l:2=malformed 33
- - - | - ! - | 11 c:2(2)=malformed 33
a !b c | c b a | 13 l:2(b)=malformed 31
a ! c | c b a | 13 l:2=malformed 31
a ! c | c b a d | 13 l:2=malformed 31 c:2(b)=left c:4(d)=left
! a b | a b | l:1=malformed 21 32
a b c | a ! c | 11 c:2(b)=malformed 33
a b c | c ! a | 13 c:2(b)=malformed 31
a b | a - | 11 c:2(b)=nameless
a - | a | 11 l:2(2)=unfindable"""


@pytest.mark.parametrize("row", RULES.splitlines())
@pytest.mark.quick
def test_what_comes_of_leaders_and_companions(row: str) -> None:
    """Of a stream, or of a mapping, which has a name once; what is left over is no error where others share it."""
    leaders, companions, says = row.split(" | ")
    words = companions.split()
    is_mapping = len(set(words)) == len(words) and not {"-", "!"} & set(words)
    for mapping, shared in [(False, False), (False, True), *[(True, False), (True, True)] * is_mapping]:
        found = read(lead(leaders), [beside(companions, mapping, shared=shared)])
        if says.startswith("! "):
            with pytest.raises(OutOfStep) as caught:
                list(found)
            assert str(caught.value).startswith(says[2:])
            continue
        expected = [word for word in says.split() if not (shared and word.endswith("=left"))]
        for each, word in zip(map(line, found), expected, strict=True):
            place, _, what = word.partition("=")
            if mapping and place.startswith("c:"):
                place = f"c{place[3:]}"
            assert each.startswith(f"{place.replace('(', ' (')}: {SAYS[what]}" if what else word)


def test_an_id_of_a_mapping_is_never_passed_by_nor_an_order_assumed_that_nobody_knows() -> None:
    with pytest.raises(OutOfStep, match=r"c:2: out of step: this is 'c', the one at l:2 is 'b'"):
        list(read(lead("- b c"), [beside("x c b", mapping=True)]))
    for known in (True, False):
        with pytest.raises(DeptreeError, match=r"^[lc]: the order of the pieces is not known"):
            list(read(lead("-", ordered=known), [beside("a", ordered=not known)]))


def test_several_companions_and_what_serves_again() -> None:
    both = read(
        lead("b a c"), [beside("a b c"), beside("c b a", add=lambda each, item: each.companions.update(d=item))]
    )
    assert [each.companions["d"].sent_id for each in both] == ["b", "a", "c"]
    again = read(lead("a a !a a b"), [beside("a b", again=True)])
    assert [line(each) for each in again] == ["11", "21", "l:3 (a): malformed.", "41", "52"]


class Watched:
    def __init__(self, text: str) -> None:
        self._items = pieces("c", text)
        self.taken = 0

    def __iter__(self) -> Iterator[Piece | DeptreeError]:
        for item in self._items:
            self.taken += 1
            yield item


@pytest.mark.parametrize(
    ("leaders", "companions"), [("a b c d", "a b c d"), ("a b c d", "a ! c d"), ("- - - -", "- - - -")]
)
def test_files_in_the_same_order_stream(leaders: str, companions: str) -> None:
    """Also behind a malformed item, and without ids."""
    watched = Watched(companions)
    others = Companion(Side(watched, "pieces", "c", names), fit)
    assert [watched.taken for _ in read(lead(leaders), [others])] == [1, 2, 3, 4]


def test_what_waits_is_bounded(monkeypatch) -> None:
    """What is further away is an error that says so, and reading goes on."""
    monkeypatch.setattr(module, "MOST_WAITING", 2 * module.USUAL)
    watched = Watched("b c x y a d")
    sentences = map(line, read(lead("a b c d"), [Companion(Side(watched, "pieces", "c", names), fit, shared=True)]))
    assert next(sentences).startswith("l:1 (a): c has no sentence with this id before 0 MiB of pieces")
    assert watched.taken == 2
    assert [next(sentences), next(sentences)] == ["21", "32"]
    assert "before 0 MiB" in next(sentences)


class Arrays(dict[str, Any]):
    loaded = 0

    def __getitem__(self, name: str) -> Any:
        self.loaded += 1
        return super().__getitem__(name)


def arrays_beside(text: str) -> tuple[Arrays, Companion]:
    items = Arrays({piece.sent_id: piece for piece in pieces("c", text)})
    return items, Companion(Side(items, "arrays", "c", names, keys=items.keys()), fit, shared=True)


def test_running_keys_are_paired_by_order_one_by_one(monkeypatch) -> None:
    """No array is loaded before its sentence comes; so many sentences as are looked at ahead are all that waits."""
    monkeypatch.setattr(module, "AHEAD", 3)
    items, companion = arrays_beside("s-7 s-8 s-9 s-10 s-11")
    told: list[str] = []
    seen = read(lead("a b c d e"), [companion], lambda _, line: told.append(line))
    assert [(items.loaded, line(each)) for each in seen] == [(n, f"{n}{n}") for n in range(1, 6)]
    assert told == ["no key of c is a sent_id, and keys run on from 's-7': paired by order"]
    with pytest.raises(OutOfStep, match=r"^c:4: out of step: this is 's-10', the one at l:4 is 's-8'.*by sent_id\.$"):
        list(read(lead("a b c s-8 e"), [arrays_beside("s-7 s-8 s-9 s-10 s-11")[1]]))
    with pytest.raises(OutOfStep, match=r"lengths 2 and 1. Check, or name the arrays by sent_id\."):
        list(read(lead("a b.2"), [arrays_beside("s-7 s-8")[1]]))


@pytest.mark.parametrize(
    "keys", ["s-7 s-9 s-10", "s-7 s-8 t-9", "s-8 s-7 s-9", "s-7 s-8 b/sample_1", "x y z", "s-7 s-8 b"]
)
def test_other_keys_are_ids(keys: str) -> None:
    first, second, _ = map(line, read(lead("a b c"), [arrays_beside(keys)[1]]))
    assert first.startswith(f"l:1 (a): {SAYS['missing']}")
    assert second.startswith("23" if "b" in keys.split() else "l:2 (b): c has no sentence")


def test_of_many_each_gets_its_part_by_streams_from_the_start_or_is_left_to_itself() -> None:
    def draw(batch: Any, streams: Any) -> list[float]:
        found = [streams.of(at).random() for at in range(2)]
        streams.states[:] = 0  # as a kernel moves them on
        return found

    def fail(batch: Any, streams: Any) -> list[float]:
        raise DeptreeError("one of them is bad")

    tasks = [(Sentence(name, 1, 1, ""), times) for name, times in (("a", 0), ("alone", 0), ("a", 1))]
    chunk = Chunk(tasks, SimpleNamespace(batch=lambda items: SimpleNamespace(places=[0, 2])), 7)
    one, alone, other = (Row(chunk, at).ask(draw) for at in range(3))
    assert (one != other, alone) == (True, None)
    assert [chunk.part(lambda *given: draw(*given), at) for at in (0, 2)] == [one, other]
    assert [chunk.part(fail, at) for at in range(3)] == [None] * 3


def spans(forms: list[str]) -> list[tuple[int, int]]:
    ends = list(accumulate(map(len, forms)))
    return list(zip([0, *ends[:-1]], ends, strict=True))


def test_words_are_aligned_by_their_characters() -> None:
    """The pairs are exactly the words of the same span of characters."""
    rng = random.Random(5)
    for _ in range(300):
        text = "".join(rng.choices("abc", k=rng.randint(1, 12)))
        one, other = (cut(text, rng, rng.random()) for _ in range(2))
        found = aligned_words(*(Tokens(tuple(form.encode() for form in forms)) for forms in (one, other)))
        ours, theirs = spans(one), spans(other)
        due = [(at, theirs.index(span)) for at, span in enumerate(ours) if span in theirs]
        if found is None:
            assert one == other
        else:
            assert list(zip(*(each.tolist() for each in found), strict=True)) == due


def test_heads_by_the_words_of_the_other_file() -> None:
    """`xy z w` and `x y z w`: x and y belong to none, nor do words below them; ROOT and open heads stay."""
    words = aligned_words(Tokens((b"xy", b"z", b"w")), Tokens((b"x", b"y", b"z", b"w")))
    heads = np.array([[3, 1, 0, 1], [0, 0, OPEN, 3]])
    trees = TreeSet("s", "here", heads, np.array([1, 1]), (tuple("abcd"),))
    found = trees.renumbered(words, 3)
    assert found.heads.tolist() == [[LOST, 0, LOST], [LOST, OPEN, 2]]
    assert found.labels == (("_", "c", "d"),)


def test_multiword_tokens_and_unknown_words() -> None:
    rows = "1-2\tzum\t" + "\t".join("_" * 8) + "\n" + row_of(1, "zu", 0) + row_of(2, "dem", 1) + row_of(3, "Tor", 1)
    (block,) = read_blocks_or_errors(BytesIO(f"{rows}\n".encode()), "a")
    tokens = tokens_in(block)
    assert (tokens.forms, tokens.ranges) == ((b"zu", b"dem", b"Tor"), [(1, 2, b"zum")])
    assert (tokens.text, Tokens((b"zum", b"Tor")).text) == ("zumTor", "zumTor")
    assert aligned_words(tokens, Tokens((b"zu", b"_", b"Tor"))) is None
    assert [each.tolist() for each in aligned_words(tokens, Tokens((b"zum", b"Tor"))) or ()] == [[2], [1]]


def test_the_nearest_that_both_have_beside_a_search_of_all_pairs() -> None:
    """The first of the nearest is by our place."""
    assert (nearest("axxb", "bqqa"), nearest("", "a")) == ((0, 3), None)
    rng = random.Random(2)
    for _ in range(300):
        ours, theirs = (rng.choices("abcdefgh", k=rng.randint(0, 9)) for _ in range(2))
        both = [(i + j, i, j) for i, a in enumerate(ours) for j, b in enumerate(theirs) if a == b]
        assert nearest(ours, theirs) == (min(both)[1:] if both else None)


def paired(ours: str, theirs: str) -> list[str]:
    """Of files whose sentences are one letter each, without ids, the pairs and the errors; a dash is malformed."""

    def blocks(text: str, place: str):
        rows = "".join(row_of(2 if letter == "-" else 1, letter, 0) + "\n" for letter in text)
        return read_blocks_or_errors(BytesIO(rows.encode()), place)

    leader = Side(map(sentence_of, blocks(ours, "a"), range(1, 99)), "sentences", "a", tokens=words_of)
    side = replace(blocks_side(blocks(theirs, "b"), "b"), tokens=known_tokens)
    found = list(read(leader, [Companion(side, add_gold)]))
    assert all(isinstance(each, DeptreeError) or each.sentence.raw == each.gold.raw for each in found)
    return ["!" if isinstance(each, DeptreeError) else each.sentence.column("form")[0] for each in found]


@pytest.mark.parametrize(
    "row",
    [
        *("abcd abcd abcd", "abcd axcd a!cd", "abcd acd a!cd", "acd abcd acd!", "abcd axyd a!!d", "abcd axyzd a!!d!"),
        *("abcd ab ab!!", "ab abcd ab!!", "ab xy !!", "a-cd abcd a!cd", "abcd a-cd a!cd", "a-cd a-cd a!cd"),
        "a-bcd abcd a!bcd",
    ],
)
@pytest.mark.quick
def test_sentences_without_ids_are_found_by_their_text(row: str) -> None:
    """A sentence of another text is left out, and those behind it still belong together."""
    ours, theirs, found = row.split()
    assert "".join(paired(ours, theirs)) == found
