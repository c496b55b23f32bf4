"""What scores make of annotated sentences: doubts about words and trees as rows, and as notes in the sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp, inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.cli.ranking import RANK, Counts, InRank, Ranked
from deptree_cli.cli.work import Work
from deptree_cli.core.doubt import (
    Criterion,
    WordDoubts,
    disagreement,
    doubts_of_heads,
    doubts_of_labels,
    expected_errors,
    least_margin,
)
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.labels import Labels
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.doubts import UNKNOWN, with_doubts
from deptree_cli.io.conllu.malformed import no_sentences
from deptree_cli.io.conllu.notes import probability
from deptree_cli.io.pages.marks import FINE, Mark
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.core.batches.tree_batch import TreeBatch
    from deptree_cli.io.scores.batches import ScoredBatch

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
class Annotated:
    """Sentences of one length, with what their distributions say.

    Attributes:
        how: what is asked about them.
        sent_ids: their names.
        blocks: the CoNLL-U sentences, None where there is none.
        heads: (b, n), the annotated ones, -1 where there is none.
        marginals: (b, n+1, n+1).
        entropies, log_probs: make the entropies, and the log-probabilities of the annotated trees; (b,).
        labels: of the one sentence that there is, if scores tell labels.
    """

    how: Doubt
    sent_ids: Sequence[str]
    blocks: Sequence[Block | None]
    heads: Heads
    marginals: Float
    entropies: Callable[[], Float]
    log_probs: Callable[[], Float]
    labels: Labels | None = None

    def each(self) -> list[Doubted]:
        """Each sentence."""
        return [Doubted(self, number) for number in range(len(self.sent_ids))]

    def counts(self, at: int) -> Counts:
        """What one of them counts for."""
        ranked = self._sentence(at) if self.how.by else self._words(at)
        names, numbers = (self._deprels, self._numbers.tolist()) if self.labels else ([], [])
        unknown = sum(name != UNKNOWN and number < 0 for name, number in zip(names, numbers, strict=True))
        return Counts(ranked, self._known[at], self._errors[at], unknown, len(self._marks[at]))

    @property
    def n(self) -> int:
        """How many words each has."""
        return self.heads.shape[1]

    @cached_property
    def _known(self) -> list[int]:
        found: list[int] = (self.heads >= 0).sum(axis=1).tolist()
        return found

    @cached_property
    def _marks(self) -> list[dict[int, Mark]]:
        """What is marked of their words, by their places from 0; marks of heads that are others now mean nothing."""
        return [self._marks_of(*each) for each in zip(self.sent_ids, self.heads.tolist(), strict=True)]

    def _marks_of(self, sent_id: str, heads: list[int]) -> dict[int, Mark]:
        if not self.how.marks:
            return {}
        found = ((at, self.how.marks.get((sent_id, at + 1))) for at in range(self.n))
        return {at: mark for at, mark in found if mark is not None and mark.head == heads[at]}

    @cached_property
    def _deprels(self) -> list[str]:
        (block,) = self.blocks
        return block.deprels if block else [UNKNOWN] * self.n

    @cached_property
    def _numbers(self) -> Heads:
        """The numbers of the one's labels, -1 where the scores do not tell them."""
        numbers = {name: number for number, name in enumerate(self.labels.names)} if self.labels else {}
        return np.array([numbers.get(label, -1) for label in self._deprels], dtype=np.int32)

    @cached_property
    def _arcs(self) -> WordDoubts:
        return doubts_of_heads(self.marginals, self.heads)

    @cached_property
    def _of_labels(self) -> WordDoubts | None:
        if self.labels is None:
            return None
        own = WordDoubts._make(each[0] for each in self._arcs)
        found = doubts_of_labels(own, self.heads[0], self._numbers, self.labels.log_probs)
        return WordDoubts._make(each[None] for each in found)

    @cached_property
    def _doubts(self) -> Float:
        """(b, n): of head and label, where both are known, else of the head, NaN where there is none, or it is fine."""
        doubts = self._finest("doubts")
        for row, marks in zip(doubts, self._marks if self.how.marks else (), strict=False):
            row[[at for at, mark in marks.items() if mark.verdict == FINE]] = np.nan
        return doubts

    @cached_property
    def _errors(self) -> list[float]:
        found: list[float] = np.nansum(self._doubts, axis=1).tolist()
        return found

    def _finest(self, name: str) -> Float:
        arcs: Float = getattr(self._arcs, name)
        labelled: Float = getattr(self._of_labels or self._arcs, name)
        return np.where(np.isnan(labelled), arcs, labelled)

    @cached_property
    def _columns(self) -> list[list[list[Any]]]:
        """Of the words of each: doubts, probabilities, annotated heads, and what the best head is."""
        arcs = self._arcs
        given = self._doubts, self._finest("probs"), self.heads, arcs.probs, arcs.best, arcs.best_probs
        return [each.tolist() for each in given]

    def _words(self, number: int) -> list[Ranked]:
        """Each annotated word, but for those that somebody has found fine."""
        block, sent_id, marks = self.blocks[number], self.sent_ids[number], self._marks[number]
        if block is None:
            raise no_sentences()
        ranked = []
        words = zip(block.column("form"), *(each[number] for each in self._columns), strict=True)
        for at, (form, doubt, prob, head, arc, best, best_prob) in enumerate(words):
            if isnan(doubt):
                continue
            cells: tuple[Any, ...] = sent_id, at + 1, form, head, arc, best, best_prob
            if self.labels and self._of_labels:
                cells += self._cells_of_label(self._of_labels, self.labels, at)
            if self.how.marks:
                mark = marks.get(at)
                cells += (mark.verdict or None, mark.chosen, mark.note or None) if mark else (None, None, None)
            ranked.append(Ranked((prob, -doubt), prob, 1, cells))
        return ranked

    def _cells_of_label(self, doubts: WordDoubts, labels: Labels, at: int) -> tuple[Any, ...]:
        """What the row of a word of the one sentence has of its label."""
        prob, label = float(doubts.probs[0, at]), self._deprels[at]
        given = None if label == UNKNOWN else label, None if isnan(prob) else prob
        return *given, labels.names[doubts.best[0, at]], float(doubts.best_probs[0, at])

    def _sentence(self, number: int) -> list[Ranked]:
        """Itself, unless what it is ranked by needs heads that it has not."""
        by = self.how.by
        assert by is not None
        values = {name: found[number] for name, found in self._values.items()}
        if values[by.field] is None:
            return []
        order = values[by.order or by.field]
        written: InRank | tuple[Any, ...]
        if self.how.conllu:
            block = self.blocks[number]
            if block is None:
                raise no_sentences()
            written = InRank(with_doubts(block, self._doubts[number], self.how.threshold, _comments(values, by)))
        else:
            values["tree_logprob"] = None if values["tree_logprob"] == -inf else values["tree_logprob"]
            written = tuple(values[name] for name in SENTENCES)
        return [Ranked((by.key(order),), values[by.field], self.n, written)]

    @cached_property
    def _values(self) -> dict[str, Sequence[Any]]:
        """All that there is to know of each, None for what is not known."""
        whole = np.array(self._known) == self.n
        log_probs = _known(np.where(whole, self.log_probs() if whole.any() else np.nan, np.nan))
        return {
            "sent_id": self.sent_ids,
            "n": [self.n] * len(self.sent_ids),
            "suspects": (self._doubts > self.how.threshold).sum(axis=1).tolist(),
            "expected_errors": _known(expected_errors(self._doubts)),
            "entropy": self.entropies().tolist(),
            "least_margin": _known(least_margin(self.marginals, self.heads)),
            "tree_prob": [None if each is None else exp(each) for each in log_probs],
            "tree_logprob": log_probs,
            "disagreement": disagreement(self.marginals).tolist(),
        }


@dataclass(frozen=True, slots=True)
class Doubted:
    """One of them, with its doubts."""

    of: Annotated
    number: int

    @property
    def counted(self) -> Counts:
        """What it counts for."""
        return self.of.counts(self.number)


def _known(values: Float) -> list[float | None]:
    """Numbers, None in the place of NaN."""
    return [None if isnan(each) else each for each in values.tolist()]


def _comments(values: dict[str, Any], by: Criterion) -> list[str]:
    """What is noted of a sentence: expected errors, and what it is ranked by."""
    fields = dict.fromkeys(("expected_errors", by.order or by.field, by.field))
    shown = {name: values[name] for name in fields if values[name] is not None and isfinite(values[name])}
    texts = {name: probability(value, 6) if name == "tree_prob" else f"{value:.6f}" for name, value in shown.items()}
    return [f"# {name} = {text}" for name, text in texts.items()]


@dataclass(frozen=True)
class Doubt(Work[Doubted]):
    """The work on sentences.

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

    @property
    def in_batches(self) -> bool:
        """Whether many sentences are summed at once."""
        return True

    def one(self, sentence: ScoredSentence, _: None) -> Doubted:
        """The doubts of a sentence."""
        distribution, block = sentence.distribution, sentence.record.block
        heads = _heads(block, distribution.n)[None]
        asked = lambda: np.array([distribution.entropy()]), lambda: distribution.log_probs(heads)
        marginals = distribution.marginals()[None]
        return Annotated(self, [sentence.id], [block], heads, marginals, *asked, distribution.labels).each()[0]

    def batch(self, sentences: ScoredBatch, _: None) -> list[Doubted]:
        """Those of many sentences."""
        from deptree_cli.core.batches.blocks import alike  # loads kernels: when there is work

        trees, found = sentences.trees, dict[int, Doubted]()
        for some in alike(trees.lengths):
            blocks = [sentences.records[row].block for row in some.rows]
            heads = np.array([_heads(block, some.n) for block in blocks])
            names = [sentences.records[row].sent_id for row in some.rows]
            asked = partial(_entropies, trees, some.rows), partial(trees.log_probs, some.rows, heads, trees.sums[0])
            these = Annotated(self, names, blocks, heads, some.of_arcs(trees.marginals), *asked)
            found.update(zip(some.rows.tolist(), these.each(), strict=True))
        return [found[row] for row in range(len(trees.lengths))]


def _entropies(trees: TreeBatch, rows: Int) -> Float:
    return trees.entropies[rows]


def _heads(block: Block | None, n: int) -> Heads:
    return block.known_heads if block else np.full(n, -1, dtype=np.int32)
