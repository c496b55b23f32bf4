"""Sentences, their contexts and the symbols of a treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import NamedTuple
from warnings import warn

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import STATES, UNLABELLED, DeptreeError, Setting, counted, did_you_mean, fits_a_line
from deptree_cli.core.rule_words import cycles_of
from deptree_cli.hpyp.kernels.columns import LEFT, NEXT_TAG, NULL_SYMBOL, RECORD, RIGHT, ROOT_SYMBOL, TAG, WORD
from deptree_cli.kernels.columns import NO_HEAD

# Sentences as the generative parser takes them: words, tags, and the tree where it is known.


# What stands in the place of a tag or a label that is not known; `NO_HEAD` in that of a head.
UNKNOWN = "_"

_SEVERAL_ROOTS = "Keep one root: attach the others to it, or leave the sentence out of the training data"


@dataclass(frozen=True, eq=False)
class Annotated:
    """A sentence: words, tags and, if known, heads and labels.

    Attributes:
        sent_id: the name that messages and output use.
        place: ``file:line``, for messages; empty if the sentence is not from a file.
        forms: the n words.
        tags: their n parts of speech, ``_`` if unknown.
        heads: (n,), 0 for ROOT, -1 if unknown.
        deprels: the n labels, ``_`` if unknown.

    Raises:
        DeptreeError: there are no words, the parts differ in length, or a head is not in the sentence.
    """

    sent_id: str
    place: str
    forms: tuple[str, ...]
    tags: tuple[str, ...]
    heads: Heads
    deprels: tuple[str, ...]

    def __post_init__(self) -> None:
        lengths = [len(part) for part in (self.forms, self.tags, self.heads, self.deprels)]
        if len(set(lengths)) != 1 or not lengths[0]:
            counts = "{} forms, {} tags, {} heads and {} labels".format(*lengths)
            raise self._problem(counts, "Give one of each for every word, and at least one word")
        if self.heads.min() < NO_HEAD or self.heads.max() > self.n:
            problem = f"heads range from {self.heads.min()} to {self.heads.max()}"
            raise self._problem(problem, f"Give -1 (unknown), 0 (ROOT) or the number of a word, 1 to {self.n}")

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.forms)

    def check_forms(self) -> None:
        """Check that a parser can learn the words and write them.

        Raises:
            DeptreeError: a form is empty or holds a control character.
        """
        self._check("form", self.forms)

    def check_trainable(self) -> None:
        """Check that a parser can be trained on the sentence; tags and labels may be missing.

        Raises:
            DeptreeError: a form, a tag or a label cannot be written, or the heads are not a tree with one root.
        """
        self.check_forms()
        self._check("tag", self.tags)
        self._check("label", self.deprels)
        self.check_tree()

    def check_tree(self) -> None:
        """Check that the heads are a tree with one root.

        Raises:
            DeptreeError: a head is unknown, words form a cycle, or the tree has several roots.
        """
        unknown = np.flatnonzero(self.heads == NO_HEAD)
        if len(unknown):
            problem = "no word has a HEAD" if len(unknown) == self.n else f"word {unknown[0] + 1} has no HEAD"
            raise self._problem(problem, "Train on sentences with complete trees")
        roots = int((self.heads == 0).sum())
        if roots > 1:
            raise self._problem(f"{roots} words have HEAD 0, but the parser needs trees with one root", _SEVERAL_ROOTS)
        cycle = next(cycles_of(self.heads.tolist()), None)
        if cycle:
            words = " -> ".join(map(str, [*cycle, cycle[0]]))
            raise self._problem(f"not a tree: the heads form a cycle, {words}", "Correct HEAD of these words")

    def _check(self, name: str, symbols: tuple[str, ...]) -> None:
        for word, symbol in enumerate(symbols, 1):
            if not (symbol and fits_a_line(symbol)):
                remedy = "Fill it in" if not symbol else "Remove the control characters"
                raise self._problem(f"the {name} of word {word} is {symbol!r}", remedy)

    def _problem(self, problem: str, remedy: str) -> DeptreeError:
        return DeptreeError(problem, remedy, place=self.place, sent_id=self.sent_id)


# Sentences as Python users give them.


# One with all that is known of it; a pair of its words and their tags; or its words.
Sentence = Annotated | tuple[Sequence[str], Sequence[str]] | Sequence[str]


def as_annotated(sentence: Sentence, tagset: Container[str] | None) -> Annotated:
    """The sentence to be parsed; one that is given as words is called 1.

    `tagset`: the tags that the parser knows, None if tags are predicted. A warning names those that are not in it.
    """
    if isinstance(sentence, str):
        raise DeptreeError("the sentence is a string", "Give a list of words, or a pair of words and tags")
    if not isinstance(sentence, Annotated):
        forms, tags = _words_and_tags(sentence)
        unknown = (UNKNOWN,) * len(forms)
        sentence = Annotated("1", "", forms, tags or unknown, np.full(len(forms), NO_HEAD, dtype=np.int32), unknown)
    if tagset is not None:
        _check_tags(sentence, tagset)
    return sentence


def _check_tags(sentence: Annotated, tagset: Container[str]) -> None:
    unseen = sorted({tag for tag in sentence.tags if tag not in tagset} - {UNKNOWN})
    names = ", ".join(unseen)
    if not any(tag in tagset for tag in sentence.tags):
        problem = f"the parser knows none of the tags {names}" if unseen else "no word has a tag"
        remedy = "Use the tag set that it was trained on, or predict the tags"
        raise DeptreeError(problem, remedy, place=sentence.place, sent_id=sentence.sent_id)
    if unseen:
        warn(f"sentence {sentence.sent_id}: tags that the parser does not know are predicted: {names}", stacklevel=5)


def _words_and_tags(given: Sequence[str] | tuple[Sequence[str], Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The words, and their tags or nothing."""
    if all(isinstance(word, str) for word in given):
        return tuple(map(str, given)), ()
    try:
        forms, tags = map(tuple, given)
    except ValueError:
        raise DeptreeError("the sentence is neither a list of words nor a pair", "Give (words, tags)") from None
    return forms, tags


# What commands and the library do unless told otherwise; light, for help texts need it too.


# Particles of searches and filters: more gain a tenth of a point of accuracy at most.
PARTICLES = 1000

# Independent filters for the probabilities of words: two are the fewest that tell how far they are off.
FILTERS = 2

# Words of the longest sentences that are generated.
LONGEST = 200

# Words of the longest sentences that are read: more are a missing blank line rather than a sentence.
MOST_WORDS = 1000

# Iterations from one state of the sampler that is kept to the next.
SPACING = 5


def kept_iterations(burn_in: int, samples: int) -> range:
    """After which iterations so many states are kept: the first after the burn-in, the last when training ends."""
    return range(burn_in, burn_in + SPACING * (samples - 1) + 1, SPACING)


# What each of the parser's three distributions is conditioned on, and in which order contexts back off.
#
# The elements are those of Buys and Blunsom (2015), Table 1, and more of the same kind.


# Each further element is a level of the hierarchy of restaurants.
MOST_ELEMENTS = 15

NAMES = ("action", "tag", "word")
NEXT = "b.t"
_DEPTHS = 4
_COLUMNS = {"s{}.t": TAG, "s{}.w": WORD, "lc(s{}).t": LEFT, "rc(s{}).t": RIGHT}

# Every element by its name, and its code in kernels: RECORD * depth + column, the depth from the top of the stack.
ELEMENTS: dict[str, int] = {
    template.format(depth + 1): RECORD * depth + column
    for depth in range(_DEPTHS)
    for template, column in _COLUMNS.items()
} | {NEXT: NEXT_TAG}


@dataclass(frozen=True)
class Contexts:
    """Contexts that actions, tags and words are conditioned on: elements, the most important first.

    ``s1`` is the top of the stack, ``s4`` the fourth; ``.t`` a tag, ``.w`` a word; ``lc(s1)`` the leftmost left child
    so far, ``rc(s1)`` the rightmost right child; ``b.t`` the tag of the next word.

    Attributes:
        action: the context of transitions.
        tag: of the tag of the next word.
        word: of that word, which is predicted after its tag; () leaves words out of the model.

    Raises:
        DeptreeError: an element is unknown or listed twice; there are too many; ``b.t`` is not in `word`; words are
            conditioned on but not predicted.
    """

    action: tuple[str, ...]
    tag: tuple[str, ...]
    word: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in NAMES:
            try:
                _check(getattr(self, name), [element for element in ELEMENTS if name == "word" or element != NEXT])
            except DeptreeError as error:
                error.problem = f"{name}: {error.problem}"
                raise
        words = [element for element in (*self.action, *self.tag) if element.endswith(".w")]
        if words and not self.word:
            problem = f"words are conditioned on ({words[0]}) but not predicted (word is empty)"
            raise DeptreeError(problem, "Give word a context, or leave words out of action and tag")

    def codes(self, name: str) -> Int:
        """The codes of the elements of ``action``, ``tag`` or ``word`` as kernels know them, in order."""
        return np.array([ELEMENTS[element] for element in getattr(self, name)], dtype=np.int64)


def _check(elements: tuple[str, ...], allowed: list[str]) -> None:
    for element in elements:
        if element == NEXT and NEXT not in allowed:
            raise DeptreeError(f"{NEXT} is known only when the word is predicted", f"Use {NEXT} in word only")
        if element not in allowed:
            raise DeptreeError(f"there is no element {element!r}", _did_you_mean(element, allowed))
        if elements.count(element) > 1:
            raise DeptreeError(f"{element} is listed twice", "Remove one")
    if len(elements) > MOST_ELEMENTS:
        raise DeptreeError(f"a context of {len(elements)} elements is too long", f"Use at most {MOST_ELEMENTS}")


def _did_you_mean(name: str, names: Sequence[str]) -> str:
    return did_you_mean(name, names, f"Choose from {', '.join(names)}")


_TAGS = ("s1.t", "s2.t", "rc(s1).t", "lc(s1).t", "s3.t", "rc(s2).t")
_WORDS = ("s1.w", "s2.w")

# The paper's contexts, but for `word`, where the paper has s1.t second; no difference in accuracy was measured.
LEXICALISED = Contexts((*_TAGS, *_WORDS), (*_TAGS, *_WORDS), (NEXT, "rc(s1).t", "lc(s1).t", *_WORDS))
UNLEXICALISED = Contexts(_TAGS, _TAGS, ())


# What a parser is trained on: the sentences of a treebank of which every word has a tag and a label.


# The largest share of sentences that may be left out.
MOST = 0.5


class Complete:
    """Leaves out sentences in which a tag or a label is missing, and counts them: `unlabelled` ones have all tags."""

    def __init__(self, column: str) -> None:
        self.sentences = self.untagged = self.unlabelled = 0
        self._column = column

    def of(self, treebank: Iterable[Annotated]) -> Iterator[Annotated]:
        place = ""
        for sentence in treebank:
            self.sentences += 1
            if UNKNOWN in sentence.tags:
                self.untagged += 1
            elif UNKNOWN in sentence.deprels:
                self.unlabelled += 1
            else:
                yield sentence
                continue
            place = place or sentence.place
        if self.untagged + self.unlabelled > MOST * self.sentences:
            problem, other = f"{self._found()}, too many to leave out", Setting("column", self._other)
            raise DeptreeError(problem, self._remedy(other), place=place, options=[other])

    @property
    def line(self) -> str:
        return f"left out of training: {self._found()}" if self.untagged or self.unlabelled else ""

    def _found(self) -> str:
        counts = (self.untagged, f"tag in {self._column.upper()}"), (self.unlabelled, "DEPREL")
        of_all = counted(self.sentences, "sentence")
        return " and ".join(f"in {count} of {of_all} a word has no {what}" for count, what in counts if count)

    @property
    def _other(self) -> str:
        return "xpos" if self._column == "upos" else "upos"

    def _remedy(self, other: Setting) -> str:
        if self.untagged < self.unlabelled:
            return "Fill in DEPREL; trees without labels may have one for all words, such as dep"
        return f"Tag the words, or take tags from {self._other.upper()} with {other}"


def check_training(treebank: Sequence[Annotated], text: Sequence[Annotated], contexts: Contexts, kept: range) -> None:
    """Raise if a parser cannot be trained on these; `kept`: after which iterations states of it are kept."""
    iterations = kept.start
    if iterations < 1:
        given = Setting("iterations", iterations)
        raise DeptreeError(f"{given} trains nothing", "Pass 1 or more", options=[given])
    if not treebank:
        raise DeptreeError("there are no sentences to train on", "Pass a treebank with trees")
    if len(kept) > 1 and text:
        problem = f"with several {STATES}, only the last state would read the text"
        raise DeptreeError(problem, f"Remove {UNLABELLED}", options=[STATES, UNLABELLED])
    if text and not contexts.word:
        problem = "a parser without words learns nothing from text"
        raise DeptreeError(problem, f"Remove {UNLABELLED}", options=[UNLABELLED])
    for sentence in treebank:
        sentence.check_trainable()
    for sentence in text:
        sentence.check_forms()


# Classes of words that are rare or unseen: what their spelling says about their grammar.
#
# The signatures of unknown words of the Berkeley parser (Petrov et al. 2006), with classes of their own for
# punctuation, addresses and words in capitals.


# Of several that fit, the first names the class; only words of this length have one.
SUFFIXES = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")
_SHORTEST = 5

_URL_STARTS = ("http:", "https:", "www.")


def word_class(form: str, is_first: bool, is_known: Callable[[str], bool]) -> str:
    """The class of a word, such as ``UNK-INITC-KNOWNLC-ing``; at the beginning of a sentence a capital says little."""
    if not any(char.isalnum() for char in form):
        return "UNK-PUNC"
    lower = form.lower()
    case = _case(form, is_first)
    marks = {
        "KNOWNLC": case == "INITC" and is_known(lower),
        "NUM": any(char.isdigit() for char in form),
        "DASH": "-" in form,
        "URL": lower.startswith(_URL_STARTS) or "://" in lower,
        "MAIL": "@" in form[1:-1],
    }
    return "-".join(filter(None, ["UNK", case, *(mark for mark, holds in marks.items() if holds), _suffix(lower)]))


def _case(form: str, is_first: bool) -> str:
    """INITC: a single capital, at the beginning of the sentence; ALLC: all of several letters; CAPS: any other capital.

    LC: none, but letters in lower case; and nothing for numbers and scripts without case.
    """
    capitals = sum(char.isupper() for char in form)
    if not capitals:
        return "LC" if any(char.islower() for char in form) else ""
    if is_first and capitals == 1 and form[0].isupper():
        return "INITC"
    return "ALLC" if capitals > 1 and form.isupper() else "CAPS"


def _suffix(lower: str) -> str:
    """The suffix that names the class of a form in lower case, empty where there is none."""
    if lower.endswith("s"):
        return "s"
    if len(lower) < _SHORTEST or "-" in lower:
        return ""
    return next((suffix for suffix in SUFFIXES if lower.endswith(suffix)), "")


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
        """How many actions, tags and words can be predicted: the root's symbol is no tag and no word."""
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

    def unseen_labels(self, sentence: Annotated) -> tuple[str, ...]:
        """The labels of a sentence that were never seen, as often as they are there; a missing one is none."""
        return tuple(label for label in sentence.deprels if label not in (UNKNOWN, *self.labels))

    @cached_property
    def label_numbers(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}


# What a reader of surprisals must know of single words: which were not scored as what they are, and why.


# Why a word was scored as its class: it was seen once in training, or never; and that class was not seen either. Why
# its tag was summed out, although tags were given: there is none, or the parser never saw it.
RARE_FORM, UNSEEN_CLASS, MISSING_TAG, UNSEEN_TAG = "rare_form", "unseen_class", "missing_tag", "unseen_tag"


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
