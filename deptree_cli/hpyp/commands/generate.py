"""``deptree hpyp generate``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import IntRange, command, opt, use
from deptree_cli.cli.run import Job, Run, Source
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import Out
from deptree_cli.hpyp.files.treebank import Tagset
from deptree_cli.hpyp.model.sentences import LONGEST, UNKNOWN, Annotated
from deptree_cli.hpyp.options import MODEL, read_trained
from deptree_cli.io.conllu.blocks import block_of
from deptree_cli.io.conllu.trees import Style
from deptree_cli.io.json_lines import dump
from deptree_cli.io.sentence import Sentence
from deptree_cli.kernels.columns import NO_HEAD


@command()
def generate(
    model: str = MODEL,
    size: int = options.size(1, "Number of sentences.", sign="size"),
    longest: int = opt(
        "--longest",
        type=IntRange(1, 10**6),
        default=LONGEST,
        sign="longest",
        help=f"Most words per sentence; longer ones are sampled again.  [default: {LONGEST}]",
    ),
    seed: int = options.seed(),
    out: Out = use(Out, formats=("conllu", "jsonl")),
    run: Run = use(Run, lacks=["shard", "on_error"]),
) -> int:
    """Sample sentences with their trees from a model of `deptree hpyp train`.

    Writes CoNLL-U with sent_id gen-1, gen-2, ..., words, tags (UPOS or XPOS, as in training), HEAD and DEPREL; or JSON
    Lines (sent_id, forms, tags, heads, deprels). Words that are rare in the treebank are written as their class
    (UNK-LC-ing, ...). A model without words (--unlexicalised) writes _ for each.

    The model samples actions, tags and words one after another, among those that are possible at that point. So
    sentences and trees are always complete.
    """
    names = (Sentence(f"gen-{number}", number, 0, "") for number in range(1, size + 1))
    source = Source[Sentence, Sentence](Counted(names, total=lambda: size))
    job = Job("hpyp generate", source, run, out, last={"seed": seed})
    return job.write(partial(drawn, read_trained(model), longest), seed)


@dataclass(frozen=True)
class Drawn:
    """A sentence with its tree, and the column of its tags."""

    sentence: Annotated
    tagset: Tagset

    def to_conllu(self, _: Style) -> bytes:
        found = self.sentence
        heads = [UNKNOWN if head == NO_HEAD else str(head) for head in found.heads.tolist()]
        block = block_of(found.sent_id, found.forms)
        for name, values in ((self.tagset, found.tags), ("head", heads), ("deprel", found.deprels)):
            block = block.with_column(name, values)
        return block.raw

    def to_jsonl(self) -> bytes:
        found = self.sentence
        trees = {"heads": found.heads.tolist(), "deprels": found.deprels}
        return dump({"sent_id": found.sent_id, "forms": found.forms, "tags": found.tags, **trees})


def drawn(trained: Any, longest: int, name: Sentence, rng: np.random.Generator) -> Drawn:
    from deptree_cli.hpyp.model.parsing import generated  # loads kernels: when there is work

    return Drawn(generated(trained, name.sent_id, rng, longest), trained.progress.tagset)
