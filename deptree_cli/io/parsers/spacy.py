"""The biaffine parser of spacy-experimental: the components experimental_arc_predicter and experimental_arc_labeler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.parsers import Scores
from deptree_cli.io.parsers.sentences import Token, Word, spaced

PREDICTER, LABELER = "experimental_arc_predicter", "experimental_arc_labeler"


def load(model: str) -> Spacy:
    """An installed pipeline by name, or one in a folder."""
    import spacy
    import spacy_experimental  # noqa: F401 (registers the components)
    from spacy.tokens import Doc

    return Spacy(spacy.load(model), Doc)


class Spacy:
    """See `deptree_cli.io.parsers.Splitter`.

    Args:
        pipeline: a `spacy.Language` with an arc predicter.
        to_doc: spaCy's class Doc.
    """

    def __init__(self, pipeline: Any, to_doc: Callable[..., Any]) -> None:
        by_factory = {factory: name for name, factory in pipeline.pipe_factories.items()}
        if PREDICTER not in by_factory:
            raise DeptreeError(f"the pipeline has no component {PREDICTER}", "Choose one of a biaffine parser")
        self._pipeline = pipeline
        self._to_doc = to_doc
        names = list(pipeline.pipe_names)
        self._before = [pipeline.get_pipe(name) for name in names[: names.index(by_factory[PREDICTER])]]
        self._arcs = pipeline.get_pipe(by_factory[PREDICTER]).model
        labeler = pipeline.get_pipe(by_factory[LABELER]) if LABELER in by_factory else None
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
        ops = self._arcs.ops
        rows = ops.to_numpy(self._arcs.predict((docs, ops.asarray1i(lengths))))
        starts = np.cumsum(lengths) - lengths
        labels = self._label_rows(docs, starts, lengths) if labelled else None
        return [
            (rows[start : start + n, :n], None if labels is None else labels[start : start + n, :n])
            for start, n in zip(starts, lengths, strict=True)
        ]

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
