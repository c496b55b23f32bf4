"""The symbols of a parser by number, and what it does not know: words by their classes, tags, labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple
from warnings import warn

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL, ROOT_SYMBOL
from deptree_cli.hpyp.model.sentences import NAMES, UNKNOWN, Annotated, Contexts

# Classes of words that are rare or unseen: what their spelling says about their grammar.
#
# The signatures of unknown words of the Berkeley parser (Petrov et al. 2006), with classes of their own for
# punctuation, addresses and words in capitals.


# Of several that fit, the first names the class; only words of this length have one.
SUFFIXES = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")
_SHORTEST = 5

_URL_STARTS = ("http:", "https:", "www.")


def word_class(form: str, is_first: bool, is_known: Callable[[str], bool]) -> str:
    """The class of a word, such as ``UNK-INITC-KNOWNLC-ing``; at the beginning of a sentence a capital says little.

    INITC: a single capital, at the beginning of the sentence; ALLC: all of several letters; CAPS: any other capital.
    LC: none, but letters in lower case; and nothing for numbers and scripts without case.
    """
    if not any(char.isalnum() for char in form):
        return "UNK-PUNC"
    lower, capitals = form.lower(), sum(char.isupper() for char in form)
    if not capitals:
        case = "LC" if any(char.islower() for char in form) else ""
    elif is_first and capitals == 1 and form[0].isupper():
        case = "INITC"
    else:
        case = "ALLC" if capitals > 1 and form.isupper() else "CAPS"
    marks = {
        "KNOWNLC": case == "INITC" and is_known(lower),
        "NUM": any(char.isdigit() for char in form),
        "DASH": "-" in form,
        "URL": lower.startswith(_URL_STARTS) or "://" in lower,
        "MAIL": "@" in form[1:-1],
    }
    suffix = "s" if lower.endswith("s") else ""
    if not suffix and len(lower) >= _SHORTEST and "-" not in lower:
        suffix = next((each for each in SUFFIXES if lower.endswith(each)), "")
    return "-".join(filter(None, ["UNK", case, *(mark for mark, holds in marks.items() if holds), suffix]))


# Symbols by number: of tags and labels as they are, of words with classes in the place of those that are rare.


# The symbols of numbers `NULL_SYMBOL` and `ROOT_SYMBOL`.
_RESERVED = ("", "<s>")

# Distinct words whose numbers are remembered: an endless text must not fill the memory.
_REMEMBERED = 1 << 17


@dataclass(frozen=True)
class Vocabulary:
    """Numbered symbols: 2, 3, ... in the order in which they first appeared; null and the root node come before."""

    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self._numbers) < len(self.symbols):
            raise ValueError("a vocabulary has each symbol once")

    @classmethod
    def of(cls, symbols: Iterable[str]) -> Vocabulary:
        return cls(tuple(dict.fromkeys(symbols)))

    @property
    def size(self) -> int:
        return len(self.symbols) + len(_RESERVED)

    def id(self, symbol: str) -> int:
        """The number of a symbol, `NULL_SYMBOL` if it was never seen. The word ``<s>`` is not the root node."""
        return self._numbers.get(symbol, NULL_SYMBOL)

    def symbol(self, number: int) -> str:
        """The symbol of a number; ``<s>`` for the root node, empty for `NULL_SYMBOL`."""
        if not 0 <= number < self.size:
            raise IndexError(f"{number} is not among the {self.size} numbers of the vocabulary")
        return _RESERVED[number] if number < len(_RESERVED) else self.symbols[number - len(_RESERVED)]

    def __contains__(self, symbol: object) -> bool:
        return symbol in self._numbers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.symbols, len(_RESERVED))}


class Lexicon:
    """Words by number: those seen at least twice by themselves, any other by its class."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._remembered = lru_cache(_REMEMBERED)(self._id)

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
        numbers = (self._remembered(form, place == 0) for place, form in enumerate(forms))
        return np.array([ROOT_SYMBOL, *numbers], dtype=np.int32)

    def class_of(self, form: str, is_first: bool) -> str | None:
        """The class as which a word counts, whether or not the vocabulary has it; None for a word that it has."""
        known = self.vocabulary.__contains__
        return None if known(form) else word_class(form, is_first, known)

    def _id(self, form: str, is_first: bool) -> int:
        return self.vocabulary.id(self.class_of(form, is_first) or form)


# The symbols of a parser: its words, tags and labels by number, and the contexts in which they are predicted.


@dataclass(frozen=True, eq=False)
class Symbols:
    """What a parser's numbers mean: those of labels from 0; an empty lexicon where words are not generated."""

    lexicon: Lexicon
    tags: Vocabulary
    labels: tuple[str, ...]
    contexts: Contexts

    @classmethod
    def of(cls, treebank: Sequence[Annotated], contexts: Contexts, unlabelled: Iterable[Annotated] = ()) -> Symbols:
        """The symbols of a treebank; those of words also of text without trees."""
        words = [*treebank, *unlabelled] if contexts.word else []
        tags = Vocabulary.of(tag for sentence in treebank for tag in sentence.tags)
        labels = dict.fromkeys(label for sentence in treebank for label in sentence.deprels)
        return cls(Lexicon.of(words), tags, tuple(labels), contexts)

    @property
    def is_lexicalised(self) -> bool:
        return bool(self.contexts.word)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the processes there are: ``action``, ``tag``, and ``word`` if words are generated."""
        return NAMES if self.is_lexicalised else NAMES[:2]

    @property
    def dishes(self) -> tuple[int, ...]:
        return (2 * len(self.labels) + 1, self.tags.size, self.lexicon.vocabulary.size)[: len(self.names)]

    @property
    def choices(self) -> tuple[int, ...]:
        """How many actions, tags and words can be predicted; ROOT's symbol is neither a tag nor a word."""
        actions, *others = self.dishes
        return (actions, *(number - 1 for number in others))

    @cached_property
    def codes(self) -> tuple[Int, ...]:
        """The elements of the contexts of actions, tags and words, as kernels know them; none for no words."""
        return tuple(self.contexts.codes(name) for name in NAMES)

    def words_of(self, sentence: Annotated) -> Heads:
        """The numbers of a sentence's words, (n,) int32; all null where words are not generated."""
        return self.lexicon.ids(sentence.forms)[1:]

    def tags_of(self, sentence: Annotated) -> Heads:
        """The numbers of a sentence's tags, (n,) int32; null for tags that were never seen."""
        return np.array([self.tags.id(tag) for tag in sentence.tags], dtype=np.int32)

    def classed(self, sentence: Annotated) -> int:
        """How many words of a sentence count as their classes, not being in the vocabulary; 0 without words."""
        vocabulary = self.lexicon.vocabulary
        return sum(form not in vocabulary for form in sentence.forms) if self.is_lexicalised else 0

    def unseen_labels(self, sentence: Annotated) -> tuple[str, ...]:
        """The labels of a sentence that were never seen in training, with repeats; missing labels do not count."""
        return tuple(label for label in sentence.deprels if label not in (UNKNOWN, *self.labels))

    @cached_property
    def label_numbers(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def check_tags(self, sentence: Annotated) -> None:
        """Raise a DeptreeError if no tag of a sentence is known; warn of those that are not: they are predicted."""
        unseen = sorted({tag for tag in sentence.tags if tag not in self.tags} - {UNKNOWN})
        names = ", ".join(unseen)
        if not any(tag in self.tags for tag in sentence.tags):
            problem = f"the parser knows none of the tags {names}" if unseen else "no word has a tag"
            remedy = "Use the tag set that it was trained on, or predict the tags"
            raise DeptreeError(problem, remedy, place=sentence.place, sent_id=sentence.sent_id)
        if unseen:
            problem = f"sentence {sentence.sent_id}: tags that the parser does not know are predicted: {names}"
            warn(problem, stacklevel=4)


# What a reader of surprisals must know of single words: which were not scored as what they are, and why.


# Why a word was scored as its class: it was seen once in training, or never; and that class was not seen either. Why
# its tag was summed out although tags were given: it is missing, or the parser never saw it.
RARE_FORM, UNSEEN_CLASS, MISSING_TAG, UNSEEN_TAG = "rare_form", "unseen_class", "missing_tag", "unseen_tag"


# Why a sentence has no joint probability with its tree: heads or labels are missing, or the heads are not a tree with
# one root; a label was never seen, so the parser cannot build the tree; or a tag is missing or was never seen, and
# would have to be summed out.
UNSCORED = NO_TREE, UNSEEN_LABEL, UNKNOWN_TAG = "no_tree", "unseen_label", "unknown_tag"


class WordNote(NamedTuple):
    """What there is to note of a word: the class that it was scored as, None for itself; and the reasons."""

    word_class: str | None
    reasons: tuple[str, ...]


def word_notes(symbols: Symbols, sentence: Annotated, predicts_tags: bool) -> list[WordNote]:
    found = []
    for index, (form, tag) in enumerate(zip(sentence.forms, sentence.tags, strict=True)):
        word_class = symbols.lexicon.class_of(form, index == 0) if symbols.is_lexicalised else None
        reasons = {
            RARE_FORM: word_class is not None,
            UNSEEN_CLASS: word_class is not None and word_class not in symbols.lexicon.vocabulary,
            MISSING_TAG: not predicts_tags and tag == UNKNOWN,
            UNSEEN_TAG: not predicts_tags and tag != UNKNOWN and tag not in symbols.tags,
        }
        found.append(WordNote(word_class, tuple(name for name, holds in reasons.items() if holds)))
    return found
