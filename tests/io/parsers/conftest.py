"""What the tests of parsers share: words, and stand-ins for torch's tensors and modules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from deptree_cli.io.parsers import Word

SENTENCES = (("The", "cat", "sleeps", "."), ("No",), ("A", "very", "old", "man", "saw", "the", "sea"))


@pytest.fixture
def batch() -> list[list[Word]]:
    """Sentences of 4, 1 and 7 words, tagged."""
    return [[Word(form, form.lower(), "X", "Y") for form in forms] for forms in SENTENCES]


class Tensor(np.ndarray):
    """An array that can be asked for itself, as one on a GPU must be."""

    def cpu(self) -> Tensor:
        """Itself."""
        return self

    def numpy(self) -> np.ndarray:
        """Without the disguise."""
        return self.view(np.ndarray)


class Model(SimpleNamespace):
    """A torch module that remembers whether gradients and dropout were switched off."""

    def requires_grad_(self, flag: bool) -> Model:
        """Torch's switch of gradients."""
        self.gradients = flag
        return self

    def eval(self) -> Model:
        """Torch's switch of dropout."""
        self.dropout = False
        return self

    def get_device(self) -> str:
        """Where it lives."""
        return "cpu"

    def __call__(self, *given: Any) -> Any:
        return self.run(*given)


@pytest.fixture
def disguised() -> type[Model]:
    """The class of stand-in modules; called with ``run=`` what it computes."""
    return Model


def arc(sentence: int, dependent: int, head: int) -> float:
    """A score that says whose it is."""
    return 10_000 * sentence + 100 * dependent + head


@pytest.fixture
def padded() -> Any:
    """Scores of the batch's sentences, in any order of them, as a model gives them: (3, longest, longest[, labels]),
    NaN in the padding. Without a place for ROOT unless `root`.
    """

    def make(order: list[int], root: bool = True, labels: int = 0) -> Tensor:
        sizes = [len(forms) + root for forms in SENTENCES]
        scores = np.full((len(order), max(sizes), max(sizes), *[labels] * bool(labels)), np.nan, dtype=np.float32)
        for row, sentence in enumerate(order):
            for dependent in range(sizes[sentence]):
                for head in range(sizes[sentence]):
                    value = arc(sentence, dependent, head)
                    scores[row, dependent, head] = value + np.arange(labels) / 4 if labels else value
        return scores.view(Tensor)

    return make


@pytest.fixture
def expected() -> Any:
    """What comes out for the sentences 0, 1 and 2: (n+1, n+1[, labels]), or without ROOT (n, n[, labels])."""

    def make(root: bool = True, labels: int = 0) -> list[np.ndarray]:
        found = []
        for number, forms in enumerate(SENTENCES):
            size = np.arange(len(forms) + root)
            arcs = arc(number, size[:, None], size[None, :]).astype(np.float32)
            found.append(arcs[:, :, None] + np.arange(labels, dtype=np.float32) / 4 if labels else arcs)
        return found

    return make
