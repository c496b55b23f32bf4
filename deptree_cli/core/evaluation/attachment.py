"""Attachment scores of a sentence as counts: what is right, of how many words in the gold tree and in the system's.

The words and labels are those of the CoNLL 2018 shared task (Zeman et al. 2018): a label counts without its subtype,
and CLAS is of words whose label is a relation of Universal Dependencies that is neither functional nor punctuation.
Tags are counted as there too, but for words without a gold tag, which count for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, Integers

# The relations of words with content; without `punct` and the functional ones: aux, case, cc, clf, cop, det, mark.
CONTENT = frozenset(
    (
        *("acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep", "discourse"),
        *("dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod", "nsubj", "nummod", "obj", "obl"),
        *("orphan", "parataxis", "reparandum", "root", "vocative", "xcomp"),
    )
)

METRICS = ("UAS", "LAS", "CLAS")

# Metrics of tags, and the label of words that some evaluations leave out.
TAGS = ("UPOS", "XPOS")
PUNCTUATION = "punct"

# A tag that is missing.
MISSING = "_"

# What is counted of each metric: right words, those of the gold tree, those of the system's.
CORRECT, GOLD, PREDICTED = range(3)


class Attached(NamedTuple):
    """A tree of n words.

    Attributes:
        heads: (n,), 0 = ROOT.
        labels: n names; universal ones where `universal` made them.
    """

    heads: Integers
    labels: Sequence[str]


def universal(label: str) -> str:
    """Return a label without its subtype: ``nsubj`` of ``nsubj:pass``."""
    return label.partition(":")[0]


def attachment(gold: Attached, system: Attached, words: Bool | None = None) -> Int:
    """Count UAS, LAS and CLAS of a tree with universal labels, (3, 3): `METRICS` by CORRECT, GOLD, PREDICTED.

    Args:
        words: (n,), which words UAS and LAS are of; None: all.
    """
    right = right_words(gold, system)
    content, ours = (np.array([label in CONTENT for label in each.labels]) for each in (gold, system))
    words = np.ones(len(content), dtype=bool) if words is None else words
    n, both = words.sum(), right["LAS"] & content
    return np.array(
        [*([(right[name] & words).sum(), n, n] for name in right), [both.sum(), content.sum(), ours.sum()]],
        dtype=np.int64,
    )


def right_words(gold: Attached, system: Attached) -> dict[str, Bool]:
    """Which words have the right head, and which also the right label, (n,) each, by the metric that counts them."""
    right_head = gold.heads == system.heads
    return {"UAS": right_head, "LAS": right_head & (np.array(gold.labels) == np.array(system.labels))}


def no_punctuation(gold: Attached) -> Bool:
    """Return which words are no punctuation, by the labels of the gold tree, (n,)."""
    return np.array([label != PUNCTUATION for label in gold.labels])


def right_tags(gold: Sequence[str], system: Sequence[str]) -> list[int]:
    """Count tags: right ones, and twice the words that have a gold tag, for there is one of the system's for each."""
    known = [own == ours for own, ours in zip(gold, system, strict=True) if own != MISSING]
    return [sum(known), len(known), len(known)]
