"""Randomized pruning of alignments and of second-order trees beside exact sums and its rivals.

The tables are the four panels of figure 4 of Bouchard-Cote, Petrov and Klein (2009), how errors fall with iterations,
trees, and what `real_bitext.py` has of real sentences. Sentence pairs are generated, both sentences of one length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, median

import numpy as np

from benchmarks import pruning_plots, real_bitext
from benchmarks.generated import FLAT, PEAKED, problem
from benchmarks.pruning_cases import (
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
from benchmarks.pruning_races import HEURISTICS, race_tables
from benchmarks.timing import print_table
from deptree_cli.core.bitext.distribution import AlignmentDistribution
from deptree_cli.core.bitext.program import LinkProgram
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.pruning.arcs import arc_program
from deptree_cli.core.pruning.chain import Chain
from deptree_cli.core.second_order import SecondOrder

SCORES = {"flat (3)": FLAT, "peaked (6)": PEAKED, "peaked (9)": 9.0}
PINS = ("sure", "true")
PICTURED = "peaked (6)"

# Sentence pairs of each product of lengths.
PAIRS = 5

ITERATIONS = (100, 1000, 10_000)
TREE_LENGTHS = (20, 40, 70)
TREES = 5


@dataclass(frozen=True)
class Timed:
    """A sentence pair with the seconds of exact sums, and of steps by what is pinned: without and with the outside."""

    case: Case
    exact: float
    steps: dict[str, tuple[float, float]]


def run() -> None:
    """Print all tables, and draw the picture.

    Milliseconds of processor time; errors are roots of sums over links of squared differences to the exact.
    """
    compile_all()
    timed = {grammar.name: _timed_and_shown(grammar) for grammar in GRAMMARS}
    columns: tuple[str, ...] = ("scores", "pq", "exact / exact", "steps of the paper's", "steps of the package's")
    title = "How much longer the paper's exact sums take, and how many steps with outside take as long as the package's"
    print_table(title, columns, _beside(timed))
    errors = {grammar.name: _errors_and_shown(grammar, timed[grammar.name]) for grammar in GRAMMARS}
    races = race_tables()
    columns = ("scores", "chains", "counts", *(f"{count:,}" for count in ITERATIONS))
    print_table(f"Error by iterations in all, 8 x 9 words, means over {PAIRS} pairs", columns, _falling())
    columns = ("n", "arcs", "exact", "step", "with outside", "exact / with outside", "steps", "one mask", "randomized")
    title = f"Second-order trees: milliseconds, errors at half of the exact time, medians of {TREES} sentences"
    print_table(title, columns, _trees())
    curves = {grammar.name: _curve(timed[grammar.name], errors[grammar.name]) for grammar in GRAMMARS}
    pruning_plots.draw(curves, {heuristic: races[TERNARY.name, "peaked", heuristic] for heuristic in HEURISTICS})
    real_bitext.run()


def _timed_and_shown(grammar: Grammar) -> dict[tuple[str, int], list[Timed]]:
    """Panels (a) and (b)."""
    found: dict[tuple[str, int], list[Timed]] = {}
    each = ("number", "step", "with outside", "exact / step", "exact / with outside")
    columns = ("scores", "pq", "exact", *(f"{kind} links: {name}" for kind in PINS for name in each))
    title = f"Milliseconds of exact sums and of a step that pins two in three links, {grammar.name}, {PAIRS} pairs"
    print_table(title, columns, _time(grammar, found))
    return found


def _time(grammar: Grammar, found: dict[tuple[str, int], list[Timed]]) -> Iterator[list[object]]:
    for name, strong in SCORES.items():
        for length in grammar.lengths:
            found[name, length] = pairs = [_measure(grammar.pair(length, k, strong)) for k in range(PAIRS)]
            exact = median(pair.exact for pair in pairs)
            row: list[object] = [name, length**2, 1e3 * exact]
            for kind in PINS:
                links = median(len(pair.case.pins[kind]) for pair in pairs)
                hard, soft = (median(pair.steps[kind][i] for pair in pairs) for i in (0, 1))
                row += [links, 1e3 * hard, 1e3 * soft, exact / hard, exact / soft]
            yield row


def _measure(case: Case) -> Timed:
    program = case.program()
    steps = {kind: [seconds_of_step(program, case.pins[kind], soft) for soft in (False, True)] for kind in PINS}
    return Timed(case, seconds_exact(program), {kind: (hard, soft) for kind, (hard, soft) in steps.items()})


def _beside(timed: dict[str, dict[tuple[str, int], list[Timed]]]) -> Iterator[list[object]]:
    """What three children cost against two; the steps pin sure links."""
    for key, ternary in timed[TERNARY.name].items():
        pairs = timed[PACKAGE.name][key]
        ours, theirs = (median(pair.exact for pair in some) for some in (pairs, ternary))
        steps = (median(pair.steps["sure"][1] for pair in some) for some in (ternary, pairs))
        yield [key[0], key[1] ** 2, theirs / ours, *(ours / step for step in steps)]


def _errors_and_shown(
    grammar: Grammar, timed: dict[tuple[str, int], list[Timed]]
) -> dict[tuple[str, int], list[float]]:
    """Panel (c): means over the pairs that were timed."""
    found: dict[tuple[str, int], list[float]] = {}
    title = f"Error of one mask, and of a chain for half of the exact time, {grammar.name}, means over {PAIRS} pairs"
    columns = (
        "scores",
        "pq",
        *(f"{kind} links: {what}" for kind in PINS for what in ("steps", "one mask", "randomized")),
    )
    print_table(title, columns, _errors(timed, found))
    return found


def _errors(
    timed: dict[tuple[str, int], list[Timed]], found: dict[tuple[str, int], list[float]]
) -> Iterator[list[object]]:
    for (name, length), pairs in timed.items():
        row: list[float] = []
        for kind in PINS:
            row += [mean(column) for column in zip(*(_compared(pair, kind) for pair in pairs), strict=True)]
        found[name, length] = row
        yield [name, length**2, *row]


def _curve(
    timed: dict[tuple[str, int], list[Timed]], errors: dict[tuple[str, int], list[float]]
) -> list[pruning_plots.AtLength]:
    """What the picture shows of a grammar: peaked scores, sure links pinned."""
    found = []
    for (name, length), pairs in timed.items():
        if name == PICTURED:
            spent = (1e3 * median(each) for each in zip(*((p.exact, *p.steps["sure"]) for p in pairs), strict=True))
            found.append(pruning_plots.AtLength(length**2, *spent, *errors[name, length][1:3]))
    return found


def _compared(pair: Timed, kind: str) -> tuple[float, float, float]:
    """The number of steps and both errors."""
    steps = max(1, int((pair.exact / 2 - pair.steps[kind][0]) / pair.steps[kind][1]))  # one step to start
    case, pinned = pair.case, pair.case.pins[kind]
    program = case.program()
    masked, found = under_all(program, pinned), averaged(program, pinned, steps)
    return float(steps), case.error(masked), case.error(found)


class Watched(LinkProgram):
    """A program that keeps the last structure's links: one chain has soft and hard counts at once."""

    drawn: Bool

    def assign(self, structure: Heads) -> Bool:
        """See `Program`."""
        self.drawn = super().assign(structure)
        return self.drawn


def _falling() -> Iterator[list[object]]:
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


def _trees() -> Iterator[list[object]]:
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
    program = arc_program(sentence)
    pinned = program.confident()
    truth = program.outside(program.inside(program.everything())[1])
    exact = seconds_exact(program)
    hard, soft = (seconds_of_step(program, pinned, counts) for counts in (False, True))
    steps = max(1, int((exact / 2 - hard) / soft))
    found = under_all(program, pinned), averaged(program, pinned, steps)
    errors = (float(np.linalg.norm(each - truth)) for each in found)
    return [float(len(pinned)), 1e3 * exact, 1e3 * hard, 1e3 * soft, exact / soft, float(steps), *errors]
