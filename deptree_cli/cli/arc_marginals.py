"""Marginals of a sentence: what is found, and what each format has of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.head_sets import head_sets
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.notes import probability
from deptree_cli.io.conllu.trees import Style, rounded
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.layout import from_head_dep, layout_fields
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence

COLUMNS = ("sent_id", "word", "form", "head", "head_form", "prob")
LABELLED = (*COLUMNS[:-1], "label", "prob")

ROOT = "ROOT"


def arc_rows(sent_id: str, block: Block | None, arcs: Float, above: float) -> Iterator[Row]:
    """Yield a row for each arc of a probability above a limit, by word and then by head.

    Args:
        block: the words; without them forms are None.
        arcs: (n+1, n+1).
    """
    words, heads = np.nonzero(above < arcs.T)
    forms = _forms(block, len(arcs))
    for word, head, prob in zip(words.tolist(), heads.tolist(), arcs[heads, words].tolist(), strict=True):
        yield dict(zip(COLUMNS, (sent_id, word, forms[word], head, forms[head], prob), strict=True))


def labelled_rows(
    sent_id: str, block: Block | None, arcs: Float, labels: tuple[str, ...], above: float
) -> Iterator[Row]:
    """Yield a row for each label of each arc of a probability above a limit.

    Args:
        arcs: (n+1, n+1, L).
    """
    by_word = arcs.swapaxes(0, 1)
    words, heads, numbers = np.nonzero(by_word > above)
    forms = _forms(block, len(arcs))
    probs = by_word[words, heads, numbers].tolist()
    for word, head, label, prob in zip(words.tolist(), heads.tolist(), numbers.tolist(), probs, strict=True):
        row = (sent_id, word, forms[word], head, forms[head], labels[label], prob)
        yield dict(zip(LABELLED, row, strict=True))


def _forms(block: Block | None, nodes: int) -> list[str | None]:
    """The forms of ROOT and of the words."""
    return [ROOT, *(block.column("form") if block else [None] * (nodes - 1))]


@dataclass(frozen=True, eq=False)
class ArcMarginals:
    """The marginals of a sentence.

    Attributes:
        arcs: (n+1, n+1).
        labelled: of arcs with labels, (n+1, n+1, L), if there are labels.
        estimate: what they are from, if they are shares of drawn trees that obey.
        acceptance: the share of drawn trees that obey, if so.
        limit: the threshold of sets of heads, if these are asked for.
    """

    sentence: ScoredSentence
    arcs: Float
    labelled: Float | None
    estimate: MonteCarloEstimate | None = None
    acceptance: float | None = None
    limit: float | None = None

    @property
    def head_sets(self) -> list[list[int]] | None:
        """The set of heads of each word, if these are asked for."""
        return None if self.limit is None else head_sets(self.arcs, self.limit)

    def rows(self, above: float | None) -> list[Row]:
        """A row for each arc, or for each label of an arc, of a probability above a limit."""
        sentence, labels, block = self.sentence, self.sentence.distribution.labels, self.sentence.record.block
        if labels is None or self.labelled is None:
            return list(arc_rows(sentence.id, block, self.arcs, above or 0.0))
        return list(labelled_rows(sentence.id, block, self.labelled, labels.names, above or 0.0))

    def in_json(self) -> MatrixAsRead:
        """The matrix, with all labels, and what is known of it."""
        labels, estimate = self.sentence.distribution.labels, self.estimate
        layout = layout_fields(self.sentence.interpretation.layout, self.sentence.record.scores.shape)
        before: dict[str, Any] = {"n": self.sentence.distribution.n} | ({"labels": labels.names} if labels else {})
        behind: dict[str, Any] = {} if self.limit is None else {"head_sets": self.head_sets}
        if estimate is not None:
            if estimate.standard_errors is not None:
                behind["standard_errors"] = self._as_read(estimate.standard_errors).tolist()
            behind |= {"iterations": estimate.iterations, "acceptance": rounded(self.acceptance or 0.0)}
        found = self._as_read(self.arcs if self.labelled is None else self.labelled)
        return MatrixAsRead(self.sentence.record, found, before | layout, behind)

    def in_arrays(self) -> MatrixAsRead:
        """The matrix alone, with the labels that have scores."""
        labels, found = self.sentence.distribution.labels, self.arcs
        if labels is not None and self.labelled is not None:
            found = self.labelled[..., : len(labels.scored)]
        return MatrixAsRead(self.sentence.record, self._as_read(found))

    def _as_read(self, matrix: Float) -> Float:
        """A matrix of arcs, or of arcs with labels, with the shape and orientation read."""
        how, shape = self.sentence.interpretation, self.sentence.record.scores.shape
        if matrix.ndim == 2:
            return from_head_dep(matrix, how.layout, shape)
        joint = how.layout.labels is not None
        return from_head_dep(matrix, how.layout.labelled, shape if joint else (*shape, matrix.shape[-1]))

    def to_conllu(self, _: Style) -> bytes:
        """The sentence as it is, with HeadProb (and LabelProb) in MISC, comments on its tree and its distribution."""
        block = self.sentence.record.sentence
        comments = [] if self.estimate else _comments(self.sentence)
        return block.with_misc(self._probs(block.heads, block.deprels), comments)

    def _probs(self, heads: list[int | None], deprels: list[str]) -> dict[int, str]:
        """The notes in MISC of the words that have a HEAD; all words have a set of heads."""
        labels, sets = self.sentence.distribution.labels, self.head_sets or []
        misc = {word: f"HeadSet={','.join(map(str, heads))}" for word, heads in enumerate(sets, 1)}
        for word, (head, deprel) in enumerate(zip(heads, deprels, strict=True), 1):
            if head is not None:
                prob = f"HeadProb={probability(self.arcs[head, word])}"
                misc[word] = f"{prob}|{misc[word]}" if word in misc else prob
                if labels and self.labelled is not None and deprel in labels.names:
                    given = self.labelled[head, word, labels.names.index(deprel)]
                    misc[word] += f"|LabelProb={probability(given)}"
        return misc


@dataclass(frozen=True, eq=False, slots=True)
class MatrixAsRead:
    """A matrix of marginals with the shape and orientation read.

    Attributes:
        before, behind: fields of a line of JSON on its two sides.
    """

    record: Sentence
    matrix: Float
    before: Mapping[str, Any] = field(default_factory=dict)
    behind: Mapping[str, Any] = field(default_factory=dict)

    def arrays(self) -> list[tuple[str, Float, str]]:
        """The matrix under the name that its scores have."""
        return [(self.record.key or self.record.sent_id, self.matrix, "")]

    def to_jsonl(self) -> bytes:
        """A line of JSON, rows in the orientation read."""
        marginals = {"marginals": self.matrix.tolist()}
        return dump({"sent_id": self.record.sent_id, **self.before, **marginals, **self.behind})


def _comments(sentence: ScoredSentence) -> list[str]:
    comments = [f"# entropy = {sentence.distribution.entropy():.6f}"]
    heads = sentence.record.sentence.heads
    tree = np.array([[-1 if head is None else head for head in heads]], dtype=np.int32)
    log_prob = float(sentence.distribution.log_probs(tree)[0])
    if np.isfinite(log_prob):
        comments = [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {probability(np.exp(log_prob), 6)}", *comments]
    return comments
