"""The options of `deptree measure`: what is read, what of it is measured, and what it is compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import click

from deptree_cli.cli.companion_scores import NAMES, companion, companion_options
from deptree_cli.cli.layout_options import asked_space, signature_of
from deptree_cli.cli.measure_groups import FILE, LABEL, LENGTH, By
from deptree_cli.cli.measuring import ScoredPacking
from deptree_cli.cli.options import check_effect
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.score_options import ScoreOptions
from deptree_cli.cli.sections import bound, reading_option
from deptree_cli.cli.work import Counted, Source
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.files.streams import check_readable, share_of
from deptree_cli.io.read import sentences
from deptree_cli.io.trees.packed import Packing

_SPACE = ("space", "multi_root", "projective")


class Reading(NamedTuple):
    """How trees are read.

    Attributes:
        space: of which they are.
        scores: of the same sentences, if there are any.
        no_punct, tokens: as of `Packing`.
    """

    space: TreeSpace
    scores: ScoreOptions | None
    no_punct: bool
    tokens: bool

    @property
    def reduced(self) -> bool:
        """Whether trees are measured over other words than they have."""
        return self.no_punct or self.tokens

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        return {
            **({} if self.scores else signature_of(self.space)),
            "punct": "no" if self.no_punct else None,
            "words": "tokens" if self.tokens else None,
        }

    def source(self, trees: tuple[str, ...], by: By | None, run: RunOptions) -> Source[Any, Any]:
        """The sentences, each with its group.

        Raises:
            click.UsageError: there are scores of several files.
        """
        packing = Packing(self.space, self.no_punct, self.tokens, by is not None and by.key == LABEL)
        if self.scores is None:
            check_readable(trees if len(trees) > 1 else ())
            items, prepare, share = sentences(trees).in_order(), packing, share_of(trees)
            return Source(Counted(by.grouped(items) if by else items, share=share), prepare)
        if len(trees) > 1:
            raise click.UsageError(f"--scores belong to one file of trees, but there are {len(trees)}. Give one.")
        files = (replace(self.scores.files[0], conllu=trees[0]),)
        source = replace(self.scores, files=files).source(run)
        read = Counted(by.grouped(source.items) if by else source.items, share=share_of(trees))
        return Source(read, ScoredPacking(self.scores.how, packing), source.signature_fields)


def _reading(*, scores: str | None, no_punct: bool, tokens: bool, **how: Any) -> Reading:
    found = companion(scores=scores, also=_SPACE, **how)
    space = found.how.space if found else asked_space(*(how[name] for name in _SPACE))
    return Reading(space, found, no_punct, tokens)


# Gives a command these options, as one `reading: Reading`.
reading_options = bound(
    "reading",
    [
        reading_option(
            "--no-punct",
            is_flag=True,
            often=True,
            help="Leave out punctuation (label punct); its dependents go to its head.",
        ),
        reading_option("--tokens", is_flag=True, help="Take each multiword token as one word."),
        *companion_options("Arc scores of the same sentences: what the parser expects."),
    ],
    _reading,
    ("no_punct", "tokens", *NAMES),
)


def compared(
    trees: tuple[str, ...], by: By | None, compare: tuple[str, str] | None
) -> tuple[tuple[str, ...], By | None]:
    """Return the files, and what sentences are grouped by: two files are compared where no groups are asked for.

    Raises:
        click.UsageError: there are no trees.
    """
    if compare and by is None:
        return trees or compare, By(FILE)
    if not trees:
        raise click.UsageError("Missing argument 'TREES...'.")
    return trees, by


def check_groups(by: By | None, per_sentence: bool, size: int | None) -> None:
    """Raise for options that have no effect on rows of sentences, or on means of arcs."""
    if by is not None and by.key == LABEL:
        check_effect(["size", "scores", "plot"], "whole trees, but --by label is about arcs")
    if not per_sentence:
        return
    check_effect(["compare", "resamples", "confidence"], "means: --per treebank")
    if size is None:
        check_effect(["seed"], "sampled trees (-k) or means (--per treebank)")
    if by is not None and by.key in (LABEL, LENGTH):
        raise click.UsageError(f"--by {by.key} is about means. Pass --per treebank, or remove it.")
