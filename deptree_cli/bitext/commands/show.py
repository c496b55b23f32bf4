"""``deptree bitext show``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deptree_cli.bitext.files import ScoredPair
from deptree_cli.bitext.options import GONE_OF_PAIRS, LISTING, BitextOptions, Estimate, Estimating, PruningOptions
from deptree_cli.bitext.picture import AlignmentPicture, alignment_text
from deptree_cli.cli.options import command, use
from deptree_cli.cli.run import ALONE, Job, Run
from deptree_cli.cli.score_options import WANTED, chosen_sentence
from deptree_cli.cli.write import Out
from deptree_cli.core.errors import counted
from deptree_cli.io.encoders.pictures import as_text
from deptree_cli.io.files.streams import place_of

TEXT = as_text(alignment_text)


@command(listing=LISTING, gone=GONE_OF_PAIRS)
def show(
    bitext: BitextOptions = use(BitextOptions),
    wanted: str | None = WANTED,
    pruning: PruningOptions = use(PruningOptions, lacks=["seconds"]),
    out: Out = use(Out, formats=(TEXT,), has_header=False),
    run: Run = use(Run, lacks=ALONE),
) -> int:
    """Draw one sentence pair as a matrix: the darker a cell, the more probable the link.

    Writes text as wide as the terminal: source words on the left, target words above. The links of the best alignment
    are marked, and their probabilities listed on the right. Without --text, words are shown by their numbers, counted
    from 0.
    """
    estimating = Estimating(pruning.method, pruning.settings, run)
    select = chosen_sentence(wanted, place_of(bitext.sources[0].path), "sentence pair")
    chosen = bitext.announcing(select, run, 1 if pruning.is_asked else 3)
    fields = {"sentence": wanted, **pruning.signature_fields}
    job = Job("bitext show", bitext.source(run), run, out, last=fields, select=chosen)
    return estimating.write(job, DrawLinks(pruning.method.name, estimating.estimate), pruning.stream_seed)


class Drawn(NamedTuple):
    """A sentence pair as a picture, and how far its estimate has converged."""

    picture: AlignmentPicture
    r_hat: float


@dataclass(frozen=True)
class DrawLinks:
    method: str
    estimate: Estimate

    def __call__(self, pair: ScoredPair, rng: np.random.Generator) -> Drawn:
        estimate = self.estimate(pair.distribution.program(), rng)
        words = pair.record.source, pair.record.target
        caption = f"best alignment; probabilities by method {self.method}"
        if estimate.iterations is not None:
            caption += f", {counted(estimate.iterations, 'iteration')}"
        targets = pair.distribution.argmax()
        picture = AlignmentPicture(pair.id, words, estimate.expectations, targets, caption)
        return Drawn(picture, estimate.r_hat or 0.0)
