"""``deptree hpyp surprisal``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.cli.options import format_option, header_option, seed_option
from deptree_cli.cli.parser_options import ParserOptions, Sentence, parser_options
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import choose_format, write_chunks
from deptree_cli.io.json_lines import dump
from deptree_cli.io.signature import signature


@command(epilog="\b\nTry: deptree hpyp surprisal model.npz sentences.conllu --tags predict")
@parser_options
@seed_option
@format_option("conllu", "jsonl")
@header_option
@run_options
def surprisal(parser: ParserOptions, run: RunOptions, seed: int, fmt: str | None, header: bool | None) -> int:
    """Compute how surprising every word is, in bits: minus log2 of its probability given the words before it.

    DRAFT
    """
    fmt = choose_format(fmt, run.output, parser.sentences[0], "conllu", "jsonl")
    pipeline = Pipeline(parser.source(), parser.prepare, run)
    made_by = signature("hpyp surprisal", {**parser.signature_fields, **run.signature_fields, "seed": seed})
    write_chunks(pipeline.map(Surprisals(parser.trained, parser, fmt), seed), fmt, made_by, header, run)
    return pipeline.exit_code


@dataclass(frozen=True)
class Surprisals:
    """The surprisals of a sentence's words, as bytes."""

    trained: Any
    parser: ParserOptions
    fmt: str

    def __call__(self, sentence: Sentence, rng: np.random.Generator) -> bytes:
        """The work on one sentence."""
        from deptree_cli.core.hpyp.parsing import filtered

        found = filtered(self.trained, sentence.annotated, rng, self.parser.particles, self.parser.predicts_tags)
        bits = found.surprisals.tolist()
        if self.fmt == "jsonl":
            return dump({"sent_id": sentence.annotated.sent_id, "surprisal": bits[:-1], "end": bits[-1]})
        return sentence.block.with_misc({word: f"Surprisal={x:.4f}" for word, x in enumerate(bits[:-1], 1)})
