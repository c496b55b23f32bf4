"""Many sentences at once for a page that may show some of them."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.batches.blocks import alike
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.partition import log_projective_masses
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.pages.packing import OnPage, SameLength, gold_heads, samples_of, shown_heads, text_of, unread
from deptree_cli.io.scores.batches import ScoredBatch


def for_page_of_many(batch: ScoredBatch, has_gold: bool) -> list[OnPage | None]:
    """What `for_page` makes of sentences without rules; None of those that are not UTF-8."""
    found: list[OnPage | None] = [None] * len(batch.records)
    trees, best = batch.trees, batch.trees.argmax()
    log_z, marginals = trees.sums  # first: what follows asks for log Z again
    masses = np.ones(len(found)) if batch.space.projective else np.exp(log_projective_masses(trees))
    for some in alike(trees.lengths):
        records, best_trees = [batch.records[row] for row in some.rows], some.of_words(best.heads)
        blocks = [record.block or unread(record.sent_id, some.n) for record in records]
        shown = np.array([shown_heads(*each) for each in zip(blocks, best_trees, strict=True)])
        texts = [_decoded(block) for block in blocks]
        these = SameLength(
            batch.space,
            [record.sent_id for record in records],
            [text or "" for text in texts],
            shown,
            best_trees,
            np.array([gold_heads(record, has_gold) for record in records]),
            some.of_arcs(trees.log_scores),
            some.of_arcs(marginals),
            (trees.entropies[some.rows], trees.log_probs(some.rows, shown, log_z), masses[some.rows]),
            [samples_of(record) for record in records],
        )
        for row, one, text in zip(some.rows.tolist(), these.each(), texts, strict=True):
            found[row] = None if text is None else one
    return found


def _decoded(block: Block) -> str | None:
    """The text of a sentence, None where it has none."""
    try:
        return text_of(block)
    except DeptreeError:
        return None
