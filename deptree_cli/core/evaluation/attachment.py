"""Attachment scores of a sentence as counts: what is right, of how many words in the gold tree and in the system's.

The words and labels are those of the CoNLL 2018 shared task (Zeman et al. 2018): a label counts without its subtype,
and CLAS is of words whose label is a relation of Universal Dependencies that is neither functional nor punctuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Int, Integers

# The relations of words with content; without `punct` and the functional ones: aux, case, cc, clf, cop, det, mark.
CONTENT = frozenset(
    (
        *("acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep", "discourse"),
        *("dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod", "nsubj", "nummod", "obj", "obl"),
        *("orphan", "parataxis", "reparandum", "root", "vocative", "xcomp"),
    )
)

METRICS = ("UAS", "LAS", "CLAS")

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


def attachment(gold: Attached, system: Attached) -> Int:
    """Count UAS, LAS and CLAS of a tree with universal labels, (3, 3): `METRICS` by CORRECT, GOLD, PREDICTED."""
    right_head = gold.heads == system.heads
    right = right_head & (np.array(gold.labels) == np.array(system.labels))
    content, ours = (np.array([label in CONTENT for label in each.labels]) for each in (gold, system))
    n = len(right)
    return np.array(
        [[right_head.sum(), n, n], [right.sum(), n, n], [(right & content).sum(), content.sum(), ours.sum()]],
        dtype=np.int64,
    )
