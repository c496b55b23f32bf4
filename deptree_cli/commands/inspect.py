"""``deptree inspect``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.options import Inputs, input_options
from deptree_cli.commands.pipeline import Pipeline, to_sentence
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import entropy
from deptree_cli.core.oracle import are_trees
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.layout import CHOICES, Layout
from deptree_cli.io.output import Output
from deptree_cli.io.pairing import Record
from deptree_cli.io.report import table

Facts = dict[str, Any]

# fact about a sentence -> its name in the summary
FITS = {
    "fit": "log_prob_per_word",
    "fit_head-dep": "log_prob_per_word_head_dep",
    "fit_dep-head": "log_prob_per_word_dep_head",
}


@click.command(epilog="\b\nTry: deptree inspect scores.npz --from natasha --conllu gold.conllu")
@input_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output instead of a table.")
def inspect(inputs: Inputs, as_json: bool) -> int:
    """Say how a score file is understood: shapes, orientation, scale, how peaked it is, single-root mass.

    With --conllu whose words have heads, also how well these fit under each orientation that the matrices allow (mean
    log-probability of the sentences' trees per word): the right one is far ahead. A table on a terminal, else JSON.
    """
    pipeline = Pipeline(inputs)
    facts = list(pipeline.map(partial(_facts, inputs)))
    if not facts:
        raise DeptreeError("there are no sentences to look at", "Check the file", place=inputs.scores)
    summary = _summary(facts, inputs.layout)
    if sys.stdout.isatty() and not as_json:
        table(inputs.scores, ("what", "value"), summary.items())
    else:
        with Output(None) as out:
            out.write(dump(summary))
    return pipeline.exit_code


def _facts(inputs: Inputs, sentence: Sentence, record: Record, _: np.random.Generator) -> Facts:
    """What one sentence contributes."""
    from deptree_cli.core.elimination import Elimination  # loads kernels: when there is work

    elimination = sentence.elimination
    marginals = elimination.marginals()[:, 1:]
    allowed = np.isfinite(sentence.log_scores[:, 1:])
    other = Elimination(sentence.log_scores, single_root=False) if sentence.single_root else elimination
    return {
        "n": sentence.n,
        "shape": "({}, {})".format(*("n+1" if side > sentence.n else "n" for side in record.scores.shape)),
        "type": str(record.scores.dtype),
        "lowest": float(sentence.log_scores[:, 1:][allowed].min()),
        "highest": float(sentence.log_scores[:, 1:][allowed].max()),
        "forbidden": int((~allowed).sum()) - sentence.n,
        "normalised": bool(np.allclose(np.logaddexp.reduce(sentence.log_scores[:, 1:], axis=0), 0.0, atol=1e-3)),
        "best_head": float(marginals.max(axis=0).mean()),
        "entropy": entropy(sentence) / sentence.n,
        "single_root_mass": float(np.exp(min(elimination.log_z - other.log_z, 0.0))),
    } | _fit(record, inputs)


def _fit(record: Record, inputs: Inputs) -> Facts:
    """Log-probability per word of the tree that the CoNLL-U has, under each orientation the matrix allows."""
    if record.block is None or None in record.block.heads:
        return {}
    heads = np.array([record.block.heads], dtype=np.int32)
    if not are_trees(heads, inputs.single_root)[0]:
        return {}
    if record.scores.shape[0] != record.scores.shape[1]:
        return {"fit": _log_prob_per_word(record, inputs, inputs.layout, heads)}
    layouts = {orient: replace(inputs.layout, orient=orient) for orient in CHOICES["orient"]}
    return {f"fit_{name}": _log_prob_per_word(record, inputs, layout, heads) for name, layout in layouts.items()}


def _log_prob_per_word(record: Record, inputs: Inputs, layout: Layout, heads: NDArray[np.int32]) -> float:
    """-inf where this layout allows no tree, or not this one."""
    try:
        return float(to_sentence(record, inputs, layout).log_probs(heads)[0]) / heads.size
    except DeptreeError:
        return -np.inf


def _mean(facts: list[Facts], key: str) -> dict[str, float | None]:
    """The mean fit under its name: nothing where no sentence has it, None where a tree is impossible."""
    values = [fact[key] for fact in facts if key in fact]
    mean = float(np.mean(values)) if values else 0.0
    return {FITS[key]: mean if np.isfinite(mean) else None} if values else {}


def _summary(facts: list[Facts], layout: Layout) -> Facts:
    """One line per fact for the whole file."""
    every: Callable[[str], list[Any]] = lambda key: [fact[key] for fact in facts]  # noqa: E731
    masses = every("single_root_mass")
    return {
        "sentences": len(facts),
        "words": sum(every("n")),
        "longest": max(every("n")),
        "shapes": ", ".join(sorted(set(every("shape")))),
        "type": ", ".join(sorted(set(every("type")))),
        "preset": layout.preset or "none",
        "orient": _orient(facts, layout),
        "root": layout.root,
        "scale": layout.scale,
        "lowest_log_score": min(every("lowest")),
        "highest_log_score": max(every("highest")),
        "forbidden_arcs": sum(every("forbidden")),
        "heads_normalised": all(every("normalised")),
        "mean_best_head_probability": float(np.mean(every("best_head"))),
        "mean_entropy_per_word": float(np.mean(every("entropy"))),
        "single_root_mass_mean": float(np.mean(masses)),
        "single_root_mass_median": float(np.median(masses)),
        "single_root_mass_min": min(masses),
        **{name: mean for key in FITS for name, mean in _mean(facts, key).items()},
    }


def _orient(facts: list[Facts], layout: Layout) -> str:
    if {fact["shape"] for fact in facts} == {"(n, n+1)"}:
        return "dep-head (by shape)"
    if {fact["shape"] for fact in facts} == {"(n+1, n)"}:
        return "head-dep (by shape)"
    return layout.orient or "head-dep (assumed)"
