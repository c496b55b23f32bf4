"""What `tables.py` measures on: two grammars, generated sentence pairs, one step of a chain."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.pruning.generated import PEAKED, Problem, problem
from benchmarks.pruning.ternary.loops import Mask
from benchmarks.pruning.ternary.program import DirectTernary
from benchmarks.pruning.ternary.states import bispan_merits, listed
from benchmarks.timing import points
from deptree_cli.bitext.distribution import CONFIDENT, AlignmentDistribution, confidences
from deptree_cli.bitext.scores import LinkScores
from deptree_cli.core.dtypes import Bool, Float, Int, Integers
from deptree_cli.pruning.methods import Chain, start
from deptree_cli.pruning.program import AnyCellProgram, AnyProgram, CellProgram

# The standard deviation of the log-weights of bispans, where there are any.
SIGMA = 0.5

# A time is the mean over as many repetitions as fit into so many seconds; steps differ much from one to the next.
LONG_ENOUGH, FEWEST_STEPS = 0.04, 5


class DirectlyPruned(DirectTernary, CellProgram[Mask, Mask, Integers]):
    """The paper's program with the package's confidence, and with merits.

    A mask by merits has gaps, of which the chart knows nothing as long as it is fresh: one such mask a program.
    """

    def __init__(self, pair: Problem, heuristic: LinkScores) -> None:
        super().__init__(pair.scores, pair.source_nulls, pair.target_nulls, pair.bispans)
        self._guide = heuristic

    def confident(self) -> Int:
        """See `Program`."""
        return np.flatnonzero(confidences(self._guide) > CONFIDENT)

    def merits(self) -> Float:
        """See `CellProgram`."""
        return bispan_merits(self._guide)

    def keep(self, kept: Bool, log_weights: Float | None = None) -> Mask:
        """See `CellProgram`; without weights."""
        return Mask(listed(kept, *self.shape), self._links)


@dataclass(frozen=True)
class Grammar:
    """A grammar, and the program that sums over what it builds.

    Attributes:
        name: what tables call it.
        lengths: of both sentences, those that are measured.
        raced: that at which methods race.
        is_ternary: whether it is the paper's, in O(p^4 q^4).
    """

    name: str
    lengths: tuple[int, ...]
    raced: int
    is_ternary: bool = False

    def pair(self, length: int, number: int, strong: float, corruption: float = 0.0) -> Case:
        """The sentence pair of this number, both sentences of one length."""
        rng = np.random.default_rng([length, number])
        sigma = SIGMA if self.is_ternary else 0.0
        made = problem(rng, length, length, strong, sigma=sigma, corruption=corruption)
        return Case(self, made, is_misled=corruption > 0)


@dataclass(frozen=True)
class Case:
    """A sentence pair under a grammar."""

    grammar: Grammar
    problem: Problem
    is_misled: bool = False

    def program(self) -> AnyCellProgram:
        """A new program, all its preparation still to be done."""
        given = self.problem
        heuristic = self._distribution(given.heuristic if self.is_misled else given.scores)
        if self.grammar.is_ternary:
            return DirectlyPruned(given, heuristic.link_scores)
        return self._distribution(given.scores).program(heuristic)

    def _distribution(self, scores: Float) -> AlignmentDistribution:
        return AlignmentDistribution(scores, "log", self.problem.source_nulls, self.problem.target_nulls)

    @cached_property
    def exact(self) -> Float:
        """The probabilities of links, (p, q)."""
        program = self.program()
        return program.outside(program.inside(program.everything())[1]).reshape(self.problem.scores.shape)

    def error(self, found: Float) -> float:
        """The root of the sum over links of squared differences to the exact probabilities."""
        return float(np.linalg.norm(found.ravel() - self.exact.ravel()))

    @cached_property
    def pins(self) -> Integers:
        """The links that can be pinned: those of which both directions are sure."""
        return self._distribution(self.problem.scores).program().confident()


def seconds_each(action: Callable[[], object], fewest: int = 1) -> float:
    """The mean processor time of a call, over this many at least."""
    begin, count = time.process_time(), 0
    while (spent := time.process_time() - begin) < LONG_ENOUGH or count < fewest:
        action()
        count += 1
    return spent / count


def seconds_exact(program: AnyProgram) -> float:
    """The processor time of exact sums, inside and outside."""
    everything = program.everything()
    return seconds_each(lambda: program.outside(program.inside(everything)[1]))


def seconds_of_step(program: AnyProgram, pinned: Integers, soft: bool) -> float:
    """The processor time of a step: the mask, sums, a sample, and the sums outside if counts are soft."""
    chain = Chain(program, pinned, np.random.default_rng(1), dispersed=False)
    return seconds_each(lambda: chain.step(soft), FEWEST_STEPS)


def averaged(program: AnyProgram, pinned: Integers, iterations: int) -> Float:
    """The average of one chain, soft counts, all iterations."""
    chain = Chain(program, pinned, np.random.default_rng(2), dispersed=False)
    return np.mean([chain.step() for _ in range(iterations)], axis=0)


def under_all(program: AnyProgram, pinned: Integers) -> Float:
    """The expectations with all these links pinned: a chain's start, and its mask for good."""
    assigned = start(program, pinned, np.random.default_rng(2))
    selected = np.zeros(program.variables(), dtype=np.bool_)
    selected[pinned] = True
    return program.outside(program.inside(program.compile(selected, assigned))[1])


PACKAGE = Grammar("the package", points(6, 8, 10, 12, 16, 20, 30, 40), 20)
TERNARY = Grammar("the paper's three children", points(6, 8, 10, 12, 16, 20), 16, is_ternary=True)
GRAMMARS = (PACKAGE, TERNARY)


def compile_all() -> None:
    """Run everything once, so that no table shows the time of compilation.

    Where a mask prunes everything the package has to make sure in wide numbers.
    """
    for grammar in GRAMMARS:
        case = grammar.pair(4, 0, PEAKED)
        averaged(case.program(), case.pins, 2)
        program = case.program()
        merits = program.merits()
        program.inside(program.keep(merits < -np.inf))
        program.outside(program.inside(program.keep(merits > -np.inf))[1])
