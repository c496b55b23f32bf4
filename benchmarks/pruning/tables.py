"""Randomized pruning of alignments and of second-order trees beside exact sums and its rivals.

The tables are the four panels of figure 4 of Bouchard-Cote, Petrov and Klein (2009), how errors fall with iterations,
and trees. Sentence pairs are generated, both sentences of one length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, median

import numpy as np

from benchmarks.pruning import picture
from benchmarks.pruning.cases import (
    GRAMMARS,
    PACKAGE,
    TERNARY,
    Case,
    Grammar,
    averaged,
    compile_all,
    seconds_exact,
    seconds_of_step,
    under_all,
)
from benchmarks.pruning.generated import FLAT, PEAKED, problem
from benchmarks.pruning.races import HEURISTICS, race_table, races
from benchmarks.table import Cell, Table
from benchmarks.timing import points, times
from deptree_cli.bitext.distribution import AlignmentDistribution, LinkProgram
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.pruning.methods import Chain
from deptree_cli.second_order import SecondOrder
from deptree_cli.second_order.distribution import SecondOrderArcs

SCORES = {"flat (3)": FLAT, "peaked (6)": PEAKED, "peaked (9)": 9.0}
PICTURED = "peaked (6)"

# Sentence pairs of each product of lengths.
PAIRS = times(5)

ITERATIONS = points(100, 1000, 10_000)
TREE_LENGTHS = points(20, 40, 70)
TREES = times(5)


@dataclass(frozen=True)
class Timed:
    """A sentence pair with the seconds of exact sums, and of steps: without and with the outside."""

    case: Case
    exact: float
    step: float
    with_outside: float


# By the names of scores and the length of both sentences.
Pairs = dict[tuple[str, int], list[Timed]]


def run() -> Iterator[Table]:
    """All tables, and the picture.

    Processor time; errors are roots of sums over links of squared differences to the exact.
    """
    compile_all()
    timed: dict[str, Pairs] = {}
    for grammar in GRAMMARS:
        timed[grammar.name] = _timed(grammar)
        yield _times(grammar, timed[grammar.name])
    columns: tuple[str, ...] = ("scores", "pq", "exact / exact", "steps of the paper's", "steps of the package's")
    name = "how much longer the paper's exact sums take, and how many steps with outside take as long as the package's"
    yield Table(name, columns, _beside(timed))
    errors = {grammar.name: _errors(grammar, timed[grammar.name]) for grammar in GRAMMARS}
    yield from errors.values()
    found = {grammar.name: races(grammar) for grammar in GRAMMARS}
    yield from (race_table(grammar, found[grammar.name]) for grammar in GRAMMARS)
    columns = "scores", "chains", "counts", *(f"{count:,}" for count in ITERATIONS)
    yield Table(f"error by iterations in all, 8 x 9 words, means over {PAIRS} pairs", columns, _falling())
    columns = ("n", "arcs", "exact", "step", "with outside", "exact / with outside", "steps", "one mask", "randomized")
    name = f"second-order trees: times in ms, errors at half of the exact time, medians of {TREES} sentences"
    yield Table(name, columns, _trees())
    curves = {grammar.name: _curve(timed[grammar.name], errors[grammar.name]) for grammar in GRAMMARS}
    picture.draw(curves, {heuristic: found[TERNARY.name]["peaked", heuristic] for heuristic in HEURISTICS})


def _timed(grammar: Grammar) -> Pairs:
    return {
        (name, length): [_measured(grammar.pair(length, number, strong)) for number in range(PAIRS)]
        for name, strong in SCORES.items()
        for length in grammar.lengths
    }


def _measured(case: Case) -> Timed:
    program = case.program()
    hard, soft = (seconds_of_step(program, case.pins, counts) for counts in (False, True))
    return Timed(case, seconds_exact(program), hard, soft)


def _medians(pairs: list[Timed]) -> tuple[float, float, float]:
    """The seconds of exact sums, of a step, and of one with the outside."""
    exact, step, soft = zip(*((pair.exact, pair.step, pair.with_outside) for pair in pairs), strict=True)
    return median(exact), median(step), median(soft)


def _times(grammar: Grammar, timed: Pairs) -> Table:
    """Panels (a) and (b)."""
    rows: list[list[Cell]] = []
    for (name, length), pairs in timed.items():
        exact, hard, soft = _medians(pairs)
        links = float(median(len(pair.case.pins) for pair in pairs))
        rows.append([name, length**2, 1e3 * exact, links, 1e3 * hard, 1e3 * soft, exact / hard, exact / soft])
    columns = "scores", "pq", "exact", "number", "step", "with outside", "exact / step", "exact / with outside"
    name = f"exact sums and a step that pins two in three links, {grammar.name}, {PAIRS} pairs"
    return Table(name, columns, rows, "ms")


def _beside(timed: dict[str, Pairs]) -> Iterator[list[Cell]]:
    """What three children cost against two."""
    for (name, length), pairs in timed[TERNARY.name].items():
        theirs, _, their_step = _medians(pairs)
        ours, _, our_step = _medians(timed[PACKAGE.name][name, length])
        yield [name, length**2, theirs / ours, ours / their_step, ours / our_step]


def _errors(grammar: Grammar, timed: Pairs) -> Table:
    """Panel (c): means over the pairs that were timed, where scores are peaked: one mask has no errors to show else."""
    rows = [
        [name, length**2, *(mean(column) for column in zip(*map(_compared, pairs), strict=True))]
        for (name, length), pairs in timed.items()
        if SCORES[name] > FLAT
    ]
    name = f"error of one mask, and of a chain for half of the exact time, {grammar.name}, means over {PAIRS} pairs"
    return Table(name, ("scores", "pq", "steps", "one mask", "randomized"), rows)


def _curve(timed: Pairs, errors: Table) -> list[picture.AtLength]:
    """What the picture shows of a grammar."""
    by_length = {(row[0], row[1]): row[3:] for row in errors.rows}
    return [
        picture.AtLength(length**2, *(1e3 * spent for spent in _medians(pairs)), *by_length[name, length**2])
        for (name, length), pairs in timed.items()
        if name == PICTURED
    ]


def _compared(pair: Timed) -> tuple[float, float, float]:
    """The number of steps and both errors."""
    steps = max(1, int((pair.exact / 2 - pair.step) / pair.with_outside))  # one step to start
    case, program = pair.case, pair.case.program()
    masked, found = under_all(program, case.pins), averaged(program, case.pins, steps)
    return float(steps), case.error(masked), case.error(found)


class Watched(LinkProgram):
    """A program that keeps the last structure's links: one chain has soft and hard counts at once."""

    drawn: Bool

    def assign(self, structure: Heads) -> Bool:
        """See `Program`."""
        self.drawn = super().assign(structure)
        return self.drawn


def _falling() -> Iterator[list[Cell]]:
    """One chain from its start, and four that have run for a while, all but the first from random assignments."""
    for name, strong in (("flat (3)", FLAT), ("peaked (6)", PEAKED)):
        for chains, burn_in in ((1, 0), (4, 10)):
            errors = np.mean([_errors_of_chains(strong, number, chains, burn_in) for number in range(PAIRS)], axis=0)
            for counts, row in zip(("soft", "hard"), errors, strict=True):
                yield [name, chains, counts, *row.tolist()]


def _errors_of_chains(strong: float, number: int, chains: int, burn_in: int) -> Float:
    """Errors of soft and of hard counts after so many iterations in all, (2, sizes)."""
    pair = problem(np.random.default_rng(number), 8, 9, strong)
    distribution = AlignmentDistribution(pair.scores, "log", pair.source_nulls, pair.target_nulls)
    program = Watched(distribution.shifted, distribution.link_scores)
    rngs = np.random.default_rng(number).spawn(chains)
    walks = [Chain(program, program.confident(), rng, dispersed=k > 0) for k, rng in enumerate(rngs)]
    sums, found, exact = np.zeros((2, distribution.p * distribution.q)), [], distribution.marginals()
    for count in range(1, burn_in + max(ITERATIONS) // chains + 1):
        for walk in walks:
            soft = walk.step().ravel()
            sums += (count > burn_in) * np.array([soft, program.drawn])
        size = (count - burn_in) * chains
        if size in ITERATIONS:
            found.append(np.linalg.norm(sums / size - exact.ravel(), axis=1))
    return np.array(found).T


def _trees() -> Iterator[list[Cell]]:
    """Scores of grandparents and siblings; steps as many as fit into half of the exact time."""
    _tree_row(second_order(5, 0))
    for n in TREE_LENGTHS:
        rows = [_tree_row(second_order(n, seed)) for seed in range(TREES)]
        yield [n, *(median(column) for column in zip(*rows, strict=True))]


def second_order(n: int, seed: int) -> SecondOrder:
    """Gaussian scores of parts, of arcs with those of a random projective tree ahead by 6."""
    rng = np.random.default_rng([n, seed])
    scores, grandparent, sibling = (rng.normal(size=(n + 1,) * axes) for axes in (2, 3, 3))
    tree = TreeDistribution(np.zeros_like(scores), projective=True).sample(1, rng)[0]
    scores[tree, np.arange(1, n + 1)] += PEAKED
    return SecondOrder(scores, grandparent / 2, sibling / 2)


def _tree_row(sentence: SecondOrder) -> list[float]:
    program = SecondOrderArcs(sentence)
    pinned = program.confident()
    truth = program.outside(program.inside(program.everything())[1])
    exact = seconds_exact(program)
    hard, soft = (seconds_of_step(program, pinned, counts) for counts in (False, True))
    steps = max(1, int((exact / 2 - hard) / soft))
    found = under_all(program, pinned), averaged(program, pinned, steps)
    errors = (float(np.linalg.norm(each - truth)) for each in found)
    return [float(len(pinned)), 1e3 * exact, 1e3 * hard, 1e3 * soft, exact / soft, float(steps), *errors]
