"""``deptree inspect``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import click
import numpy as np

from deptree_cli.commands.options import Inputs, input_options
from deptree_cli.commands.pipeline import Pipeline, to_sentence
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import entropy
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.layout import CHOICES, Layout
from deptree_cli.io.output import Output
from deptree_cli.io.pairing import Record
from deptree_cli.io.report import table

Facts = dict[str, Any]


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
    summary = {what: value for what, value in _summary(facts, inputs.layout).items() if value is not None}
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
    square = record.scores.shape[0] == record.scores.shape[1]
    fits: Facts = {}
    for orient in CHOICES["orient"]:
        try:
            layout = replace(inputs.layout, orient=orient) if square else inputs.layout
            log_prob = float(to_sentence(record, inputs, layout).log_probs(heads)[0])
        except DeptreeError:
            log_prob = -np.inf
        if square:
            fits[f"fit_{orient}"] = log_prob / heads.size
        else:
            fits["fit"] = log_prob / heads.size
    return fits


def _mean(facts: list[Facts], key: str) -> float | None:
    values = [fact[key] for fact in facts if key in fact]
    mean = float(np.mean(values)) if values else None
    return mean if mean is None or np.isfinite(mean) else None


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
        "preset": layout.preset or None,
        "orient": _orient(facts, layout),
        "root": layout.root,
        "scale": layout.scale,
        "lowest_log_score": min(every("lowest")),
        "highest_log_score": max(every("highest")),
        "forbidden_arcs": sum(every("forbidden")),
        "heads_normalised": all(every("normalised")),
        "mean_best_head_probability": _mean(facts, "best_head"),
        "mean_entropy_per_word": _mean(facts, "entropy"),
        "single_root_mass_mean": float(np.mean(masses)),
        "single_root_mass_median": float(np.median(masses)),
        "single_root_mass_min": min(masses),
        "log_prob_per_word": _mean(facts, "fit"),
        "log_prob_per_word_head_dep": _mean(facts, "fit_head-dep"),
        "log_prob_per_word_dep_head": _mean(facts, "fit_dep-head"),
    }


def _orient(facts: list[Facts], layout: Layout) -> str:
    if {fact["shape"] for fact in facts} == {"(n, n+1)"}:
        return "dep-head (by shape)"
    if {fact["shape"] for fact in facts} == {"(n+1, n)"}:
        return "head-dep (by shape)"
    return layout.orient or "head-dep (assumed)"
