"""The one reader: the sentences of a leading file, each with what its companions, other files, have of it.

Results come in the order of the leading side. A companion is paired with it by ids if both sides have ids, whatever is
missing or moved: the n-th item of an id with the n-th sentence of that id. Otherwise it is paired by order, and both
sides must have as many items, unless both have words: then sentences of one text are paired (`pairing.py`). Which it
is, the first items decide; but running keys of arrays (s00579, s00580, ...) are ids only if a sentence has one of them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any, TypeVar

from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.files.streams import open_input, place_of
from deptree_cli.io.sentence import GOLD, IN_ORDER, Companion, Sentence, Side, Warn, loaded, unheard

if TYPE_CHECKING:
    from deptree_cli.io.conllu.blocks import Block
    from deptree_cli.io.pairing import ByText

Item = TypeVar("Item")

# How many items are looked at in front of the first that tells what their ids are.
AHEAD = 1000

# Bytes: how much of a stream waits for sentences that come later; and what an item without scores takes up about.
MOST_WAITING = 1 << 30
USUAL = 1 << 13

# The first running number, which may be written behind a word: 1, arr_0, s00000.
_RUNNING = re.compile(r"([A-Za-z]*_?)0*[01]")
_LAST_NUMBER = re.compile(r"\d*$")
_NUMBERED = re.compile("(.*?)([0-9]{1,18})", re.DOTALL)

_SAMPLE = re.compile(r"[/-]sample_\d+$")


def are_alike(one: str, other: str) -> bool:
    """Whether two sides have the same kind of ids, by the first of each: a running number is not a sent_id."""
    if one == other or not (_RUNNING.fullmatch(one) or _RUNNING.fullmatch(other)):
        return True
    return _LAST_NUMBER.sub("", one) == _LAST_NUMBER.sub("", other)


def are_running(keys: Iterable[str]) -> bool:
    """Whether names have one prefix and consecutive numbers: s00579, s00580, ..."""
    expected = None
    for key in keys:
        found = _NUMBERED.fullmatch(key)
        if found is None or expected not in (None, key):
            return False
        expected = f"{found[1]}{int(found[2]) + 1:0{len(found[2])}}"
    return True


def unmarked(sent_id: str) -> str:
    """The id of a sentence without the mark of a sampled tree, which `deptree sample` puts behind it."""
    return _SAMPLE.sub("", sent_id) if "sample_" in sent_id else sent_id


def peeked(items: Iterator[Item], wanted: Callable[[Item], bool] | None = None) -> tuple[Iterator[Item], Item | None]:
    """The items as they were, and the first that is wanted: that is sound, or is the error of one whose id is known."""
    passed = []
    for item in islice(items, AHEAD):
        passed.append(item)
        if wanted(item) if wanted else not isinstance(item, DeptreeError) or item.sent_id:
            return chain(passed, items), item
    return chain(passed, items), None


def place_of_item(item: object) -> str:
    return getattr(item, "place", "")


class ByIds:
    """Finds companions by the ids of sentences, each once: in a mapping, or in a stream, of which others wait."""

    sure, advice = True, ""

    def __init__(self, companion: Companion, lead: Side, items: Iterator[Any] | None, first: str | None) -> None:
        self.companion, self._lead, self._first = companion, lead, first
        self._items: Any = companion.side.items if items is None else items
        self._taken = set[str]()  # names of a mapping
        self._waiting: dict[str | None, deque[Any]] = {}  # what of a stream was passed over; in the same order nothing
        self._size = 0  # of what waits
        self._last: Any = None
        self._nameless = 0  # errors of sentences whose companions nobody knows: as many may be left over

    def take(self, item: Any) -> Any:
        """The companion of a sentence or of its error, or what is wrong with it."""
        error, names = isinstance(item, DeptreeError), [*self._lead.names_of(item)]
        if names and "sample_" in names[0]:
            names.append(unmarked(names[0]))
        if self.companion.again and error:
            return None
        if self.companion.again and self._last is not None and self.companion.side.name(self._last) in names:
            return self._last
        found = (self._loaded if isinstance(self._items, Mapping) else self._read)(names) if names else None
        self._nameless += error and found is None
        self._last = self._last if found is None else found
        return self._missing(names) if found is None else found

    def _loaded(self, names: Sequence[str]) -> Any:
        for name in names:
            if name in self._items and name not in self._taken:
                self._taken.add(name)
                return loaded(self._items, name)
        return None

    def _read(self, names: Sequence[str]) -> Any:
        """The next one of one of these names; else an error that may be of it, for nobody knows its name."""
        for name in names:
            if name in self._waiting:
                return self._waiter(name)
        while self._size < MOST_WAITING and (item := next(self._items, None)) is not None:
            own = self.companion.side.name(item)
            if own is None and not isinstance(item, DeptreeError):
                problem = "this has no id, but the first one has"
                item = DeptreeError(problem, "Give all of them ids, or none", place=place_of_item(item))
            if own in names or (own is None and not self._waiting):
                return item
            self._waiting.setdefault(own, deque()).append(item)
            self._size += _size(item)
        return self._waiter(None) if None in self._waiting else None

    def _waiter(self, name: str | None) -> Any:
        item = self._waiting[name].popleft()
        if not self._waiting[name]:
            del self._waiting[name]
        self._size -= _size(item)
        return item

    def _missing(self, names: Sequence[str]) -> DeptreeError:
        side = self.companion.side
        if not names:
            return DeptreeError(f"it has no id to be found by in {side.place}", "Give all sentences ids, or none")
        if self._size >= MOST_WAITING:
            size = f"{MOST_WAITING >> 20:,} MiB of {side.what} that others are waiting for"
            problem = f"{side.place} has no sentence with this id before {size}"
            return DeptreeError(problem, "Put both files in the same order, or save scores as .npz")
        hint = f"; the first there is {self._first!r}: name both alike or pass other files" * (self._last is None)
        remedy = f"Both files have ids, and sentences are paired by id{hint}"
        return DeptreeError(f"{side.place} has no sentence with this id", remedy)

    def left(self) -> Iterator[DeptreeError]:
        """The errors of companions that belong to no sentence, unless these may be of malformed sentences."""
        side, lead = self.companion.side, self._lead
        if self.companion.shared:
            return
        if isinstance(self._items, Mapping):
            left = [(side.place, name) for name in self._items if name not in self._taken]
        else:
            rest = [(item, side.name(item)) for item in chain(*self._waiting.values(), self._items)]
            left = [
                (place_of_item(item), name or "") for item, name in rest if name or not isinstance(item, DeptreeError)
            ]
        if len(left) > self._nameless:
            problem = f"no {lead.what}{f' in {lead.place}' if lead.place else ''} have this id"
            for place, name in left:
                yield DeptreeError(problem, "Check that both files hold the same sentences", place=place, sent_id=name)


def _size(item: Any) -> int:
    scores = getattr(item, "scores", None)
    return USUAL if scores is None else USUAL + scores.nbytes


class ByOrder:
    """Pairs the n-th with the n-th, as many on both sides; names that agree must go on to agree.

    Names of one side alone are not ids. If they are numbers, but not those of the order, `warn` tells.
    """

    def __init__(
        self, companion: Companion, lead: Side, items: Iterator[Any] | None, sentences: Iterator[Any], warn: Warn
    ) -> None:
        self.companion, self._lead, self._sentences, self._warn = companion, lead, sentences, warn
        self._known: Any = companion.side.items if isinstance(companion.side.items, Mapping) else ()
        self._items = companion.side.in_order() if items is None else items
        self._alike: bool | None = None
        self._first: int | None = None
        self._taken, self.sure = 0, False
        self.advice = ", or name the arrays by sent_id" if companion.side.keys or lead.keys else ""

    def take(self, item: Any) -> Any:
        found = next(self._items, None)
        if found is None:
            raise self._unequal(self._taken, self._taken + 1 + sum(1 for _ in self._sentences))
        self._taken += 1
        sound = not isinstance(item, DeptreeError) and not isinstance(found, DeptreeError)
        self.sure = sound and self._agree(item, found)
        return found

    def _agree(self, item: Any, found: Any) -> bool:
        """Whether both have the same name; raises if those before had, or if the sentence's name stands elsewhere."""
        side, names, name = self.companion.side, self._lead.names(item), self.companion.side.name(found)
        if number := next((each for each in (*names[:1], name) if each and each.isdecimal()), ""):
            self._first = int(number != "0") if self._first is None else self._first  # counted from 0 or 1
            if int(number) != self._taken - 1 + self._first:
                both = f"{side.what} and {self._lead.what} have no common ids and are paired by order"
                self._warn(f"order {side.place}", f"{both}: number {self._taken} is called {number!r}")
        if not names or name is None:
            return False
        alike = name in names
        self._alike = alike if self._alike is None else self._alike
        is_elsewhere = name in self._lead.keys or any(each in self._known for each in names)
        if alike != self._alike or (not alike and is_elsewhere):
            there = f"the one at {place_of_item(item)}" if place_of_item(item) else "the other one"
            problem = f"out of step: this is {name!r}, {there} is {names[0]!r}"
            raise OutOfStep(problem, f"{IN_ORDER}{self.advice}", place=place_of_item(found))
        return alike

    def left(self) -> Iterator[DeptreeError]:
        """Nothing; raises if there are more companions than sentences."""
        if more := sum(1 for _ in self._items):
            raise self._unequal(self._taken + more, self._taken)
        return iter(())

    def _unequal(self, beside: int, led: int) -> OutOfStep:
        side, lead = self.companion.side, self._lead
        within = f" in {lead.place}" if lead.place else ""
        problem = f"the number of {side.what} is {beside}, that of {lead.what}{within} is {led}"
        return OutOfStep(problem, f"{IN_ORDER}{self.advice}", place=side.place)


def read(lead: Side, companions: Sequence[Companion] = (), warn: Warn = unheard) -> Iterator[Sentence | DeptreeError]:
    """The sentences of the leading side, each with what companions have of it, or errors in their places.

    At the end come errors of companions' items that belong to no sentence. `warn` is told of an order that numbers of
    the other side contradict. Raises DeptreeError if neither ids nor an order are known, and OutOfStep if sides that
    are paired by order do not hold the same sentences.
    """
    pairings: list[ByIds | ByOrder | ByText] = []
    found = lead.in_order()
    for each in companions:
        found = _with(found, each, lead, pairings, warn)
    yield from found
    for pairing in pairings:
        yield from pairing.left()


def _with(
    sentences: Iterator[Any], companion: Companion, lead: Side, pairings: list[ByIds | ByOrder | ByText], warn: Warn
) -> Iterator[Any]:
    sentences, first = peeked(sentences)
    pairing, sentences = _pairing(companion, lead, () if first is None else lead.names_of(first), sentences, warn)
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
                error.remedy += pairing.advice
                raise
            yield error
        else:
            yield item


def _pairing(
    companion: Companion, lead: Side, names: Sequence[str], sentences: Iterator[Any], warn: Warn
) -> tuple[ByIds | ByOrder | ByText, Iterator[Any]]:
    """How a companion is paired with sentences, the first of which has these names; and the sentences."""
    side = companion.side
    items: Iterator[Any] | None = None
    if isinstance(side.items, Mapping):
        name = next((each for each in names if each in side.items), next(iter(side.items), None))
    else:
        items, first = peeked(iter(side.items))
        name = None if first is None else side.name(first)
    by_ids = name is not None and any(are_alike(each, name) for each in names)
    arrays, others = (side, lead) if side.keys else (lead, side)
    stream = sentences if others is lead else items
    if by_ids and arrays.keys and not others.keys and stream is not None:

        def has_key(item: Any) -> bool:
            return any(each in arrays.keys or unmarked(each) in arrays.keys for each in others.names_of(item))

        stream, found = peeked(stream, has_key)
        sentences, items = (stream, items) if others is lead else (sentences, stream)
        by_ids = found is not None or not are_running(arrays.keys)
        if not by_ids:
            start = f"keys run on from {next(iter(arrays.keys))!r}"
            warn(f"order {side.place}", f"no key of {arrays.place} is a sent_id, and {start}: paired by order")
    if by_ids:
        return ByIds(companion, lead, items, name), sentences
    for each in (side, lead):
        if not each.ordered:
            missing = f", and {name!r} and {names[0]!r} are names of two kinds" if names and name else ""
            raise DeptreeError(f"the order of the {each.what} is not known{missing}", _UNORDERED, place=each.place)
    if items is not None and side.tokens and lead.tokens:
        from deptree_cli.io.pairing import Ahead, ByText  # few commands read several files of trees

        theirs, ours = Ahead(items), Ahead(sentences)
        return ByText(companion, lead, theirs, ours, ByOrder(companion, lead, theirs, ours, warn)), ours
    return ByOrder(companion, lead, items, sentences, warn), sentences


_NPZ = "save the scores as .npz: safetensors sorts by name, and only deptree notes the order"
_UNORDERED = f"Use the same names in both files, or {_NPZ}"

SAME = "Give the same sentences, with the same words"

# Looks at the sentences of a file as they pass; it is told what messages call the file.
Watched = Callable[[Iterator[Sentence | DeptreeError], str], Iterator[Sentence | DeptreeError]]


def sentences(
    paths: Sequence[str], first: int = 1, watched: Watched | None = None, any_heads: bool = False, feats: bool = False
) -> Side:
    """The sentences of CoNLL-U files, one file after another; one that is malformed is handed on as its error.

    The first has a running number. `watched` looks at those of each file; the rest is as of `read_blocks_or_errors`.
    """

    def found() -> Iterator[Sentence | DeptreeError]:
        numbers = count(first)
        for path in paths:
            read = map(sentence_of, blocks_in(path, any_heads, feats), numbers)
            yield from watched(read, place_of(path)) if watched else read

    return Side(found(), "sentences", ", ".join(map(place_of, paths)))


def sentence_of(block: Block | DeptreeError, number: int) -> Sentence | DeptreeError:
    if isinstance(block, DeptreeError):
        return block
    return Sentence(block.sent_id or str(number), number, block.n, block.place, block, named=bool(block.sent_id))


def blocks_in(path: str, any_heads: bool = False, feats: bool = False) -> Iterator[Block | DeptreeError]:
    from deptree_cli.io.conllu.blocks import read_blocks_or_errors

    with open_input(path) as file:
        yield from read_blocks_or_errors(file.stream, file.place, any_heads, feats)


def trees_in(path: str) -> Companion:
    return Companion(blocks_side(blocks_in(path), place_of(path)), add_gold)


def blocks_side(blocks: Iterator[Any], place: str) -> Side:
    """Blocks, or errors in their place, that belong to the sentences; or anything else that has a `sent_id`."""
    return Side(blocks, "sentences", place, lambda block: (unmarked(block.sent_id),) if block.sent_id else ())


def add_gold(sentence: Sentence, gold: Block) -> None:
    check_words(gold, sentence, sentence, "--lengths FILE or --conllu FILE")
    sentence.companions[GOLD] = gold


def check_words(found: Any, here: Any, scored: Sentence, lengths: str) -> None:
    """Raise OutOfStep unless both have as many words; `lengths`: the option that tells those of a padded `scored`."""
    if found.n != here.n:
        is_longer = scored.padded and scored.n == max(found.n, here.n)
        remedy = f"If this is a padded batch, pass {lengths}" if is_longer else SAME
        raise OutOfStep(f"{counted(found.n, 'word')} at {found.place}, but {here.n} here", remedy)


Read = TypeVar("Read")
Made = TypeVar("Made")


def prepared(
    records: Iterable[Read | DeptreeError],
    prepare: Callable[[Read], Made],
    on_error: Callable[[DeptreeError], None] | None,
) -> Iterator[Made]:
    """Yield what `prepare` makes of every record; one that cannot be used is left out if `on_error` takes its error."""
    for record in records:
        try:
            if isinstance(record, DeptreeError):
                raise record
            yield prepare(record)
        except DeptreeError as error:
            if on_error is None:
                raise
            on_error(error)
