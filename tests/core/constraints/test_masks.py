"""What rules keep between sentences, and work out together, is what each says alone."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.dtypes import Bool
from deptree_cli.core.rules import Words, forbidden
from deptree_cli.core.ruleset import Ruleset
from deptree_cli.io.rules.reading import read_rules, ruleset_of

TAGS = ("NOUN", "PROPN", "ADP", "PUNCT", "X", None)
FEATS = (frozenset[str](), frozenset({"Typo=Yes"}), frozenset({"Poss=Yes", "Case=Gen"}))
LABELS = (
    ("root", "case", "punct", "fixed", "goeswith", "conj", "flat", "det"),
    ("det", "nsubj", "root", "flat:name"),
    ("",),
)
OTHERS = ruleset_of(
    "others",
    {
        "mask": [
            "flat",
            {"label": "conj", "distance": [1, 2]},
            {"label": "case", "upos": ["ADP"], "root": True},
            {"label": "det", "head-upos": "NOUN", "direction": "right", "allow": True},
            {"label": "conj", "feats": "Case=Gen", "allow": True, "name": "genitives"},
        ]
    },
)


def one_by_one(rules: Ruleset, words: Words) -> Bool:
    """What masks forbid, each by itself."""
    alone = [forbidden([mask], words) for mask in rules.masks]
    return np.logical_or.reduce(alone)


@pytest.mark.parametrize("rules", [read_rules("ud"), OTHERS], ids=lambda rules: rules.name)
def test_masks_together_forbid_what_each_forbids(rules: Ruleset) -> None:
    """Sentences with other labels come in between, as what is kept belongs to labels; column 0 has no arcs."""
    rng = np.random.default_rng(1)
    forbidden = 0
    for sentence in range(60):
        n = int(rng.integers(1, 7))
        upos = [TAGS[i] for i in rng.integers(len(TAGS), size=n)]
        feats = [FEATS[i] for i in rng.integers(len(FEATS), size=n)]
        words = Words(LABELS[sentence % 3], upos, feats)
        found = rules.forbidden(words)
        assert (found == one_by_one(rules, words))[:, 1:].all(), words
        assert not found[:, 0].any()
        forbidden += int(found.sum())
    assert forbidden > 1000
