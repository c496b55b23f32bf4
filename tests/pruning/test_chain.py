"""Chains: what is selected, where they start, that averages are right in the limit, and what these tell of errors."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, islice, pairwise, product
from math import comb

import numpy as np
import pytest
from scipy import stats

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.methods import BATCHES, Averages, Chain, selections, start
from deptree_cli.pruning.program import Program
from deptree_cli.second_order import SecondOrder
from deptree_cli.second_order.distribution import SecondOrderArcs

LEVEL = 1e-6  # a test of a law fails by chance once in a million seeds


class Segmentations(Program):
    """A program of a user's own: segmentations of a string; segments start..end-1 weigh exp(scores[start, end]).

    Variables are boundaries between letters; structures say of each whether it is there. Scores are (n+1, n+1). A chart
    is the weights of segments and sums of the segmentations of beginnings (n+1,).
    """

    def __init__(self, scores, confident):
        self._weights, self._confident = np.triu(np.exp(scores), 1), confident

    def variables(self):
        return len(self._weights) - 2

    def confident(self):
        return self._confident

    def compile(self, selected, assigned):
        kept = np.ones(self._weights.shape, dtype=np.bool_)
        for place in np.flatnonzero(selected) + 1:
            if assigned[place - 1]:
                kept[:place, place + 1 :] = False
            else:
                kept[place] = kept[:, place] = False
        return kept

    def inside(self, mask):
        weights, sums = self._weights * mask, np.eye(1, len(mask))[0]
        for end in range(1, len(mask)):
            sums[end] = sums[:end] @ weights[:end, end]
        with np.errstate(divide="ignore"):
            return float(np.log(sums[-1])), (weights, sums)

    def outside(self, chart):
        weights, sums = chart
        rest = np.eye(1, len(sums), len(sums) - 1)[0]
        for first in range(len(sums) - 2, -1, -1):
            rest[first] = weights[first, first + 1 :] @ rest[first + 1 :]
        return (sums * rest)[1:-1] / sums[-1]

    def sample(self, chart, rng):
        weights, sums = chart
        found, end = np.zeros(len(sums), dtype=np.bool_), len(sums) - 1
        while end > 0:
            ways = (sums[:end] * weights[:end, end]).cumsum()
            end = int(np.searchsorted(ways, rng.random() * ways[-1], side="right"))
            found[end] = True
        return found[1:-1]

    def assign(self, structure):
        return structure

    def enumerated(self):
        """The segmentations, (structures, variables), and their probabilities."""
        structures = np.array(list(product((False, True), repeat=self.variables())))
        ends = [[0, *(np.flatnonzero(each) + 1), self.variables() + 1] for each in structures]
        weights = np.array([np.prod([self._weights[arc] for arc in pairwise(each)]) for each in ends])
        return structures, weights / weights.sum()


def random_segmentations(n, confident):
    """Gaussian scores; the first few boundaries are pinned."""
    return Segmentations(np.random.default_rng([0, n]).normal(size=(n + 1, n + 1)), np.arange(confident))


def all_or_none(n):
    """Two segmentations: all boundaries, with sqrt(e) of the weight of the other one, or none; all are pinned."""
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[0, n] = 0.0
    scores[np.arange(n), np.arange(1, n + 1)] = 0.5 / n
    return Segmentations(scores, np.arange(n - 1))


def rivals():
    """Boundaries 1 and 2 cannot both be there, and 3 and 4 are allowed; the first three are pinned."""
    scores = np.zeros((6, 6))
    scores[1, 2] = -np.inf
    return Segmentations(scores, np.arange(3))


def run(confident, steps, seed=0):
    found = list(islice(selections(confident, 40, np.random.default_rng(seed)), steps))
    assert all(each.shape == (40,) and each.dtype == np.bool_ for each in found)
    return [frozenset(np.flatnonzero(each).tolist()) for each in found]


@pytest.mark.quick
@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 9, 15])
def test_every_step_is_one_of_the_papers(m):
    """Between two that select something, with steps that select nothing in between; only the confident are ever
    selected. With two or more the paper's never select nothing, so that all that do are ours."""
    confident = np.random.default_rng(m).permutation(40)[:m]
    found, everything = [each for each in run(confident, 300) if each], frozenset(confident.tolist())
    for before, after in pairwise(found):
        assert everything - before <= after <= everything
        assert len(after) == m - len(before) + len(before) // 2
    start = round(2 * m / 3)
    assert len(found[0]) == m - start + start // 2


@pytest.mark.slow("statistics")
def test_halves_are_drawn_at_random():
    """H0: from every selection all that can come next are equally probable, m = 5 and 6: chi-square for each.

    10 selections of 3 variables with 3 that follow, 15 of 4 with 6; 30,000 steps, threshold 1e-6 over 25.
    """
    for m in (5, 6):
        counts, everything = defaultdict(Counter), frozenset(range(m))
        for before, after in pairwise(filter(None, run(np.arange(m), 30_000))):
            counts[before][after] += 1
        assert len(counts) == comb(m, round(2 * m / 3))
        for before, after in counts.items():
            halves = combinations(before, len(before) // 2)
            possible = {(everything - before) | frozenset(half) for half in halves}
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


def test_few_confident_variables():
    """None: never anything. One: pinned at every second step of the paper's."""
    assert set(run(np.array([], dtype=np.int64), 50)) == {frozenset()}
    steps = run(np.array([4]), 2000)
    assert set(steps) == {frozenset(), frozenset([4])}
    assert stats.binomtest(sum(map(bool, steps)), len(steps), 0.25).pvalue > LEVEL


def paper(*given):
    """Selections as they are in the paper: without the step that pins nothing."""
    return filter(np.any, selections(*given))


def positive(confident, chain, rng):
    """The trap of section 3.2: what is pinned are the positive ones of a chain, each with probability 1/2."""
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
    program = AlignmentDistribution(0.3 * np.eye(2), "log", -np.inf, -np.inf).program()
    program.confident = lambda: np.array([0, 3])
    return program


def two_words():
    """Trees 0 -> 1 -> 2 and 0 -> 2 -> 1, the second with a probability of 1 / (1 + e); two arcs are pinned."""
    program = SecondOrderArcs(SecondOrder(np.array([[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]])))
    program.confident = lambda: np.array([1, 5])
    return program


def exact(program):
    return np.asarray(program.outside(program.inside(program.everything())[1]))


def z_scores(program, select, soft):
    """How far averages of 1,500 steps of 4 chains are from the exact expectations, in standard errors."""
    averages, chains = Averages(), [chain_of(program, number, select, number > 0) for number in range(4)]
    for _ in range(1500):
        averages.add(np.array([chain.step(soft) for chain in chains]))
    errors = averages.standard_errors()
    return np.asarray(np.abs(averages.mean() - exact(program)) / np.maximum(errors, 1e-12))


SOFT = pytest.mark.parametrize("soft", [True, False], ids=["soft", "hard"])
PROGRAMS = [random_segmentations(5, 3), random_segmentations(5, 4), all_or_none(3), all_or_none(5)]


@pytest.mark.slow("statistics")
@SOFT
@pytest.mark.parametrize("program", [*PROGRAMS, no_nulls(), two_words()])
def test_averages_are_right(program, soft):
    """H0: every mean is normal around the exact expectation with the error that is stated; at most 6 of them off."""
    assert z_scores(program, selections, soft).max() < 6


@pytest.mark.slow("statistics")
@SOFT
def test_an_adaptive_selection_is_noticed(soft):
    """The same test refuses the chain that pins some of what is positive: it stays there for too long."""
    assert z_scores(random_segmentations(5, 4), positive, soft).max() > 12


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


def test_soft_and_hard_steps_go_the_same_way():
    """The chain is one and the same; hard counts are the features of what it goes to, soft ones expectations."""
    program, between = random_segmentations(6, 4), 0
    soft, hard = chain_of(program, 3), chain_of(program, 3)
    for _ in range(100):
        expected, features = soft.step(), hard.step(soft=False)
        assert np.array_equal(soft._assigned, hard._assigned)
        assert np.array_equal(features, hard._assigned.astype(float))
        between += ((expected > 0) & (expected < 1)).any()
    assert between > 90


def test_all_confident_variables_start_positive():
    program = random_segmentations(7, 4)
    for seed in range(20):
        assert start(program, program.confident(), np.random.default_rng(seed))[:4].all()


def test_what_does_not_go_together_is_taken_back_at_random():
    """H0: of two rivals either is taken back first, in half of 400 starts; the third is taken back if it comes before
    both, in a third of them, and then is there in a share of the segmentations that are left, so not always."""
    found = np.array([start(rivals(), np.arange(3), np.random.default_rng(seed)) for seed in range(400)])
    assert (found[:, 0] ^ found[:, 1]).all()
    assert stats.binomtest(int(found[:, 0].sum()), 400, 0.5).pvalue > LEVEL
    assert stats.binomtest(int(found[:, 2].sum()), 400, 2 / 3 + 1 / 3 * 0.5).pvalue > LEVEL


def test_dispersed_starts():
    """H0: what is pinned is positive with probability 1/2, independently, where all goes together: 400 starts."""
    program = random_segmentations(6, 3)
    found = np.array([start(program, np.arange(3), np.random.default_rng(seed), dispersed=True) for seed in range(400)])
    assert stats.chisquare(np.bincount(found[:, :3] @ [1, 2, 4], minlength=8)).pvalue > LEVEL
    for seed in range(50):
        assert not start(rivals(), np.arange(3), np.random.default_rng(seed), dispersed=True)[:2].all()


def test_a_program_that_contradicts_itself_is_noticed():
    """It says of its structures what its masks do not agree with; of four variables two or three are pinned."""
    program = all_or_none(5)
    program.assign = lambda structure: np.array([True, False, True, False])
    with pytest.raises(DeptreeError, match="mask removes the structure"):
        sees(program, paper, 3)


def averages_of(chains):
    """Averages of the features in chains (chains, iterations, features), which come in one array again and again."""
    found, features = Averages(), np.empty_like(chains[:, 0])
    for each in chains.swapaxes(0, 1):
        features[:] = each
        found.add(features)
    return found


SHAPES = [(1, 3, 2), (4, 1, 1), (4, 3, 1), (4, 4, 1), (1, 37, 2), (4, 38, 2), (2, 40, 1), (2, 131, 3), (8, 500, 5)]


@pytest.mark.quick
@pytest.mark.parametrize("drift", [0.0, 3.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_means_errors_and_r_hat(shape, drift):
    """The mean is that of everything, also of what no batch is full of; errors are those of the means of batches; R-hat
    is Gelman and Rubin's (1992) of halves, 1 at least, without a middle batch and what fills none."""
    chains = np.random.default_rng(2).normal(size=shape) + np.linspace(0, drift, shape[1])[:, None]
    found, length = averages_of(chains), 1
    while shape[1] // length >= BATCHES:
        length *= 2
    batches = shape[1] // length
    assert found.iterations == shape[1]
    assert found.mean() == pytest.approx(chains.mean(axis=(0, 1)), abs=1e-13)
    means = chains[:, : batches * length].reshape(-1, length, shape[2]).mean(axis=1)
    if len(means) < 4:
        assert found.standard_errors() is found.effective_size() is None
    else:
        errors = means.std(axis=0, ddof=1) / np.sqrt(len(means))
        assert found.standard_errors() == pytest.approx(errors, rel=1e-10)
    if batches < 4:
        assert found.r_hat() is None
        return
    size = batches // 2 * length
    halves = np.concatenate([chains[:, :size], chains[:, batches * length - size : batches * length]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = size * halves.mean(axis=1).var(axis=0, ddof=1)
    textbook = np.sqrt(((size - 1) / size * within + between / size) / within).max()
    assert found.r_hat() == pytest.approx(max(textbook, 1.0), rel=1e-10)


def autoregressive(rng, rho, shape):
    """Chains of mean 0 and variance 1 in equilibrium; neighbours have a correlation of rho."""
    noise = rng.normal(size=shape)
    noise[:, 1:] *= np.sqrt(1 - rho**2)
    for k in range(1, shape[1]):
        noise[:, k] += rho * noise[:, k - 1]
    return noise


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_draws_that_depend_on_each_other(rho):
    """They are as good as a share (1 - rho) / (1 + rho) of them would be if independent, and chains agree.

    An effective size has a relative standard deviation of sqrt(2 / (5 * 100)), 6 %: within 40 %.
    """
    found = averages_of(autoregressive(np.random.default_rng(5), rho, (4, 2500, 5)))
    assert found.effective_size() == pytest.approx(10_000 * (1 - rho) / (1 + rho), rel=0.4)
    assert 0.99 < found.r_hat() < 1.05


def coverage(chains, right):
    """How often the mean is within 1.96 standard errors of what is right."""
    found = [averages_of(each) for each in chains]
    return np.mean([np.abs(each.mean() - right) < 1.96 * each.standard_errors() for each in found])


@pytest.mark.slow("statistics")
def test_errors_cover():
    """In 95 % of cases for independent draws, a little less for correlated ones in short batches.

    300 x 5 averages: the share has a standard deviation of 0.6 %; bounds are four of them off.
    """
    rng = np.random.default_rng(6)
    for rho, low in ((0.0, 0.92), (0.5, 0.90)):
        assert low < coverage([autoregressive(rng, rho, (4, 300, 5)) for _ in range(300)], np.zeros(5)) < 0.975


@pytest.mark.slow("statistics")
def test_errors_of_randomized_pruning_cover():
    """60 runs of 4 chains of 150 iterations, 4 features that depend on each other: the share is above 87 %.

    Taken for 60 independent cases it has a standard deviation of 2.8 %.
    """
    program = random_segmentations(5, 3)
    chains = [[chain.step() for _ in range(150)] for chain in (chain_of(program, seed) for seed in range(240))]
    assert 0.87 < coverage(np.array(chains).reshape(60, 4, 150, 4), exact(program)) <= 1.0


def test_nothing_varies():
    """Almost the same everywhere: no error, all iterations count, chains agree; rounding is no difference."""
    found = averages_of(0.1 + 1e-16 * np.random.default_rng(1).normal(size=(2, 50, 3)))
    assert found.mean() == pytest.approx(np.full(3, 0.1))
    assert found.standard_errors() == pytest.approx(np.zeros(3), abs=1e-15)
    assert found.r_hat() == 1.0
    assert found.effective_size() == 2 * 50
