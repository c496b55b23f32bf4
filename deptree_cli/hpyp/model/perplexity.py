"""Perplexities of a text: bits of its sentences added up, and what they are per event and per word."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, get_args

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.defaults import FILTERS, PARTICLES
from deptree_cli.hpyp.model.evidence import evidence
from deptree_cli.hpyp.model.joint import Joint, Unscored, joint
from deptree_cli.hpyp.model.trained import Trained

# A perplexity is finite as long as a float holds it.
MOST_BITS = 1000.0


@dataclass(frozen=True, eq=False)
class Scored:
    """What a sentence costs.

    Attributes:
        words: how many it has.
        classed: how many of them are not in the vocabulary and count as their classes.
        unseen_labels: the labels of its tree that the parser does not know, as often as they are there.
        bits: minus log2 of its evidence; its square error, None for a single filter.
        joint: with its tree and its tags; why there is no such number; None where tags are predicted.
    """

    words: int
    classed: int
    bits: float
    square_error: float | None
    joint: Joint | Unscored | None
    unseen_labels: tuple[str, ...] = ()


def score(
    trained: Trained,
    sentence: Annotated,
    rng: np.random.Generator,
    particles: int = PARTICLES,
    predicts_tags: bool = False,
    filters: int = FILTERS,
) -> Scored:
    """The bits of a sentence: its evidence (`evidence.py`) and, with tags given, its tree's (`joint.py`)."""
    found = evidence(trained, sentence, rng, particles, predicts_tags, filters)
    vocabulary = trained.symbols.lexicon.vocabulary
    return Scored(
        sentence.n,
        sum(vocabulary.id(form) == NULL_SYMBOL for form in sentence.forms) if trained.symbols.is_lexicalised else 0,
        -float(found.log2[-1]),
        None if found.error is None else found.error**2,
        None if predicts_tags else joint(trained, sentence),
        () if predicts_tags else trained.symbols.unseen_labels(sentence),
    )


@dataclass
class Perplexity:
    """A text's bits, added up sentence by sentence.

    Args:
        parts: the names of what the joint probability is made of: actions, tags and, if they are generated, words.
        predicts_tags: whether tags were predicted; then there is no joint probability.
    """

    parts: tuple[str, ...]
    predicts_tags: bool = False
    sentences: int = 0
    words: int = 0
    classed: int = 0
    bits: float = 0.0
    square_error: float | None = 0.0
    in_trees: int = 0
    joint: Float = field(default_factory=lambda: np.zeros(3))
    counts: Counter[str] = field(default_factory=Counter)
    unseen_labels: Counter[str] = field(default_factory=Counter)

    def add(self, scored: Scored) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.words += scored.words
        self.classed += scored.classed
        self.bits += scored.bits
        self.unseen_labels.update(scored.unseen_labels)
        has_error = self.square_error is not None and scored.square_error is not None
        self.square_error = (self.square_error or 0.0) + (scored.square_error or 0.0) if has_error else None
        if isinstance(scored.joint, Joint):
            self.counts.update(trees=1, lifted=int(scored.joint.lifted))
            self.in_trees += scored.words
            self.joint += scored.joint.bits
        elif scored.joint:
            self.counts[scored.joint] += 1

    def row(self) -> dict[str, Any]:
        """All of it by name, perplexities per word, the ends of sentences counted as words."""
        tokens, lexicalised = self.words + self.sentences, "word" in self.parts
        scored = ["words"] if self.predicts_tags else ["tags", "words"] if lexicalised else ["tags"]
        return {
            "sentences": self.sentences,
            "words": self.words,
            "tokens": tokens,
            "words_as_classes": self.classed / self.words if lexicalised else None,
            "evidence_of": " and ".join(scored),
            "evidence_bits": self.bits,
            "evidence_error": None if self.square_error is None else sqrt(self.square_error),
            "evidence_perplexity": _perplexity(self.bits, tokens),
            **({} if self.predicts_tags else self._joint_row()),
        }

    def _joint_row(self) -> dict[str, Any]:
        """The joint probability of sentences with usable trees, and its parts, each per event and per word."""
        counts, trees = self.counts, self.counts["trees"]
        row: dict[str, Any] = {"trees": trees, "trees_made_projective": counts["lifted"]}
        row |= {f"left_out_{reason}": counts[reason] for reason in get_args(Unscored)}
        if not trees:
            return row
        total = float(self.joint.sum())
        row |= {"joint_bits": total, "joint_perplexity": _perplexity(total, self.in_trees + trees)}
        for name, bits, events in zip(self.parts, self.joint.tolist(), (2, 1, 1), strict=False):
            row[f"{name}_bits"] = bits
            row[f"{name}_bits_per_word"] = bits / self.in_trees
            row[f"{name}_perplexity"] = _perplexity(bits, events * self.in_trees)
        return row


def _perplexity(bits: float, events: int) -> float | None:
    """2 to the power of the bits per event; None where a float does not hold it."""
    return 2.0 ** (bits / events) if bits < MOST_BITS * events else None
