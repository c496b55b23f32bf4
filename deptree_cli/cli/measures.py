"""What measured sentences come to: means of groups beside their baselines, and what two groups differ by."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.measure_groups import FILE, LABEL, By
from deptree_cli.cli.measured import RANDOM_TREES, TREES, Column, Measured, by_label
from deptree_cli.cli.measuring import of_labels
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted_thousands
from deptree_cli.core.evaluation.treebank import Means, Numbers, Question
from deptree_cli.core.measures.register import SMALLEST, SMALLEST_PLANAR
from deptree_cli.core.nearest import did_you_mean, one_of
from deptree_cli.core.streams import stream_of
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.pictures.lengths import Curve, lengths_svg

COLUMNS = (
    *("group", "quantity", "of", "sentences", "mean", "low", "high"),
    *("difference", "difference_low", "difference_high", "p", "sd", "error"),
)

# How a difference of two groups is called.
LESS = "{} - {}"

# What a picture leaves out, for it is nearly the same as the smallest sum of projective orders.
_ALIKE = (SMALLEST, SMALLEST_PLANAR)

# Sentences that are in no group.
_NONE = "(none)"


@dataclass(frozen=True)
class Settings:
    """How means are found.

    Attributes:
        by: what sentences are grouped by; None: all are one group.
        compare: two groups.
        resamples, confidence, seed: of intervals and tests.
    """

    by: By | None
    compare: tuple[str, str] | None
    resamples: int
    confidence: float
    seed: int

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same means."""
        compared = " - ".join(self.compare) if self.compare else None
        return {"compare": compared, "confidence": self.confidence, "resamples": self.resamples, "seed": self.seed}


class _Group:
    """The numbers of a group as they come, packed: those of sentences, or sums over arcs and how many there are.

    Args:
        columns: what numbers there are of.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._with_sd = [at for at, column in enumerate(columns) if column.has_sd]
        self._with_error = [at for at, column in enumerate(columns) if column.has_error]
        self._values, self._sds, self._errors = (array("d") for _ in range(3))
        self._counts, self._lengths = array("q"), array("q")
        self.size = 0

    def add(self, measured: Measured) -> None:
        """Add those of a sentence."""
        found, number = measured.of, measured.number
        self._values.frombytes(found.means[number].tobytes())
        self._sds.frombytes(found.sds[number, self._with_sd].tobytes())
        self._errors.frombytes(found.errors[number, self._with_error].tobytes())
        self._lengths.append(int(found.trees.lengths[number]))
        self.size += 1

    def add_arcs(self, sums: Float, count: int) -> None:
        """Add sums over so many arcs of a sentence."""
        self._values.frombytes(sums.tobytes())
        self._counts.append(count)
        self.size += count

    def numbers(self) -> Numbers:
        """All of them."""
        values = np.frombuffer(self._values).reshape(-1, len(self._columns))
        if self._counts:
            below = np.broadcast_to(np.array(self._counts, dtype=np.float64)[:, None], values.shape)
            unknown = np.full(values.shape, np.nan)
            return Numbers(values, below, unknown, unknown, np.zeros(len(values), dtype=np.int64))
        known = ~np.isnan(values)
        sds, errors = (np.full(values.shape, np.nan) for _ in range(2))
        sds[:, self._with_sd] = np.frombuffer(self._sds).reshape(len(values), -1)
        errors[:, self._with_error] = np.frombuffer(self._errors).reshape(len(values), -1)
        lengths = np.array(self._lengths, dtype=np.int64)
        return Numbers(np.where(known, values, 0.0), known.astype(np.float64), sds, errors, lengths)


class Treebank(Fold[Measured]):
    """Keeps the numbers of all sentences, and tells the means of groups.

    Args:
        columns: what numbers there are of.
    """

    def __init__(self, settings: Settings, columns: Sequence[Column]) -> None:
        self._settings = settings
        self._by_label = settings.by is not None and settings.by.key == LABEL
        self._chosen = [at for at, column in enumerate(columns) if not self._by_label or of_labels(column)]
        self._columns = [columns[at]._replace(has_sd=columns[at].has_sd and not self._by_label) for at in self._chosen]
        self._groups: dict[str | None, _Group] = {}

    def add(self, counts: Measured) -> None:
        by = self._settings.by
        if self._by_label:
            for label, sums, count in by_label(counts, self._chosen):
                self._group(label).add_arcs(sums, count)
        else:
            self._group(None if by is None else by.name_of(counts) or _NONE).add(counts)

    def _group(self, name: str | None) -> _Group:
        if name not in self._groups:
            self._groups[name] = _Group(self._columns)
        return self._groups[name]

    @cached_property
    def all(self) -> Numbers:
        """The numbers of all sentences.

        Raises:
            DeptreeError: there are none.
        """
        self._check()
        each = [group.numbers() for group in self._groups.values()]
        return Numbers(*(np.concatenate([getattr(one, name) for one in each]) for name in vars(each[0])))

    def _check(self) -> None:
        if not self._groups:
            raise DeptreeError("there are no trees to measure", "Give sentences with HEADs")
        by = self._settings.by
        if by is not None and {*self._groups} == {_NONE}:
            problem = f"no sentence has the comment {by.key!r}" + " in this pattern" * (by.pattern is not None)
            raise DeptreeError(problem, "Give the key of a comment, or file, label or length")

    def rows(self) -> list[Row]:
        """A row for each quantity of each group, and for each of its baselines."""
        self._check()
        settings, by = self._settings, self._settings.by
        numbers = {name: group.numbers() for name, group in self._groups.items()}
        if by is None:
            return list(self._rows({}, self._means(numbers[None])))
        named = {name: group for name, group in self._groups.items() if name is not None}
        order = by.in_order({name: group.size for name, group in named.items() if name != _NONE})
        chosen = settings.compare or (*order, *([_NONE] if _NONE in named else []))
        for name in chosen:
            if name not in named:
                problem, remedy = f"there is no group {name!r}", did_you_mean(name, order, one_of(order))
                raise DeptreeError(problem, remedy)
        rows = [row for name in chosen for row in self._rows({"group": name}, self._means(numbers[name]))]
        if settings.compare:
            first, second = (numbers[name] for name in settings.compare)
            group = {"group": LESS.format(*settings.compare)}
            rows += self._rows(group, self._question.difference(first, second, self._rng))
        return rows

    @property
    def _question(self) -> Question:
        own = {column.quantity: at for at, column in enumerate(self._columns) if column.of == TREES}
        observed = [own[column.quantity] for column in self._columns]
        shared = [column.of == RANDOM_TREES for column in self._columns]
        return Question(observed, shared, self._settings.resamples, self._settings.confidence)

    @property
    def _rng(self) -> np.random.Generator:
        return stream_of(None, self._settings.seed)

    def _means(self, numbers: Numbers) -> Means:
        return self._question.means(numbers, self._rng)

    def _rows(self, group: Row, found: Means) -> Iterator[Row]:
        for at, column in enumerate(self._columns):
            row: dict[str, Any] = {**group, "quantity": column.quantity, "of": column.of}
            row["sentences"] = int(found.sentences[at])
            names = COLUMNS[4:7] if column.of == TREES else COLUMNS[4:10]
            row |= {name: _known(getattr(found, name)[at]) for name in names}
            others = {name: _known(getattr(found, name)[at]) for name in COLUMNS[10:]}
            yield row | {name: value for name, value in others.items() if value is not None}

    def picture(self, quantity: str) -> str:
        """Return a quantity against the length of sentences, as SVG."""
        found = self.all
        chosen = [at for at, each in enumerate(self._columns) if each.quantity == quantity and each.of not in _ALIKE]
        curves = [
            Curve.of(
                self._columns[at].of.replace("_", " "),
                *(found.lengths, found.above[:, at], found.below[:, at], found.sds[:, at]),
            )
            for at in chosen
        ]
        return lengths_svg(curves, f"{quantity} of {counted_thousands(len(found.lengths), 'tree')}", quantity)

    def lines(self) -> Iterator[str]:
        left = self._groups.get(_NONE)
        if left is not None and self._settings.by is not None and self._settings.by.key not in (FILE, LABEL):
            yield f"{counted_thousands(left.size, 'sentence')} without {self._settings.by.key!r} are in no group"


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
