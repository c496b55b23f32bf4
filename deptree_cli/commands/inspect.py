"""``deptree inspect``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs, input_options
from deptree_cli.commands.pipeline import Pipeline, to_sentence
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import entropy
from deptree_cli.core.oracle import are_trees
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.layout import CHOICES, Layout
from deptree_cli.io.output import Output
from deptree_cli.io.pairing import Record
from deptree_cli.io.report import table, talk

Facts = dict[str, Any]

# How much better, in nats a word, known heads must fit another layout for the one read to be called wrong. On trained
# parsers the right layout is several nats ahead.
MARGIN = 0.5

FIT = "log_prob_per_word"


@click.command(epilog="\b\nTry: deptree inspect scores.npz --from natasha --conllu gold.conllu")
@input_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output instead of a table.")
def inspect(inputs: Inputs, as_json: bool) -> int:
    """Say how a score file is understood: shapes, orientation, scale, how peaked it is, single-root mass.

    With --conllu whose words have heads, also how well these fit under each orientation and place of ROOT that the
    matrices allow (mean log-probability of the sentences' trees per word): the right one is far ahead. If that is
    another one than was read, a line on stderr says what to say instead, and the exit code is 1. A table on a terminal,
    else JSON.
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
    advice = _advice(facts, inputs.layout)
    if advice:
        talk(advice)
    return 1 if advice else pipeline.exit_code


def _facts(inputs: Inputs, sentence: Sentence, record: Record, _: np.random.Generator) -> Facts:
    """What one sentence contributes."""
    from deptree_cli.core.elimination import Elimination  # loads kernels: when there is work

    elimination = sentence.elimination
    marginals = elimination.marginals()[:, 1:]
    allowed = np.isfinite(sentence.log_scores[:, 1:])
    other = Elimination(sentence.log_scores, single_root=False) if sentence.single_root else elimination
    rows, columns = inputs.layout.arcs(record.scores.shape)
    return {
        "n": sentence.n,
        "shape": _shape(record.scores.shape, sentence.n, inputs.layout),
        "longer_axis": rows - columns,
        "type": str(record.scores.dtype),
        "lowest": float(sentence.log_scores[:, 1:][allowed].min()),
        "highest": float(sentence.log_scores[:, 1:][allowed].max()),
        "forbidden": int((~allowed).sum()) - sentence.n,
        "normalised": bool(np.allclose(np.logaddexp.reduce(sentence.log_scores[:, 1:], axis=0), 0.0, atol=1e-3)),
        "best_head": float(marginals.max(axis=0).mean()),
        "entropy": entropy(sentence) / sentence.n,
        "single_root_mass": float(np.exp(min(elimination.log_z - other.log_z, 0.0))),
        "fits": _fits(record, inputs),
    }


def _shape(shape: tuple[int, ...], n: int, layout: Layout) -> str:
    """An array's shape in letters, such as (n, n+1) or (L, n+1, n+1)."""
    sides = ["n+1" if side > n else "n" for side in layout.arcs(shape)]
    first, last = ["L"] * (layout.labels == "first"), ["L"] * (layout.labels == "last")
    return f"({', '.join([*first, *sides, *last])})"


def _fits(record: Record, inputs: Inputs) -> dict[str, float]:
    """Log-probability per word of the tree that the CoNLL-U has, under each layout that the matrix allows."""
    if record.block is None or None in record.block.heads:
        return {}
    heads = np.array([record.block.heads], dtype=np.int32)
    if not are_trees(heads, inputs.single_root)[0]:
        return {}
    rows, columns = inputs.layout.arcs(record.scores.shape)
    return {
        name: _log_prob_per_word(record, inputs, layout, heads)
        for name, layout in _candidates(inputs.layout, rows == columns).items()
    }


def _candidates(read: Layout, square: bool) -> dict[str, Layout]:
    """The layouts that a matrix may have, by the name of their fit; first the one it is read in."""
    orients = sorted(CHOICES["orient"], key=lambda orient: orient != (read.orient or CHOICES["orient"][0]))
    roots = [read.root, *({"first", "last"} - {read.root} if read.root != "diagonal" else ())]
    found = {}
    for orient, root in product(orients if square else [read.orient], roots):
        name = FIT + f"_{orient}".replace("-", "_") * square + f"_root_{root}" * (root != read.root)
        found[name] = replace(read, orient=orient, root=root)
    return found


def _log_prob_per_word(record: Record, inputs: Inputs, layout: Layout, heads: NDArray[np.int32]) -> float:
    """-inf where this layout allows no tree, or not this one."""
    try:
        return float(to_sentence(record, inputs, layout).log_probs(heads)[0]) / heads.size
    except DeptreeError:
        return -np.inf


def _mean_fits(facts: list[Facts]) -> dict[str, float]:
    """The mean of each fit over the sentences that have it; -inf where one of them cannot have its tree."""
    names = dict.fromkeys(name for fact in facts for name in fact["fits"])
    return {name: float(np.mean([fact["fits"][name] for fact in facts if name in fact["fits"]])) for name in names}


def _advice(facts: list[Facts], read: Layout) -> str:
    """What to say instead, where known heads fit another layout than the one read; else nothing."""
    fits = _mean_fits(facts)
    if not fits:
        return ""
    layouts = _candidates(read, square=True) | _candidates(read, square=False)
    best, used = max(fits, key=fits.__getitem__), next(iter(fits))
    if fits[best] - fits[used] < MARGIN or not np.isfinite(fits[best]):
        return ""
    better = layouts[best]
    turned = better.orient not in (read.orient, None if read.orient else CHOICES["orient"][0])
    orient = f" --orient {better.orient}" * turned
    said = orient + f" --root {better.root}" * (better.root != read.root)
    return (
        f"the heads of the CoNLL-U fit{said} far better ({fits[best]:.2f} against {fits[used]:.2f} a word): say{said}"
    )


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
        **{name: fit if np.isfinite(fit) else None for name, fit in _mean_fits(facts).items()},
    }


def _orient(facts: list[Facts], layout: Layout) -> str:
    longer = {fact["longer_axis"] for fact in facts}
    by_shape = {-1: "dep-head (by shape)", 1: "head-dep (by shape)"}
    return by_shape.get(longer.pop() if len(longer) == 1 else 0, layout.orient or "head-dep (assumed)")
