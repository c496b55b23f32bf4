"""One sentence as it was read, and the sides of which it is read together: files, or whatever items come from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Array, Heads
from deptree_cli.core.errors import DeptreeError, fits_a_line
from deptree_cli.core.streams import SentenceStreams

if TYPE_CHECKING:
    from deptree_cli.io.conllu.blocks import Block

NO_SCORES: Array = np.empty((0, 0))

# Tells the user a line, once for each key; or nobody.
Warn = Callable[[str, str], None]


def unheard(key: str, line: str) -> None: ...


IN_ORDER = "Check that both files hold the same sentences in the same order"

# Roles of companions: the sentence with its gold tree, scores of another file, scores of labels, given trees.
GOLD, OTHER, LABELS, TREES = "gold", "other", "labels", "trees"


@dataclass(slots=True, eq=False)  # not frozen, which costs a microsecond a sentence
class Sentence:
    """One sentence as it was read.

    Attributes:
        sent_id: the CoNLL-U's, else the key of the scores, else the running number.
        number: the running number, from 1; `n`: how many words it has.
        place: where it was read, for messages: its scores, if it has any.
        block: the CoNLL-U sentence if there is one, else the words if they stand beside the scores.
        scores: as read (any orientation), cut to the sentence's length; `key`: their name, if they have one.
        padded: whether the scores are a whole slice of a batch, taken as it is for want of a length.
        named: whether the sentence or its scores have a name, and not a running number alone.
        has_other_tags: whether the column UPOS of its file has something else than parts of speech.
        companions: what other files have of it, by role.
    """

    sent_id: str
    number: int
    n: int
    place: str
    block: Block | None = None
    scores: Array = field(default_factory=lambda: NO_SCORES)
    key: str | None = None
    padded: bool = False
    named: bool = True
    has_other_tags: bool = False
    companions: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        if self.key is None or self.key == self.sent_id:
            return (self.sent_id,) if self.named else ()
        return (self.sent_id, self.key) if self.named else (self.key,)

    @property
    def weight(self) -> int:
        return self.scores.size

    @property
    def labels(self) -> Array | None:
        return self.companions.get(LABELS)

    @property
    def gold(self) -> Block | None:
        return self.companions.get(GOLD)

    @property
    def trees(self) -> Any:
        """The trees that are given of it (`trees.sets.TreeSet`); None if there is no file of them."""
        return self.companions.get(TREES)

    @property
    def known_heads(self) -> Heads:
        """The gold heads, (n,), -1 where none is: those of `gold`, else those of the sentence."""
        block = self.gold or self.block
        return block.known_heads if block else np.empty(0, dtype=np.int32)

    def with_companion(self, role: str, found: Any) -> Sentence:
        """The same with one more of what other files have of it; written out, as `replace` takes ten times as long."""
        own = self.sent_id, self.number, self.n, self.place, self.block, self.scores, self.key, self.padded, self.named
        return Sentence(*own, self.has_other_tags, {**self.companions, role: found})

    @property
    def sentence(self) -> Block:
        if self.block is None:
            from deptree_cli.io.conllu.columns import no_sentences

            raise no_sentences()
        return self.block


def check_name(sent_id: str) -> None:
    if not fits_a_line(sent_id):
        raise DeptreeError("the sentence's name holds a control character", "Rename it")


# Finds something of each sentence of a batch that is worked on at once, by `SentenceStreams` or None without a seed.
Many = Callable[[Any, Any], Any]


@dataclass(eq=False)
class Chunk:
    """Items that travel together: what is asked of many is found for all of them when the first one asks.

    Attributes:
        tasks: the items, each with how often its name came before; `seed`: of their random streams.
        prepare: what an item becomes by itself; with `row`: what it is in a chunk, at a place there; and with `batch`:
            those of some items that can be worked on at once, with their `places`; None where there are none.
    """

    tasks: Sequence[tuple[Any, int]]
    prepare: Any
    seed: int | None = None
    _found: dict[Many, Any] = field(default_factory=dict)

    def row(self, at: int) -> Any:
        return getattr(self.prepare, "row", Row)(self, at)

    @cached_property
    def _batch(self) -> Any:
        return self.prepare.batch([item for item, _ in self.tasks])

    @cached_property
    def _places(self) -> dict[int, int]:
        return {} if self._batch is None else {at: place for place, at in enumerate(self._batch.places)}

    def part(self, many: Many, at: int) -> Any:
        """What `many` finds of the item at a place; None if that must be found for it alone."""
        if (place := self._places.get(at)) is None:
            return None
        if many not in self._found:
            names = [(item.sent_id, times) for item, times in map(self.tasks.__getitem__, self._places)]
            streams = None if self.seed is None else SentenceStreams(self.seed, names)  # new ones: kernels move them
            try:
                self._found[many] = many(self._batch, streams)
            except DeptreeError:  # of one sentence, which is told of it by itself
                self._found[many] = None
        found = self._found[many]
        return None if found is None else found[place]

    def answers(self, at: int) -> bool:
        """Whether the work asked for something of many and found it, so that it makes no use of its own stream."""
        return bool(self._found) and at in self._places and all(found is not None for found in self._found.values())


class Row(NamedTuple):
    """An item of a chunk."""

    chunk: Chunk
    at: int

    def ask(self, many: Many) -> Any:
        """What `many` finds of it; None if that must be found for it alone."""
        return self.chunk.part(many, self.at)

    @property
    def alone(self) -> Any:
        return self.chunk.prepare(self.chunk.tasks[self.at][0])


Item = TypeVar("Item")


def in_order(source: Mapping[str, Item] | Iterable[Item | DeptreeError]) -> Iterator[Item | DeptreeError]:
    return (loaded(source, key) for key in source) if isinstance(source, Mapping) else iter(source)


def loaded(source: Mapping[str, Item], key: str) -> Item | DeptreeError:
    """An entry of a mapping, or what is wrong with it."""
    try:
        return source[key]
    except DeptreeError as error:
        return error.at(sent_id=key)


@dataclass(frozen=True)
class Side:
    """One of the files that are read together, or whatever its items come from.

    Attributes:
        items: in their order, each of which may be the error of one that cannot be used; a mapping loads what is asked
            for by id.
        what: they are called in messages, in the plural.
        place: the file, for messages, if there is a single one; `ordered`: False if nobody knows the order.
        names: of an item, likeliest first; none if it has only a running number.
        keys: the names of all arrays, if these are arrays and all names are known before they are read.
        tokens: of an item its words (`pairing.Tokens`), by which sides without ids are paired; None if it has none.
    """

    items: Mapping[str, Any] | Iterable[Any]
    what: str
    place: str = ""
    names: Callable[[Any], Sequence[str]] = attrgetter("names")
    ordered: bool = True
    keys: Collection[str] = ()
    tokens: Callable[[Any], Any] | None = None

    def in_order(self) -> Iterator[Any]:
        return in_order(self.items)

    def names_of(self, item: object) -> Sequence[str]:
        """The names of an item or of its error, if it has any."""
        if isinstance(item, DeptreeError):
            return (item.sent_id,) if item.sent_id else ()
        return self.names(item)

    def name(self, item: object) -> str | None:
        return next(iter(self.names_of(item)), None)


def nameless(_: object) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Companion:
    """A side that is paired with the leading one.

    Attributes:
        add: adds an item to the sentence that it belongs to; raises OutOfStep if the two do not fit together. That is
            an error of this sentence alone if their ids say that they belong together, else it ends the reading.
        shared: whether it may have items of other sentences, because one file may serve several.
        again: whether an item that was found by its id serves the next sentences of this id too.
    """

    side: Side
    add: Callable[[Sentence, Any], object]
    shared: bool = False
    again: bool = False


def holding(role: str) -> Callable[[Sentence, Any], object]:
    return lambda sentence, item: sentence.companions.update({role: item})
