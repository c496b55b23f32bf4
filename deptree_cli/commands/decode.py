"""``deptree decode``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import click
import numpy as np

from deptree_cli.cli.gold_report import GoldReport, only_count, report_options
from deptree_cli.cli.options import entry_option, format_option, header_option, size_option, style_fields, style_options
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.report import table, talk
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, gold_option, label_scores_option, score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.writing import format_of_trees, write_arrays, write_chunks
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.calibration import Calibration
from deptree_cli.core.decoding import METHODS, best_trees
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.register import NamedFunction
from deptree_cli.core.second_order import SecondOrder
from deptree_cli.io.conllu.misc import filled, probabilities, probability, with_places
from deptree_cli.io.conllu.splicing import with_trees
from deptree_cli.io.conllu.trees import Note, Style, label_notes, log_prob_note, to_jsonl
from deptree_cli.io.pictures.plots import plot_calibration
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature

K_BEST = "k-best"

# A single tree keeps the sentence's name.
_UNNAMED = "{id}"


@command(epilog="\b\nTry: deptree decode scores.npz --from natasha --conllu sentences.conllu")
@score_options
@label_scores_option
@entry_option(METHODS, "--method", default="mst", help="By default mst", names=lambda: [each.line for each in METHODS])
@size_option(None, "The N most probable trees, the best first.", "one tree, by --method", formerly=["--k-best"])
@gold_option("Heads and their probabilities are compared with them (a table).", formerly=["--calibration"])
@report_options("trees")
@format_option("conllu", "jsonl", "npz")
@header_option
@style_options
@run_options
def decode(
    scores: ScoreOptions,
    run: RunOptions,
    method: NamedFunction,
    size: int | None,
    report: GoldReport,
    fmt: str | None,
    header: bool | None,
    style: Style,
) -> int:
    """Find the best tree of each sentence, or the K best.

    Writes CoNLL-U if --conllu is given, with HeadProb in MISC of every word (the probability of its head) and the
    comments tree_logprob, tree_prob and entropy (nats); else JSON Lines; npz holds the heads, (n,) or (K, n). With
    --labels every word gets its most probable label given the tree, with LabelProb in MISC.

    With --gold a table on stderr shows how often heads of each tenth of probability are right, the attachment score,
    the one that the parser expects, and the expected calibration error.
    """
    _check(method, size, gold := bool(scores.gold), report)
    fmt = format_of_trees(fmt, run.output, scores, "conllu", "jsonl", "npz")
    pipeline = Pipeline(scores.records(), scores.interpretation, run)
    fields = {"method": K_BEST if size else method.name, **scores.signature_fields, **run.signature_fields}
    made_by = signature("decode", {**fields, "size": size, **style_fields(style)})
    style = style if size else replace(style, sent_id_format=_UNNAMED)
    calibration = Calibration()
    decoded = pipeline.map(Decode(fmt, method, size, style, gold))
    decoded = _compared(decoded, calibration) if gold else decoded
    if report.takes_output(run):
        only_count(decoded, made_by, run)
    else:
        _write(decoded, fmt, made_by, header, run)
    if report.path:
        report.write(calibration.summary(), made_by if header else "")
    elif gold and not run.quiet:
        _report(calibration)
    if report.plot:
        _plot(calibration, report.plot)
    return pipeline.exit_code


def _plot(found: Calibration, path: str) -> None:
    plot_calibration(found.rows(), f"expected calibration error {found.error:.3f}", path)


def _write(decoded: Iterator[Decoded], fmt: str, made_by: str, header: bool | None, run: RunOptions) -> None:
    if fmt == "npz":
        write_arrays(((done.sent_id, done.heads) for done in decoded), made_by, run)
    else:
        write_chunks((done.chunk for done in decoded), fmt, made_by, header, run)


def _check(method: NamedFunction, size: int | None, gold: bool, report: GoldReport) -> None:
    """Raise for options that do not go together, and for a picture that cannot be drawn."""
    if size and method.name != "mst":
        raise click.UsageError("-k goes with --method mst.")
    report.check(gold)
    if size and gold:
        raise click.UsageError("--gold is compared with one tree per sentence, not with -k.")


def _compared(decoded: Iterator[Decoded], calibration: Calibration) -> Iterator[Decoded]:
    """The results as they pass, their heads counted by those that are known.

    Raises:
        DeptreeError: at the end, if no head is known.
    """
    for done in decoded:
        known = done.gold >= 0
        calibration.add(done.probs[known], (done.heads == done.gold)[known])
        yield done
    if not calibration.words.any():
        raise DeptreeError("no word of --gold has a known head", "Give sentences with HEADs")


def _report(found: Calibration) -> None:
    table("calibration of heads", ["probability", "words", "confidence", "accuracy"], found.rows())
    talk(f"attachment score {found.attachment:.4f}, expected by the parser {found.mean_confidence:.4f}")
    talk(f"expected calibration error {found.error:.4f} over {counted(int(found.words.sum()), 'word')}")


class Decoded(NamedTuple):
    """A sentence's trees: bytes to write, heads (n,) or (K, n); of a single one each head's probability, and gold."""

    sent_id: str
    chunk: bytes
    heads: Heads
    probs: Float
    gold: Heads


@dataclass(frozen=True)
class Decode:
    """One tree of a sentence, or up to K; the probabilities of heads only where they are `compared`."""

    fmt: str
    method: NamedFunction
    size: int | None
    style: Style
    compared: bool

    def __call__(self, sentence: ScoredSentence, _: None) -> Decoded:
        """The work on one sentence."""
        trees = self._best(sentence)
        chunk = b""
        if self.fmt == "conllu":
            chunk = _to_conllu(sentence, trees, self.style)
        elif self.fmt == "jsonl":
            chunk = _to_jsonl(sentence, trees, self.size is not None)
        probs = _head_probs(sentence.scored, trees)[0] if self.compared else np.empty(0)
        gold = sentence.record.known_heads if self.compared else np.empty(0, dtype=np.int32)
        return Decoded(sentence.id, chunk, trees if self.size else trees[0], probs, gold)

    def _best(self, sentence: ScoredSentence) -> Heads:
        """Its best trees, (k, n)."""
        if self.size:
            return best_trees(sentence.by_arcs("find the best tree alone, without -k"), self.size)
        tree: Heads = self.method.function(sentence.scored)
        return tree[None]


def _head_probs(distribution: ArcFactored | SecondOrder, trees: Heads) -> Float:
    """The probability of every word's head in each tree, (k, n)."""
    return distribution.marginals()[trees, np.arange(1, distribution.n + 1)]


def _to_jsonl(sentence: ScoredSentence, trees: Heads, ranked: bool) -> bytes:
    distribution = sentence.scored
    labels = distribution.labels.best(trees) if distribution.labels else None
    notes = [log_prob_note(distribution.tree_log_probs(trees)), *label_notes(distribution, trees, labels)]
    notes.append(Note("entropy", "entropy", [sentence.entropy] * len(trees)))
    return to_jsonl(sentence.as_trees(trees, labels, notes), ranked=ranked)


def _to_conllu(sentence: ScoredSentence, trees: Heads, style: Style) -> bytes:
    distribution = sentence.scored
    labels = distribution.labels.best(trees) if distribution.labels else None
    log_probs = distribution.tree_log_probs(trees).tolist()
    comments = {
        "tree_logprob": [f"{x:.6f}" for x in log_probs],
        "tree_prob": [probability(np.exp(x), 6) for x in log_probs],
    }
    comments |= {note.key: note.texts for note in label_notes(distribution, trees, labels) if note.key}
    if sentence.entropy is not None:
        comments["entropy"] = [f"{sentence.entropy:.6f}"] * len(trees)
    probs = _probs(distribution, trees, labels)
    block, mark = with_places(sentence.record.sentence, list(probs))
    deprels = sentence.deprels(labels, len(trees))
    sent_ids = style.sent_ids(sentence.id, len(trees))
    data = with_trees(block, trees, sent_ids, comments, deprels=deprels, deps=style.deps)
    return filled(data, mark, probabilities(np.stack(list(probs.values()), axis=-1).ravel().tolist()))


def _probs(distribution: ArcFactored | SecondOrder, trees: Heads, labels: Heads | None) -> dict[str, Float]:
    """The probabilities noted in MISC, by their keys: of every word's head in each tree, and of head and label."""
    arcs = _head_probs(distribution, trees)
    if distribution.labels is None or labels is None:
        return {"HeadProb": arcs}
    given_arc = distribution.labels.probs[trees, np.arange(1, distribution.n + 1), labels]
    return {"HeadProb": arcs, "LabelProb": arcs * given_arc}
