"""A distribution as a picture for notebooks: the most probable tree, and the arcs that may stand in its place."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.decoding import maximum_tree
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.pictures.arcs import picture_of, shown_form
from deptree_cli.io.pictures.svg import to_svg


def draw(distribution: ArcFactored, block: Block | None = None) -> str:
    """Return an SVG; without a block the words are their numbers."""
    tree = maximum_tree(distribution)
    forms = block.column("form") if block else map(str, range(1, distribution.n + 1))
    caption = f"most probable tree, probability {np.exp(distribution.tree_log_probs(tree[None])[0]):.4g}"
    labels = labels_of(distribution)
    return to_svg(picture_of(distribution.id, forms, distribution.marginals(), tree.tolist(), labels, caption))


def labels_of(distribution: ArcFactored) -> dict[tuple[int, int], str]:
    """The most probable label of every arc that may be, by (head, dependent); nothing where scores do not tell."""
    if distribution.labels is None:
        return {}
    names = [shown_form(name) for name in distribution.labels.names]
    best = np.nan_to_num(distribution.labels.probs).argmax(axis=-1)
    return {arc: names[best[arc]] for arc in zip(*np.nonzero(np.isfinite(distribution.log_scores)), strict=True)}
