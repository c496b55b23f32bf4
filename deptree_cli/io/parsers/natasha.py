"""Natasha: Slovnet's biaffine parser for Russian, with the model and embeddings that the package natasha brings along.

Only NumPy runs. Natasha itself is not imported: its morphology (pymorphy2, which wants the pkg_resources of an old
setuptools) has no part in the scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.io.parsers import Scores, Token, Word, spaced

EMBEDDING = "data/emb/navec_news_v1_1B_250K_300d_100q.tar"
SYNTAX = "data/model/slovnet_syntax_news_v1.tar"

Float = NDArray[np.float32]


def load() -> Natasha:
    from navec import Navec
    from slovnet import Syntax

    syntax = Syntax.load(_packaged(SYNTAX))
    return Natasha(syntax.navec(Navec.load(_packaged(EMBEDDING))))


def _packaged(path: str) -> Path:
    spec = find_spec("natasha")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'natasha'")
    return Path(spec.submodule_search_locations[0], path)


class Natasha:
    """A `Splitter`."""

    def __init__(self, syntax: Any) -> None:
        self._encoder = syntax.infer.encoder
        self._model = syntax.infer.model
        self.labels: list[str] = list(syntax.infer.decoder.rels_vocab.items)

    def split(self, text: str) -> Iterable[list[Token]]:
        from razdel import sentenize, tokenize

        for sentence in sentenize(text):
            yield [Token(part.text, spaced(text, sentence.start + part.stop)) for part in tokenize(sentence.text)]

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logits (n, n+1), and (n, n+1, L): sentence by sentence, so that rounding does not depend on the batch."""
        encoded = (self._encoded([word.form for word in words]) for words in batch)
        return [(self._model.head(words)[0], self._labels(words[0]) if labelled else None) for words in encoded]

    def _encoded(self, forms: list[str]) -> Float:
        """The words as the convolutions see them, (1, n, dimensions)."""
        given = self._encoder.input([self._encoder.item(forms)])
        # a form `<pad>` is a word here too
        nothing_padded = np.zeros_like(given.pad_mask)
        encoded: Float = self._model.encoder(self._model.emb(given.word_id, given.shape_id), nothing_padded)
        return encoded

    def _labels(self, words: Float) -> Float:
        """Logits of each word's labels under each head, (n, n+1, L); the model itself asks for its best heads only."""
        rel = self._model.rel
        heads = rel.head(np.vstack([rel.root.array[None], words])) @ rel.kernel.array
        by_label = heads.reshape(len(words) + 1, len(self.labels), -1)
        logits: Float = np.einsum("jlh,ih->ijl", by_label, rel.tail(words), optimize=True)
        return logits
