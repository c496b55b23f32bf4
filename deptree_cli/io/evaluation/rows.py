"""The words of CoNLL-U sentences as arrays, which are made of many sentences at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.evaluation.words import FORM, Words, starts_of
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.evaluation.vocabulary import Vocabulary
from deptree_cli.kernels.text.columns import HEAD

_COLUMNS = ("form", "upos", "xpos", "feats", "lemma", "deprel")


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of many sentences: words, multiword tokens and empty nodes.

    Attributes:
        starts: where those of each sentence begin, and where the last end.
        ids: of each row.
        cells: of each of `_COLUMNS`, what each row has there.
        heads: of words.
    """

    starts: Int
    ids: Sequence[str]
    cells: Sequence[Sequence[str]]
    heads: Array

    @classmethod
    def of(cls, items: Sequence[Block | DeptreeError]) -> Rows:
        """The rows of sentences, which have the same columns; none of those of which nothing is known."""
        texts = [_text(item) for item in items]
        known = [item for item in items if isinstance(item, Block)]
        lines = b"".join(texts).decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")[:-1]
        table = list(zip(*(line.split("\t") for line in lines), strict=True)) or [()]
        names = known[0].columns if known else ()
        unknown = ("_",) * len(lines)
        cells = [table[names.index(name)] if name in names else unknown for name in _COLUMNS]
        heads = [block.template.words[:, HEAD] for block in known]  # type: ignore[index]
        starts = starts_of(np.array([text.count(b"\n") for text in texts]))
        return cls(starts, table[0], cells, np.concatenate([np.empty(0, dtype=np.int64), *heads]))

    @cached_property
    def _is_word(self) -> Bool:
        return np.array([each.isdigit() for each in self.ids], dtype=bool)

    @cached_property
    def _words_before(self) -> Int:
        """How many words there are in front of each row, and in all."""
        return starts_of(self._is_word)

    def words(self, vocabulary: Vocabulary) -> Words:
        """The words, as numbers of a vocabulary."""
        covered = np.zeros(len(self.heads), dtype=bool)
        is_token = self._is_word.copy()
        for row in (row for row, id_ in enumerate(self.ids) if "-" in id_):
            first, last = map(int, self.ids[row].split("-"))
            covered[self._words_before[row] :][: last - first + 1] = True
            is_token[row] = True
        word_rows = np.flatnonzero(self._is_word)
        is_token[word_rows[covered]] = False
        bare = [vocabulary.bare[form] for form in compress(self.cells[FORM], is_token.tolist())]
        tokens_before, token_rows = starts_of(is_token), np.flatnonzero(is_token)
        tokens, words = tokens_before[self.starts], self._words_before[self.starts]
        token_of = tokens_before[word_rows + 1] - 1 - np.repeat(tokens[:-1], np.diff(words))
        spans = zip(tokens[:-1].tolist(), tokens[1:].tolist(), strict=True)
        return Words(
            ["".join(bare[first:last]) for first, last in spans],
            words,
            tokens,
            np.array([len(each) for each in bare], dtype=np.int64),
            token_rows - np.repeat(self.starts[:-1], np.diff(tokens)),
            token_of,
            covered,
            np.array(list(self._numbers(vocabulary, covered)), dtype=np.int32),
            self.heads,
        )

    def _numbers(self, vocabulary: Vocabulary, covered: Bool) -> Iterator[list[int]]:
        """The numbers of each column; forms of words that are tokens without white space, as those are compared."""
        is_word = self._is_word.tolist()
        for cells, numbers in zip(self.cells, vocabulary.columns, strict=True):
            texts: Iterator[str] = compress(cells, is_word)
            if cells is self.cells[FORM]:
                bare = vocabulary.bare
                texts = (text if within else bare[text] for text, within in zip(texts, covered.tolist(), strict=True))
            yield [numbers[text] for text in texts]


def _text(item: Block | DeptreeError) -> bytes:
    """The rows of a sentence, each with its newline."""
    if isinstance(item, DeptreeError):
        return b""
    text = item.raw[item.template.rows_start : item.template.rows_end]
    return text if text.endswith(b"\n") else text + b"\n"
