"""What a reader of a score file hands on, before anybody knows the layout or the sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError


@dataclass(frozen=True, slots=True)
class ReadSpec:
    """What a reader has to know of the matrices.

    Attributes:
        dimensions: of one matrix; 3 with an axis of labels.
        forbidden: the score that JSON's null stands for.
        pairs: whether they are of sentence pairs, which have the words of two sentences beside them.
    """

    dimensions: int = 2
    forbidden: float = -np.inf
    pairs: bool = False


@dataclass(slots=True, eq=False)  # not frozen, which costs a microsecond a sentence
class RawScores:
    """One sentence's scores as read.

    Attributes:
        key: the .npz key or the JSON field ``sent_id``; None where the container has no names.
        scores: any number type, shape, orientation and ROOT place, as in the file.
        place: where it was read, for messages.
        padded: True for one slice of a batch whose own length is not known yet.
        forms: the words, where the container has them; of a sentence pair `pair` instead, source and target.
        length: how many words the scores are to be cut to, where a file of lengths says so; None to leave them whole.
    """

    key: str | None
    scores: Array
    place: str
    padded: bool = False
    forms: tuple[str, ...] = ()
    length: int | None = None
    pair: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    @property
    def names(self) -> Sequence[str]:
        """Its name, if it has one."""
        return () if self.key is None else (self.key,)


# A bad sentence is handed on, not raised, so that `--on-error skip` can go on behind it.
Raw = RawScores | DeptreeError

# A container with names is a mapping that loads an entry when it is asked for.
Source = Mapping[str, RawScores] | Iterable[Raw]


def numeric(dtype: np.dtype[Any]) -> bool:
    """Whether scores may have this type: booleans, integers and floats."""
    return dtype.kind in "biuf"
