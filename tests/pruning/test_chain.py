"""Chains: what is selected, where they start, that averages are right in the limit, and what these tell of errors."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, islice, pairwise
from math import comb

import numpy as np
import pytest
from scipy import stats

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.methods import BATCHES, Averages, Chain, selections, start
from deptree_cli.second_order import SecondOrder
from deptree_cli.second_order.distribution import SecondOrderArcs
from tests.pruning.toy import Segmentations, all_or_none, random_segmentations

LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds


def transitions(selected, all_of_them):
    """What can come next, all equally probable: those not selected, and a half of those that are (rounded down)."""
    halves = combinations(sorted(selected), len(selected) // 2)
    return {(all_of_them - selected) | frozenset(half) for half in halves}


def run(confident, steps, seed=0, variables=40):
    found = list(islice(selections(confident, variables, np.random.default_rng(seed)), steps))
    assert all(each.shape == (variables,) and each.dtype == np.bool_ for each in found)
    return [frozenset(np.flatnonzero(each).tolist()) for each in found]


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 9, 15])
def test_every_step_is_one_of_the_papers(m):
    """Between two that select something; only the confident are ever selected. With two or more the paper's never
    select nothing, so that all that do are ours."""
    confident = np.random.default_rng(m).permutation(40)[:m]
    found = [each for each in run(confident, 300) if each]
    everything = frozenset(confident.tolist())
    for before, after in pairwise(found):
        assert after <= everything
        assert after >= everything - before
        assert len(after) == m - len(before) + len(before) // 2
    start = round(2 * m / 3)
    assert len(found[0]) == m - start + start // 2


@pytest.mark.slow("statistics")
def test_halves_are_drawn_at_random():
    """H0: from every selection all that can come next are equally probable, m = 5 and 6: chi-square for each.

    10 selections of 3 variables with 3 that follow, 15 of 4 with 6; 30,000 steps, threshold 1e-6 over 25.
    """
    for m in (5, 6):
        counts = defaultdict(Counter)
        found = [each for each in run(np.arange(m), 30_000) if each]
        for before, after in pairwise(found):
            counts[before][after] += 1
        assert len(counts) == comb(m, round(2 * m / 3))
        for before, after in counts.items():
            possible = transitions(before, frozenset(range(m)))
            assert set(after) <= possible
            assert stats.chisquare([after[each] for each in possible]).pvalue > LEVEL / 25


@pytest.mark.slow("statistics")
def test_the_first_two_thirds_are_drawn_at_random():
    """H0: the start is any of the 10 threes of 5 variables; what follows from it is one of 10 again. 5,000 chains."""
    counts = Counter(next(filter(None, run(np.arange(5), 20, seed))) for seed in range(5000))
    assert len(counts) == 10
    assert stats.chisquare([*counts.values()]).pvalue > LEVEL


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("m", [2, 3, 4, 6, 8])
def test_nothing_is_selected_once_in_two_to_the_m(m):
    """H0: with probability 2^-m at every step, independently; exact binomial test, 20,000 steps."""
    empty = np.array([not each for each in run(np.arange(m), 20_000)])
    assert stats.binomtest(int(empty.sum()), len(empty), 0.5**m).pvalue > LEVEL
    twice = empty[1:] & empty[:-1]
    assert stats.binomtest(int(twice.sum()), int(empty[:-1].sum()), 0.5**m).pvalue > LEVEL


def test_a_step_without_selection_forgets_nothing():
    """The step behind it starts from the selection before it: that happens often with two variables."""
    found = run(np.array([3, 7]), 200)
    selected = [each for each in found if each]
    assert len(found) - len(selected) > 20
    assert all(len(each) == 1 for each in selected)
    assert all(before != after for before, after in pairwise(selected))


def test_few_confident_variables():
    """None: never anything. One: pinned at every second step of the paper's."""
    assert set(run(np.array([], dtype=np.int64), 50)) == {frozenset()}
    steps = run(np.array([4]), 2000)
    assert set(steps) == {frozenset(), frozenset([4])}
    assert stats.binomtest(sum(map(bool, steps)), len(steps), 0.25).pvalue > LEVEL


# How the confident variables of a chain are selected: from them, the number of variables and a generator.


def paper(*given):
    """Selections as they are in the paper: without the step that pins nothing."""
    return filter(np.any, selections(*given))


def positive(confident, variables, rng):
    """The trap of section 3.2: what is pinned are the positive ones, each with probability 1/2.

    `chain_of` makes `variables` the chain, by whose assignment is chosen.
    """
    chain = variables
    while True:
        yield chain._assigned & (rng.random(len(chain._assigned)) < 0.5)


def chain_of(program, seed, select=selections, dispersed=False):
    """A chain with selections of some kind."""
    rng = np.random.default_rng(seed)
    chain = Chain(program, program.confident(), rng, dispersed)
    chain._selections = select(program.confident(), chain if select is positive else program.variables(), rng)
    return chain


def no_nulls():
    """p = q = 2 with nothing unlinked: two ways, the second with a probability of 1 / (1 + e^0.6); all are pinned."""
    scores = np.array([[0.3, 0.0], [0.0, 0.3]])
    program = AlignmentDistribution(scores, "log", -np.inf, -np.inf).program()
    program.confident = lambda: np.array([0, 3])
    return program


def two_words():
    """Trees 0 -> 1 -> 2 and 0 -> 2 -> 1, the second with a probability of 1 / (1 + e); two arcs are pinned."""
    program = SecondOrderArcs(SecondOrder(np.array([[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]])))
    program.confident = lambda: np.array([1, 5])
    return program


def exact(program):
    return np.asarray(program.outside(program.inside(program.everything())[1]))


def z_scores(program, select, chains=4, size=1500, soft=True):
    """How far averages are from the exact expectations, in standard errors; 0 where nothing varies."""
    averages, several = Averages(), [chain_of(program, number, select, number > 0) for number in range(chains)]
    for _ in range(size):
        averages.add(np.array([chain.step(soft) for chain in several]))
    errors = averages.standard_errors()
    return np.asarray(np.abs(averages.mean() - exact(program)) / np.maximum(errors, 1e-12))


SMALL = [random_segmentations(5, 3), all_or_none(3), all_or_none(5)]


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("soft", [True, False], ids=["soft", "hard"])
@pytest.mark.parametrize("program", [*SMALL, no_nulls(), two_words()])
def test_averages_are_right(program, soft):
    """H0: every mean is normal around the exact expectation with the error that is stated; at most 6 of them off.

    6,000 steps. `test_an_adaptive_selection_is_noticed` shows that this finds what is wrong.
    """
    assert z_scores(program, selections, soft=soft).max() < 6


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("soft", [True, False], ids=["soft", "hard"])
def test_an_adaptive_selection_is_noticed(soft):
    """The same test as above refuses the chain that pins some of what is positive: it stays there for too long."""
    program = random_segmentations(5, 4)
    assert z_scores(program, selections, soft=soft).max() < 6
    assert z_scores(program, positive, soft=soft).max() > 12


def sees(program, select, steps=200):
    """How many assignments a chain sees."""
    chain, seen = chain_of(program, 0, select), set()
    for _ in range(steps):
        chain.step()
        seen.add(chain._assigned.tobytes())
    return len(seen)


@pytest.mark.parametrize("program", [all_or_none(3), no_nulls(), two_words()])
def test_variables_that_determine_each_other(program):
    """Some are always pinned in the paper's chain, so that it never leaves where it begins; ours sees both."""
    assert sees(program, paper) == 1
    assert sees(program, selections) == 2


@pytest.mark.slow("size")
def test_what_is_selected_never_depends_on_what_is_assigned():
    """H0: whether a variable is selected is independent of its being positive in the state before.

    3 variables, 8,000 steps: chi-square tests of independence, each step of a chain in equilibrium thinned to every
    fourth; threshold 1e-6. It refuses the adaptive chain.
    """
    for select, holds in ((selections, True), (positive, False)):
        program = random_segmentations(5, 3, scale=0.5)
        states = []
        chain = chain_of(program, 1, select)
        compiled = program.compile

        def note(selected, assigned, compiled=compiled, states=states):
            states.append((selected[:3], assigned[:3]))
            return compiled(selected, assigned)

        program.compile = note
        for _ in range(8000):
            chain.step()
        selected, assigned = map(np.array, zip(*states[::4], strict=True))
        for variable in range(3):
            table = np.zeros((2, 2))
            np.add.at(table, (selected[:, variable].astype(int), assigned[:, variable].astype(int)), 1)
            assert (stats.chi2_contingency(table).pvalue > LEVEL) == holds


def errors(program, places, chains):
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
def test_errors_fall_with_the_square_root(name):
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


def test_soft_and_hard_steps_go_the_same_way():
    """The chain is one and the same; hard counts are the features of what it goes to."""
    program = random_segmentations(6, 4)
    soft, hard = chain_of(program, 3), chain_of(program, 3)
    for _ in range(100):
        soft.step()
        features = hard.step(soft=False)
        assert np.array_equal(soft._assigned, hard._assigned)
        assert np.array_equal(features, hard._assigned.astype(float))


def test_all_confident_variables_start_positive():
    program = random_segmentations(7, 4)
    for seed in range(20):
        assert start(program, program.confident(), np.random.default_rng(seed))[:4].all()


def rivals():
    """Boundaries 1 and 2 cannot both be there, and 3 and 4 are allowed; the first three are pinned."""
    scores = np.zeros((6, 6))
    scores[1, 2] = -np.inf
    return Segmentations(scores, np.arange(3))


def test_what_does_not_go_together_is_taken_back_at_random():
    """H0: of two rivals either is taken back first, in half of 400 starts; the third is taken back if it comes before
    both, in a third of them, and then is there in a share of the segmentations that are left, so not always."""
    program = rivals()
    found = np.array([start(program, np.arange(3), np.random.default_rng(seed)) for seed in range(400)])
    assert not (found[:, 0] & found[:, 1]).any()
    assert (found[:, 0] | found[:, 1]).all()
    assert stats.binomtest(int(found[:, 0].sum()), 400, 0.5).pvalue > LEVEL
    assert stats.binomtest(int(found[:, 2].sum()), 400, 2 / 3 + 1 / 3 * 0.5).pvalue > LEVEL


def test_dispersed_starts():
    """H0: what is pinned is positive with probability 1/2, independently, where all goes together: 400 starts."""
    program = random_segmentations(6, 3)
    found = np.array([start(program, np.arange(3), np.random.default_rng(seed), dispersed=True) for seed in range(400)])
    numbers = found[:, :3] @ [1, 2, 4]
    assert stats.chisquare(np.bincount(numbers, minlength=8)).pvalue > LEVEL
    for seed in range(50):
        assert not start(rivals(), np.arange(3), np.random.default_rng(seed), dispersed=True)[:2].all()


def test_there_is_nothing_to_start_from():
    program = Segmentations(np.full((4, 4), -np.inf), np.arange(2))
    for dispersed in (False, True):
        with pytest.raises(DeptreeError, match=r"^there is no structure to sum over\. Allow more structures\.$"):
            chain_of(program, 1, dispersed=dispersed)


def test_a_program_that_contradicts_itself_is_noticed():
    """It says of its structures what its masks do not agree with; of four variables two or three are pinned."""
    program = all_or_none(5)
    program.assign = lambda structure: np.array([True, False, True, False])
    with pytest.raises(DeptreeError, match="mask removes the structure"):
        sees(program, paper, 3)


def averages_of(chains):
    """Averages of the features in chains (chains, iterations, features)."""
    found = Averages()
    for features in chains.swapaxes(0, 1):
        found.add(features)
    return found


def autoregressive(rng, rho, shape):
    """Chains of mean 0 and variance 1 in equilibrium; neighbours have a correlation of rho."""
    noise = rng.normal(size=shape)
    noise[:, 1:] *= np.sqrt(1 - rho**2)
    for k in range(1, shape[1]):
        noise[:, k] += rho * noise[:, k - 1]
    return noise


def test_batches_double():
    """After every iteration: lengths are powers of two, fewer than 40 batches, each the sum of its own iterations."""
    values, batches = np.random.default_rng(1).normal(size=(700, 2)), Averages()
    assert batches.iterations == 0
    for count in range(1, 701):
        batches.add(values[None, count - 1])
        length = 1
        while count // length >= BATCHES:
            length *= 2
        assert batches.length == length
        whole = values[: count // length * length].reshape(-1, length, 2)
        assert len(batches.sums) == len(batches.squares) == len(whole)
        assert np.array(batches.sums).reshape(-1, 2) == pytest.approx(whole.sum(axis=1), abs=1e-12)
        assert np.array(batches.squares).reshape(-1, 2) == pytest.approx((whole**2).sum(axis=1), abs=1e-12)
        assert batches.iterations == count
        assert batches.mean() == pytest.approx(values[:count].mean(axis=0), abs=1e-12)


def test_what_is_added_may_be_used_again():
    batches, features = Averages(), np.zeros((1, 2))
    for number in range(5):
        features[:] = number
        batches.add(features)
    assert batches.mean().tolist() == [2.0, 2.0]
    assert [each.tolist() for each in batches.sums] == [[[k, k]] for k in range(5)]


@pytest.mark.parametrize("shape", [(1, 3, 2), (4, 1, 1), (4, 37, 2), (3, 500, 1), (2, 131, 3)])
def test_means_and_errors(shape):
    """The mean is that of everything, also of what no batch is full of; errors are those of the means of batches."""
    chains = np.random.default_rng(2).normal(size=shape)
    found, length = averages_of(chains), 1
    while shape[1] // length >= BATCHES:
        length *= 2
    assert found.iterations == shape[1]
    assert found.mean() == pytest.approx(chains.mean(axis=(0, 1)), abs=1e-13)
    whole = chains[:, : shape[1] // length * length].reshape(-1, length, shape[2])
    errors = found.standard_errors()
    if len(whole) < 4:
        assert errors is None
        assert found.effective_size() is None
    else:
        means = whole.mean(axis=1)
        assert errors == pytest.approx(means.std(axis=0, ddof=1) / np.sqrt(len(means)), rel=1e-10)


@pytest.mark.parametrize("shape", [(4, 3, 1), (4, 4, 1), (1, 37, 2), (4, 38, 2), (3, 500, 2), (8, 130, 5)])
def test_r_hat_is_that_of_the_halves(shape):
    """Gelman and Rubin's (1992) by the textbook, 1 at least; a middle batch and what fills none are left out."""
    chains = np.random.default_rng(3).normal(size=shape)
    found, length = averages_of(chains).r_hat(), 1
    while shape[1] // length >= BATCHES:
        length *= 2
    batches = shape[1] // length
    if batches < 4:
        assert found is None
        return
    size = batches // 2 * length
    halves = np.concatenate([chains[:, :size], chains[:, batches * length - size : batches * length]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = size * halves.mean(axis=1).var(axis=0, ddof=1)
    textbook = np.sqrt(((size - 1) / size * within + between / size) / within).max()
    assert found == pytest.approx(max(textbook, 1.0), rel=1e-10)


def test_independent_draws():
    """4 chains of 1,000 normal draws, 3 features: they are as good as they are many, and agree.

    An effective size has a relative standard deviation of sqrt(2 / (3 * 100)), 8 %: within 40 %.
    """
    found = averages_of(np.random.default_rng(4).normal(size=(4, 1000, 3)))
    assert found.effective_size() == pytest.approx(4000, rel=0.4)
    assert 0.99 < (found.r_hat() or 0.0) < 1.05


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_draws_that_depend_on_each_other(rho):
    """They are as good as a share (1 - rho) / (1 + rho) of them would be if independent."""
    found = averages_of(autoregressive(np.random.default_rng(5), rho, (4, 2500, 5)))
    assert found.effective_size() == pytest.approx(10_000 * (1 - rho) / (1 + rho), rel=0.4)
    assert 0.99 < (found.r_hat() or 0.0) < 1.1


def coverage(chains, right):
    """How often the mean is within 1.96 standard errors of what is right."""
    covered = []
    for each in chains:
        found = averages_of(each)
        errors = found.standard_errors()
        covered.append(np.abs(found.mean() - right) < 1.96 * errors)
    return float(np.mean(covered))


@pytest.mark.slow("statistics")
def test_errors_cover():
    """In 95 % of cases for independent draws, a little less for correlated ones in short batches.

    300 x 5 averages: the share has a standard deviation of 0.6 %; bounds are four of them off.
    """
    rng = np.random.default_rng(6)
    for rho, low, high in ((0.0, 0.92, 0.975), (0.5, 0.90, 0.975)):
        chains = (autoregressive(rng, rho, (4, 300, 5)) for _ in range(300))
        assert low < coverage(chains, np.zeros(5)) < high


@pytest.mark.slow("statistics")
def test_errors_of_randomized_pruning_cover():
    """60 runs of 4 chains of 150 iterations, 4 features that depend on each other: the share is above 87 %.

    Taken for 60 independent cases it has a standard deviation of 2.8 %.
    """
    program = random_segmentations(5, 3)
    steps = (
        np.array([[chain.step() for _ in range(150)] for chain in (chain_of(program, 4 * run + k) for k in range(4))])
        for run in range(60)
    )
    assert 0.87 < coverage(steps, exact(program)) <= 1.0


def test_chains_in_two_modes():
    """R-hat is infinite where nothing moves, large where chains differ by two standard deviations."""
    chains = np.zeros((4, 100, 2))
    chains[1:3, :, 1] = 1.0
    assert averages_of(chains).r_hat() == np.inf
    noisy = np.random.default_rng(7).normal(size=(4, 100, 2)) + 2 * chains
    assert (averages_of(noisy).r_hat() or 0.0) > 1.3


def test_a_chain_that_still_drifts():
    """One chain is enough: its halves differ."""
    drift = np.linspace(0, 5, 200)[:, None] + np.random.default_rng(8).normal(size=(200, 1))
    assert (averages_of(drift[None]).r_hat() or 0.0) > 1.5


def test_nothing_varies():
    """Almost the same everywhere: no error, all iterations count, chains agree; rounding is no difference."""
    found = averages_of(0.1 + 1e-16 * np.random.default_rng(1).normal(size=(2, 50, 3)))
    assert found.mean() == pytest.approx(np.full(3, 0.1))
    assert found.standard_errors() == pytest.approx(np.zeros(3), abs=1e-15)
    assert found.r_hat() == 1.0
    assert found.effective_size() == 2 * 50
