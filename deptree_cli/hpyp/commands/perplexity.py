"""``deptree hpyp perplexity``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deptree_cli.cli.options import command, seed_option
from deptree_cli.cli.run import Job, OneRow, RunOptions, run_options
from deptree_cli.cli.write import ROWS, Writing, format_options
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.options import ParserOptions, filters_option, named, parser_options
from deptree_cli.hpyp.options import Read as Sentence
from deptree_cli.io.encoders.base import Sheet


@command()
@parser_options
@filters_option
@seed_option
@format_options(*ROWS)
@run_options
def perplexity(parser: ParserOptions, run: RunOptions, filters: int, seed: int, writing: Writing) -> int:
    """Compute the perplexity of sentences: how well the model predicts them (lower is better).

    Reads CoNLL-U and writes one row for all sentences: JSON or, on a terminal, a table. evidence_perplexity is 2 to the
    power of evidence_bits / tokens; tokens are the words and the ends of sentences. It is the perplexity of words and
    tags (--tags given) or of words alone (--tags predict), summed over all trees. The estimate is too high on average,
    less so with more --particles. evidence_error is the standard error of evidence_bits.

    With --tags given, sentences with trees (HEAD, DEPREL) also have joint_bits and joint_perplexity: of the words, the
    tags and the actions that build the tree. action_, tag_ and word_perplexity are those of its parts, per event (there
    are two actions per word); action_bits_per_word, ... are what the parts add per word. In
    trees_made_projective trees, crossing arcs were moved up.

    The joint numbers leave out and count sentences without a labelled tree with one root (left_out_no_tree), with a
    label that the model never saw (left_out_unseen_label), and with a missing or unknown tag (left_out_unknown_tag).
    The evidence sums over such tags.

    words_as_classes is the share of words that are not in the vocabulary and are predicted as a class (UNK-LC-ing,
    ...). Compare perplexities only if the same words are replaced by classes.
    """
    from deptree_cli.hpyp.model.parsing import Perplexity  # loads kernels: when there is work

    job = Job(
        "hpyp perplexity",
        parser.source(run),
        run,
        replace(writing, single=True),
        last={"filters": filters, "seed": seed},
    )
    found = Perplexity(parser.trained.symbols.names, parser.predicts_tags)
    empty = DeptreeError("there are no sentences", "Check the file", place=parser.sentences[0])
    code = job.summarise(Score(parser, filters), OneRow(found, empty), Sheet(title=parser.model), seed)
    if found.unseen_labels:
        unseen = f"labels that the model does not know: {named(found.unseen_labels)}"
        run.warn("labels", f"{unseen}; sentences with them have no joint bits")
    return code


@dataclass(frozen=True)
class Score:
    """What a sentence costs; it travels to worker processes."""

    parser: ParserOptions
    filters: int

    def __call__(self, sentence: Sentence, rng: np.random.Generator) -> tuple[Any]:
        from deptree_cli.hpyp.model.parsing import score

        parser = self.parser
        how = parser.particles, parser.predicts_tags, self.filters
        return (score(parser.trained, sentence.annotated, rng, *how),)
