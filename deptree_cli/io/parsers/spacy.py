"""The biaffine parser for spaCy: of spacy-biaffine-parser, and of spacy-experimental, where it comes from.

The components are the same but for their names (`arc_predicter`, `arc_labeler`; formerly with `experimental_`) and for
how the predicter is given sentences: a document's sentence lengths each by itself, or all lengths in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.parsers import Scores, Token, Word, spaced

PREDICTER, LABELER = "arc_predicter", "arc_labeler"
EXPERIMENTAL = "experimental_"

_PACKAGES = ("spacy_biaffine_parser", "spacy_experimental")


def load(model: str) -> Spacy:
    """An installed pipeline by name, or one in a folder."""
    import spacy
    from spacy.tokens import Doc

    _registered()
    return Spacy(spacy.load(model), Doc)


def _registered() -> None:
    """Import the packages with the components, whichever are installed, which makes them known to spaCy."""
    failed: list[ImportError] = []
    for package in _PACKAGES:
        try:
            import_module(package)
        except ImportError as error:
            failed.append(error)
    if len(failed) == len(_PACKAGES):
        raise failed[0]


class Spacy:
    """A `Splitter`."""

    def __init__(self, pipeline: Any, to_doc: Callable[..., Any]) -> None:
        by_factory = {factory: name for name, factory in pipeline.pipe_factories.items()}
        prefix = next((prefix for prefix in ("", EXPERIMENTAL) if prefix + PREDICTER in by_factory), None)
        if prefix is None:
            problem = f"the pipeline has no component {PREDICTER} or {EXPERIMENTAL}{PREDICTER}"
            raise DeptreeError(problem, "Choose one with a biaffine parser")
        predicter, labeler_name = by_factory[prefix + PREDICTER], by_factory.get(prefix + LABELER)
        self._lengths_by_doc = not prefix
        self._pipeline = pipeline
        self._to_doc = to_doc
        names = list(pipeline.pipe_names)
        self._before = [pipeline.get_pipe(name) for name in names[: names.index(predicter)]]
        self._arcs = pipeline.get_pipe(predicter).model
        labeler = pipeline.get_pipe(labeler_name) if labeler_name else None
        self._labels: Any = labeler and labeler.model
        self.labels: list[str] | None = list(labeler.labels) if labeler else None

    def split(self, text: str) -> Iterable[list[Token]]:
        """Sentences and tokens by what stands in the pipeline before the parser; spaCy's tokens of space go."""
        for sentence in self._prepared(self._pipeline.make_doc(text)).sents:
            yield [
                Token(token.text, spaced(text, token.idx + len(token.text))) for token in sentence if not token.is_space
            ]

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logits (n, n), those of ROOT on the diagonal, and (n, n, L)."""
        docs = [self._prepared(self._doc(words)) for words in batch]
        lengths = np.array([len(words) for words in batch], dtype=np.int32)
        starts = np.cumsum(lengths) - lengths
        labels = self._label_rows(docs, starts, lengths) if labelled else None
        return [
            (arcs, None if labels is None else labels[start : start + n, :n])
            for arcs, start, n in zip(self._squares(docs, lengths), starts, lengths, strict=True)
        ]

    def _squares(self, docs: list[Any], lengths: Array) -> list[Array]:
        """The arc logits (n, n) of each sentence, every document being one."""
        ops = self._arcs.ops
        if self._lengths_by_doc:
            by_doc = [np.array([length], dtype=np.int32) for length in lengths]
            return [ops.to_numpy(square) for square in self._arcs.predict((docs, by_doc))]
        rows = ops.to_numpy(self._arcs.predict((docs, ops.asarray1i(lengths))))
        ends = np.cumsum(lengths)
        return [rows[end - n : end, :n] for end, n in zip(ends, lengths, strict=True)]

    def _doc(self, words: list[Word]) -> Any:
        forms, spaces = [word.form for word in words], [word.space_after for word in words]
        starts = [number == 0 for number in range(len(words))]
        return self._to_doc(self._pipeline.vocab, words=forms, spaces=spaces, sent_starts=starts)

    def _prepared(self, doc: Any) -> Any:
        for component in self._before:
            doc = component(doc)
        return doc

    def _label_rows(self, docs: list[Any], starts: Array, lengths: Array) -> Array:
        """Logits (words of all, longest, L): the labeler is asked for every word under one head after the other, the
        word itself meaning ROOT.
        """
        ops = self._labels.ops
        first, last = np.repeat(starts, lengths), np.repeat(starts + lengths - 1, lengths)
        # beyond the end of a sentence its last word stands in for a head
        heads = (np.minimum(first + head, last).astype(np.int32) for head in range(lengths.max()))
        return np.stack([ops.to_numpy(self._labels.predict((docs, ops.asarray1i(each)))) for each in heads], axis=1)
