"""Trees of a parser against gold ones, word by word, as the CoNLL shared task of 2018 counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Int, Integers
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
class FileWords:
    """The words of S sentences, W in all, and their T tokens: a multiword token is one, whatever words it stands for.

    Attributes:
        texts: S, the characters of each sentence's tokens.
        words, tokens: (S + 1,), where the words and tokens of each sentence begin, and where the last ends.
        lengths: (T,), of tokens in characters.
        rows: (T,), of tokens within their sentence, for messages.
        token_of: (W,), the token of a word, counted within its sentence.
        in_multiword: (W,), whether that is a multiword token.
        columns: six of (W,), numbers of what stands there, which are the same in all files that are compared.
        heads: (W,), 0 = ROOT, 1 the first word of the sentence; in a system's file anything else too.
        arcs: (W + 1,), where the arcs of each word in the enhanced graph begin, and where the last end: A in all.
        arc_heads, arc_labels: (A,), their heads, like `heads`, and the numbers of their labels.
        sizes: (S,), how many words each sentence has.
        token_starts, sentence_starts: (T + 1,), (S + 1,), where each begins in the text, and where the last ends.
        spans: (W,) each, where the token of each word begins and ends in the text.
        parents: (W,), the head of each word as the index of a word of the file, `ROOT` below ROOT, else `NOWHERE`.
    """

    texts: Sequence[str]
    words: Int
    tokens: Int
    lengths: Integers
    rows: Integers
    token_of: Integers
    in_multiword: Bool
    columns: Sequence[Integers]
    heads: Integers
    arcs: Int
    arc_heads: Integers
    arc_labels: Integers

    @cached_property
    def sizes(self) -> Int:
        return np.diff(self.words)

    @cached_property
    def token_starts(self) -> Int:
        return starts_of(self.lengths)

    @cached_property
    def sentence_starts(self) -> Int:
        return self.token_starts[self.tokens]

    @property
    def spans(self) -> tuple[Int, Int]:
        tokens = self.token_of + np.repeat(self.tokens[:-1], self.sizes)
        return self.token_starts[tokens], self.token_starts[tokens + 1]

    @cached_property
    def parents(self) -> Integers:
        return self._parents(self.heads, np.arange(len(self.heads)))

    @cached_property
    def arc_words(self) -> Int:
        """The word of each arc of the enhanced graph, (A,)."""
        return np.repeat(np.arange(len(self.heads)), np.diff(self.arcs))

    @property
    def arc_parents(self) -> Integers:
        return self._parents(self.arc_heads, self.arc_words)

    def _parents(self, heads: Integers, words: Int) -> Integers:
        """The heads of words as indices."""
        first, n = (np.repeat(each, self.sizes)[words] for each in (self.words[:-1], self.sizes))
        inside = (heads > 0) & (heads <= n)
        return np.where(inside, heads - 1 + first, np.where(heads == 0, ROOT, NOWHERE)).astype(np.int32)

    def taken(self, sentences: Int) -> FileWords:
        words, tokens = _runs(self.words, sentences), _runs(self.tokens, sentences)
        arcs = _runs(self.arcs, words)
        return FileWords(
            [self.texts[number] for number in sentences.tolist()],
            starts_of(self.sizes[sentences]),
            starts_of(np.diff(self.tokens)[sentences]),
            self.lengths[tokens],
            self.rows[tokens],
            self.token_of[words],
            self.in_multiword[words],
            [column[words] for column in self.columns],
            self.heads[words],
            starts_of(np.diff(self.arcs)[words]),
            self.arc_heads[arcs],
            self.arc_labels[arcs],
        )


def starts_of(sizes: Array) -> Int:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def _runs(starts: Int, chosen: Int) -> Int:
    sizes = np.diff(starts)[chosen]
    return np.arange(sizes.sum()) + np.repeat(starts[:-1][chosen] - starts_of(sizes)[:-1], sizes)


def cyclic(words: FileWords) -> Bool:
    """Return which sentences have words that are their own ancestors, (S,): pointers are doubled, O(W log W)."""
    above = np.append(np.where(words.parents < 0, len(words.heads), words.parents), len(words.heads))
    steps = 1
    while steps < max(words.sizes.max(initial=0), 1):
        above, steps = above[above], 2 * steps
    below_root = above[above][:-1] == len(words.heads)
    owners = np.repeat(np.arange(len(words.sizes)), words.sizes)
    return np.bincount(owners[~below_root], minlength=len(words.sizes)) > 0


def refused(words: FileWords) -> tuple[Bool, Bool, Bool]:
    """Return which sentences have each of `REFUSED`, (S,) each."""
    roots, lost = (np.diff(starts_of(each)[words.words]) for each in (words.heads == 0, words.parents == NOWHERE))
    return roots > 1, cyclic(words), lost > 0


# Which words of two files of the same text belong together, as the script of the CoNLL 2018 shared task has it.
#
# Words that are tokens belong together if they are the same characters of the text. Around multiword tokens, the
# words of the smallest span into which all multiword tokens fit belong together by a longest common subsequence of
# their forms.


def aligned(gold: FileWords, system: FileWords) -> tuple[Int, Int]:
    """Return the words of a gold file and of a system's of the same text that belong together, (m,) each, in order."""
    return aligned_spans(*[(*each.spans, each.in_multiword, each.columns[FORM]) for each in (gold, system)])


def aligned_spans(*sides: Sequence[Array]) -> tuple[Int, Int]:
    """The same for words of which both sides say where their tokens begin and end, `in_multiword`, and their forms."""
    if all(map(np.array_equal, *sides)):
        return (np.arange(len(sides[0][0])),) * 2
    if not any(in_multiword.any() for _, _, in_multiword, _ in sides):
        return same_spans(*sides[0][:2], *sides[1][:2])
    end = max(int(ends.max(initial=0)) for _, ends, *_ in sides) + 1
    # loops are quick with lists; behind the last word stands one beyond all text
    one, two = ([*map(_Word, *(each.tolist() for each in side)), _Word(end, end, False, None)] for side in sides)
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < len(one) - 1 and s < len(two) - 1:
        if one[g].in_multiword or two[s].in_multiword:
            first, g, s = _span(one, two, g, s)
            pairs += _common(one[first[0] : g], two[first[1] : s], first)
        elif one[g].start == two[s].start and one[g].end == two[s].end:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif one[g].start <= two[s].start:
            g += 1
        else:
            s += 1
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def same_spans(starts: Int, ends: Int, other_starts: Int, other_ends: Int) -> tuple[Int, Int]:
    """Return the indices of spans that begin and end alike; each side's do not overlap."""
    if np.array_equal(starts, other_starts) and np.array_equal(ends, other_ends):
        return (np.arange(len(starts)),) * 2
    _, ours, theirs = np.intersect1d(starts, other_starts, assume_unique=True, return_indices=True)
    same = ends[ours] == other_ends[theirs]
    return ours[same], theirs[same]


class _Word(NamedTuple):
    start: int
    end: int
    in_multiword: bool
    form: object

    def ends_beyond(self, end: int) -> bool:
        return (self.start >= end) if self.in_multiword else (self.end > end)


def _span(one: Sequence[_Word], two: Sequence[_Word], g: int, s: int) -> tuple[tuple[int, int], int, int]:
    """The first words of the smallest span around a multiword token, one of which g or s is in; the first behind it."""
    end = one[g].end if one[g].in_multiword else two[s].end
    if not one[g].in_multiword:
        g += one[g].start < two[s].start  # by one word, as in the script, even if more of them begin before the span
    elif not two[s].in_multiword:
        s += two[s].start < one[g].start
    first = g, s
    while not (one[g].ends_beyond(end) and two[s].ends_beyond(end)):
        if g < len(one) - 1 and (s >= len(two) - 1 or one[g].start <= two[s].start):
            end = max(end, one[g].end) if one[g].in_multiword else end
            g += 1
        else:
            end = max(end, two[s].end) if two[s].in_multiword else end
            s += 1
    return first, g, s


def _common(one: Sequence[_Word], two: Sequence[_Word], first: tuple[int, int]) -> list[tuple[int, int]]:
    """The pairs of a longest common subsequence of forms, of several that of the script; words count from `first`."""
    longest = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for g in reversed(range(len(one))):
        for s in reversed(range(len(two))):
            both = 1 + longest[g + 1][s + 1] if one[g].form == two[s].form else 0
            longest[g][s] = max(both, longest[g + 1][s], longest[g][s + 1])
    pairs, g, s = [], 0, 0
    while g < len(one) and s < len(two):
        if one[g].form == two[s].form:
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
RELATIONS = CONTENT | FUNCTIONAL | {PUNCTUATION}

# The features whose values UFeats and MLAS compare.
UNIVERSAL_FEATURES = frozenset(
    (
        *("Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender", "Mood", "Number"),
        *("NumType", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex", "Tense", "VerbForm", "Voice"),
    )
)

# Those that say nothing of aligned words, and all.
OF_SPANS = ("Words", "Tokens", "Sentences")
ENHANCED = ("ELAS", "EULAS")
METRICS = ("UAS", "LAS", "CLAS", "MLAS", "BLEX", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", *OF_SPANS, *ENHANCED)

# What is counted of each metric: right ones, those of the gold file, those of the system's, gold ones that are aligned.
CORRECT, GOLD, PREDICTED, ALIGNED = range(4)

# The parent of a word of the system whose parent is aligned with nothing, or is nowhere.
_UNALIGNED = -3


def universal(label: str) -> str:
    """Return a label without its subtype: ``nsubj`` of ``nsubj:pass``."""
    return label.partition(":")[0]


def universal_path(label: str) -> str:
    """Return the same for a label of an enhanced graph, which is several where empty nodes were: ``conj:and>nsubj``."""
    return ">".join(map(universal, label.split(">")))


def universal_features(features: str) -> str:
    return "|".join(sorted(each for each in features.split("|") if each.partition("=")[0] in UNIVERSAL_FEATURES))


@dataclass(frozen=True, eq=False)
class Comparison:
    """The words of a gold file and of a system's, which have the same text, side by side.

    `labels` are the names of relations by number, `arc_labels` those of enhanced graphs, if both have these. Words
    without a gold head count for no metric of heads. `no_punct` leaves out of UAS and LAS what the gold file calls
    punctuation, and words of the system's that are aligned with nothing if that does.
    """

    gold: FileWords
    system: FileWords
    labels: Sequence[str]
    no_punct: bool = False
    arc_labels: Sequence[str] = ()

    @cached_property
    def alignment(self) -> tuple[Int, Int]:
        return aligned(self.gold, self.system)

    @cached_property
    def right(self) -> dict[str, Bool]:
        """Which aligned words are right, (m,), by metric; UAS and LAS among them."""
        g, s = self.alignment
        same = [ours[g] == theirs[s] for ours, theirs in zip(self.gold.columns, self.system.columns, strict=True)]
        lemmas = same[LEMMA] | (self.gold.columns[LEMMA][g] == MISSING)
        heads = self.gold.parents[g] == self._counterparts[self.system.parents[s]]
        labelled = heads & same[DEPREL]
        tagged = labelled & same[UPOS] & same[FEATS]
        return {
            "UAS": heads,
            "LAS": labelled,
            "CLAS": labelled,
            "MLAS": tagged & self._same_function_words(tagged),
            "BLEX": labelled & lemmas,
            "UPOS": same[UPOS],
            "XPOS": same[XPOS],
            "UFeats": same[FEATS],
            "AllTags": same[UPOS] & same[XPOS] & same[FEATS],
            "Lemmas": lemmas,
            "Words": np.ones(len(g), dtype=bool),
        }

    @cached_property
    def _counterparts(self) -> Int:
        """The gold word of each word of the system's; behind them of NOWHERE, and of ROOT."""
        g, s = self.alignment
        found = np.full(len(self.system.heads) + 2, _UNALIGNED)
        found[s] = g
        found[ROOT] = ROOT
        return found

    def right_arcs(self, label: Callable[[str], str]) -> Int:
        """How many arcs of the enhanced graph of each gold word are right, (W,), by what is compared of labels.

        Each pair of equal arcs counts, as in the script: the same two in both graphs are four.
        """
        names = np.array([label(each) for each in self.arc_labels], dtype=str)
        numbers = np.unique(names, return_inverse=True)[1]
        gold, system, there = self.gold, self.system, self._counterparts
        ours = np.stack([gold.arc_words, gold.arc_parents, numbers[gold.arc_labels]])
        theirs = np.stack([there[system.arc_words], there[system.arc_parents], numbers[system.arc_labels]])
        different, places = np.unique(np.concatenate([ours, theirs], axis=1), axis=1, return_inverse=True)
        one, two = (
            np.bincount(each, minlength=different.shape[1]) for each in np.split(places.ravel(), [ours.shape[1]])
        )
        both = one * two > 0
        right = np.zeros(len(gold.heads), dtype=np.int64)
        np.add.at(right, different[0, both], (one * two)[both])
        return right

    def _same_function_words(self, right: Bool) -> Bool:
        """Whether aligned words have the same function words, which are right themselves, as dependents, (m,)."""
        g, s = self.alignment
        ours, theirs = self._of(FUNCTIONAL)
        shared = _dependents(self.gold, g[right & ours[g]])[g]
        return (shared == _dependents(self.gold, ours)[g]) & (shared == _dependents(self.system, theirs)[s])

    def _of(self, kind: Set[str]) -> tuple[Bool, Bool]:
        """Which words of each file have a label of a kind, (W,) each."""
        known = np.array([label in kind for label in self.labels], dtype=bool)
        return known[self.gold.columns[DEPREL]], known[self.system.columns[DEPREL]]

    @cached_property
    def counted_words(self) -> tuple[Bool, Bool]:
        """Which words of each file UAS and LAS count, (W,) each."""
        gold, system = self._of({PUNCTUATION} if self.no_punct else set())
        g, s = self.alignment
        system[s] = gold[g]
        gold_known, system_known = self._known
        return ~gold & gold_known, ~system & system_known

    @cached_property
    def _known(self) -> tuple[Bool, Bool]:
        """Which words of each file have a gold head, (W,) each; those of the system's that are aligned with nothing."""
        (g, s), known = self.alignment, self.gold.heads >= 0
        system = np.ones(len(self.system.heads), dtype=bool)
        system[s] = known[g]
        return known, system

    def counts(self, gold_units: Int, system_units: Int) -> Integers:
        """Count all metrics, (units, metrics, 4), by the unit, from 0, that each sentence counts for."""
        found = np.zeros((int(gold_units.max(initial=-1)) + 1, len(METRICS), 4), dtype=np.int32)
        (g, _), content = (
            self.alignment,
            [own & known for own, known in zip(self._of(CONTENT), self._known, strict=True)],
        )
        every = np.ones(len(self.gold.heads), dtype=bool), np.ones(len(self.system.heads), dtype=bool)
        of_words: dict[str, Sequence[Bool]] = {"UAS": self.counted_words, "LAS": self.counted_words}
        of_words |= dict.fromkeys(("CLAS", "MLAS", "BLEX"), content)

        def count(metric: str, *units: Int) -> None:
            for kind, each in enumerate(units):
                found[:, METRICS.index(metric), kind] = np.bincount(each, minlength=len(found))

        ours, theirs = np.repeat(gold_units, self.gold.sizes), np.repeat(system_units, self.system.sizes)
        for metric, right in self.right.items():
            gold, system = of_words.get(metric, every)
            within = g[gold[g]]
            chosen = ours[g[right & gold[g]]], ours[gold], theirs[system]
            count(metric, *chosen, *[ours[within]] * (metric not in OF_SPANS))
        tokens = np.repeat(gold_units, np.diff(self.gold.tokens)), np.repeat(system_units, np.diff(self.system.tokens))
        for metric, ours, theirs, own, others in (
            ("Tokens", self.gold.token_starts, self.system.token_starts, *tokens),
            ("Sentences", self.gold.sentence_starts, self.system.sentence_starts, gold_units, system_units),
        ):
            same, _ = same_spans(ours[:-1], ours[1:], theirs[:-1], theirs[1:])
            count(metric, own[same], own, others)
        ours, theirs = np.repeat(gold_units, self.gold.sizes), np.repeat(system_units, self.system.sizes)
        for metric in ENHANCED if self.arc_labels else ():
            times = self.right_arcs(universal_path if metric == "EULAS" else str)
            count(metric, np.repeat(ours, times), ours[self.gold.arc_words], theirs[self.system.arc_words])
        return found


def informative(counts: Integers) -> tuple[Integers, Sequence[str]]:
    """Return counts (units, systems, metrics, 4) and metrics without those of enhanced graphs, where there are none."""
    size = len(METRICS) - len(ENHANCED) * (not counts[..., METRICS.index("ELAS"), GOLD].any())
    return counts[..., :size, :], METRICS[:size]


def _dependents(words: FileWords, chosen: Array) -> Int:
    """How many of some words each word is the head of, (W,)."""
    parents = words.parents[chosen]
    return np.bincount(parents[parents >= 0], minlength=len(words.heads))


# Classes of words and arcs by which a score is broken down: labels, lengths, whether arcs cross.

# The names of buckets by their first length.
ARC_LENGTHS = {1: "1", 2: "2", 3: "3", 4: "4-6", 7: "7-10", 11: "11+"}
SENTENCE_LENGTHS = {1: "1-10", 11: "11-20", 21: "21-30", 31: "31-40", 41: "41-50", 51: "51+"}

# Of a class: the name of its kind, its own, and the metric that is counted in it.
Class = tuple[str, str, str]

# The class of words without an arc: below ROOT; of a system, without another word as head, or in no tree.
_ROOT, _NONE = "root", "none"


@dataclass(frozen=True)
class Classes:
    """A way to sort the words of trees.

    Attributes:
        of_words: makes the classes (W,) of the words of a file, whose heads may be anything if a system made them; the
            second argument has the names of labels by number.
        known: all classes in order; empty where data decide, and then the most frequent come first.
        metrics: words of one head, of LAS also of one label, are of one class in both trees.
    """

    name: str
    of_words: Callable[[FileWords, Sequence[str]], Array]
    known: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("UAS", "LAS")


def _arc_lengths(words: FileWords, _: object) -> Array:
    numbers = np.arange(1, len(words.heads) + 1) - np.repeat(words.words[:-1], words.sizes)
    found = np.where(words.heads, _bucketed(np.abs(numbers - words.heads), ARC_LENGTHS), _ROOT)
    found[(words.parents == NOWHERE) | (words.heads == numbers)] = _NONE
    return found


def _projectivity(words: FileWords, _: object) -> Array:
    from deptree_cli.core.measures import gaps

    _, cycles, lost = refused(words)
    is_none = np.repeat(cycles | lost, words.sizes)
    found = np.where(gaps(np.where(is_none, 0, words.heads), words.words), "non-projective", "projective")
    return np.where(is_none, _NONE, found).astype(object)


def _bucketed(lengths: Integers, buckets: Mapping[int, str]) -> Array:
    return np.array([*buckets.values()], dtype=object)[np.searchsorted([*buckets][1:], lengths, side="right")]


CLASSES: Register[Classes] = Register(
    "class of words",
    [
        Classes("label", lambda words, labels: np.array(labels, dtype=object)[words.columns[DEPREL]], metrics=("LAS",)),
        Classes("arc-length", _arc_lengths, (_ROOT, *ARC_LENGTHS.values(), _NONE)),
        Classes(
            "sentence-length",
            lambda words, _: _bucketed(np.repeat(words.sizes, words.sizes), SENTENCE_LENGTHS),
            (*SENTENCE_LENGTHS.values(),),
        ),
        Classes("projectivity", _projectivity, ("projective", "non-projective", _NONE)),
    ],
)


def by_class(
    compared: Comparison, kinds: Sequence[Classes], gold_starts: Int, system_starts: Int
) -> Iterator[list[Counter[Class]]]:
    """Count the words of classes of each unit: CORRECT, GOLD and PREDICTED.

    A right word is in the class that it has in the gold file, also among the system's words: in other tokens an arc may
    have another length. Units begin at `gold_starts` and `system_starts`, (units + 1,), words.
    """
    (g, s), (counted, predicted) = compared.alignment, compared.counted_words
    columns = []
    for kind in kinds:
        ours, theirs = (kind.of_words(words, compared.labels) for words in (compared.gold, compared.system))
        for metric in kind.metrics:
            is_right, right, own = compared.right[metric], np.zeros(len(ours), dtype=bool), theirs.copy()
            right[g[is_right]] = True
            own[s[is_right]] = ours[g[is_right]]
            sides = (ours, right & counted, gold_starts), (ours, counted, gold_starts), (own, predicted, system_starts)
            columns.append((kind.name, metric, sides))
    for unit in range(len(gold_starts) - 1):
        found = [Counter[Class](), Counter[Class](), Counter[Class]()]
        for name, metric, sides in columns:
            for counter, (classes, chosen, starts) in zip(found, sides, strict=True):
                some = slice(*starts[unit : unit + 2])
                counter.update((name, each, metric) for each in classes[some][chosen[some]])
        yield found


class Confusion(NamedTuple):
    """The label of a word in the gold file and in the system's, None where a side lacks the word; whether its head is
    right."""

    gold: str | None
    system: str | None
    head_right: bool


def confusions(compared: Comparison) -> Counter[Confusion]:
    """Count the words that LAS counts by both labels, without subtypes, and by whether the head is right."""
    (g, s), (counted, predicted) = compared.alignment, compared.counted_words
    ours, theirs = compared.gold.columns[DEPREL], compared.system.columns[DEPREL]
    alone, foreign = counted.copy(), predicted.copy()
    alone[g] = foreign[s] = False
    both, nothing = counted[g], len(compared.labels)
    rows = [
        np.stack([ours[g][both], theirs[s][both], compared.right["UAS"][both]]),
        np.stack([ours[alone], np.full(alone.sum(), nothing), np.zeros(alone.sum(), dtype=int)]),
        np.stack([np.full(foreign.sum(), nothing), theirs[foreign], np.zeros(foreign.sum(), dtype=int)]),
    ]
    different, sizes = np.unique(np.concatenate(rows, axis=1), axis=1, return_counts=True)
    names = [*compared.labels, None]
    found = Counter[Confusion]()
    for (one, two, right), size in zip(different.T.tolist(), sizes.tolist(), strict=True):
        found[Confusion(names[one], names[two], bool(right))] = size
    return found


def fourfold(first: Comparison, second: Comparison, gold_units: Int) -> Integers:
    """Count gold words by unit, label and who has head and label right: both, the first, the second alone, none (0-3).

    Returns (cells, 4): unit, number of the label, who, and how many words; of cells that have any.
    """
    right = np.zeros((2, len(first.gold.heads)), dtype=np.int64)
    for own, compared in zip(right, (first, second), strict=True):
        own[compared.alignment[0]] = compared.right["LAS"]
    rows = np.stack([np.repeat(gold_units, first.gold.sizes), first.gold.columns[DEPREL], 3 - 2 * right[0] - right[1]])
    found, sizes = np.unique(rows[:, first.counted_words[0]], axis=1, return_counts=True)
    return np.concatenate([found, sizes[None]]).T


def in_order(found: Sequence[Counter[Class]], kinds: Sequence[Classes]) -> list[Class]:
    """Return the classes that have words in either tree: by kind, then as these say, then by metric."""
    _, gold, predicted = found
    order = {kind.name: (at, kind) for at, kind in enumerate(kinds)}

    def place(each: Class) -> tuple[object, ...]:
        at, kind = order[each[0]]
        return at, kind.known.index(each[1]) if kind.known else -gold[each], each[1], kind.metrics.index(each[2])

    return sorted({*gold, *predicted}, key=place)
