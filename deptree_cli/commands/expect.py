"""``deptree expect``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, make_dataclass, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import INPUT, Bundle, FloatRange, command, flag, opt, use
from deptree_cli.cli.run import Job, Run
from deptree_cli.cli.score_options import Scores, gold
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.expectations import (
    DISTRIBUTION,
    FEATURES,
    HEADS,
    NUMBER,
    VECTOR,
    OfDistribution,
    QuantityInput,
    unique_inputs,
)
from deptree_cli.core.quantities import EXPECTED
from deptree_cli.io.encoders.base import JSONL, Sheet
from deptree_cli.io.files.streams import open_input
from deptree_cli.io.scores.arrays import MAGIC, read_list
from deptree_cli.io.scores.containers.npz import Archive, open_zip
from deptree_cli.io.scores.files import ScoreSource
from deptree_cli.io.scores.layout import Layout, from_head_dep, layout_fields, to_head_dep
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

HELP = """Compute an exact expectation for every sentence (entropies in nats).

Writes JSON Lines: sent_id, n, the quantity by its name and, with --grad, its gradient with respect to the log-scores,
in the shape and orientation read (0 for forbidden arcs). Impossible numbers are null, with a reason.

kl and cross-entropy compare with --other FILE, in the same layout (and --grad also gives gradient_other); risk and
attachment with the HEADs in --gold FILE. features, covariance and ge take --features: sums of arc features over a
tree, their means, their covariances, and the generalised expectation objective (minus half the squared distance of the
means from --target).
"""

INFINITE = "infinite: the other scores forbid an arc that is possible here"
UNKNOWN = "no word of the sentence has a gold head"

# How the value of an option is called, by the kind of the input; gold heads are read with the scores.
METAVARS = {NUMBER: "NUMBER", DISTRIBUTION: "FILE", HEADS: "FILE", FEATURES: "NPZ", VECTOR: "FILE"}

INPUTS = [each for each in unique_inputs(EXPECTED) if each.kind != HEADS]


def _option(needed: QuantityInput) -> Any:
    takers = [quantity.name for quantity in EXPECTED if needed in quantity.inputs]
    named = ", ".join(takers[:-1]) + " and " * (len(takers) > 1) + takers[-1]
    return opt(
        f"--{needed.name}",
        type=FloatRange(0, min_open=True) if needed.kind == NUMBER else INPUT,
        metavar=METAVARS[needed.kind],
        help=f"{needed.help}, for {named}.",
    )


# An option for each input of a quantity, under its name.
Inputs: Any = make_dataclass("Inputs", [(each.name, Any, _option(each)) for each in INPUTS], bases=(Bundle,), eq=False)


@command(
    help=HELP,
    listing=Listing("Quantities", EXPECTED, lambda entry: f"{entry.name}:\n  {entry.summary}", of_argument=True),
)
def expect(
    name: str = opt(metavar="QUANTITY", shell_complete=EXPECTED.complete),
    scores: Scores = use(Scores, gold=gold("For risk and attachment.")),
    inputs: Any = use(Inputs),
    grad: bool = flag("--grad", help="Also write the gradient."),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run),
) -> int:
    quantity, given = EXPECTED.get(name), vars(inputs)
    _check_given(quantity, given, scores)
    if grad and not quantity.gradient:
        raise click.UsageError(f"{name} has no --grad.")
    values = {each.name: given[each.name] for each in quantity.inputs if each.kind != HEADS}
    values |= {each.name: vector(values[each.name]) for each in quantity.inputs if each.kind == VECTOR}
    if path := next((given[each.name] for each in quantity.inputs if each.kind == DISTRIBUTION), None):
        other = ScoreSource(path)  # of the same sentences
        for said, read in other.layout(Layout()).contradictions(scores.how.layout.complete):
            problem = f"the file says {said}, but {scores.place} is read as {read}"
            raise DeptreeError(problem, "Convert one of them: deptree convert", place=other.place)
        scores.files = (replace(scores.files[0], other=other), *scores.files[1:])
    if grad or not quantity.scalar:
        out = out.narrowed("gradients" if grad else name, JSONL.name)
    numbers = {each.name: given[each.name] for each in INPUTS if each.kind == NUMBER}
    job = Job("expect", scores.source(run), run, out, {"quantity": name, **numbers})
    sheet = Sheet(["sent_id", "n", name, "reason"], f"expect {name}")
    return job.write(Quantities(quantity, values, grad), sheet=sheet)


def _check_given(quantity: OfDistribution, given: dict[str, Any], scores: Scores) -> None:
    """What the quantity needs is there, and nothing that only others do; HEADs of --conllu do for known ones."""
    for needed in quantity.inputs:
        if not (scores.gold or scores.has_sentences if needed.kind == HEADS else given[needed.name]):
            raise click.UsageError(f"{quantity.name} needs {_asked_for(needed)}.")
    if scores.gold and not any(needed.kind == HEADS for needed in quantity.inputs):
        raise click.UsageError(f"{quantity.name} does not use --gold FILE.")
    for other in INPUTS:
        if other not in quantity.inputs and given[other.name] is not None:
            raise click.UsageError(f"{quantity.name} does not use {_asked_for(other)}.")


def _asked_for(needed: QuantityInput) -> str:
    return f"--{needed.name} {METAVARS[needed.kind]}"


@dataclass(frozen=True)
class Quantities:
    """The quantity of a sentence as an object for JSON; `values`: what all sentences share of its inputs."""

    quantity: OfDistribution
    values: dict[str, Any]
    grad: bool

    @property
    def in_batches(self) -> bool:
        return self.quantity.of_many is not None and not self.grad

    def of_many(self, sentences: ScoredBatch, _: None) -> Float:
        assert self.quantity.of_many is not None
        return self.quantity.of_many(sentences.trees)

    def __call__(self, sentence: ScoredSentence, _: None) -> dict[str, Any]:
        row: dict[str, Any] = {"sent_id": sentence.id, "n": sentence.n}
        found = sentence.ask(self.of_many)
        if found is not None and isfinite(found):
            return row | {self.quantity.name: float(found)}
        quantity, distribution = self.quantity, sentence.distribution
        inputs = [self._value(each, sentence) for each in quantity.inputs]
        value = np.asarray(quantity.value(distribution, *inputs))
        row[quantity.name] = value.tolist()
        if not np.isfinite(value).all():
            return row | {quantity.name: None, "reason": UNKNOWN if np.isnan(value).any() else INFINITE}
        if self.grad and quantity.gradient:
            row |= layout_fields(sentence.interpretation.layout, sentence.record.scores.shape)
            row["gradient"] = _as_read(quantity.gradient(distribution, *inputs), sentence)
        if self.grad and quantity.gradient_other:
            row["gradient_other"] = _as_read(quantity.gradient_other(distribution, *inputs), sentence)
        return row

    def _value(self, needed: QuantityInput, sentence: ScoredSentence) -> Any:
        if needed.kind == DISTRIBUTION:
            return sentence.other
        if needed.kind == HEADS:
            return sentence.record.known_heads
        if needed.kind != FEATURES:
            return self.values[needed.name]
        features = features_of(self.values[needed.name], sentence.record, sentence.interpretation.layout)
        for each in self.quantity.inputs:
            if each.kind == VECTOR and len(self.values[each.name]) != features.shape[2]:
                targets = counted(len(self.values[each.name]), "target")
                problem = f"the numbers differ: {counted(features.shape[2], 'feature')}, {targets}"
                raise DeptreeError(problem, "Give a target for each feature")
        return features


# Of a number whose square is summed up.
LARGEST = 1e100


def features_of(path: str, record: Sentence, layout: Layout) -> Float:
    """A sentence's features as (n+1, n+1, R), ``[head, dependent]``; those of what is not an arc are 0."""
    identity = None
    with suppress(OSError):  # told where it is opened
        found = Path(path).stat()  # of two files that have a name one after the other, or in two folders
        identity = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
    archive, arcs = _archive(path, identity), layout.arcs(record.scores.shape)
    key = next((name for name in record.names if name in archive), None)
    if key is None:
        raise DeptreeError(f"{path} has no key of this name", "Name features as the scores are named")
    array = archive.load(key)
    if array.ndim != 3 or array.shape[:2] != arcs or not array.shape[2]:
        problem = f"the features have shape {array.shape}, the scores of arcs {arcs}"
        raise DeptreeError(problem, "Give an array like the scores with one more axis, the features")
    features = to_head_dep(array, replace(layout, scale="weight", labels="last"))
    if not (np.abs(features) <= LARGEST).all():
        problem = f"a feature is not a finite number up to {LARGEST:g}"
        raise DeptreeError(problem, "Give finite features, also for forbidden arcs")
    return features


@cache
def _archive(path: str, _: object) -> Archive:
    """Opened once in every process."""
    with open_input(path) as file:
        if file.head.startswith(MAGIC):
            raise DeptreeError("is a single array", "Save features with numpy.savez, a key per sentence", place=path)
    return Archive(open_zip(path, path), path)


def vector(path: str) -> Float:
    with np.errstate(over="ignore"):
        result = read_list(path, "a number", float).astype(np.float64)
    if result.ndim != 1 or not (np.abs(result) <= LARGEST).all():
        problem = f"does not hold a list of finite numbers up to {LARGEST:g}, but shape {result.shape}"
        raise DeptreeError(problem, "Give one number a line", place=path)
    return result


def _as_read(gradient: Float, sentence: ScoredSentence) -> list[Any]:
    """In the shape and orientation of the scores; of several features each."""
    layout, shape = sentence.interpretation.layout, sentence.record.scores.shape
    if gradient.ndim == 2:
        return from_head_dep(gradient, layout, shape).tolist()
    return [from_head_dep(one, layout, shape).tolist() for one in gradient]
