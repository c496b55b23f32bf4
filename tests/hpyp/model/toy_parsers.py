"""Small parsers with symbols of their own: `toy_models.Toy` as `Trained`, and their sentences as `Annotated`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deptree_cli.hpyp.model.sentences import Annotated
from deptree_cli.hpyp.model.training import Progress, Trained
from deptree_cli.hpyp.model.unknown import Lexicon, Symbols, Vocabulary
from tests.hpyp.kernels.toy_models import FIRST, Toy


def names(letter: str, size: int) -> tuple[str, ...]:
    """The symbols of the numbers from 2 on."""
    return tuple(f"{letter}{number}" for number in range(FIRST, size))


def trained_of(toy: Toy) -> Trained:
    """A toy as a parser: words are w2, w3, ..., tags t2, t3, ..., labels l0, l1, ..."""
    lexicon = Lexicon(Vocabulary(names("w", toy.words) if toy.lexicalised else ()))
    labels = tuple(f"l{number}" for number in range(toy.labels))
    symbols = Symbols(lexicon, Vocabulary(names("t", toy.tags)), labels, toy.contexts)
    found = Trained(symbols, (), Progress(0, "static", "upos", "", 0, 0))
    vars(found)["model"] = toy.model  # what is cached there is made of the processes otherwise
    return found


def sentence_of(
    words: Sequence[int], tags: Sequence[int], tree: Sequence[tuple[int, int]] = (), sent_id: str = "toy"
) -> Annotated:
    """A sentence of a toy's words and tags; tree: head and label (from 1) of every word, nothing if it is not known."""
    n = len(words)
    heads = np.array([head for head, _ in tree] or [-1] * n, dtype=np.int32)
    deprels = tuple(f"l{label - 1}" for _, label in tree) or ("_",) * n
    forms, tagged = tuple(f"w{word}" for word in words), tuple(f"t{tag}" for tag in tags)
    return Annotated(sent_id, "", forms, tagged, heads, deprels)
