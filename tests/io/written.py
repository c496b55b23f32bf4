"""Score files as commands write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from deptree_cli.io.encoders import SCORES, encoder_of
from deptree_cli.io.encoders.arrays import SentenceScores
from deptree_cli.io.encoders.base import Encoder, Page
from deptree_cli.io.scores.meta import NOTHING, Meta


def format_for(path: str | None) -> Encoder:
    """The format that a name asks for."""
    return encoder_of(None, path, (SCORES,), "jsonl")


@contextmanager
def write_scores(path: str | None, meta: Meta = NOTHING) -> Iterator[Callable[..., object]]:
    """What writes a sentence's name, scores and words into a file."""
    with format_for(path).open(path, Page(meta.signature)) as write:
        yield lambda *sentence: write(SentenceScores(*sentence))
