"""Files of CoNLL-U as what leads, and as companions of what leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count

from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.companion import Companion, Side
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.files.streams import open_input, place_of
from deptree_cli.io.pairing import unmarked
from deptree_cli.io.sentence import GOLD, Sentence

SAME = "Give the same sentences, with the same words"

# Looks at the sentences of a file as they pass; it is told what messages call the file.
Watched = Callable[[Iterator[Sentence | DeptreeError], str], Iterator[Sentence | DeptreeError]]


def sentences(paths: Sequence[str], first: int = 1, watched: Watched | None = None, any_heads: bool = False) -> Side:
    """The sentences of CoNLL-U files, one file after another; one that is malformed is handed on as its error.

    Args:
        paths: files, gzipped or not; `-` is standard input.
        first: the running number of the first.
        watched: looks at those of each file.
        any_heads: whether HEAD may be anything, as of `Block`.
    """
    return Side(_sentences(paths, first, watched, any_heads), "sentences", ", ".join(map(place_of, paths)))


def _sentences(
    paths: Sequence[str], first: int, watched: Watched | None, any_heads: bool
) -> Iterator[Sentence | DeptreeError]:
    numbers = count(first)
    for path in paths:
        with open_input(path) as file:
            blocks = read_blocks_or_errors(file.stream, file.place, any_heads)
            found = map(sentence_of, blocks, numbers)
            yield from watched(found, file.place) if watched else found


def sentence_of(block: Block | DeptreeError, number: int) -> Sentence | DeptreeError:
    """The sentence of a block."""
    if isinstance(block, DeptreeError):
        return block
    return Sentence(block.sent_id or str(number), number, block.n, block.place, block, named=bool(block.sent_id))


def trees_in(paths: Sequence[str], role: str = GOLD, remedy: str = SAME) -> Companion:
    """Files of CoNLL-U whose trees belong to the sentences, as companions of this role; `remedy`: for other words."""
    places = ", ".join(map(place_of, paths))
    return beside(_blocks(paths), places, role, remedy)


def beside(blocks: Iterator[Block | DeptreeError], place: str, role: str = GOLD, remedy: str = SAME) -> Companion:
    """Blocks, or errors in their place, that belong to the sentences; `place`: where they are read, for messages."""
    return Companion(Side(blocks, "sentences", place, _names), partial(_add, role, remedy))


def _names(block: Block) -> Sequence[str]:
    return (unmarked(block.sent_id),) if block.sent_id else ()


def _blocks(paths: Sequence[str]) -> Iterator[Block | DeptreeError]:
    for path in paths:
        with open_input(path) as file:
            yield from read_blocks_or_errors(file.stream, file.place)


def _add(role: str, remedy: str, sentence: Sentence, block: Block) -> None:
    if block.n != sentence.n:
        raise OutOfStep(f"{counted(block.n, 'word')} at {block.place}, but {sentence.n} here", remedy)
    sentence.companions[role] = block
