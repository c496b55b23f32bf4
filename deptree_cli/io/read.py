"""The one reader: the sentences of a leading file, each with what its companions, other files, have of it.

Results come in the order of the leading side. A companion is paired with it by ids if both sides have ids, whatever is
missing or moved: the n-th item of an id with the n-th sentence of that id. Otherwise it is paired by order, and both
sides must have as many items. Which it is, the first items decide; but running keys of arrays (s00579, s00580, ...) are
ids only if a sentence has one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.files.streams import open_input, place_of
from deptree_cli.io.pairing import ByIds, ByOrder, are_alike, are_running, peeked, unmarked
from deptree_cli.io.sentence import GOLD, Companion, Sentence, Side, Warn, unheard


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
    found = lead.in_order()
    for each in companions:
        found = _with(found, each, lead, pairings, warn)
    yield from found
    for pairing in pairings:
        yield from pairing.left()


def _with(
    sentences: Iterator[Any], companion: Companion, lead: Side, pairings: list[ByIds | ByOrder], warn: Warn
) -> Iterator[Any]:
    """The sentences, each with what a companion has of it; also errors have companions."""
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
) -> tuple[ByIds | ByOrder, Iterator[Any]]:
    """How a companion is paired with sentences, the first of which has these names; and the sentences."""
    side = companion.side
    items, name = _first(side, names)
    by_ids = name is not None and any(are_alike(each, name) for each in names)
    arrays, others = (side, lead) if side.keys else (lead, side)
    stream = sentences if others is lead else items
    if by_ids and arrays.keys and not others.keys and stream is not None:
        stream, found = peeked(stream, partial(_has_key, arrays.keys, others))
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
    return ByOrder(companion, lead, items, sentences, warn), sentences


def _has_key(keys: Collection[str], side: Side, item: Any) -> bool:
    return any(each in keys or unmarked(each) in keys for each in side.names_of(item))


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


SAME = "Give the same sentences, with the same words"

# Looks at the sentences of a file as they pass; it is told what messages call the file.
Watched = Callable[[Iterator[Sentence | DeptreeError], str], Iterator[Sentence | DeptreeError]]


def sentences(
    paths: Sequence[str], first: int = 1, watched: Watched | None = None, any_heads: bool = False, feats: bool = False
) -> Side:
    """The sentences of CoNLL-U files, one file after another; one that is malformed is handed on as its error.

    Args:
        paths: files, gzipped or not; `-` is standard input.
        first: the running number of the first.
        watched: looks at those of each file.
        any_heads, feats: as of `read_blocks_or_errors`.
    """
    return Side(_sentences(paths, first, watched, any_heads, feats), "sentences", ", ".join(map(place_of, paths)))


def _sentences(
    paths: Sequence[str], first: int, watched: Watched | None, any_heads: bool, feats: bool
) -> Iterator[Sentence | DeptreeError]:
    numbers = count(first)
    for path in paths:
        with open_input(path) as file:
            blocks = read_blocks_or_errors(file.stream, file.place, any_heads, feats)
            found = map(sentence_of, blocks, numbers)
            yield from watched(found, file.place) if watched else found


def sentence_of(block: Block | DeptreeError, number: int) -> Sentence | DeptreeError:
    """The sentence of a block."""
    if isinstance(block, DeptreeError):
        return block
    return Sentence(block.sent_id or str(number), number, block.n, block.place, block, named=bool(block.sent_id))


def trees_in(paths: Sequence[str]) -> Companion:
    """Files of CoNLL-U whose gold trees belong to the sentences."""
    places = ", ".join(map(place_of, paths))
    return beside(_blocks(paths), places)


def beside(blocks: Iterator[Any], place: str, role: str = GOLD) -> Companion:
    """Blocks, or errors in their place, that belong to the sentences.

    Args:
        blocks: may be anything that has a `sent_id`, for those who make blocks of it.
        place: where they are read, for messages.
    """
    return Companion(Side(blocks, "sentences", place, _names), partial(add_trees, role))


def _names(block: Block) -> Sequence[str]:
    return (unmarked(block.sent_id),) if block.sent_id else ()


def _blocks(paths: Sequence[str]) -> Iterator[Block | DeptreeError]:
    for path in paths:
        with open_input(path) as file:
            yield from read_blocks_or_errors(file.stream, file.place)


def add_trees(role: str, sentence: Sentence, trees: Any, lengths: str = "--lengths FILE or --conllu FILE") -> None:
    """Add what has a sentence's trees; errors as of `check_words`."""
    check_words(trees, sentence, sentence, lengths)
    sentence.companions[role] = trees


def check_words(found: Any, here: Any, scored: Sentence, lengths: str) -> None:
    """Raise OutOfStep unless both have as many words; `lengths`: the option that tells those of a padded `scored`."""
    if found.n != here.n:
        is_longer = scored.padded and scored.n == max(found.n, here.n)
        remedy = f"If this is a padded batch, pass {lengths}" if is_longer else SAME
        raise OutOfStep(f"{counted(found.n, 'word')} at {found.place}, but {here.n} here", remedy)
