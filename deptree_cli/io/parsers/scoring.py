"""A parser's scores of sentences as they come, batch by batch, each checked against what its preset promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.parsers import PARSERS, Adapter, Parser, Scores, Splitter
from deptree_cli.io.parsers.sentences import Sentence, Split, Token
from deptree_cli.io.scores.layout import PRESETS, words_in


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its scores.

    Attributes:
        scores: of arcs, in the shape of the parser's preset.
        labels: of labels given the head, one axis more; None where nobody asked.
    """

    sentence: Sentence
    scores: Array
    labels: Array | None


def splitter(parser: Parser, adapter: Adapter) -> Split | None:
    """What cuts a paragraph into sentences, None where the parser cannot."""
    if not parser.splits:
        return None
    by_parser = cast(Splitter, adapter)

    def split(text: str) -> list[list[Token]]:
        with parser.at_work("splitting the text"):
            return list(by_parser.split(text))

    return split


@dataclass(frozen=True)
class Batch:
    """Sentences that a parser scores together, at least one; a batch goes by the name of its first."""

    sentences: list[Sentence]
    place: str
    weight = 0

    @property
    def sent_id(self) -> str:
        return self.sentences[0].sent_id


def batches(sentences: Iterable[Sentence | DeptreeError], size: int, place: str) -> Iterator[Batch | DeptreeError]:
    """The sentences, `size` at a time, and what is wrong with others in between."""
    waiting: list[Sentence] = []
    for sentence in sentences:
        if isinstance(sentence, DeptreeError):
            yield sentence
            continue
        waiting.append(sentence)
        if len(waiting) == size:
            yield Batch(waiting, place)
            waiting = []
    if waiting:
        yield Batch(waiting, place)


@cache
def adapter_of(name: str, model: str | None) -> Adapter:
    """The adapter of a parser with its model, loaded once in every process that asks for it."""
    return PARSERS.get(name).load(model)


def score(parser: Parser, adapter: Adapter, batch: Batch, labelled: bool) -> list[Scored | DeptreeError]:
    """The sentences of a batch with their scores, or what is wrong with these."""
    sentences = batch.sentences
    with parser.at_work(f"sentence {batch.sent_id} or soon after"):
        results = adapter.scores([sentence.words for sentence in sentences], labelled)
    if len(results) != len(sentences):
        problem = f"{parser.name} left out {len(sentences) - len(results)} of {counted(len(sentences), 'sentence')}"
        raise DeptreeError(problem, "Leave out those too long for its model", sent_id=batch.sent_id)
    return [_scored(parser, *each) for each in zip(sentences, results, strict=True)]


def _scored(parser: Parser, sentence: Sentence, scores: Scores) -> Scored | DeptreeError:
    try:
        return Scored(sentence, _checked(scores[0], sentence, parser), scores[1])
    except DeptreeError as error:
        return error


def _checked(scores: Array, sentence: Sentence, parser: Parser) -> Array:
    n = len(sentence.words)
    try:
        got = words_in(scores.shape, PRESETS.get(parser.layout))
    except DeptreeError as error:
        raise error.at(sent_id=sentence.sent_id) from None
    if got != n:
        problem = f"{parser.name} gave scores of {counted(got, 'word')} for a sentence of {n}"
        raise DeptreeError(problem, "Shorten the sentence or leave it out", sent_id=sentence.sent_id)
    if np.isnan(scores).any() or np.isposinf(scores).any():
        problem = f"{parser.name} gave scores that are not numbers"
        raise DeptreeError(problem, "Check its model", sent_id=sentence.sent_id)
    return scores
