"""Trees of a parser against gold ones, word by word, as the CoNLL shared task of 2018 counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Int, Integers
from deptree_cli.core.factorisation import are_trees
from deptree_cli.core.measures import have_gaps
from deptree_cli.core.register import Register

# The words of a file as arrays: what an evaluation looks at, texts as numbers.
#
# A file's text is the characters of its tokens one after another, without the white space between them. Two files of
# the same text can be compared whatever their tokens, words and sentences are.


# The columns that are compared: of FORM small letters, of FEATS universal features, of DEPREL universal relations.
FORM, UPOS, XPOS, FEATS, LEMMA, DEPREL = range(6)

# The number of `_` in each column.
MISSING = 0

# For what the script of the CoNLL 2018 shared task refuses trees.
REFUSED = ("several roots", "cycles", "missing heads")

# The head of a word below ROOT, as the index of a word; and that of a word whose head is none of the sentence's.
ROOT, NOWHERE = -1, -2


@dataclass(frozen=True, eq=False)
class Words:
    """The words of S sentences, W in all, and their T tokens: a multiword token is one, whatever words it stands for.

    Attributes:
        texts: S, the characters of each sentence's tokens.
        words, tokens: (S + 1,), where the words and tokens of each sentence begin, and where the last ends.
        lengths: (T,), of tokens in characters.
        rows: (T,), of tokens within their sentence, for messages.
        token_of: (W,), the token of a word, counted within its sentence.
        in_multiword: (W,), whether that is a multiword token.
        columns: (6, W), numbers of what stands there, which are the same in all files that are compared.
        heads: (W,), 0 = ROOT, 1 the first word of the sentence; in a system's file anything else too.
    """

    texts: Sequence[str]
    words: Int
    tokens: Int
    lengths: Int
    rows: Int
    token_of: Int
    in_multiword: Bool
    columns: Array
    heads: Array

    @cached_property
    def token_starts(self) -> Int:
        """Where each token begins in the text, and where the last ends, (T + 1,)."""
        return starts_of(self.lengths)

    @cached_property
    def sentence_starts(self) -> Int:
        """Where each sentence begins in the text, and where the last ends, (S + 1,)."""
        return self.token_starts[self.tokens]

    @cached_property
    def spans(self) -> tuple[Int, Int]:
        """Where the token of each word begins and ends in the text, (W,) each."""
        tokens = self.token_of + np.repeat(self.tokens[:-1], self.sizes)
        return self.token_starts[tokens], self.token_starts[tokens + 1]

    @cached_property
    def sizes(self) -> Int:
        """How many words each sentence has, (S,)."""
        return np.diff(self.words)

    @cached_property
    def parents(self) -> Int:
        """The head of each word as the index of a word of the file, `ROOT` below ROOT, else `NOWHERE`, (W,)."""
        first, n = (np.repeat(each, self.sizes) for each in (self.words[:-1], self.sizes))
        inside = (self.heads > 0) & (self.heads <= n)
        return np.where(inside, self.heads - 1 + first, np.where(self.heads == 0, ROOT, NOWHERE))

    def taken(self, sentences: Int) -> Words:
        """Return the words of some sentences, in this order."""
        words, tokens = _runs(self.words, sentences), _runs(self.tokens, sentences)
        return Words(
            [self.texts[number] for number in sentences.tolist()],
            starts_of(self.sizes[sentences]),
            starts_of(np.diff(self.tokens)[sentences]),
            self.lengths[tokens],
            self.rows[tokens],
            self.token_of[words],
            self.in_multiword[words],
            self.columns[:, words],
            self.heads[words],
        )


def starts_of(sizes: Array) -> Int:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def _runs(starts: Int, chosen: Int) -> Int:
    sizes = np.diff(starts)[chosen]
    return np.arange(sizes.sum()) + np.repeat(starts[:-1][chosen] - starts_of(sizes)[:-1], sizes)


def cyclic(words: Words) -> Bool:
    """Return which sentences have words that are their own ancestors, (S,): pointers are doubled, O(W log W)."""
    above = np.append(np.where(words.parents < 0, len(words.heads), words.parents), len(words.heads))
    steps = 1
    while steps < max(words.sizes.max(initial=0), 1):
        above, steps = above[above], 2 * steps
    below_root = above[above][:-1] == len(words.heads)
    owners = np.repeat(np.arange(len(words.sizes)), words.sizes)
    return np.bincount(owners[~below_root], minlength=len(words.sizes)) > 0


def refused(words: Words) -> tuple[Bool, Bool, Bool]:
    """Return which sentences have each of `REFUSED`, (S,) each."""
    roots, lost = (np.diff(starts_of(each)[words.words]) for each in (words.heads == 0, words.parents == NOWHERE))
    return roots > 1, cyclic(words), lost > 0


# Which words of two files of the same text belong together, as the script of the CoNLL 2018 shared task has it.
#
# Words that are tokens belong together if they are the same characters of the text. Around multiword tokens, the
# words of the smallest span into which all multiword tokens fit belong together by a longest common subsequence of
# their forms.


class Alignment(NamedTuple):
    """The words of a gold file and of a system's that belong together, in the order of the text, (m,) each."""

    gold: Int
    system: Int


class _Side(NamedTuple):
    """The words of a file as lists, which loops are quick with; behind the last stands one beyond all text."""

    starts: list[int]
    ends: list[int]
    in_multiword: list[bool]
    forms: list[int]
    size: int

    def ends_beyond(self, word: int, end: int) -> bool:
        return (self.starts[word] >= end) if self.in_multiword[word] else (self.ends[word] > end)


def aligned(gold: Words, system: Words) -> Alignment:
    """Align the words of two files of the same text."""
    if not (gold.in_multiword.any() or system.in_multiword.any()):
        return Alignment(*same_spans(*gold.spans, *system.spans))
    if _same(gold, system):
        every = np.arange(len(gold.heads))
        return Alignment(every, every)
    beyond = int(gold.token_starts[-1]) + 1
    one, two = (_side(each, beyond) for each in (gold, system))
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < one.size and s < two.size:
        if one.in_multiword[g] or two.in_multiword[s]:
            first, g, s = _span(one, two, g, s)
            pairs += _common(one.forms[first[0] : g], two.forms[first[1] : s], first)
        elif one.starts[g] == two.starts[s] and one.ends[g] == two.ends[s]:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif one.starts[g] <= two.starts[s]:
            g += 1
        else:
            s += 1
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Alignment(found[:, 0], found[:, 1])


def same_spans(starts: Int, ends: Int, other_starts: Int, other_ends: Int) -> tuple[Int, Int]:
    """Return the indices of spans that begin and end alike; each side's do not overlap."""
    _, ours, theirs = np.intersect1d(starts, other_starts, assume_unique=True, return_indices=True)
    same = ends[ours] == other_ends[theirs]
    return ours[same], theirs[same]


def _same(gold: Words, system: Words) -> bool:
    """Whether both files have the same words in the same tokens, as those have that were parsed with gold tokens."""
    of_each = zip(*((*each.spans, each.in_multiword, each.columns[FORM]) for each in (gold, system)), strict=True)
    return all(np.array_equal(ours, theirs) for ours, theirs in of_each)


def _side(words: Words, beyond: int) -> _Side:
    starts, ends = (each.tolist() for each in words.spans)
    flags, forms = words.in_multiword.tolist(), words.columns[FORM].tolist()
    return _Side([*starts, beyond], [*ends, beyond], [*flags, False], forms, len(forms))


def _span(one: _Side, two: _Side, g: int, s: int) -> tuple[tuple[int, int], int, int]:
    """The first words of the smallest span around a multiword token, one of which g or s is in; the first behind it."""
    if one.in_multiword[g]:
        end = one.ends[g]
        if not two.in_multiword[s] and two.starts[s] < one.starts[g]:
            s += 1  # by one word, as in the script, even if the next ones begin before the span too
    else:
        end = two.ends[s]
        if not one.in_multiword[g] and one.starts[g] < two.starts[s]:
            g += 1
    first = g, s
    while not (one.ends_beyond(g, end) and two.ends_beyond(s, end)):
        if g < one.size and (s >= two.size or one.starts[g] <= two.starts[s]):
            end = max(end, one.ends[g]) if one.in_multiword[g] else end
            g += 1
        else:
            end = max(end, two.ends[s]) if two.in_multiword[s] else end
            s += 1
    return first, g, s


def _common(one: Sequence[int], two: Sequence[int], first: tuple[int, int]) -> list[tuple[int, int]]:
    """The pairs of a longest common subsequence, of several the one that the script takes.

    Args:
        first: the words that the first forms are of.
    """
    longest = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for g in reversed(range(len(one))):
        for s in reversed(range(len(two))):
            both = 1 + longest[g + 1][s + 1] if one[g] == two[s] else 0
            longest[g][s] = max(both, longest[g + 1][s], longest[g][s + 1])
    pairs, g, s = [], 0, 0
    while g < len(one) and s < len(two):
        if one[g] == two[s]:
            pairs.append((first[0] + g, first[1] + s))
            g, s = g + 1, s + 1
        elif longest[g][s] == longest[g + 1][s]:
            g += 1
        else:
            s += 1
    return pairs


# What is right in a system's trees, counted as the script of the CoNLL 2018 shared task does (Zeman et al. 2018).
#
# Words are aligned first, so that tokens, words and sentences may differ. A label counts without its subtype; CLAS,
# MLAS and BLEX are of words whose label is a relation of Universal Dependencies that is neither functional nor
# punctuation.


# The relations of words with content, and the functional ones.
CONTENT = frozenset(
    (
        *("acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep", "discourse"),
        *("dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod", "nsubj", "nummod", "obj", "obl"),
        *("orphan", "parataxis", "reparandum", "root", "vocative", "xcomp"),
    )
)
FUNCTIONAL = frozenset(("aux", "case", "cc", "clf", "cop", "det", "mark"))
PUNCTUATION = "punct"

# The features whose values UFeats and MLAS compare.
UNIVERSAL_FEATURES = frozenset(
    (
        *("Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender", "Mood", "Number"),
        *("NumType", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex", "Tense", "VerbForm", "Voice"),
    )
)

METRICS = (
    *("UAS", "LAS", "CLAS", "MLAS", "BLEX", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "Words", "Tokens"),
    "Sentences",
)

# Those that say nothing of aligned words.
OF_SPANS = ("Words", "Tokens", "Sentences")

# What is counted of each metric: right ones, those of the gold file, those of the system's, gold ones that are aligned.
CORRECT, GOLD, PREDICTED, ALIGNED = range(4)

# The parent of a word of the system whose parent is aligned with nothing, or is nowhere.
_UNALIGNED = -3


def universal(label: str) -> str:
    """Return a label without its subtype: ``nsubj`` of ``nsubj:pass``."""
    return label.partition(":")[0]


def universal_features(features: str) -> str:
    return "|".join(sorted(each for each in features.split("|") if each.partition("=")[0] in UNIVERSAL_FEATURES))


@dataclass(frozen=True)
class Relations:
    """Kinds of relations, (numbers of DEPREL,) each."""

    content: Bool
    functional: Bool
    punctuation: Bool

    @classmethod
    def of(cls, names: list[str]) -> Relations:
        kinds = (CONTENT, FUNCTIONAL, {PUNCTUATION})
        return cls(*(np.array([name in kind for name in names], dtype=bool) for kind in kinds))


@dataclass(frozen=True, eq=False)
class Comparison:
    """The words of a gold file and of a system's, which have the same text, side by side.

    `no_punct` leaves out of UAS and LAS what the gold file calls punctuation, and words of the system's that are
    aligned with nothing if that does.
    """

    gold: Words
    system: Words
    relations: Relations
    no_punct: bool = False

    @cached_property
    def alignment(self) -> Alignment:
        return aligned(self.gold, self.system)

    @cached_property
    def counterparts(self) -> Int:
        """The gold word of each of the system's words, `_UNALIGNED` if it has none; of `NOWHERE`; `ROOT`, (W + 2,)."""
        found = np.full(len(self.system.heads) + 2, _UNALIGNED, dtype=np.int64)
        found[self.alignment.system] = self.alignment.gold
        found[ROOT] = ROOT
        return found

    @cached_property
    def right(self) -> dict[str, Bool]:
        """Which aligned words are right, (m,), by metric; UAS and LAS among them."""
        g, s = self.alignment
        columns = zip(self.gold.columns[:, g], self.system.columns[:, s], strict=True)
        same = [ours == theirs for ours, theirs in columns]
        lemmas = same[LEMMA] | (self.gold.columns[LEMMA, g] == MISSING)
        heads = self.gold.parents[g] == self.counterparts[self.system.parents[s]]
        labelled = heads & same[DEPREL]
        return {
            "UAS": heads,
            "LAS": labelled,
            "CLAS": labelled,
            "MLAS": labelled
            & same[UPOS]
            & same[FEATS]
            & self._same_function_words(labelled & same[UPOS] & same[FEATS]),
            "BLEX": labelled & lemmas,
            "UPOS": same[UPOS],
            "XPOS": same[XPOS],
            "UFeats": same[FEATS],
            "AllTags": same[UPOS] & same[XPOS] & same[FEATS],
            "Lemmas": lemmas,
            "Words": np.ones(len(g), dtype=bool),
        }

    def _same_function_words(self, right: Bool) -> Bool:
        """Whether aligned words have the same function words, which are right themselves, as dependents, (m,)."""
        g, s = self.alignment
        ours, theirs = (self.relations.functional[each.columns[DEPREL]] for each in (self.gold, self.system))
        shared = right & ours[g] & (self.gold.parents[g] != ROOT)
        found = np.bincount(self.gold.parents[g[shared]], minlength=len(self.gold.heads))[g]
        mine, others = (_dependents(each, mask) for each, mask in ((self.gold, ours), (self.system, theirs)))
        return (found == mine[g]) & (found == others[s])

    @cached_property
    def counted_words(self) -> tuple[Bool, Bool]:
        """Which words of each file UAS and LAS count, (W,) each."""
        gold, system = (self.relations.punctuation[each.columns[DEPREL]] for each in (self.gold, self.system))
        if not self.no_punct:
            gold, system = np.zeros_like(gold), np.zeros_like(system)
        system[self.alignment.system] = gold[self.alignment.gold]
        return ~gold, ~system

    def _words_of(self, metric: str) -> tuple[Bool, Bool]:
        """Which words of each file a metric counts, (W,) each."""
        if metric in ("CLAS", "MLAS", "BLEX"):
            gold, system = (self.relations.content[each.columns[DEPREL]] for each in (self.gold, self.system))
            return gold, system
        if metric in ("UAS", "LAS"):
            return self.counted_words
        return np.ones(len(self.gold.heads), dtype=bool), np.ones(len(self.system.heads), dtype=bool)

    def counts(self, gold_units: Int, system_units: Int) -> Integers:
        """Count all metrics, (units, metrics, 4), by the unit, from 0, that each sentence counts for."""
        size = int(gold_units.max(initial=-1)) + 1
        ours, theirs = (np.repeat(units, each.sizes) for units, each in self._sides(gold_units, system_units))
        g = self.alignment.gold

        def of_words(metric: str) -> list[Int]:
            gold, system = self._words_of(metric)
            within = gold[g]
            both = g[within] if metric not in OF_SPANS else g[:0]
            counted = ours[g[self.right[metric] & within]], ours[gold], theirs[system], ours[both]
            return [np.bincount(each, minlength=size) for each in counted]

        found = [of_words(metric) for metric in METRICS if metric in self.right]
        found += [self._of_spans(*each, size) for each in self._spans(gold_units, system_units)]
        return np.array(found, dtype=np.int32).transpose(2, 0, 1)

    def _sides(self, gold_units: Int, system_units: Int) -> tuple[tuple[Int, Words], tuple[Int, Words]]:
        return (gold_units, self.gold), (system_units, self.system)

    def _spans(self, gold_units: Int, system_units: Int) -> tuple[tuple[Int, Int, Int, Int], ...]:
        sides = self._sides(gold_units, system_units)
        units = [np.repeat(each, np.diff(words.tokens)) for each, words in sides]
        tokens = self.gold.token_starts, self.system.token_starts, units[0], units[1]
        return tokens, (self.gold.sentence_starts, self.system.sentence_starts, gold_units, system_units)

    @staticmethod
    def _of_spans(gold: Int, system: Int, ours: Int, theirs: Int, size: int) -> list[Int]:
        same, _ = same_spans(gold[:-1], gold[1:], system[:-1], system[1:])
        return [np.bincount(each, minlength=size) for each in (ours[same], ours, theirs, ours[:0])]


def _dependents(words: Words, mask: Bool) -> Int:
    """How many of some words each word is the head of, (W,)."""
    parents = words.parents[mask]
    return np.bincount(parents[parents >= 0], minlength=len(words.heads))


# Classes of words and arcs by which a score is broken down: labels, lengths, whether arcs cross.


# The last length of each bucket but the last, which has no end.
ARC_LENGTHS = (1, 2, 3, 6, 10)
SENTENCE_LENGTHS = (10, 20, 30, 40, 50)

# Of a class: the name of its kind, its own, and the metric that is counted in it.
Class = tuple[str, str, str]

# The class of words without an arc: below ROOT; of a system, whose head is no other word, or whose sentence is no tree.
_ROOT, _NONE = "root", "none"


class Attached(NamedTuple):
    """A tree of n words, if a system made one (its heads may be anything); labels are without subtypes."""

    heads: Integers
    labels: Sequence[str]


@dataclass(frozen=True)
class Classes:
    """A way to sort the words of a tree.

    `known` are all classes in order; empty where data decide, and then the most frequent come first. Words of one head,
    of LAS also of one label, are of one class in both trees.
    """

    name: str
    of_words: Callable[[Attached], Sequence[str]]
    known: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("UAS", "LAS")


def _labels(tree: Attached) -> Sequence[str]:
    return tree.labels


def _arc_lengths(tree: Attached) -> list[str]:
    n, words = len(tree.heads), np.arange(1, len(tree.heads) + 1)
    found = np.where(tree.heads, _bucketed(np.abs(words - tree.heads), ARC_LENGTHS), _ROOT)
    return np.where((tree.heads < 0) | (tree.heads > n) | (tree.heads == words), _NONE, found).tolist()


def _sentence_lengths(tree: Attached) -> list[str]:
    n = len(tree.heads)
    return _bucketed(np.full(n, n), SENTENCE_LENGTHS)


def _projectivity(tree: Attached) -> list[str]:
    if not are_trees(tree.heads[None])[0]:
        return [_NONE] * len(tree.heads)
    return np.where(have_gaps(tree.heads[None])[0], "non-projective", "projective").tolist()


def _bucketed(lengths: Integers, ends: Sequence[int]) -> list[str]:
    return np.array(buckets(ends))[np.searchsorted(ends, lengths)].tolist()


def buckets(ends: Sequence[int]) -> tuple[str, ...]:
    """The names of buckets that end so: ``1``, ``2``, ``3``, ``4-6``, ..., ``11+``."""
    starts = [1, *(end + 1 for end in ends)]
    closed = (str(end) if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=False))
    return *closed, f"{starts[-1]}+"


CLASSES: Register[Classes] = Register(
    "class of words",
    [
        Classes("label", _labels, metrics=("LAS",)),
        Classes("arc-length", _arc_lengths, (_ROOT, *buckets(ARC_LENGTHS), _NONE)),
        Classes("sentence-length", _sentence_lengths, buckets(SENTENCE_LENGTHS)),
        Classes("projectivity", _projectivity, ("projective", "non-projective", _NONE)),
    ],
)


class ByClass:
    """The words of classes in two files side by side.

    A right word is in the class that it has in the gold file, also among the system's words: in other tokens an arc may
    have another length. Units begin at `gold_words` and `system_words`, (units + 1,).
    """

    def __init__(
        self, compared: Comparison, labels: Sequence[str], kinds: Sequence[Classes], gold_words: Int, system_words: Int
    ) -> None:
        self._starts = gold_words, system_words
        self._counted = compared.counted_words
        g, s = compared.alignment
        self._names: list[tuple[str, str, list[str], list[str], list[bool]]] = []
        for kind in kinds:
            ours, theirs = (_names_of(words, labels, kind) for words in (compared.gold, compared.system))
            for metric in kind.metrics:
                right, own = np.zeros(len(ours), dtype=bool), [*theirs]
                right[g[compared.right[metric]]] = True
                for at, word in zip(*(side[compared.right[metric]].tolist() for side in (s, g)), strict=True):
                    own[at] = ours[word]
                self._names.append((kind.name, metric, ours, own, (right & self._counted[0]).tolist()))

    def of_unit(self, unit: int) -> list[Counter[Class]]:
        """Count CORRECT, GOLD and PREDICTED of a unit, a counter each."""
        (first, end), (start, stop) = (each[unit : unit + 2].tolist() for each in self._starts)
        counted, predicted = self._counted[0][first:end], self._counted[1][start:stop]
        found: list[Counter[Class]] = [Counter(), Counter(), Counter()]
        for kind, metric, ours, theirs, right in self._names:
            chosen = (
                compress(ours[first:end], right[first:end]),
                compress(ours[first:end], counted),
                compress(theirs[start:stop], predicted),
            )
            for counter, names in zip(found, chosen, strict=True):
                counter.update((kind, name, metric) for name in names)
        return found


def _names_of(words: Words, labels: Sequence[str], kind: Classes) -> list[str]:
    names = [labels[number] for number in words.columns[DEPREL].tolist()]
    spans = zip(words.words[:-1].tolist(), words.words[1:].tolist(), strict=True)
    return [each for a, b in spans for each in kind.of_words(Attached(words.heads[a:b], names[a:b]))]


def in_order(found: Sequence[Counter[Class]], kinds: Sequence[Classes]) -> list[Class]:
    """Return the classes that have words in either tree: by kind, then as these say, then by metric."""
    _, gold, predicted = found
    there = {*gold, *predicted}

    def place(each: Class) -> tuple[object, ...]:
        number = next(number for number, kind in enumerate(kinds) if kind.name == each[0])
        known, metrics = kinds[number].known, kinds[number].metrics
        where = known.index(each[1]) if known else -gold[each]
        return number, where, each[1], metrics.index(each[2])

    return sorted(there, key=place)
