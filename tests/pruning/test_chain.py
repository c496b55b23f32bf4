"""The chain: where it starts, that its average is right in the limit, and what goes wrong with other selections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.core.dtypes import Bool, Float, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.methods import Averages, Chain, selections, start
from deptree_cli.pruning.program import AnyProgram
from deptree_cli.second_order import SecondOrder
from deptree_cli.second_order.distribution import SecondOrderArcs
from tests.pruning.toy import Segmentations, all_or_none, enumerated, random_segmentations

LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds


# How the confident variables of a chain are selected: from them, the number of variables and a generator.
Select = Callable[..., Iterator[Bool]]


def paper(*given: Any) -> Iterator[Bool]:
    """Selections as they are in the paper: without the step that pins nothing."""
    return filter(np.any, selections(*given))


def positive(confident: Integers, variables: int, rng: np.random.Generator) -> Iterator[Bool]:
    """The trap of section 3.2: what is pinned are the positive ones, each with probability 1/2.

    `chain_of` makes `variables` the chain, by whose assignment is chosen.
    """
    chain: Any = variables
    while True:
        yield chain._assigned & (rng.random(len(chain._assigned)) < 0.5)


def chain_of(program: AnyProgram, seed: int, select: Select = selections, dispersed: bool = False) -> Chain:
    """A chain with selections of some kind."""
    rng = np.random.default_rng(seed)
    chain: Any = Chain(program, program.confident(), rng, dispersed)
    chain._selections = select(program.confident(), chain if select is positive else program.variables(), rng)
    return chain


def no_nulls() -> Any:
    """p = q = 2 with nothing unlinked: two ways, the second with a probability of 1 / (1 + e^0.6); all are pinned."""
    scores = np.array([[0.3, 0.0], [0.0, 0.3]])
    program = AlignmentDistribution(scores, "log", -np.inf, -np.inf).program()
    program.confident = lambda: np.array([0, 3])  # type: ignore[method-assign]
    return program


def two_words() -> Any:
    """Trees 0 -> 1 -> 2 and 0 -> 2 -> 1, the second with a probability of 1 / (1 + e); two arcs are pinned."""
    program = SecondOrderArcs(SecondOrder(np.array([[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]])))
    program.confident = lambda: np.array([1, 5])  # type: ignore[method-assign]
    return program


def exact(program: AnyProgram) -> Float:
    return np.asarray(program.outside(program.inside(program.everything())[1]))


def z_scores(program: AnyProgram, select: Select, chains: int = 4, size: int = 1500, soft: bool = True) -> Float:
    """How far averages are from the exact expectations, in standard errors; 0 where nothing varies."""
    averages, several = Averages(), [chain_of(program, number, select, number > 0) for number in range(chains)]
    for _ in range(size):
        averages.add(np.array([chain.step(soft) for chain in several]))
    errors = averages.standard_errors()
    assert errors is not None
    return np.asarray(np.abs(averages.mean() - exact(program)) / np.maximum(errors, 1e-12))


SMALL: list[Any] = [random_segmentations(5, 3), all_or_none(3), all_or_none(5)]


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("soft", [True, False], ids=["soft", "hard"])
@pytest.mark.parametrize("program", [*SMALL, no_nulls(), two_words()])
def test_averages_are_right(program: Any, soft: bool) -> None:
    """H0: every mean is normal around the exact expectation with the error that is stated; at most 6 of them off.

    6,000 steps. `test_an_adaptive_selection_is_noticed` shows that this finds what is wrong.
    """
    assert z_scores(program, selections, soft=soft).max() < 6


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("soft", [True, False], ids=["soft", "hard"])
def test_an_adaptive_selection_is_noticed(soft: bool) -> None:
    """The same test as above refuses the chain that pins some of what is positive: it stays there for too long."""
    program = random_segmentations(5, 4)
    assert z_scores(program, selections, soft=soft).max() < 6
    assert z_scores(program, positive, soft=soft).max() > 12


def sees(program: AnyProgram, select: Select, steps: int = 200) -> int:
    """How many assignments a chain sees."""
    chain, seen = chain_of(program, 0, select), set()
    for _ in range(steps):
        chain.step()
        seen.add(chain._assigned.tobytes())
    return len(seen)


@pytest.mark.parametrize("program", [all_or_none(3), no_nulls(), two_words()])
def test_variables_that_determine_each_other(program: Any) -> None:
    """Some are always pinned in the paper's chain, so that it never leaves where it begins; ours sees both."""
    assert sees(program, paper) == 1
    assert sees(program, selections) == 2


@pytest.mark.slow("size")
def test_what_is_selected_never_depends_on_what_is_assigned() -> None:
    """H0: whether a variable is selected is independent of its being positive in the state before.

    3 variables, 8,000 steps: chi-square tests of independence, each step of a chain in equilibrium thinned to every
    fourth; threshold 1e-6. It refuses the adaptive chain.
    """
    for select, holds in ((selections, True), (positive, False)):
        program = random_segmentations(5, 3, scale=0.5)
        states: list[tuple[Bool, Bool]] = []
        chain = chain_of(program, 1, select)
        compiled = program.compile

        def note(selected: Bool, assigned: Bool, compiled: Any = compiled, states: Any = states) -> Bool:
            states.append((selected[:3], assigned[:3]))
            return compiled(selected, assigned)

        program.compile = note  # type: ignore[method-assign]
        for _ in range(8000):
            chain.step()
        selected, assigned = map(np.array, zip(*states[::4], strict=True))
        for variable in range(3):
            table = np.zeros((2, 2))
            np.add.at(table, (selected[:, variable].astype(int), assigned[:, variable].astype(int)), 1)
            assert (stats.chi2_contingency(table).pvalue > LEVEL) == holds


def errors(program: AnyProgram, places: list[int], chains: int) -> tuple[Float, Float]:
    """Root-mean-square errors of averages over the first N steps, N = places, by soft counts and by hard ones."""
    right, squares = exact(program), np.zeros((2, len(places)))
    for number in range(chains):
        chain, sums = chain_of(program, number, dispersed=number > 0), np.zeros((2, *right.shape))
        for step in range(1, places[-1] + 1):
            sums[0] += chain.step()
            sums[1] += chain._assigned.reshape(right.shape)
            if step in places:
                squares[:, places.index(step)] += ((sums / step - right) ** 2).reshape(2, -1).sum(axis=1)
    soft, hard = np.sqrt(squares / chains)
    return soft, hard


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("name", ["segmentations", "bitext"])
def test_errors_fall_with_the_square_root(name: str) -> None:
    """Root-mean-square errors of 8 chains, all features: the slope of their logarithm over that of N is -1/2.

    N = 100, 300, 1,000, 3,000, 10,000 (bitext up to 3,000). With some 20 independent values for each the slope has a
    standard deviation of about 0.06: it is within 0.2 of -1/2. Soft counts have smaller errors than hard ones.
    """
    places, program = [100, 300, 1000, 3000, 10_000], random_segmentations(5, 3)
    if name == "bitext":
        scores = 1.5 * np.eye(3) + 0.5 * np.random.default_rng(2).normal(size=(3, 3))
        places, program = places[:-1], AlignmentDistribution(scores, "log", -0.5, -0.5).program()
        assert len(program.confident()) == 3
    soft, hard = errors(program, places, 8)
    for each in (soft, hard):
        slope = np.polyfit(np.log(places), np.log(each), 1)[0]
        assert -0.7 < slope < -0.3
    assert (soft < hard).all()


def test_soft_and_hard_steps_go_the_same_way() -> None:
    """The chain is one and the same; hard counts are the features of what it goes to."""
    program = random_segmentations(6, 4)
    soft, hard = chain_of(program, 3), chain_of(program, 3)
    for _ in range(100):
        soft.step()
        features = hard.step(soft=False)
        assert np.array_equal(soft._assigned, hard._assigned)
        assert np.array_equal(features, hard._assigned.astype(float))


def test_all_confident_variables_start_positive() -> None:
    program = random_segmentations(7, 4)
    for seed in range(20):
        assert start(program, program.confident(), np.random.default_rng(seed))[:4].all()


def rivals() -> Segmentations:
    """Boundaries 1 and 2 cannot both be there, and 3 and 4 are allowed; the first three are pinned."""
    scores = np.zeros((6, 6))
    scores[1, 2] = -np.inf
    return Segmentations(scores, np.arange(3))


def test_what_does_not_go_together_is_taken_back_at_random() -> None:
    """H0: of two rivals either is taken back first, in half of 400 starts; the third is taken back if it comes before
    both, in a third of them, and then is there in a share of the segmentations that are left, so not always."""
    program = rivals()
    found = np.array([start(program, np.arange(3), np.random.default_rng(seed)) for seed in range(400)])
    assert not (found[:, 0] & found[:, 1]).any()
    assert (found[:, 0] | found[:, 1]).all()
    assert stats.binomtest(int(found[:, 0].sum()), 400, 0.5).pvalue > LEVEL
    assert stats.binomtest(int(found[:, 2].sum()), 400, 2 / 3 + 1 / 3 * 0.5).pvalue > LEVEL


def test_dispersed_starts() -> None:
    """H0: what is pinned is positive with probability 1/2, independently, where all goes together: 400 starts."""
    program = random_segmentations(6, 3)
    found = np.array([start(program, np.arange(3), np.random.default_rng(seed), dispersed=True) for seed in range(400)])
    numbers = found[:, :3] @ [1, 2, 4]
    assert stats.chisquare(np.bincount(numbers, minlength=8)).pvalue > LEVEL
    for seed in range(50):
        assert not start(rivals(), np.arange(3), np.random.default_rng(seed), dispersed=True)[:2].all()


def test_there_is_nothing_to_start_from() -> None:
    program = Segmentations(np.full((4, 4), -np.inf), np.arange(2))
    for dispersed in (False, True):
        with pytest.raises(DeptreeError, match=r"^there is no structure to sum over\. Allow more structures\.$"):
            chain_of(program, 1, dispersed=dispersed)


def test_a_program_that_contradicts_itself_is_noticed() -> None:
    """It says of its structures what its masks do not agree with; of four variables two or three are pinned."""
    program = all_or_none(5)
    program.assign = lambda structure: np.array([True, False, True, False])  # type: ignore[method-assign]
    with pytest.raises(DeptreeError, match="mask removes the structure"):
        sees(program, paper, 3)


def test_toy_agrees_with_its_enumeration() -> None:
    for program in SMALL:
        assert exact(program) == pytest.approx(enumerated(program)[1], rel=1e-12)
