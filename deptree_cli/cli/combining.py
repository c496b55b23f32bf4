"""The files that are combined: which are scores, in which layouts, and which are trees; and the work on a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.combination import (
    BOUNDS,
    LabelledVotes,
    Mixture,
    Pooled,
    Shares,
    consensus,
    fit_mixture,
    fit_product,
    majority_labels,
    mixture,
    product,
    tree_shares,
)
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.splicing import Deprels, Spliced
from deptree_cli.io.conllu.trees import Style, Trees
from deptree_cli.io.encoders.arrays import SentenceScores
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.layout import Layout, from_head_dep
from deptree_cli.io.scores.presets import PRESETS, QUESTIONS, layout
from deptree_cli.io.scores.raw import RawScores
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.scores.several import Member, of_member
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import is_of_trees
from deptree_cli.io.trees.sets import TreeSet

TREES = "trees"


class LaidOutPath(str):
    """The path of a file, with the layout as text, or `TREES`, that the user put behind it, if there is one."""

    layout: str | None = None


def split_layouts(context: click.Context, parameter: click.Parameter, paths: Sequence[str]) -> tuple[LaidOutPath, ...]:
    """A click callback: FILE:LAYOUT becomes a path with a layout; a file that is called so comes first."""
    return tuple(map(_split, paths))


def _split(path: str) -> LaidOutPath:
    front, colon, text = path.rpartition(":")
    known = text.split(",")[0] in (TREES, *PRESETS.names, *QUESTIONS)
    split = bool(colon) and not Path(path).exists() and (known or Path(front).is_file())
    found = LaidOutPath(front if split else path)
    if split:
        found.layout = text
    return found


def members_of(paths: Sequence[LaidOutPath], usual: Layout) -> list[Member]:
    """The files; `usual`: the layout that options ask for, for scores without one of their own."""
    return [_member(path, usual) for path in paths]


def _member(path: LaidOutPath, usual: Layout) -> Member:
    if path.layout == TREES or (path.layout is None and is_of_trees(path)):
        return Member(path)
    source = ScoreSource(path)
    read = source.layout(layout(path.layout) if path.layout else usual)
    if read.labels:
        raise click.UsageError(
            f"{read.name} has an axis of labels, and arcs are combined. Sum them out: deptree convert."
        )
    return Member(path, source, read)


@dataclass(frozen=True)
class Combinable:
    """A sentence, and what each file makes of it: a distribution, or a set of trees."""

    read: Sentence
    members: Sequence[ArcFactored | TreeSet]
    space: TreeSpace

    @property
    def gold(self) -> Heads | None:
        """The gold heads, (n,); None unless all are known."""
        heads = self.read.gold.heads if self.read.gold else [None]
        return None if None in heads else np.array(heads, dtype=np.int32)

    @property
    def distributions(self) -> list[ArcFactored]:
        """The members, all of which are distributions."""
        return [each for each in self.members if isinstance(each, ArcFactored)]


@dataclass(frozen=True)
class Distributions:
    """Makes of what was read of a sentence what can be combined; it travels to worker processes.

    Attributes:
        how: how scores become distributions.
        layouts: of each file, None for trees.
    """

    how: Interpretation
    layouts: tuple[Layout | None, ...]

    def __call__(self, read: Sentence) -> Combinable:
        """The sentence."""
        found = [self._of(read, of_member(read, number), each) for number, each in enumerate(self.layouts)]
        return Combinable(read, found, self.how.space)

    def _of(self, read: Sentence, item: RawScores | TreeSet, layout: Layout | None) -> ArcFactored | TreeSet:
        if isinstance(item, TreeSet) or layout is None:
            return item  # type: ignore[return-value]
        try:
            return self.how.distribution(item.scores, read, layout)
        except DeptreeError as error:
            raise error.at(item.place, read.sent_id) from None


@dataclass(frozen=True)
class Product:
    """The product of a sentence's distributions, by (m,) weights, laid out to be written."""

    weights: Float
    target: Layout

    def __call__(self, sentence: Combinable, _: None) -> SentenceScores:
        """The work on one sentence."""
        scores = product(sentence.distributions, self.weights)
        found = ArcFactored(scores, space=sentence.space, id=sentence.read.sent_id)  # raises where no tree is left
        written = from_head_dep(found.log_scores, self.target, self.target.shape(found.n), self.target.forbidden)
        block = sentence.read.block
        return SentenceScores(found.id, written, block.column("form") if block else None)


@dataclass(frozen=True)
class Mix:
    """The mixture of a sentence's distributions and sets of trees, by (m,) weights that sum to 1."""

    weights: Float

    def __call__(self, sentence: Combinable, _: None) -> Mixed:
        """The work on one sentence."""
        shares = [
            tree_shares(each.heads, each.times) if isinstance(each, TreeSet) else Shares(each.marginals())
            for each in sentence.members
        ]
        found = mixture(shares, self.weights)
        heads = consensus(found.marginals, sentence.space)
        sets = [
            LabelledVotes(weight, each.heads, each.times, each.labels)
            for weight, each in zip(self.weights.tolist(), sentence.members, strict=True)
            if isinstance(each, TreeSet) and each.labels
        ]
        return Mixed(sentence.read, found, heads, majority_labels(heads, sets) if sets else None)


@dataclass(frozen=True, eq=False)
class Mixed:
    """A sentence's mixture, its consensus tree, (n,) heads, and the labels of that, if there are some."""

    read: Sentence
    mixture: Mixture
    heads: Heads
    labels: list[str] | None

    @property
    def support(self) -> Float:
        """The probability of each word's head, (n,)."""
        return self.mixture.marginals[self.heads, np.arange(1, len(self.heads) + 1)]

    def to_jsonl(self) -> bytes:
        """A line with the consensus tree, its support, and all arcs, [head][dependent]."""
        row: dict[str, Any] = {"sent_id": self.read.sent_id, "heads": self.heads.tolist()}
        if self.labels:
            row["deprels"] = self.labels
        row |= {"support": self.support.tolist(), "expected_attachment": float(self.support.mean())}
        row |= {"orient": "head-dep", "root": "first", "marginals": self.mixture.marginals.tolist()}
        errors = self.mixture.standard_errors
        return dump(row if errors is None else row | {"standard_errors": errors.tolist()})

    def to_conllu(self, style: Style) -> Spliced:
        """The sentence with the consensus tree, and HeadProb in MISC."""
        labels = self.labels
        deprels = Deprels(tuple(labels), np.arange(len(labels), dtype=np.int32)[None]) if labels else None
        misc = {"HeadProb": self.support[None]}
        return Trees(
            self.read.sent_id, self.read.block, self.heads[None], [], deprels=deprels, ranked=False, misc=misc
        ).to_conllu(style)

    def arrays(self) -> list[tuple[str, Float, str]]:
        """The arcs' probabilities, and beside them their standard errors if there are some."""
        name, errors = self.read.sent_id, self.mixture.standard_errors
        found = [(name, self.mixture.marginals, "")]
        return found if errors is None else [*found, (name, errors, "standard_errors")]


class Fit:
    """Keeps the sentences that have gold trees, to fit weights to these."""

    def __init__(self, mixed: bool, paths: Sequence[str]) -> None:
        self._mixed, self._paths = mixed, paths
        self._kept: list[Any] = []
        self._without = self._impossible = 0

    def add(self, members: Sequence[ArcFactored], heads: Heads | None) -> None:
        """Keep a sentence."""
        if heads is None:
            self._without += 1
            return
        log_probs = [float(each.log_prob(heads)) for each in members]
        if max(log_probs) == -np.inf or (not self._mixed and min(log_probs) == -np.inf):
            self._impossible += 1
            return
        self._kept.append(log_probs if self._mixed else (members, heads))

    @cached_property
    def found(self) -> Pooled:
        """The weights.

        Raises:
            DeptreeError: there is no gold tree that could tell.
        """
        if not self._kept:
            raise DeptreeError("no sentence has a gold tree that the files allow", "Give gold trees of these sentences")
        return fit_mixture(np.array(self._kept)) if self._mixed else fit_product(self._kept)

    def lines(self) -> Iterator[str]:
        """What people are told."""
        found, size = self.found, len(self._kept)
        weights = ",".join(map(written_weight, found.weights))
        per = f"{found.log_likelihood:.4f}, with equal weights {found.before:.4f}"
        yield f"--weights {weights}: mean log-probability of {counted(size, 'gold tree')} {per}"
        if self._without:
            yield f"{counted(self._without, 'sentence')} without a whole gold tree: not fitted to"
        if self._impossible:
            yield f"{counted(self._impossible, 'gold tree')} impossible by the scores: not fitted to"
        if not self._mixed:
            yield from filter(None, map(_at_a_bound, self._paths, found.weights))


def _at_a_bound(path: str, weight: float) -> str | None:
    least, most = BOUNDS
    if weight <= least:
        return f"{path}: lowest weight, {least:g}. Only its forbidden arcs count; 0 in --weights leaves it out."
    if weight >= most:
        return f"{path}: highest weight, {most:g}. Was this parser trained on these gold trees? Then fit to others."
    return None


def written_weight(weight: float) -> str:
    """A weight as it is shown, used, and given to --weights."""
    return f"{weight:.6g}"


def with_gold_tree(sentence: Combinable, _: None) -> tuple[list[ArcFactored], Heads | None]:
    """Return a sentence's distributions with its gold tree, for `Fit`."""
    return sentence.distributions, sentence.gold
