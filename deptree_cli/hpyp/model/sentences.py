"""Sentences of the generative parser, their contexts, and which of them it is trained on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import STATES, UNLABELLED, DeptreeError, Setting, counted, did_you_mean, fits_a_line
from deptree_cli.core.rules import cycles_of
from deptree_cli.hpyp.kernels.columns import LEFT, NEXT_TAG, RECORD, RIGHT, TAG, WORD
from deptree_cli.kernels.columns import NO_HEAD

# Sentences for the generative parser: words, tags, and the tree if it is known.


# Written for an unknown tag or label; an unknown head is `NO_HEAD`.
UNKNOWN = "_"


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
        """Raise a DeptreeError if a form is empty or holds a control character: it could not be written again."""
        self._check("form", self.forms)

    def check_trainable(self) -> None:
        """Raise a DeptreeError if a form, tag or label cannot be written, or heads are not a tree with one root.

        Tags and labels may be missing.
        """
        self.check_forms()
        self._check("tag", self.tags)
        self._check("label", self.deprels)
        self.check_tree()

    def check_tree(self) -> None:
        """Raise a DeptreeError if a head is unknown, words form a cycle, or the tree has several roots."""
        unknown = np.flatnonzero(self.heads == NO_HEAD)
        if len(unknown):
            problem = "no word has a HEAD" if len(unknown) == self.n else f"word {unknown[0] + 1} has no HEAD"
            raise self._problem(problem, "Train on sentences with complete trees")
        roots = int((self.heads == 0).sum())
        if roots > 1:
            problem = f"{roots} words have HEAD 0, but the parser needs trees with one root"
            remedy = "Keep one root: attach the others to it, or leave the sentence out of the training data"
            raise self._problem(problem, remedy)
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


# A sentence of Python users: with all that is known of it, as a pair of words and tags, or as words.
Sentence = Annotated | tuple[Sequence[str], Sequence[str]] | Sequence[str]


def as_annotated(sentence: Sentence) -> Annotated:
    """The sentence to be parsed; its id is 1 if only words are given."""
    if isinstance(sentence, Annotated):
        return sentence
    if isinstance(sentence, str):
        raise DeptreeError("the sentence is a string", "Give a list of words, or a pair of words and tags")
    forms, tags = tuple(map(str, sentence)), tuple[str, ...]()
    if not all(isinstance(word, str) for word in sentence):
        try:
            forms, tags = map(tuple, sentence)
        except ValueError:
            raise DeptreeError("the sentence is neither a list of words nor a pair", "Give (words, tags)") from None
    unknown = (UNKNOWN,) * len(forms)
    return Annotated("1", "", forms, tags or unknown, np.full(len(forms), NO_HEAD, dtype=np.int32), unknown)


# Defaults of commands and the library; they load nothing, because help texts show them.


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
    """After which iterations this many states are kept: the first after the burn-in, the last when training ends."""
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
            elements = getattr(self, name)
            allowed = [element for element in ELEMENTS if name == "word" or element != NEXT]
            for element in elements:
                if element == NEXT and name != "word":
                    problem = f"{name}: {NEXT} is known only when the word is predicted"
                    raise DeptreeError(problem, f"Use {NEXT} in word only")
                if element not in allowed:
                    remedy = did_you_mean(element, allowed, f"Choose from {', '.join(allowed)}")
                    raise DeptreeError(f"{name}: there is no element {element!r}", remedy)
                if elements.count(element) > 1:
                    raise DeptreeError(f"{name}: {element} is listed twice", "Remove one")
            if len(elements) > MOST_ELEMENTS:
                problem = f"{name}: a context of {len(elements)} elements is too long"
                raise DeptreeError(problem, f"Use at most {MOST_ELEMENTS}")
        words = [element for element in (*self.action, *self.tag) if element.endswith(".w")]
        if words and not self.word:
            problem = f"words are conditioned on ({words[0]}) but not predicted (word is empty)"
            raise DeptreeError(problem, "Give word a context, or leave words out of action and tag")

    def codes(self, name: str) -> Int:
        """The codes of the elements of ``action``, ``tag`` or ``word`` as kernels know them, in order."""
        return np.array([ELEMENTS[element] for element in getattr(self, name)], dtype=np.int64)


_TAGS = ("s1.t", "s2.t", "rc(s1).t", "lc(s1).t", "s3.t", "rc(s2).t")
_WORDS = ("s1.w", "s2.w")

# The paper's contexts, but for `word`, where the paper has s1.t second; no difference in accuracy was measured.
LEXICALISED = Contexts((*_TAGS, *_WORDS), (*_TAGS, *_WORDS), (NEXT, "rc(s1).t", "lc(s1).t", *_WORDS))
UNLEXICALISED = Contexts(_TAGS, _TAGS, ())


# Parsers are trained on the sentences of a treebank in which every word has a tag and a label.


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
            name = "xpos" if self._column == "upos" else "upos"
            other = Setting("column", name)
            remedy = f"Tag the words, or take tags from {name.upper()} with {other}"
            if self.untagged < self.unlabelled:
                remedy = "Fill in DEPREL; trees without labels may have one for all words, such as dep"
            raise DeptreeError(f"{self._found()}, too many to leave out", remedy, place=place, options=[other])

    @property
    def line(self) -> str:
        return f"left out of training: {self._found()}" if self.untagged or self.unlabelled else ""

    def _found(self) -> str:
        counts = (self.untagged, f"tag in {self._column.upper()}"), (self.unlabelled, "DEPREL")
        of_all = counted(self.sentences, "sentence")
        return " and ".join(f"in {count} of {of_all} a word has no {what}" for count, what in counts if count)


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
        problem = "a parser without words cannot learn from text"
        raise DeptreeError(problem, f"Remove {UNLABELLED}", options=[UNLABELLED])
    for sentence in treebank:
        sentence.check_trainable()
    for sentence in text:
        sentence.check_forms()
