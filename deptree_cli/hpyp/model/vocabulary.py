"""Symbols by number: of tags and labels as they are, of words with classes in the place of those that are rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL, ROOT_SYMBOL
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.word_classes import word_class

# The symbols of numbers `NULL_SYMBOL` and `ROOT_SYMBOL`.
_RESERVED = ("", "<s>")

# Distinct words whose numbers are remembered: an endless text must not fill the memory.
_REMEMBERED = 1 << 17


@dataclass(frozen=True)
class Vocabulary:
    """Numbered symbols.

    Attributes:
        symbols: those of numbers 2, 3, ..., in the order in which they first appeared; without the two that every
            vocabulary has, null and the root node.

    Raises:
        ValueError: a symbol is there twice.
    """

    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self._numbers) < len(self.symbols):
            raise ValueError("a vocabulary has each symbol once")

    @classmethod
    def of(cls, symbols: Iterable[str]) -> Vocabulary:
        """The vocabulary of symbols as they come, most of them many times."""
        return cls(tuple(dict.fromkeys(symbols)))

    @property
    def size(self) -> int:
        """How many numbers there are, those of null and the root included."""
        return len(self.symbols) + len(_RESERVED)

    def id(self, symbol: str) -> int:
        """The number of a symbol, `NULL_SYMBOL` if it was never seen. The word ``<s>`` is not the root node."""
        return self._numbers.get(symbol, NULL_SYMBOL)

    def symbol(self, number: int) -> str:
        """The symbol of a number; ``<s>`` for the root node, empty for `NULL_SYMBOL`.

        Raises:
            IndexError: there is no such number.
        """
        if not 0 <= number < self.size:
            raise IndexError(f"{number} is not among the {self.size} numbers of the vocabulary")
        return _RESERVED[number] if number < len(_RESERVED) else self.symbols[number - len(_RESERVED)]

    def __contains__(self, symbol: object) -> bool:
        return symbol in self._numbers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.symbols, len(_RESERVED))}


class Lexicon:
    """Words by number: those seen at least twice by themselves, any other by its class.

    Attributes:
        vocabulary: the words and classes. Nothing else is needed to number the words of another sentence.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._first_id = lru_cache(_REMEMBERED)(partial(self._id, is_first=True))
        self._later_id = lru_cache(_REMEMBERED)(partial(self._id, is_first=False))

    def __reduce__(self) -> tuple[type[Lexicon], tuple[Vocabulary]]:
        return Lexicon, (self.vocabulary,)

    @classmethod
    def of(cls, sentences: Iterable[Annotated]) -> Lexicon:
        """The lexicon of a treebank, in which a word seen once counts as its class; read once, from front to back."""
        counts: Counter[str] = Counter()
        begins: dict[str, bool] = {}  # by a word seen for the first time: whether a sentence begins with it
        for sentence in sentences:
            counts.update(sentence.forms)
            begins.setdefault(sentence.forms[0], True)
            for form in sentence.forms[1:]:
                begins.setdefault(form, False)
        known = {form for form, count in counts.items() if count > 1}
        classed = (
            form if form in known else word_class(form, is_first, known.__contains__)
            for form, is_first in begins.items()
        )
        return cls(Vocabulary.of(classed))

    def ids(self, forms: Sequence[str]) -> Heads:
        """The numbers of n words in order, `ROOT_SYMBOL` in front of them; int32, (n+1,)."""
        return np.array([ROOT_SYMBOL, *map(self._first_id, forms[:1]), *map(self._later_id, forms[1:])], dtype=np.int32)

    def class_of(self, form: str, is_first: bool) -> str | None:
        """The class as which a word counts, whether or not the vocabulary has it; None for a word that it has."""
        known = self.vocabulary.__contains__
        return None if known(form) else word_class(form, is_first, known)

    def _id(self, form: str, is_first: bool) -> int:
        return self.vocabulary.id(self.class_of(form, is_first) or form)
