"""``deptree show``."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs, input_options, label_scores_option
from deptree_cli.commands.options import output_option, seed_option, size_option
from deptree_cli.commands.pipeline import Pipeline, Task
from deptree_cli.core.decoding import maximum_tree
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import are_trees
from deptree_cli.core.samplers import sampler
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.conllu import Block
from deptree_cli.io.inputs import place_of
from deptree_cli.io.output import Output
from deptree_cli.io.pairing import Record
from deptree_cli.io.pictures.arcs import Picture, arcs_of
from deptree_cli.io.pictures.forms import shown_form
from deptree_cli.io.pictures.heat_map import draw_heat_map
from deptree_cli.io.pictures.svg import to_svg
from deptree_cli.io.pictures.text import to_text
from deptree_cli.io.plots import check_plot
from deptree_cli.io.report import talk
from deptree_cli.io.signature import signature

THRESHOLD = 0.01

# Names of sentences kept to find the one that may have been meant.
MOST_NAMES = 10_000


@click.command(
    epilog="\b\nTry: deptree show scores.npz --from natasha --conllu gold.conllu --sentence en-1 -o en-1.svg"
)
@input_options
@label_scores_option
@click.option("--sentence", "wanted", metavar="ID", help="Its sent_id, or its running number.  [default: the first]")
@size_option(None, "Draw N samples over each other instead of the marginals.", "none")
@seed_option
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=THRESHOLD,
    metavar="P",
    help=f"Leave out arcs beside the tree's that are less probable.  [default: {THRESHOLD}]",
)
@click.option("--text", is_flag=True, help="Arcs as text, and a table; what a terminal gets without -o.")
@click.option("--heat-map", metavar="FILE", help="The marginals as a heat map (.svg, .png, .pdf).")
@output_option
def show(
    inputs: Inputs,
    wanted: str | None,
    size: int | None,
    seed: int,
    threshold: float,
    text: bool,
    heat_map: str | None,
    output: str | None,
) -> int:
    """Draw one sentence: its words, arcs as dark as they are probable, their numbers where they are in doubt.

    Writes SVG. The tree of --conllu, or else the most probable one, stands above the words, other arcs below. With -k
    the arcs are those of samples, as dark as they are frequent. --heat-map alone draws nothing else.
    """
    if heat_map:
        check_plot(heat_map)
    drawn = text or output or not heat_map
    text = _is_text(text, output)
    pipeline = OneSentence(inputs, wanted=wanted)
    fields = {"sentence": wanted, "size": size, "seed": seed if size else None}
    made = signature("show", {**inputs.signature_fields, **fields, "threshold": threshold})
    # To the end first, so that no progress is shown where the picture goes.
    for seen in list(pipeline.map(Look(size, threshold), seed)):
        if not inputs.quiet:
            talk(made)
        if heat_map:
            draw_heat_map(seen.marginals, seen.picture.forms, seen.tree, seen.picture.name, heat_map)
        if drawn:
            with Output(output) as out:
                out.write((_as_text(seen.picture, output) if text else to_svg(seen.picture, made)).encode())
    return pipeline.exit_code


def _is_text(asked: bool, output: str | None) -> bool:
    """Whether to write text: when asked for, by the suffix too, and to a terminal, which cannot show a picture.

    Raises:
        DeptreeError: the suffix promises something else.
    """
    suffix = PurePath(output or "").suffix.lower()
    if suffix not in ("", ".svg", ".txt") or (asked and suffix == ".svg"):
        remedy = "Name a .svg for a picture, a .txt for text; --heat-map also draws .png and .pdf"
        raise DeptreeError(f"arcs are not drawn as {'text in ' * asked}{suffix}", remedy, place=output or "")
    return asked or suffix == ".txt" or (output is None and sys.stdout.isatty())


def _as_text(picture: Picture, output: str | None) -> str:
    colour = output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return to_text(picture, shutil.get_terminal_size().columns, colour)


@dataclass
class OneSentence(Pipeline):
    """The one sentence of that name or else of that running number, or the first one; no other is computed."""

    wanted: str | None = None

    def tasks(self) -> Iterator[Task | DeptreeError]:
        """That sentence alone."""
        found: Task | DeptreeError | None = None
        names, sentences = list[str](), 0
        shard, shards = self.inputs.shard
        for sentences, task in enumerate(super().tasks(), 1):
            name = task.sent_id if isinstance(task, DeptreeError) else task[0].sent_id
            number = shard + shards * (sentences - 1)
            if self.wanted in (None, name):
                yield task
                return
            if self.wanted == str(number):
                found = task
            if len(names) < MOST_NAMES:
                names.append(name)
        if found is None:
            raise _unknown(self.wanted, names, sentences).at(place_of(self.inputs.scores))
        yield found


def _unknown(wanted: str | None, names: Sequence[str], sentences: int) -> DeptreeError:
    if wanted is None:
        return DeptreeError("there are no sentences to draw", "Check the file")
    near = difflib.get_close_matches(wanted, names, 1)
    remedy = f"Did you mean {near[0]}?" if near else f"Give a sent_id, or a number from 1 to {sentences}"
    return DeptreeError(f"there is no sentence {wanted!r}", remedy)


class Seen(NamedTuple):
    """What there is to draw of a sentence: the picture, its marginals (n+1, n+1) and its tree's n heads."""

    picture: Picture
    marginals: NDArray[np.float64]
    tree: list[int]


@dataclass(frozen=True)
class Look:
    """A sentence as a picture, of its marginals or of `size` samples."""

    size: int | None
    threshold: float

    def __call__(self, sentence: Sentence, record: Record, rng: np.random.Generator) -> Seen:
        """The work on one sentence."""
        tree, caption = _tree_of(sentence, record.block)
        samples = sampler("auto").draw(sentence, self.size, rng) if self.size else None
        marginals = sentence.elimination.marginals()
        arcs = arcs_of(marginals, tree, _labels(sentence, record.block), self.threshold, samples)
        forms = record.block.column("form") if record.block else map(str, range(1, sentence.n + 1))
        shown = [shown_form(form) for form in forms]
        if self.size:
            caption += f"; {self.size} sample{'s' * (self.size > 1)}"
        picture = Picture(shown_form(record.sent_id), shown, arcs, caption, self.size or 0)
        return Seen(picture, marginals, tree)


def _tree_of(sentence: Sentence, block: Block | None) -> tuple[list[int], str]:
    """The tree to draw, and what it is."""
    heads = [head for head in block.heads if head is not None] if block else []
    whose = "tree of the CoNLL-U"
    if len(heads) < sentence.n:
        heads, whose = maximum_tree(sentence).tolist(), "most probable tree"
    tree = np.array([heads])
    if not are_trees(tree, sentence.single_root)[0]:
        return heads, "heads of the CoNLL-U, which are no tree here"
    if not np.isfinite(sentence.log_weights(tree)[0]):
        return heads, f"{whose}, impossible by these scores"
    return heads, f"{whose}, probability {np.exp(sentence.log_probs(tree)[0]):.4g}"


def _labels(sentence: Sentence, block: Block | None) -> dict[tuple[int, int], str]:
    """The relations of the CoNLL-U, by (head, dependent); for other arcs the most probable ones, if scores tell."""
    labels = {}
    if sentence.labels:
        names = [shown_form(name) for name in sentence.labels.names]
        best = np.nan_to_num(sentence.labels.probs).argmax(axis=-1)
        labels = {arc: names[best[arc]] for arc in zip(*np.nonzero(np.isfinite(sentence.log_scores)), strict=True)}
    arcs = zip(block.heads, block.deprels, strict=True) if block else ()
    labelled = ((head, dependent, label) for dependent, (head, label) in enumerate(arcs, 1))
    return labels | {
        (head, dependent): shown_form(label) for head, dependent, label in labelled if head is not None and label != "_"
    }
