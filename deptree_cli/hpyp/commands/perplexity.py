"""``deptree hpyp perplexity``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import command, use
from deptree_cli.cli.run import Job, OneRow, Run
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.unknown import UNSCORED
from deptree_cli.hpyp.options import REPEATED, AnnotatedBlock, ParserOptions, named
from deptree_cli.io.encoders.base import Sheet

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.parsing import Joint  # loads kernels


@command()
def perplexity(
    parser: ParserOptions = use(ParserOptions),
    filters: int = REPEATED,
    seed: int = options.seed(),
    out: Out = use(Out, formats=ROWS, single=True),
    run: Run = use(Run, lacks=["shard"]),
) -> int:
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
    job = Job("hpyp perplexity", parser.source(run, parser.particles * filters), run, out, last={"seed": seed})
    found = Perplexity(parser.trained.symbols.names, parser.predicts_tags)
    empty = DeptreeError("there are no sentences", "Check the file", place=parser.sentences[0])
    code = job.summarise(partial(score, parser, filters), OneRow(found, empty), Sheet(title=parser.model), seed)
    if found.unseen_labels:
        unseen = f"labels that the model does not know: {named(found.unseen_labels)}"
        run.warn("labels", f"{unseen}; sentences with them have no joint bits")
    return code


def score(parser: ParserOptions, filters: int, sentence: AnnotatedBlock, rng: np.random.Generator) -> tuple[Any, ...]:
    """The bits of a sentence, for `Perplexity.add`."""
    from deptree_cli.hpyp.model.parsing import evidence, joint  # loads kernels: when there is work

    trained, predicts_tags, words = parser.trained, parser.predicts_tags, sentence.annotated
    found = evidence(trained, words, rng, parser.particles, predicts_tags, filters)
    bits, error = -float(found.log2[-1]), None if found.error is None else found.error**2
    of_tree = (None, ()) if predicts_tags else (joint(trained, words), trained.symbols.unseen_labels(words))
    return (words.n, trained.symbols.classed(words), bits, error, *of_tree)


MOST_BITS = 1000.0  # a perplexity is finite as long as a float holds it


@dataclass
class Perplexity:
    """The bits of a text, added up sentence by sentence; no joint probability if tags are predicted.

    `parts` of the joint probability: actions, tags and, if the model has words, words.
    """

    parts: tuple[str, ...]
    predicts_tags: bool = False
    bits: float = 0.0
    square_error: float = 0.0
    joint: Float = field(default_factory=lambda: np.zeros(3))
    counts: Counter[str] = field(default_factory=Counter)
    unseen_labels: Counter[str] = field(default_factory=Counter)

    def add(
        self, words: int, classed: int, bits: float, error: float | None, joint: Joint | str | None, unseen: Any = ()
    ) -> None:
        """Add a sentence: of its words those that are predicted as classes, and the labels that the model never saw.

        Its evidence has `bits`, and the square of their standard error, None for a single filter. `joint` is its joint
        probability, or why it has none; None if tags are predicted.
        """
        self.counts.update(sentences=1, words=words, classed=classed)
        self.bits += bits
        self.square_error += nan if error is None else error
        self.unseen_labels.update(unseen)
        if isinstance(joint, str):
            self.counts[joint] += 1
        elif joint:
            self.counts.update(trees=1, lifted=int(joint.lifted), words_in_trees=words)
            self.joint += joint.bits

    def row(self) -> dict[str, Any]:
        """The row of output. The ends of sentences count as words; joint numbers are also given by part."""
        counts, lexicalised = self.counts, "word" in self.parts
        tokens = counts["words"] + counts["sentences"]
        scored = ["words"] if self.predicts_tags else ["tags", "words"] if lexicalised else ["tags"]
        row: dict[str, Any] = {
            "sentences": counts["sentences"],
            "words": counts["words"],
            "tokens": tokens,
            "words_as_classes": counts["classed"] / counts["words"] if lexicalised else None,
            "evidence_of": " and ".join(scored),
            "evidence_bits": self.bits,
            "evidence_error": None if isnan(self.square_error) else sqrt(self.square_error),
            "evidence_perplexity": _perplexity(self.bits, tokens),
        }
        if self.predicts_tags:
            return row
        trees, words, total = counts["trees"], counts["words_in_trees"], float(self.joint.sum())
        row |= {"trees": trees, "trees_made_projective": counts["lifted"]}
        row |= {f"left_out_{reason}": counts[reason] for reason in UNSCORED}
        if not trees:
            return row
        row |= {"joint_bits": total, "joint_perplexity": _perplexity(total, words + trees)}
        for name, bits, events in zip(self.parts, self.joint.tolist(), (2, 1, 1), strict=False):
            row |= {f"{name}_bits": bits, f"{name}_bits_per_word": bits / words}
            row[f"{name}_perplexity"] = _perplexity(bits, events * words)
        return row


def _perplexity(bits: float, events: int) -> float | None:
    """2 to the power of the bits per event; None where a float does not hold it."""
    return 2.0 ** (bits / events) if bits < MOST_BITS * events else None
