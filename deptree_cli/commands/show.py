"""``deptree show``."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import FloatRange, command, opt, use
from deptree_cli.cli.run import ALONE, Job, Run
from deptree_cli.cli.score_options import WANTED, Scores, chosen_sentence
from deptree_cli.cli.write import Out
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.errors import counted
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.pictures.arcs import ENOUGH, Picture, picture_of, shown_form
from deptree_cli.io.pictures.notebook import forms_of, labels_of, tree_of
from deptree_cli.io.scores.records import ScoredSentence


@command()
def show(
    scores: Scores = use(Scores),
    wanted: str | None = WANTED,
    size: int | None = options.size(None, "Draw N samples over each other instead of the marginals.", "none"),
    seed: int = options.seed(),
    above: float | None = opt(
        "--above",
        type=FloatRange(0, 1),
        metavar="P",
        help="Show all arcs more probable than P, with 0 every possible one.  "
        f"[default: those that bring each word to {ENOUGH:.0%} of its mass, fewer if they crowd]",
    ),
    out: Out = use(Out, formats=("text", "svg", "tex"), has_header=False),
    run: Run = use(Run, lacks=ALONE),
) -> int:
    """Draw one sentence: its words, and arcs as dark as they are probable. An arc without a number is certain (at least
    .99).

    Draws text for a terminal, SVG (long sentences in several rows), or TikZ for papers (-o FILE.tex). The tree of
    --conllu, or else the most probable one, is above the words, other probable arcs below; a note says how many are
    hidden. With -k the arcs are those of samples, as dark as they are frequent.
    """
    select = chosen_sentence(wanted, scores.place)
    fields = {"sentence": wanted, "size": size, "seed": seed if size else None, "above": above}
    job = Job("show", scores.source(run), run, out, last=fields, select=select)
    return job.write(partial(draw_arcs, size, above), seed)


class Drawn(NamedTuple):
    picture: Picture


def draw_arcs(size: int | None, above: float | None, sentence: ScoredSentence, rng: np.random.Generator) -> Drawn:
    """A sentence as a picture, of its marginals or of `size` samples."""
    distribution, block = sentence.distribution, sentence.record.block
    tree, caption = tree_of(distribution, block)
    samples = SAMPLERS.get("auto").draw(distribution, size, rng) if size else None
    if size:
        caption += f"; {counted(size, 'sample')}"
    forms, labels, marginals = forms_of(distribution, block), _labels(sentence, distribution), distribution.marginals()
    return Drawn(picture_of(sentence.id, forms, marginals, tree, labels, caption, above, samples))


def _labels(sentence: ScoredSentence, distribution: ArcFactored) -> dict[tuple[int, int], str]:
    """The relations of the CoNLL-U, by (head, dependent); for other arcs the most probable ones, if scores tell."""
    found, block = labels_of(distribution), sentence.record.block
    given = sentence.interpretation.given(sentence.record)  # then a label is that of every arc
    for dependent, (head, label) in enumerate(zip(block.heads, block.labels, strict=True) if block else (), 1):
        for node in range(distribution.n + 1) if head is None and given else [head]:
            if node is not None and label is not None:
                found[node, dependent] = shown_form(label)
    return found
