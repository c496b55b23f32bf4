"""SuPar 1.1: its biaffine and its first-order CRF dependency parsers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.parsers import Scores, Word

_EDGE_FACTORED = ("biaffine-dependency", "crf-dependency")
_TRUST = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"


def load(model: str) -> Supar:
    """A model by name, which SuPar downloads if it must, or by file; such files hold code, so it must be trusted."""
    from supar import Parser
    from supar.utils.transform import Batch

    with _trusting():
        return Supar(Parser.load(model), Batch)


@contextmanager
def _trusting() -> Iterator[None]:
    """Torch 2.6 and newer load no code unless told to, and SuPar does not tell it."""
    before = os.environ.get(_TRUST)
    os.environ[_TRUST] = "1"
    try:
        yield
    finally:
        os.environ.pop(_TRUST)
        if before is not None:
            os.environ[_TRUST] = before


class Supar:
    """An `Adapter`."""

    def __init__(self, parser: Any, to_batch: Callable[..., Any]) -> None:
        if parser.NAME not in _EDGE_FACTORED:
            problem = f"{parser.NAME} is not a parser that scores single arcs"
            raise DeptreeError(problem, f"Choose a model of {' or '.join(_EDGE_FACTORED)}")
        self._model = parser.model.requires_grad_(False).eval()
        self._transform = parser.transform
        self._transform.eval()
        self._to_batch = to_batch
        self.labels: list[str] = list(parser.REL.vocab.itos)

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logits (n+1, n+1), and (n+1, n+1, L)."""
        sentences = self._transform.load([[(word.form, word.lemma, word.upos) for word in words] for words in batch])
        self._transform(sentences)
        words, _, *features = self._to_batch(sentences)
        arcs, labels = (scores.cpu().numpy() for scores in self._model(words, features))
        sizes = [len(words) + 1 for words in batch]
        return [
            (arcs[row, :size, :size], labels[row, :size, :size] if labelled else None) for row, size in enumerate(sizes)
        ]
