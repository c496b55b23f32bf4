"""``deptree estimate``: the distinct trees of swor, read and checked, and expectations estimated from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, cast

import numpy as np

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import INPUT, command, opt, use
from deptree_cli.cli.run import ALONE, Job, Run, Source
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, TABLE, Out
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import Estimate, check_draws
from deptree_cli.core.estimate import estimate as expectation
from deptree_cli.core.quantities import OF_TREES
from deptree_cli.core.swor import Draws
from deptree_cli.io.encoders.base import JSONL, Sheet
from deptree_cli.io.files.streams import share_read
from deptree_cli.io.trees import GivenTree, number_of, read_trees, sentence_of


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnTrees(Draws):
    """All distinct trees drawn of one sentence; `since`: when the last certain one came."""

    sent_id: str
    place: str
    since: float = 0.0
    weight = 0


def read_draws(path: str) -> Iterator[DrawnTrees | DeptreeError]:
    """The output of `deptree swor`, sentence by sentence, or with ``file:line`` what is wrong with a sentence's trees.

    A tree that cannot be read makes its sentence useless: nobody knows which of the draws it was.
    """
    trees: list[GivenTree | DeptreeError] = []
    for tree in read_trees(path):
        if trees and _apart(trees[-1], tree):
            yield _together(trees)
            trees = []
        trees.append(tree)
        if isinstance(tree, GivenTree) and tree.notes.tau is not None:
            yield _together(trees)
            trees = []
    if trees:
        yield _together(trees)


def _apart(one: GivenTree | DeptreeError, other: GivenTree | DeptreeError) -> bool:
    if isinstance(one, GivenTree) and isinstance(other, GivenTree):
        return (sentence_of(one), len(one.heads)) != (sentence_of(other), len(other.heads))
    return number_of(other) == 1 or (bool(one.sent_id and other.sent_id) and sentence_of(one) != sentence_of(other))


def _together(found: Sequence[GivenTree | DeptreeError]) -> DrawnTrees | DeptreeError:
    """The trees of a sentence, if they are what the numbers beside them say."""
    if wrong := next((each for each in found if isinstance(each, DeptreeError)), None):
        return wrong
    trees = [each for each in found if isinstance(each, GivenTree)]
    try:
        ranked, seen = any(tree.notes.rank is not None for tree in trees), dict[tuple[object, ...], str]()
        for tree in trees:
            _check_numbers(tree)
        last = trees[-1].notes
        if last.tau is None:
            raise _refused("the sentence's last tree, which carries tau, is missing", trees[-1])
        for number, tree in enumerate(trees, 1):
            if ranked and tree.notes.rank != number:
                rank = "none" if tree.notes.rank is None else f"{tree.notes.rank:g}"
                raise _refused(f"tree {number} of the sentence has rank {rank}: one is missing or out of order", tree)
            labels = tree.labels if tree.distinct and not tree.label_draws else ()
            before = seen.setdefault((tree.heads, labels), tree.place)
            if before != tree.place:
                raise _refused(f"the same tree stands at {before}", tree)
        certain, since = last.certain or 0.0, last.since or 0.0
        if not (certain.is_integer() and 0 <= certain <= len(trees) and (certain > 0) == (since > 0)):
            what = f"certain is not a number of trees, 0 to {len(trees)}, and since when the last of them came"
            raise _refused(what, trees[-1])
        notes = [[tree.notes.log_prob, tree.notes.arrival] for tree in trees]
        log_probs, times = np.array(notes, dtype=np.float64).T.copy()
        arrivals = times if np.isnan(times).all() else np.where(np.isnan(times), np.inf, times)  # null: beyond numbers
        heads = np.array([tree.heads for tree in trees], dtype=np.int32)
        given = heads, log_probs, arrivals, last.tau, math.isinf(last.tau), int(certain)
        draws = DrawnTrees(*given, sent_id=trees[0].names[-1], place=trees[0].place, since=since)
        check_draws(draws)
        if arrivals[-1] > last.tau:
            raise _refused("the tree came after tau", trees[-1])
        return draws
    except DeptreeError as error:
        error.remedy = "Give the whole output of deptree swor, JSON Lines or CoNLL-U"
        return error.at(trees[0].place, trees[0].sent_id)


def _check_numbers(tree: GivenTree) -> None:
    log_prob, tau, since = tree.notes.log_prob, tree.notes.tau, tree.notes.since or 0.0
    if log_prob is None:
        raise _refused("log_prob is missing", tree)
    if not -math.inf < log_prob <= 0:
        raise _refused("log_prob is not the logarithm of a probability", tree)
    # Trees come at the rate 1, all together; the square of a weight, at most of 1 / tau, must be a number.
    if tau is not None and not tau > 1e-100:
        raise _refused("tau is not a time", tree)
    if tau is not None and not 0 <= since < tau:
        raise _refused("since is not a time before tau", tree)
    for name, value in zip(tree.notes._fields, tree.notes, strict=True):
        if value is not None and math.isnan(value):
            raise _refused(f"{name} is not a number", tree)


def _refused(problem: str, tree: GivenTree) -> DeptreeError:
    return DeptreeError(problem, place=tree.place, sent_id=tree.sent_id)


HELP = """Estimate expectations from the output of `deptree swor` (JSON Lines or CoNLL-U; - is standard input).

Writes two estimates per sentence and quantity: `unbiased` (the sum of weights times values) and `normalised` (divided
by the sum of weights; slightly biased, far less spread on flat scores). Estimate +- 1.96 errors covers the expectation
with probability 0.95 from 5 trees on (at least 0.84 in our tests), and more with fewer trees. The error is a standard
error, wider if few trees carry it; 0 if all trees were sampled; null (- in a table) if the trees cannot tell it: there
is only one, or all have the same value. Prints a table on a terminal, otherwise JSON Lines.
"""

# What is estimated unless told otherwise.
USUAL = ["non_projective_arcs", "depth", "mean_length"]

# What there is of a quantity.
ESTIMATES = [field.name for field in fields(Estimate)]

# field -> its heading in the table, which has a line for each quantity
HEADINGS = {name: name for name in ("sent_id", "trees", "quantity")}
HEADINGS |= {name: "error" if name.endswith("error") else name for name in ESTIMATES}

Row = dict[str, Any]


@command(help=HELP, listing=Listing("Quantities", OF_TREES, lambda entry: f"{entry.name}:\n  {entry.summary}"))
def estimate(
    draws: str = opt(type=INPUT),
    quantity: tuple[str, ...] = opt(
        "--quantity",
        many=True,
        metavar="NAME",
        shell_complete=OF_TREES.complete,
        help=f"What to estimate; may be repeated.  [default: {', '.join(USUAL)}]",
    ),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run, lacks=ALONE),
) -> int:
    quantities = [OF_TREES.get(name).name for name in dict.fromkeys(quantity)] or USUAL
    if not all(OF_TREES.get(name).scalar for name in quantities):
        out = out.narrowed("arcs", JSONL.name)
    source: Source[DrawnTrees, DrawnTrees] = Source(Counted(read_draws(draws), share=lambda: share_read(draws)))
    job = Job("estimate", source, run, out, {"quantities": "+".join(quantities)})
    columns = ["sent_id", "n", "trees", *(f"{name}.{of}" for name in quantities for of in ESTIMATES)]
    by_quantity = job.encoder is TABLE
    sheet = Sheet(columns, "estimate", HEADINGS if by_quantity else None)
    return job.write(partial(estimated, tuple(quantities), by_quantity), sheet=sheet)


def estimated(quantities: tuple[str, ...], by_quantity: bool, trees: DrawnTrees, _: None) -> Row | list[Row]:
    """A sentence's estimates as an object for JSON, or as a row for each quantity."""
    row: Row = {"sent_id": trees.sent_id, "n": trees.heads.shape[1], "trees": len(trees.heads)}
    found: dict[str, Row] = {}
    for name in quantities:  # lists where there are many numbers, None for an error that is not known
        values: dict[str, Any] = vars(expectation(trees, name))
        found[name] = {of: np.where(np.isnan(value), cast(Any, None), value).tolist() for of, value in values.items()}
    return [{**row, "quantity": name, **each} for name, each in found.items()] if by_quantity else row | found
