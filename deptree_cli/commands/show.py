"""``deptree show``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deptree_cli.cli.chosen_sentence import ChosenSentence, wanted_option
from deptree_cli.cli.job import signed
from deptree_cli.cli.options import check_effect, seed_option, size_option
from deptree_cli.cli.params import OUTPUT
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.ranges import FloatRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, score_options
from deptree_cli.cli.screen import screen_of
from deptree_cli.cli.sections import command, option
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.decoding import maximum_tree
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.files.output import Output
from deptree_cli.io.pictures.arcs import Picture, picture_of
from deptree_cli.io.pictures.choice import ENOUGH
from deptree_cli.io.pictures.forms import shown_form
from deptree_cli.io.pictures.heat_map import draw_heat_map
from deptree_cli.io.pictures.notebook import labels_of
from deptree_cli.io.pictures.plots import check_plot
from deptree_cli.io.pictures.svg import to_svg
from deptree_cli.io.pictures.text import to_text
from deptree_cli.io.pictures.tikz import to_tikz
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature

if TYPE_CHECKING:
    from deptree_cli.io.pages.packing import PackedSentence


@command(epilog="\b\nTry: deptree show scores.npz --from natasha --conllu gold.conllu --sentence en-1 -o en-1.svg")
@score_options
@wanted_option
@size_option(None, "Draw N samples over each other instead of the marginals.", "none")
@seed_option
@option(
    "--threshold",
    type=FloatRange(0, 1),
    metavar="P",
    help="Show all arcs of at least this probability, with 0 every arc.  "
    f"[default: those that bring each word to {ENOUGH:.0%} of its mass, fewer where they crowd]",
)
@option("--text", is_flag=True, help="Draw arcs as text, with a table (default on a terminal).")
@option("--heat-map", type=OUTPUT, help="Draw the marginals as a heat map (.svg, .png, .pdf).")
@run_options
def show(
    scores: ScoreOptions,
    run: RunOptions,
    wanted: str | None,
    size: int | None,
    seed: int,
    threshold: float | None,
    text: bool,
    heat_map: str | None,
) -> int:
    """Draw one sentence: its words, and arcs as dark as they are probable. An arc without a number is certain (at least
    .99).

    Writes SVG (long sentences in several rows), TikZ for papers (-o FILE.tex), or an interactive page (-o FILE.html).
    The tree of --conllu, or else the most probable one, is above the words, other probable arcs below; a note says how
    many are hidden. With -k the arcs are those of samples, as dark as they are frequent. --heat-map alone draws nothing
    else.
    """
    if heat_map:
        check_plot(heat_map)
    if not size:
        check_effect(["seed"], "-k: only samples are random")
    drawn = text or run.output or not heat_map
    if not drawn:
        check_effect(["size", "threshold"], "arcs to draw beside --heat-map: --text or -o FILE")
    form = _form(text, run.output)
    choose = ChosenSentence(wanted, scores.place, run.shard)
    pipeline = Pipeline(scores.source(run), run, choose)
    fields = {"sentence": wanted, "size": size, "seed": seed if size else None, "threshold": threshold}
    made_by = signature("show", {**scores.signature_fields, **run.signature_fields, **fields})
    # To the end first, so that no progress is shown where the picture goes.
    work = DrawArcs(size, threshold, form == HTML)
    for seen in signed(list(pipeline.map(work, seed)), made_by, run):
        if heat_map:
            draw_heat_map(seen.marginals, seen.picture.forms, seen.tree, seen.picture.name, heat_map)
        if drawn:
            with Output(run.output) as out:
                out.write(_drawn(seen, form, made_by, scores, run.output))
    return pipeline.exit_code


SVG, TEXT, TIKZ, HTML = ".svg", ".txt", ".tex", ".html"


def _form(text: bool, output: str | None) -> str:
    """The form of the arcs: text when asked for, by the suffix too, and to a terminal, which cannot show a picture.

    Raises:
        DeptreeError: the suffix promises something else.
    """
    suffix = PurePath(output or "").suffix.lower()
    if suffix not in ("", SVG, TEXT, TIKZ, HTML) or (text and suffix not in ("", TEXT)):
        remedy = "Name a .svg for a picture, or a .tex, .html or .txt; --heat-map also draws .png and .pdf"
        raise DeptreeError(f"arcs are not drawn as {'text in ' * text}{suffix}", remedy, place=output or "")
    on_terminal = output is None and sys.stdout.isatty()
    return TEXT if text or on_terminal else suffix or SVG


def _drawn(seen: Seen, form: str, made_by: str, scores: ScoreOptions, output: str | None) -> bytes:
    if seen.page is not None:
        from deptree_cli.io.pages.page import Report, to_html  # for few pictures

        how = scores.how
        return to_html(Report(seen.picture.name, made_by, [seen.page], 1, how.space, how.labels or ()))
    if form == TEXT:
        return to_text(seen.picture, *screen_of(output)).encode()
    return (to_tikz if form == TIKZ else to_svg)(seen.picture, made_by).encode()


class Seen(NamedTuple):
    """What there is to draw of a sentence.

    Attributes:
        picture: its arcs.
        marginals: (n+1, n+1).
        tree: n heads.
        page: the sentence as a page needs it, where one is written.
    """

    picture: Picture
    marginals: Float
    tree: list[int]
    page: PackedSentence | None


@dataclass(frozen=True)
class DrawArcs:
    """A sentence as a picture, of its marginals or of `size` samples."""

    size: int | None
    threshold: float | None
    for_page: bool

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> Seen:
        """The work on one sentence."""
        distribution, block = sentence.distribution, sentence.record.block
        tree, caption = _tree_of(distribution, block)
        samples = SAMPLERS.get("auto").draw(distribution, self.size, rng) if self.size else None
        marginals = distribution.marginals()
        forms = block.column("form") if block else map(str, range(1, distribution.n + 1))
        shown = [shown_form(form) for form in forms]
        if self.size:
            caption += f"; {counted(self.size, 'sample')}"
        labels = _labels(sentence, distribution)
        name = shown_form(sentence.id)
        picture = picture_of(name, shown, marginals, tree, labels, caption, self.threshold, samples)
        page = None
        if self.for_page:
            from deptree_cli.io.pages.packing import packed  # for few pictures

            page = packed(sentence, None, False, samples)
        return Seen(picture, marginals, tree, page)


def _tree_of(distribution: ArcFactored, block: Block | None) -> tuple[list[int], str]:
    """The tree to draw, and what it is."""
    heads = [head for head in block.heads if head is not None] if block else []
    whose = "tree of the CoNLL-U"
    if len(heads) < distribution.n:
        heads, whose = maximum_tree(distribution).tolist(), "most probable tree"
    tree = np.array([heads])
    if not distribution.space.contains(tree)[0]:
        return heads, "heads of the CoNLL-U, which are no tree here"
    if not np.isfinite(distribution.log_weights(tree)[0]):
        return heads, f"{whose}, impossible by these scores"
    return heads, f"{whose}, probability {np.exp(distribution.tree_log_probs(tree)[0]):.4g}"


def _labels(sentence: ScoredSentence, distribution: ArcFactored) -> dict[tuple[int, int], str]:
    """The relations of the CoNLL-U, by (head, dependent); for other arcs the most probable ones, if scores tell."""
    found, block = labels_of(distribution), sentence.record.block
    for dependent, (head, label) in enumerate(zip(block.heads, block.labels, strict=True) if block else (), 1):
        given = sentence.interpretation.given(sentence.record)  # then a label is that of every arc
        for node in range(distribution.n + 1) if head is None and given else [head]:
            if node is not None and label is not None:
                found[node, dependent] = shown_form(label)
    return found
