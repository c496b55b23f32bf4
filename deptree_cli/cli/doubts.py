"""What scores make of annotated sentences: doubts about words and trees as rows, and as notes in the sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, isfinite
from typing import Any

import numpy as np

from deptree_cli.cli.ranking import RANK, Counts, InRank, Ranked
from deptree_cli.core.doubt import (
    Criterion,
    WordDoubts,
    disagreement,
    doubts_of_heads,
    doubts_of_labels,
    expected_errors,
    least_margin,
)
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.io.conllu.doubts import UNKNOWN, with_doubts
from deptree_cli.io.conllu.notes import probability
from deptree_cli.io.pages.marks import FINE, Mark
from deptree_cli.io.scores.records import ScoredSentence

# The columns of words, of their labels, of what somebody has marked, and of sentences.
HEADS = ("sent_id", "word", "form", "head", "prob", "best_head", "best_prob")
LABELS = ("deprel", "deprel_prob", "best_deprel", "best_deprel_prob")
MARKS = ("mark", "chosen", "note")
SENTENCES = (
    *("sent_id", "n", "suspects", "expected_errors", "entropy", "least_margin"),
    *("tree_prob", "tree_logprob", "disagreement"),
)


def columns_of(by: Criterion | None, labels: bool, marks: bool) -> tuple[str, ...]:
    """The columns of sentences ranked by something, or of words, with or without labels and marks."""
    return (*SENTENCES, RANK) if by else (*HEADS, *LABELS * labels, *MARKS * marks, RANK)


@dataclass(frozen=True)
class Doubted:
    """A sentence with its doubts."""

    sentence: ScoredSentence
    how: Doubt

    @property
    def counted(self) -> Counts:
        """What it counts for."""
        ranked = self._sentence() if self.how.by else self._words()
        known = self._heads >= 0
        unknown = sum(
            label != UNKNOWN and number < 0 for label, number in zip(self._deprels, self._labels, strict=True)
        )
        unknown = unknown if self._of_labels else 0
        errors = float(np.nansum(self._doubts))
        return Counts(ranked, int(known.sum()), errors, unknown, len(self._marks))

    @cached_property
    def _marginals(self) -> Float:
        return self.sentence.distribution.marginals()

    @cached_property
    def _heads(self) -> Heads:
        block, n = self.sentence.record.block, self.sentence.distribution.n
        heads = block.heads if block else [None] * n
        return np.array([-1 if head is None else head for head in heads], dtype=np.int32)

    @cached_property
    def _marks(self) -> dict[int, Mark]:
        """What is marked of its words, by their places from 0; marks of heads that are others now mean nothing."""
        found = ((at, self.how.marks.get((self.sentence.id, at + 1))) for at in range(len(self._heads)))
        return {at: mark for at, mark in found if mark is not None and mark.head == self._heads[at]}

    @cached_property
    def _deprels(self) -> list[str]:
        block = self.sentence.record.block
        return block.deprels if block else [UNKNOWN] * self.sentence.distribution.n

    @cached_property
    def _labels(self) -> Heads:
        """The numbers of its labels, -1 where the scores do not tell them."""
        labels = self.sentence.distribution.labels
        numbers = {name: number for number, name in enumerate(labels.names)} if labels else {}
        return np.array([numbers.get(label, -1) for label in self._deprels], dtype=np.int32)

    @cached_property
    def _arcs(self) -> WordDoubts:
        return doubts_of_heads(self._marginals, self._heads)

    @cached_property
    def _of_labels(self) -> WordDoubts | None:
        labels = self.sentence.distribution.labels
        return doubts_of_labels(self._arcs, self._heads, self._labels, labels.log_probs) if labels else None

    @cached_property
    def _doubts(self) -> Float:
        """(n,): of head and label, where both are known, else of the head, NaN where there is none, or it is fine."""
        doubts = self._finest("doubts")
        doubts[[at for at, mark in self._marks.items() if mark.verdict == FINE]] = np.nan
        return doubts

    def _finest(self, name: str) -> Float:
        arcs: Float = getattr(self._arcs, name)
        labelled: Float = getattr(self._of_labels or self._arcs, name)
        return np.where(np.isnan(labelled), arcs, labelled)

    def _words(self) -> list[Ranked]:
        """Each annotated word, but for those that somebody has found fine."""
        block, probs, doubts = self.sentence.record.sentence, self._finest("probs"), self._doubts
        forms, names = block.column("form"), self.sentence.distribution.labels
        ranked = []
        for at in np.flatnonzero(~np.isnan(doubts)).tolist():
            cells: tuple[Any, ...] = self.sentence.id, at + 1, forms[at], int(self._heads[at]), *_best(self._arcs, at)
            if names and self._of_labels:
                prob, number, best = _best(self._of_labels, at)
                label = None if self._deprels[at] == UNKNOWN else self._deprels[at]
                cells = *cells, label, None if np.isnan(prob) else prob, names.names[number], best
            if self.how.marks:
                mark = self._marks.get(at)
                cells += (mark.verdict or None, mark.chosen, mark.note or None) if mark else (None, None, None)
            prob = float(probs[at])
            ranked.append(Ranked((prob, -float(doubts[at])), prob, 1, cells))
        return ranked

    def _sentence(self) -> list[Ranked]:
        """Itself, unless what it is ranked by needs heads that it has not."""
        by, sentence = self.how.by, self.sentence
        assert by is not None
        values = self._values()
        if values[by.field] is None:
            return []
        order = values[by.order or by.field]
        written: InRank | tuple[Any, ...]
        if self.how.conllu:
            comments = _comments(values, by)
            written = InRank(with_doubts(sentence.record.sentence, self._doubts, self.how.threshold, comments))
        else:
            values["tree_logprob"] = None if values["tree_logprob"] == -inf else values["tree_logprob"]
            written = tuple(values[name] for name in SENTENCES)
        return [Ranked((by.key(order),), values[by.field], sentence.distribution.n, written)]

    def _values(self) -> dict[str, Any]:
        """All that there is to know of it, None for what is not known."""
        whole = (self._heads >= 0).all()
        log_prob = float(self.sentence.distribution.log_probs(self._heads[None])[0]) if whole else None
        return {
            "sent_id": self.sentence.id,
            "n": self.sentence.distribution.n,
            "suspects": int((self._doubts > self.how.threshold).sum()),
            "expected_errors": expected_errors(self._doubts),
            "entropy": self.sentence.distribution.entropy(),
            "least_margin": least_margin(self._marginals, self._heads),
            "tree_prob": None if log_prob is None else exp(log_prob),
            "tree_logprob": log_prob,
            "disagreement": disagreement(self._marginals),
        }


def _best(doubts: WordDoubts, at: int) -> tuple[float, int, float]:
    return float(doubts.probs[at]), int(doubts.best[at]), float(doubts.best_probs[at])


def _comments(values: dict[str, Any], by: Criterion) -> list[str]:
    """What is noted of a sentence: expected errors, and what it is ranked by."""
    fields = dict.fromkeys(("expected_errors", by.order or by.field, by.field))
    shown = {name: values[name] for name in fields if values[name] is not None and isfinite(values[name])}
    texts = {name: probability(value, 6) if name == "tree_prob" else f"{value:.6f}" for name, value in shown.items()}
    return [f"# {name} = {text}" for name, text in texts.items()]


@dataclass(frozen=True)
class Doubt:
    """The work on one sentence.

    Attributes:
        by: what sentences are ranked by; None: words are ranked.
        threshold: of suspects.
        conllu: whether the sentence is written.
        marks: what somebody has marked, by sentence id and word.
    """

    by: Criterion | None
    threshold: float
    conllu: bool
    marks: Mapping[tuple[str, int], Mark]

    def __call__(self, sentence: ScoredSentence, _: None) -> Doubted:
        """The doubts of a sentence."""
        return Doubted(sentence, self)
