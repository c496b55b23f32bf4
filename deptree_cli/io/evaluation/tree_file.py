"""A file of trees as it was read: its words as arrays, where its sentences stand, and what is wrong with some.

What stands in columns becomes numbers, the same for all files of an evaluation: no text is compared twice.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, groupby

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.evaluation.counts import Relations, universal, universal_features
from deptree_cli.core.evaluation.words import DEPREL, FORM, Words, cyclic, starts_of
from deptree_cli.io.conllu.blocks import Block, error_of_tokens, read_blocks_or_errors
from deptree_cli.io.files.streams import open_input, place_of
from deptree_cli.io.read import unmarked
from deptree_cli.io.trees.base import GivenTree
from deptree_cli.io.trees.conllu import without_heads
from deptree_cli.kernels.text.columns import HEAD

_COLUMNS = ("form", "upos", "xpos", "feats", "lemma", "deprel")

# Sentences of so many words become arrays at once.
_TOGETHER = 1 << 14


class Numbers(dict[str, int]):
    """The number of each text of a column: that of what is compared of it, in the order in which these came.

    Args:
        compared: what of a text is compared.
    """

    def __init__(self, compared: Callable[[str], str] = str) -> None:
        self._compared = compared
        self.names: list[str] = []
        self._known: dict[str, int] = {}
        self["_"] = self.__missing__("_")

    def __missing__(self, text: str) -> int:
        name = self._compared(text)
        if name not in self._known:
            self._known[name] = len(self.names)
            self.names.append(name)
        self[text] = self._known[name]
        return self[text]


class Bare(dict[str, str]):
    """The characters of forms: without white space within them, as the script of the CoNLL 2018 shared task has it."""

    def __missing__(self, form: str) -> str:
        self[form] = "".join(char for char in form if unicodedata.category(char) != "Zs")
        return self[form]


class Vocabulary:
    """The numbers of what stands in columns, the same for all files of an evaluation."""

    def __init__(self) -> None:
        compared: list[Callable[[str], str]] = [str.lower, str, str, universal_features, str, universal]
        self.columns = [Numbers(each) for each in compared]
        self.bare = Bare()

    @property
    def relations(self) -> Relations:
        return Relations.of(self.columns[DEPREL].names)


def words_of(items: Sequence[Block | DeptreeError], vocabulary: Vocabulary) -> Words:
    """The words of sentences that have the same columns, as numbers of a vocabulary; of errors no words.

    Rows are those of words, multiword tokens and empty nodes.
    """
    texts = [_text(item) for item in items]
    blocks = [item for item in items if isinstance(item, Block)]
    lines = b"".join(texts).decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")[:-1]
    table = list(zip(*(line.split("\t") for line in lines), strict=True)) or [()]
    names = blocks[0].columns if blocks else ()
    unknown = ("_",) * len(lines)
    cells = [table[names.index(name)] if name in names else unknown for name in _COLUMNS]
    heads = [block.template.words[:, HEAD] for block in blocks]  # type: ignore[index]
    ids, starts = table[0], starts_of(np.array([text.count(b"\n") for text in texts]))
    is_word = np.array([each.isdigit() for each in ids], dtype=bool)
    words_before, word_rows = starts_of(is_word), np.flatnonzero(is_word)
    covered, is_token = np.zeros(len(word_rows), dtype=bool), is_word.copy()
    for row in (row for row, id_ in enumerate(ids) if "-" in id_):
        first, last = map(int, ids[row].split("-"))
        covered[words_before[row] :][: last - first + 1] = True
        is_token[row] = True
    is_token[word_rows[covered]] = False
    bare = [vocabulary.bare[form] for form in compress(cells[FORM], is_token.tolist())]
    tokens_before, token_rows = starts_of(is_token), np.flatnonzero(is_token)
    tokens, words = tokens_before[starts], words_before[starts]
    spans = zip(tokens[:-1].tolist(), tokens[1:].tolist(), strict=True)
    return Words(
        ["".join(bare[first:last]) for first, last in spans],
        words,
        tokens,
        np.array([len(each) for each in bare], dtype=np.int64),
        token_rows - np.repeat(starts[:-1], np.diff(tokens)),
        tokens_before[word_rows + 1] - 1 - np.repeat(tokens[:-1], np.diff(words)),
        covered,
        np.array(list(_numbers(cells, is_word.tolist(), covered.tolist(), vocabulary)), dtype=np.int32),
        np.concatenate([np.empty(0, dtype=np.int64), *heads]),
    )


def _numbers(
    columns: Sequence[Sequence[str]], is_word: Sequence[bool], covered: Sequence[bool], vocabulary: Vocabulary
) -> Iterator[list[int]]:
    """The numbers of each column; forms of words that are tokens without white space, as those are compared."""
    for cells, numbers in zip(columns, vocabulary.columns, strict=True):
        texts: Iterator[str] = compress(cells, is_word)
        if cells is columns[FORM]:
            bare = vocabulary.bare
            texts = (text if within else bare[text] for text, within in zip(texts, covered, strict=True))
        yield [numbers[text] for text in texts]


def _text(item: Block | DeptreeError) -> bytes:
    if isinstance(item, DeptreeError):
        return b""
    text = item.raw[item.template.rows_start : item.template.rows_end]
    return text if text.endswith(b"\n") else text + b"\n"


@dataclass
class TreeFile:
    """The trees of a file, as they were read.

    Attributes:
        place: what messages call the file.
        vocabulary: numbers of what stands there.
        names: the sent_id of each sentence, empty where it has none.
        lines: the number of its first line, and of the line of its first row.
        errors: what is wrong with sentences, by number, from 0.
    """

    place: str
    vocabulary: Vocabulary
    names: list[str] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)
    errors: dict[int, DeptreeError] = field(default_factory=dict)
    _waiting: list[Block | DeptreeError] = field(default_factory=list)
    _size: int = 0
    _parts: list[Words] = field(default_factory=list)

    def add(self, item: Block | DeptreeError, name: str = "") -> None:
        """Add a sentence, or what is wrong with one, of which then nothing is known."""
        number = len(self.names)
        self.names.append(name)
        item = item if isinstance(item, DeptreeError) else error_of_tokens(item) or item
        if isinstance(item, DeptreeError):
            self.errors[number] = item
            self.lines.append((0, 0))
        else:
            self.lines.append((item.line, item.line + item.raw.count(b"\n", item.start, item.template.rows_start)))
            self._size += item.n
        self._waiting.append(item)
        if self._size >= _TOGETHER:
            self._flush()

    @cached_property
    def words(self) -> Words:
        """The words of all sentences; none of those of which nothing is known."""
        self._flush()
        if len(self._parts) == 1:
            return self._parts[0]
        parts = self._parts or [words_of([], Vocabulary())]
        rest = "lengths", "rows", "token_of", "in_multiword", "columns", "heads"
        return Words(
            [text for part in parts for text in part.texts],
            starts_of(np.concatenate([part.sizes for part in parts])),
            starts_of(np.concatenate([np.diff(part.tokens) for part in parts])),
            *(np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in rest),
        )

    def sent_id(self, number: int) -> str:
        return self.names[number] or str(number + 1)

    def at(self, number: int, row: int | None = None) -> str:
        """``file:line`` of a sentence, or of one of its rows."""
        line, first = self.lines[number]
        return f"{self.place}:{line if row is None else first + row}"

    def check_trees(self) -> None:
        """Note what is wrong with sentences whose heads are no tree."""
        words = self.words
        owners = np.repeat(np.arange(len(words.sizes)), words.sizes)
        for number in [*np.unique(owners[words.heads < 0]).tolist(), *np.flatnonzero(cyclic(words)).tolist()]:
            heads = words.heads[words.words[number] : words.words[number + 1]].tolist()
            known = [None if head < 0 else head for head in heads]
            try:
                if None in known:
                    raise without_heads(known, self.at(number), self.sent_id(number))
                GivenTree(self.sent_id(number), tuple(heads), 1, self.at(number)).check_acyclic()
            except DeptreeError as error:
                self.errors.setdefault(number, error)

    def row_of(self, number: int, at: int) -> int:
        """The row of a sentence that a character of its text is in, or the last of its tokens."""
        words = self.words
        first, end = words.tokens[number : number + 2]
        token = min(int(np.searchsorted(np.cumsum(words.lengths[first:end]), at, side="right")), end - first - 1)
        return int(words.rows[first + token]) if end > first else 0

    def _flush(self) -> None:
        for _, run in groupby(self._waiting, lambda item: getattr(item, "columns", None)):  # maybe of several files
            self._parts.append(words_of(list(run), self.vocabulary))
        self._waiting.clear()
        self._size = 0


def read_trees(path: str, vocabulary: Vocabulary, any_heads: bool = False) -> TreeFile:
    """Read a file of CoNLL-U; `-` is standard input. Its heads must be trees, unless they may be anything."""
    found = TreeFile(place_of(path), vocabulary)
    with open_input(path) as file:
        for item in read_blocks_or_errors(file.stream, file.place, any_heads):
            found.add(item, unmarked(item.sent_id))
    if not any_heads:
        found.check_trees()
    return found
