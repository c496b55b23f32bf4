"""The words of a file as arrays: what an evaluation looks at, texts as numbers.

A file's text is the characters of its tokens one after another, without the white space between them. Two files of
the same text can be compared whatever their tokens, words and sentences are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Int

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
    """Return where each of some runs of these sizes begins, and where the last ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def _runs(starts: Int, chosen: Int) -> Int:
    """The indices of the items of chosen runs, one run after another."""
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
