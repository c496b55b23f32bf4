"""Marginals of a sentence as all formats have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deptree_cli.cli.arc_rows import arc_rows, labelled_rows
from deptree_cli.core.dtypes import Float
from deptree_cli.core.head_sets import head_sets
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.io.conllu.misc import probability
from deptree_cli.io.conllu.trees import Style, rounded
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.layout import from_head_dep, layout_fields
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence


@dataclass(frozen=True, eq=False)
class ArcMarginals:
    """The marginals of a sentence.

    Attributes:
        arcs: (n+1, n+1).
        labelled: of arcs with labels, (n+1, n+1, L), if there are labels.
        estimate: what they are from, if they are shares of drawn trees that obey.
        acceptance: the share of drawn trees that obey, if so.
        limit: the threshold of sets of heads, if these are asked for.
        above: the limit of rows of arcs, if JSON Lines have these.
    """

    sentence: ScoredSentence
    arcs: Float
    labelled: Float | None
    estimate: MonteCarloEstimate | None = None
    acceptance: float | None = None
    limit: float | None = None
    above: float | None = None

    @property
    def head_sets(self) -> list[list[int]] | None:
        """The set of heads of each word, if these are asked for."""
        return None if self.limit is None else head_sets(self.arcs, self.limit)

    def arrays(self) -> list[tuple[str, Float, str]]:
        """The marginals with the shape and orientation read, of labels that have scores, and their standard errors."""
        sentence, labels, found = self.sentence, self.sentence.distribution.labels, self.arcs
        if labels is not None and self.labelled is not None:
            found = self.labelled[..., : len(labels.scored)]
        return [(sentence.record.key or sentence.id, _as_read(sentence, found), "")]

    def rows(self) -> Iterator[Row]:
        """A row for each arc, or for each label of an arc."""
        sentence, above = self.sentence, self.above or 0.0
        names, block = sentence.distribution.labels, sentence.record.block
        if names is None or self.labelled is None:
            return arc_rows(sentence.id, block, self.arcs, above)
        return labelled_rows(sentence.id, block, self.labelled, names.names, above)

    def to_jsonl(self) -> bytes:
        """A line of JSON, rows in the orientation read; or a line for each arc."""
        if self.above is not None:
            return b"".join(map(dump, self.rows()))
        sentence, estimate = self.sentence, self.estimate
        row: dict[str, object] = {"sent_id": sentence.id, "n": sentence.distribution.n}
        if sentence.distribution.labels:
            row["labels"] = sentence.distribution.labels.names
        row |= layout_fields(sentence.interpretation.layout, sentence.record.scores.shape)
        row["marginals"] = _as_read(sentence, self.arcs if self.labelled is None else self.labelled).tolist()
        if self.head_sets is not None:
            row["head_sets"] = self.head_sets
        if estimate is None:
            return dump(row)
        if estimate.standard_errors is not None:
            row["standard_errors"] = _as_read(sentence, estimate.standard_errors).tolist()
        row["iterations"] = estimate.iterations
        if self.acceptance is not None:
            row["acceptance"] = rounded(self.acceptance)
        return dump(row)

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
    """The marginals of one of many sentences, with the shape and orientation read."""

    record: Sentence
    n: int
    layout: dict[str, str]
    matrix: Float

    def arrays(self) -> list[tuple[str, Float, str]]:
        """See `ArcMarginals`."""
        return [(self.record.key or self.record.sent_id, self.matrix, "")]

    def to_jsonl(self) -> bytes:
        """See `ArcMarginals`."""
        return dump({"sent_id": self.record.sent_id, "n": self.n, **self.layout, "marginals": self.matrix.tolist()})


def _comments(sentence: ScoredSentence) -> list[str]:
    comments = [f"# entropy = {sentence.distribution.entropy():.6f}"]
    heads = sentence.record.sentence.heads
    tree = np.array([[-1 if head is None else head for head in heads]], dtype=np.int32)
    log_prob = float(sentence.distribution.log_probs(tree)[0])
    if np.isfinite(log_prob):
        comments = [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {probability(np.exp(log_prob), 6)}", *comments]
    return comments


def _as_read(sentence: ScoredSentence, matrix: Float) -> Float:
    """A matrix of arcs, or of arcs with labels, with the shape and orientation read."""
    how, shape = sentence.interpretation, sentence.record.scores.shape
    if matrix.ndim == 2:
        return from_head_dep(matrix, how.layout, shape)
    joint = how.layout.labels is not None
    return from_head_dep(matrix, how.label_layout, shape if joint else (*shape, matrix.shape[-1]))
