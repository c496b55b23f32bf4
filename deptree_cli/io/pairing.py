"""Files of the same text: their sentences are paired by id, else by their text; within a sentence words by characters.

The text of a sentence is the characters of its tokens without white space, so that tokens and words may differ. Of
files without words nothing but the number of words is compared.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain, count, islice
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, columns_of
from deptree_cli.io.sentence import Companion, Sentence, Side

# So many characters around the first that differs are shown.
AROUND = 10

SAME_TEXT = "Give files of the same text, or pass --on-error skip to leave this sentence out"
_COMPOSED = "Accents are characters of their own in one file only: normalise both, for example to NFC"

# So many sentences without a counterpart may stand between two that belong together.
AHEAD = 1000

# The role of a sentence's tokens.
TOKENS = "tokens"

# The head of a word that has none, and that of a word which the other file divides otherwise.
OPEN, LOST = -1, -2


@lru_cache(1 << 20)
def bare(form: str) -> str:
    """The characters of a form: without white space within, as the script of the CoNLL 2018 shared task has it."""
    return "".join(char for char in form if unicodedata.category(char) != "Zs")


class Tokens:
    """The words of a sentence; of CoNLL-U multiword tokens too, which are looked for if somebody asks.

    Attributes:
        forms: of words, ``_`` where none is known.
    """

    def __init__(self, forms: tuple[bytes, ...], block: Block | None = None) -> None:
        self.forms, self._block = forms, block

    def __reduce__(self) -> tuple[type[Tokens], tuple[tuple[bytes, ...]]]:
        return Tokens, (self.forms,)  # what belongs together is found before sentences go to workers

    @property
    def known(self) -> bool:
        """Whether some words are."""
        return self.forms.count(b"_") < len(self.forms)

    @cached_property
    def ranges(self) -> list[tuple[int, int, bytes]]:
        """First and last word and form of multiword tokens; those that are not in front of their words are none."""
        found, words, last = list[tuple[int, int, bytes]](), 0, 0
        for number, form in self._block.cells("id", "form") if self._block else ():
            words += number.isdigit()
            if b"-" in number:
                first, end = map(int, number.split(b"-"))
                if last <= words and first == words + 1 <= end <= len(self.forms):
                    found.append((first, end, form))
                    last = end
        return found

    @cached_property
    def _surface(self) -> list[tuple[int, str]]:
        """How many words each token stands for, and its characters."""
        found, word = list[tuple[int, str]](), 0
        ranges = {first: (last, form) for first, last, form in self.ranges}
        while word < len(self.forms):
            last, form = ranges.get(word + 1, (word + 1, self.forms[word]))
            found.append((last - word, bare(form.decode("utf-8", "surrogateescape"))))
            word = last
        return found

    @cached_property
    def text(self) -> str:
        return "".join(text for _, text in self._surface)

    def has_words_of(self, other: Tokens) -> bool:
        """Whether words are the same, as far as both are known."""
        if self.forms == other.forms:
            return True
        pairs = zip(self.forms, other.forms, strict=False)
        return len(self.forms) == len(other.forms) and all(a == b or b"_" in (a, b) for a, b in pairs)

    def spans(self) -> tuple[Array, ...]:
        """Of each word where its token begins and ends, whether that is a multiword token, and its form."""
        sizes, texts = zip(*self._surface, strict=True)
        ends = np.repeat(np.cumsum([len(each) for each in texts]), sizes)
        starts = ends - np.repeat([len(each) for each in texts], sizes)
        forms = [form.decode("utf-8", "surrogateescape").lower() for form in self.forms]
        within = np.zeros(len(forms), dtype=bool)
        for first, last, _ in self.ranges:
            within[first - 1 : last] = True
        return starts, ends, within, np.array(forms)


NO_TOKENS = Tokens(())

# The words of two sentences of one text that belong together, counted from 0; None if all do.
Aligned = tuple[Int, Int] | None


def tokens_in(block: Block) -> Tokens:
    return Tokens(tuple(columns_of([block], "form")[0]), block)


def known_tokens(block: Block) -> Tokens | None:
    """The tokens of a sentence, None if it has no words."""
    found = tokens_in(block)
    return found if found.known else None


def words_of(sentence: Sentence) -> Tokens | None:
    """The tokens of a sentence, which it keeps; None if nobody knows its words."""
    found = sentence.companions
    if TOKENS not in found:
        found[TOKENS] = known_tokens(sentence.block) if sentence.block else None
    words: Tokens | None = found[TOKENS]
    return words


def aligned_words(one: Tokens | None, other: Tokens | None, place: str | None = None) -> Aligned:
    """The words that belong together; with the place of the other sentence it raises if that has another text."""
    if one is None or other is None or one.has_words_of(other):
        return None
    if place is not None and one.text != other.text:
        raise text_differs(one.text, other.text, place)
    from deptree_cli.core.evaluation import aligned_spans  # hardly any two files need it

    return aligned_spans(one.spans(), other.spans())


def text_differs(one: str, other: str, place: str) -> DeptreeError:
    """What is wrong with a sentence of another text than the one at a place."""
    at = first_difference(one, other)
    own, others = (repr(text[at : at + AROUND]) if at < len(text) else "nothing" for text in (one, other))
    where = f"after {one[max(at - AROUND, 0) : at]!r} it has {own}" if at else f"it begins with {own}"
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    return DeptreeError(f"the text differs: {where}, {others} at {place}", _COMPOSED if same else SAME_TEXT)


def first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def not_there(place: str) -> DeptreeError:
    return DeptreeError(f"{place} does not have its text here", SAME_TEXT)


def nearest(ours: Iterable[str], theirs: Iterable[str]) -> tuple[int, int] | None:
    """How many sentences there are on both sides in front of the nearest that both have; None if they have none.

    An empty text is that of nobody knows which sentence.
    """
    first: tuple[dict[str, int], dict[str, int]] = {}, {}
    sides = iter(ours), iter(theirs)
    best: tuple[int, int] | None = None
    for number in count():
        if best and number > sum(best):
            break
        texts = [next(side, None) for side in sides]
        if texts == [None, None]:
            break
        for known, text in zip(first, texts, strict=True):
            if text:
                known.setdefault(text, number)
        for text in filter(None, texts):
            if text in first[0] and text in first[1]:
                found = first[0][text], first[1][text]
                best = found if best is None else min(best, found, key=lambda each: (sum(each), each[0]))
    return best


class Ahead(Iterator[Any]):
    """Items, of which those that come next can be looked at."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items, self._next = items, deque[Any]()

    def __next__(self) -> Any:
        return self._next.popleft() if self._next else next(self._items)

    def peek(self) -> Any:
        return next(self.coming(), None)

    def coming(self) -> Iterator[Any]:
        yield from self._next
        for item in self._items:
            self._next.append(item)
            yield item


class ByText:
    """Pairs sentences in their order, those that have one text; what has no words the `fallback` pairs."""

    advice = ""

    def __init__(self, companion: Companion, lead: Side, theirs: Ahead, ours: Ahead, fallback: Any) -> None:
        self.companion, self._lead, self._fallback = companion, lead, fallback
        self._ours, self._theirs = ours, theirs
        self._apart = 0, 0  # this many that come next on both sides have no counterpart
        self._beyond: list[DeptreeError] = []

    @property
    def sure(self) -> bool:
        return bool(self._fallback.sure)

    def take(self, item: Any) -> Any:
        """The companion of a sentence or of its error, or what is wrong with it."""
        side = self.companion.side
        if self._apart == (0, 0):
            other = self._theirs.peek()
            one, two = _tokens(self._lead, item), None if other is None else _tokens(side, other)
            if one is None or (two is None and other is not None):
                return self._fallback.take(item)
            if two is None:
                return not_there(side.place)
            if one and two and (one.has_words_of(two) or one.text == two.text):
                return next(self._theirs)
            own = [_text(self._lead, each) for each in chain([item], islice(self._ours.coming(), AHEAD))]
            others = [_text(side, each) for each in islice(self._theirs.coming(), AHEAD)]
            self._apart = nearest(own, others) or (len(own), len(others))
        ours, theirs = self._apart
        if not ours:
            self._apart = 0, 0
            self._beyond += [self._not_ours(next(self._theirs)) for _ in range(theirs)]
            return next(self._theirs)
        self._apart = ours - 1, max(theirs - 1, 0)
        if not theirs:
            return not_there(side.place)
        other = next(self._theirs)
        if isinstance(item, DeptreeError) or isinstance(other, DeptreeError):
            return other
        return text_differs(_text(self._lead, item), _text(side, other), other.place)

    def left(self) -> Iterator[DeptreeError]:
        """The errors of companions that belong to no sentence."""
        yield from self._beyond
        for other in self._theirs.coming():
            if _tokens(self.companion.side, other) is None:
                yield from self._fallback.left()
            yield self._not_ours(other)

    def _not_ours(self, other: Any) -> DeptreeError:
        if isinstance(other, DeptreeError):
            return other
        return not_there(self._lead.place).at(other.place, self.companion.side.name(other) or "")


def _tokens(side: Side, item: Any) -> Tokens | None:
    """The tokens of an item, none of an error; None if its file has no words."""
    return NO_TOKENS if isinstance(item, DeptreeError) else side.tokens and side.tokens(item)


def _text(side: Side, item: Any) -> str:
    found = _tokens(side, item)
    return found.text if found else ""
