"""Lists of labels as rules give them: which labels they name, and what is kept of that from sentence to sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Bool, read_only
from deptree_cli.core.labels import ROOT

Value = TypeVar("Value")

# In a list of labels, in front of one that is meant not to be among them.
NOT = "!"

# Around an entry of such a list that is a pattern of labels.
PATTERN = "/"


@lru_cache(4096)  # sentences of a file have the same labels
def labels_named(wanted: tuple[str, ...], labels: tuple[str, ...]) -> Bool:
    """Which labels (L,), read-only, a list names: with their subtypes where it says none; all but ``!these`` if it has
    only such. ``/[a-z]+/`` is a pattern of whole labels.

    ``root`` is named by itself only: it stands on arcs from ROOT whatever is asked. A label without a name never is.
    """
    return read_only(np.array([_is_meant(label, wanted) for label in labels], dtype=np.bool_))


@lru_cache(1 << 16)  # sentences of a treebank have other labels each, and the same few
def _is_meant(label: str, wanted: tuple[str, ...]) -> bool:
    """Whether a list names a label."""
    denied = [each.removeprefix(NOT) for each in wanted if each.startswith(NOT)]
    given = [each for each in wanted if not each.startswith(NOT)]
    named = any(_is(label, each) for each in given) if given else label not in ("", ROOT)
    return named and not any(_is(label, each) for each in denied)


@lru_cache(4096)
def numbers_named(wanted: tuple[str, ...], labels: tuple[str, ...]) -> frozenset[int]:
    """The numbers of these labels."""
    return frozenset(np.flatnonzero(labels_named(wanted, labels)).tolist())


class ForLabels(Generic[Value]):
    """What follows from labels, kept until there are others: those of the sentences of a score file are the same."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[str, ...], Value] | None = None

    def get(self, labels: tuple[str, ...], make: Callable[[], Value]) -> Value:
        """What was made of the same labels, else what is made now."""
        kept = self._kept
        if kept is None or kept[0] != labels:
            kept = self._kept = labels, make()  # both at once: threads share them
        return kept[1]


class LabelNumbers:
    """Numbers of labels that stay what they are from sentence to sentence, up to so many labels."""

    MOST = 500

    def __init__(self) -> None:
        self._kept: tuple[dict[str, int], tuple[str, ...]] = {}, ()

    def of(self, labels: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
        """The names of labels, among which these are, and the number of each of these."""
        known, names = self._kept
        if new := [label for label in dict.fromkeys(labels) if label not in known]:
            names = (*(names if len(names) + len(new) <= self.MOST else labels), *new)
            names = tuple(dict.fromkeys(names))
            known = {name: number for number, name in enumerate(names)}
            self._kept = known, names  # both at once: threads share them
        return names, [known[label] for label in labels]


def pattern_in(wanted: str) -> str | None:
    """The pattern that an entry of a list of labels is; None where it is a label."""
    inner = wanted[len(PATTERN) : -len(PATTERN)]
    return inner if inner and wanted.startswith(PATTERN) and wanted.endswith(PATTERN) else None


def _is(label: str, wanted: str) -> bool:
    """Whether a label is the wanted one, a subtype of one that is wanted without, or matches a pattern."""
    if (pattern := pattern_in(wanted)) is not None:
        return label != ROOT and re.fullmatch(pattern, label) is not None
    return label == wanted or (":" not in wanted and label.partition(":")[0] == wanted)
