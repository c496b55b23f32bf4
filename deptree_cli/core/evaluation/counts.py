"""What is right in a system's trees, counted as the script of the CoNLL 2018 shared task does (Zeman et al. 2018).

Words are aligned first, so that tokens, words and sentences may differ. A label counts without its subtype; CLAS, MLAS
and BLEX are of words whose label is a relation of Universal Dependencies that is neither functional nor punctuation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, Integers
from deptree_cli.core.evaluation.alignment import Alignment, aligned, same_spans
from deptree_cli.core.evaluation.words import DEPREL, FEATS, LEMMA, MISSING, ROOT, UPOS, XPOS, Words

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
    """Return the universal ones of some features, sorted."""
    return "|".join(sorted(each for each in features.split("|") if each.partition("=")[0] in UNIVERSAL_FEATURES))


@dataclass(frozen=True)
class Relations:
    """Kinds of relations, (numbers of DEPREL,) each."""

    content: Bool
    functional: Bool
    punctuation: Bool

    @classmethod
    def of(cls, names: list[str]) -> Relations:
        """The kinds of relations with these names, in the order of their numbers."""
        kinds = (CONTENT, FUNCTIONAL, {PUNCTUATION})
        return cls(*(np.array([name in kind for name in names], dtype=bool) for kind in kinds))


@dataclass(frozen=True, eq=False)
class Comparison:
    """The words of a gold file and of a system's, which have the same text, side by side.

    Attributes:
        relations: kinds of what DEPREL has.
        no_punct: whether UAS and LAS leave out punctuation: what the gold file calls so, and words of the system's that
            are aligned with nothing if that does.
    """

    gold: Words
    system: Words
    relations: Relations
    no_punct: bool = False

    @cached_property
    def alignment(self) -> Alignment:
        """Which words belong together."""
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
        """Count all metrics, (units, metrics, 4).

        Args:
            gold_units, system_units: the unit that each sentence counts for, from 0.
        """
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
        """Where tokens and sentences begin in both files, and the units of these."""
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
