"""``deptree hpyp generate``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.cli.options import format_option, header_option, seed_option, size_option
from deptree_cli.cli.parser_options import model_argument, read_trained
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.progress import Counted
from deptree_cli.cli.ranges import IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import choose_format, write_chunks
from deptree_cli.core.hpyp.defaults import LONGEST
from deptree_cli.io.hpyp.trees import to_conllu
from deptree_cli.io.json_lines import dump
from deptree_cli.io.signature import signature


@command(epilog="\b\nTry: deptree hpyp generate model.npz -k 10 --seed 7")
@model_argument
@size_option(1, "How many sentences.")
@option(
    "--longest",
    type=IntRange(1, 10**6),
    default=LONGEST,
    metavar="N",
    help=f"Draw among sentences of at most N words.  [default: {LONGEST}]",
)
@seed_option
@format_option("conllu", "jsonl")
@header_option
@run_options
def generate(
    model: str, run: RunOptions, size: int, longest: int, seed: int, fmt: str | None, header: bool | None
) -> int:
    """Draw sentences with their trees from a model: gen-1, gen-2, ...

    Writes CoNLL-U: words, tags in the column from which the model has them, HEAD and DEPREL; or JSON Lines (sent_id,
    forms, tags, heads, deprels). Words that are rare in the treebank come as their class (UNK-LC-ing, ...); a model
    without words (--unlexicalised) has _ for all.

    Actions, tags and words are drawn by the model, one after another, among those that are possible in their place, so
    sentences and trees are always whole; longer sentences are drawn again.
    """
    fmt = choose_format(fmt, run.output, model, "conllu", "jsonl")
    names = (Name(f"gen-{number}") for number in range(1, size + 1))
    pipeline = Pipeline(Counted(names, total=lambda: size), Name.own, run)
    fields = {"size": size, "longest": longest, **run.signature_fields, "seed": seed}
    drawn = pipeline.map(Draw(read_trained(model), longest, fmt), seed)
    write_chunks(drawn, fmt, signature("hpyp generate", fields), header, run)
    return pipeline.exit_code


@dataclass(frozen=True)
class Name:
    """A sentence that is still to be drawn."""

    sent_id: str
    place: str = ""
    notice: str = ""

    def own(self) -> str:
        """Its name."""
        return self.sent_id


@dataclass(frozen=True)
class Draw:
    """A sentence with its tree, as bytes; it travels to worker processes."""

    trained: Any
    longest: int
    fmt: str

    def __call__(self, sent_id: str, rng: np.random.Generator) -> bytes:
        """The work on one sentence."""
        from deptree_cli.core.hpyp.generating import generated

        found = generated(self.trained, sent_id, rng, self.longest)
        if self.fmt == "conllu":
            return to_conllu(found, self.trained.progress.tagset)
        trees = {"heads": found.heads.tolist(), "deprels": found.deprels}
        return dump({"sent_id": sent_id, "forms": found.forms, "tags": found.tags, **trees})
