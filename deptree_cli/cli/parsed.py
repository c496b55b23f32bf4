"""The work of ``deptree hpyp parse`` on one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.cli.parser_options import Sentence
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.hpyp.accuracy import Accuracy
from deptree_cli.core.hpyp.annotated import UNKNOWN
from deptree_cli.core.hpyp.score_matrices import ScoreKind
from deptree_cli.io.conllu.trees import Note, Style, Tags, Trees, to_conllu, to_jsonl
from deptree_cli.io.hpyp.trees import deprels_by_name, tags_by_name
from deptree_cli.kernels.text.columns import NO_HEAD

if TYPE_CHECKING:
    from deptree_cli.core.hpyp.parsing import Filtered  # loads kernels


@dataclass(frozen=True)
class ParseSettings:
    """What is to be found of each sentence.

    Attributes:
        particles, predicts_tags: as in `ParserOptions`.
        beam: the size of a beam, None for the search by particles.
        size: how many trees to draw, None for the best one.
        kind: of scores that are wanted, None for none.
        calibrated: whether the probabilities of arcs are wanted.
        fmt, style: of the output.
    """

    particles: int
    predicts_tags: bool
    beam: int | None
    size: int | None
    kind: ScoreKind | None
    calibrated: bool
    fmt: str
    style: Style

    @property
    def filters(self) -> bool:
        """Whether anything is asked for that comes from a particle filter."""
        return bool(self.size or self.kind or self.calibrated)


class Compared(NamedTuple):
    """A tree compared with the known one.

    Attributes:
        accuracy: counts.
        probs, right: the probabilities of heads (none if not asked for), and which are right.
        unseen_labels, unseen_tags: of the known tree, those that the parser does not know, as often as they are there;
            tags only if they were predicted.
    """

    accuracy: Accuracy
    probs: Float
    right: Bool
    unseen_labels: tuple[str, ...]
    unseen_tags: tuple[str, ...]


class Parsed(NamedTuple):
    """What was found of a sentence: bytes to write, scores (n+1, n+1) with the words, and how the tree compares.

    Attributes:
        notices: what the user must hear of its scores.
    """

    sent_id: str
    chunk: bytes
    scores: Float | None
    forms: tuple[str, ...]
    compared: Compared | None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ParseSentence:
    """The work on one sentence; it travels to worker processes."""

    trained: Any
    task: ParseSettings

    def __call__(self, sentence: Sentence, rng: np.random.Generator) -> Parsed:
        """The sentence's trees, and its scores if they are wanted."""
        from deptree_cli.core.hpyp.parsing import filtered  # loads kernels: when there is work

        task, found, known = self.task, None, sentence.annotated
        if task.filters:
            found = filtered(self.trained, known, rng, task.particles, task.predicts_tags, task.size or 0)
        trees = self._drawn(sentence, found) if task.size and found else self._best(sentence)
        chunk = to_conllu(trees, task.style) if task.fmt == "conllu" else to_jsonl(trees, ranked=bool(task.size))
        notices: list[str] = []
        scores = task.kind.function(found.marginals, notify=notices.append) if task.kind and found else None
        compared = _compared(sentence, trees, found.marginals if found else None) if sentence.gold else None
        return Parsed(trees.sent_id, chunk, scores, known.forms, compared, tuple(notices))

    def _best(self, sentence: Sentence) -> Trees:
        """The best tree that is found."""
        from deptree_cli.core.hpyp.parsing import parse

        task, symbols = self.task, self.trained.symbols
        best = parse(self.trained, sentence.annotated, task.particles, task.predicts_tags, task.beam)
        labels = np.array([[symbols.label_numbers[label] for label in best.deprels]], dtype=np.int32)
        tags = self._tags(np.array([[symbols.tags.id(tag) for tag in best.tags]], dtype=np.int32))
        notes = [Note("log_prob", "derivation_logprob", [best.log_prob], "{:.6f}")]
        heads = best.heads[None]
        deprels = deprels_by_name(symbols, heads, labels)
        return Trees(sentence.annotated.sent_id, sentence.block, heads, notes, deprels=deprels, tags=tags)

    def _drawn(self, sentence: Sentence, found: Filtered) -> Trees:
        """Trees drawn by weight."""
        heads = found.heads[found.drawn]
        closing = [
            Note("effective_size", "effective_size", [found.effective_size], "{:.2f}"),
            Note("particles", "particles", [self.task.particles]),
        ]
        return Trees(
            sentence.annotated.sent_id,
            sentence.block,
            heads,
            [],
            closing,
            deprels_by_name(self.trained.symbols, heads, found.deprels),
            self._tags(found.tags[found.drawn]),
        )

    def _tags(self, tags: Heads) -> Tags | None:
        """Tags that were predicted, (k, n) numbers, as they are written."""
        if not self.task.predicts_tags:
            return None
        return tags_by_name(self.trained.symbols, self.trained.progress.tagset, tags)


def _compared(sentence: Sentence, trees: Trees, marginals: Float | None) -> Compared | None:
    """A single tree beside the known one."""
    gold, heads = sentence.gold, trees.heads[0]
    if gold is None or trees.deprels is None:
        return None
    labels = [trees.deprels.names[label] for label in trees.deprels.index[0]]
    tags = [trees.tags.names[tag] for tag in trees.tags.index[0]] if trees.tags else []
    known = gold.heads != NO_HEAD
    probs = np.empty(0) if marginals is None else marginals[heads, np.arange(1, len(heads) + 1)][known]
    unseen_labels = _unseen(gold.deprels, trees.deprels.names)
    unseen_tags = _unseen(gold.tags, trees.tags.names) if trees.tags else ()
    accuracy = Accuracy.of(gold, heads, labels, tags)
    return Compared(accuracy, probs, (heads == gold.heads)[known], unseen_labels, unseen_tags)


def _unseen(symbols: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(symbol for symbol in symbols if symbol != UNKNOWN and symbol not in names)
