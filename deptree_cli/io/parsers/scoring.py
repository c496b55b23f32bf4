"""A parser's scores of sentences as they come, batch by batch, each held against what its preset promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.layout import words_in
from deptree_cli.io.parsers import Adapter, Parser, Splitter
from deptree_cli.io.parsers.sentences import Sentence, Split, Token
from deptree_cli.io.presets import PRESETS
from deptree_cli.io.raw import Array


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


def score(
    parser: Parser, adapter: Adapter, sentences: Iterable[Sentence], size: int, labelled: bool
) -> Iterator[list[Scored]]:
    """The sentences with their scores, `size` at a time.

    Raises:
        DeptreeError: the parser fails, or gives scores that are none.
    """
    rest = iter(sentences)
    while batch := list(islice(rest, size)):
        with parser.at_work(f"sentence {batch[0].sent_id} or soon after"):
            results = adapter.scores([sentence.words for sentence in batch], labelled)
        if len(results) != len(batch):
            problem = f"{parser.name} left out {len(batch) - len(results)} of {len(batch)} sentences"
            raise DeptreeError(problem, "Leave out those too long for its model", sent_id=batch[0].sent_id)
        yield [
            Scored(sentence, _checked(scores, sentence, parser), labels)
            for sentence, (scores, labels) in zip(batch, results, strict=True)
        ]


def _checked(scores: Array, sentence: Sentence, parser: Parser) -> Array:
    n = len(sentence.words)
    try:
        got = words_in(scores.shape, PRESETS[parser.name])
    except DeptreeError as error:
        raise error.at(sent_id=sentence.sent_id) from None
    if got != n:
        problem = f"{parser.name} gave scores of {got} words for a sentence of {n}"
        raise DeptreeError(problem, "Shorten the sentence or leave it out", sent_id=sentence.sent_id)
    if np.isnan(scores).any() or np.isposinf(scores).any():
        problem = f"{parser.name} gave scores that are not numbers"
        raise DeptreeError(problem, "Check its model", sent_id=sentence.sent_id)
    return scores
