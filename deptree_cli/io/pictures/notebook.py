"""A distribution as a picture for notebooks: the most probable tree, and the arcs that may stand in its place."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.decoding import maximum_tree
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.pictures.arcs import picture_of, shown_form
from deptree_cli.io.pictures.svg import to_svg


def draw(distribution: ArcFactored, block: Block | None = None) -> str:
    """Return an SVG of the most probable tree; without a block the words are their numbers."""
    (tree, caption), labels, forms = tree_of(distribution, None), labels_of(distribution), forms_of(distribution, block)
    return to_svg(picture_of(distribution.id, forms, distribution.marginals(), tree, labels, caption))


def forms_of(distribution: ArcFactored, block: Block | None) -> list[str]:
    return block.column("form") if block else [str(word) for word in range(1, distribution.n + 1)]


def tree_of(distribution: ArcFactored, block: Block | None) -> tuple[list[int], str]:
    heads = [head for head in block.heads if head is not None] if block else []
    whose = "tree of the CoNLL-U"
    if len(heads) < distribution.n:
        heads, whose = maximum_tree(distribution).tolist(), "most probable tree"
    tree = np.array([heads])
    if not distribution.space.contains(tree)[0]:
        return heads, "heads of the CoNLL-U, which are not a tree here"
    if not np.isfinite(distribution.log_weights(tree)[0]):
        return heads, f"{whose}, impossible by these scores"
    return heads, f"{whose}, probability {np.exp(distribution.tree_log_probs(tree)[0]):.4g}"


def labels_of(distribution: ArcFactored) -> dict[tuple[int, int], str]:
    """The most probable label of every arc that may be, by (head, dependent); nothing where scores do not tell."""
    if distribution.labels is None:
        return {}
    names = [shown_form(name) for name in distribution.labels.names]
    best = np.nan_to_num(distribution.labels.probs).argmax(axis=-1)
    return {arc: names[best[arc]] for arc in zip(*np.nonzero(np.isfinite(distribution.log_scores)), strict=True)}
