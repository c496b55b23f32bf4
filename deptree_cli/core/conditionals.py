"""Samplers without replacement choice by choice: the conditionals of trees, a trie, beams, and Zmigrod's algorithm."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.factorisation import Factorisation
from deptree_cli.core.labels import label_stream
from deptree_cli.core.numbers import REAL, WIDE, Kind, in_wide_if_needed
from deptree_cli.core.spaces import Conditioned, EisnerChart, NonProjective, Projective, by_space, elimination_of
from deptree_cli.core.swor import Algorithm, Draws, clock_of, most_certain, size_for_mass
from deptree_cli.core.walks import path_tables
from deptree_cli.kernels import derivations, head_path
from deptree_cli.kernels.head_path import FREE, LEVELS
from deptree_cli.kernels.operations import SAFE_LOG

# A tree as a sequence of choices: the state machine under sampling without replacement (Stanojevic 2022, section 5.1).
#
# A prefix is a tuple of choices; a complete one, of length `depth`, is a tree.


Prefix = tuple[int, ...]
Choices = Int


class TreeChoices(ABC):
    """The conditional distribution of each of a tree's `depth` choices given the choices before it."""

    depth: int

    @abstractmethod
    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """Log-probability of each value 0..n of the choice after prefixes of one length, (b, length) -> (b, n+1)."""

    @abstractmethod
    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """Draw all choices after a prefix: log-probabilities of the values of each (m, n+1), and the choices (m,)."""

    @abstractmethod
    def heads_of_each(self, prefixes: Choices) -> Heads:
        """The trees of complete prefixes, (b, depth) -> (b, n) heads."""

    def beam(self, size: int) -> Callable[[Choices, Int], Float]:
        """What `log_probs_of_each` says of at most `size` prefixes that grow together, from the empty one on.

        It is asked once for each length, with the prefixes and which of those before each has grown from.
        """
        return lambda prefixes, above: self.log_probs_of_each(prefixes)

    def log_probs(self, prefix: Prefix) -> Float:
        """Log-probability of each value 0..n of the choice after one prefix, (n+1,)."""
        return self.log_probs_of_each(np.array([prefix], dtype=np.int64))[0]


class HeadByHead(TreeChoices):
    """The heads of the words from left to right, by what a space's general routes say of each: see `Conditioned`."""

    def __init__(self, distribution: ArcFactored) -> None:
        if not isinstance(distribution.factorisation, Conditioned):
            problem = f"there is no sampling without replacement of {distribution.space.trees}"
            raise DeptreeError(problem, "Draw with replacement")
        self._sums, self.depth = distribution.factorisation, distribution.n

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        return np.array([self._sums.head_log_probs(prefix) for prefix in prefixes.tolist()])

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        log_probs, chosen = [], list(prefix)
        while len(chosen) < self.depth:
            log_probs.append(self._sums.head_log_probs(chosen))
            chosen.append(pick(log_probs[-1], rng))
        return np.array(log_probs), np.array(chosen[len(prefix) :], dtype=np.int64)

    def heads_of_each(self, prefixes: Choices) -> Heads:
        return prefixes.astype(np.int32)


def pick(log_weights: Float, rng: np.random.Generator) -> int:
    """An index drawn in proportion to exp(log_weights); never one of weight 0."""
    weights = np.exp(log_weights - log_weights.max())
    cumulative = np.cumsum(weights)
    cumulative[np.flatnonzero(weights)[-1] :] = np.inf
    return int(np.searchsorted(cumulative, rng.random() * weights.sum(), side="right"))


Draw = Callable[[], tuple[Prefix, float]]


def one_by_one(
    distribution: ArcFactored, choices: TreeChoices, size: int, rng: np.random.Generator, mass: float, draw: Draw
) -> Draws:
    """Up to `size` trees, or as many as reach the mass: `draw` returns each and the logarithm of what is left then."""
    clock, log_left, drawn = clock_of(rng), [0.0], list[Prefix]()
    while len(drawn) < size and log_left[-1] > -np.inf and not (mass < 1.0 and np.exp(log_left[-1]) <= 1.0 - mass):
        prefix, left = draw()
        drawn.append(prefix)
        log_left.append(left)
    heads = choices.heads_of_each(np.array(drawn, dtype=np.int64).reshape(-1, choices.depth))
    return Draws.timed(heads, distribution.tree_log_probs(heads), np.array(log_left), clock)


def log_sum(log_values: Float) -> float:
    return float(np.logaddexp.reduce(log_values))


# A tree whose arcs may cross as a sequence of choices: the heads of its words.
#
# Their conditional distributions come as logarithms that are accurate however small the probability, because nothing is
# subtracted on the way.


# The logarithms down to which float64 numbers have all their digits, and products that a path meets are noticed.
LOSSLESS_LOG = -660.0

# So many numbers may stand in memory for a beam: 1 or 2 GB.
MOST_NUMBERS = 2**27


class Conditionals(TreeChoices):
    """The root, if there is a single one, then the heads of the other words from left to right."""

    def __init__(self, distribution: ArcFactored) -> None:
        self.distribution, n = distribution, distribution.n
        self.depth = n
        self._elimination = elimination_of(distribution.factorisation)
        log_weights = self._elimination.shifted.log_weights
        self.weights = cache(lambda kind: kind.exp(log_weights))
        self.first = REAL if weights_in_range(log_weights) else WIDE
        self._tables = cache(lambda kind: (path_tables(n, kind), kind.zeros(n + 1)))  # no cycle: memory goes at once

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """See `TreeChoices`; O(m^3) each with m words open."""
        if self.distribution.single_root and not prefixes.shape[1]:
            return np.tile(self._elimination.log_root_marginals(), (len(prefixes), 1))
        given = [np.ascontiguousarray(part) for part in self.parts_of(prefixes)]
        out, found = np.empty((len(prefixes), self.depth + 1)), np.zeros(len(prefixes), dtype=np.bool_)

        def ask(kind: Kind) -> tuple[Float, bool]:
            head_path.log_head_probs_of_each(self.weights(kind), *given, *self._tables(kind), out, found)
            return out, bool(found.all())

        return in_wide_if_needed(ask, self.first)

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """See `TreeChoices`; of a prefix that is not empty, O(m^3) in all."""
        roots, heads, words = self.parts_of(np.array([prefix], dtype=np.int64))
        free, uniforms = words[0].copy(), rng.random(words.shape[1])
        chosen, out = np.empty_like(free), np.empty((len(free), self.depth + 1))

        def ask(kind: Kind) -> tuple[tuple[Float, Choices], bool]:
            tables, probs = self._tables(kind)
            given = self.weights(kind), roots[0], heads[0], free, tables, uniforms, probs
            return (out, chosen), head_path.log_heads_along(*given, chosen, out)

        return in_wide_if_needed(ask, self.first)

    def beam(self, size: int) -> Callable[[Choices, Int], Float]:
        """See `TreeChoices`; O(n^3) for each prefix in all, and without memory for that O(n^4)."""
        n = self.distribution.n
        return HeadPaths(self, size) if size * (3 * n + LEVELS) * n <= MOST_NUMBERS else super().beam(size)

    def heads_of_each(self, prefixes: Choices) -> Heads:
        heads = self.parts_of(prefixes)[1][:, 1:]
        return np.where(heads == FREE, 0, heads).astype(np.int32)

    def parts_of(self, prefixes: Choices) -> tuple[Choices, Choices, Choices]:
        """The nodes that trees hang on, (b,); heads by node (b, n+1), FREE where none was chosen; the other words."""
        count, n = len(prefixes), self.distribution.n
        words, roots, chosen = np.tile(np.arange(1, n + 1), (count, 1)), np.zeros(count, dtype=np.int64), prefixes
        if self.distribution.single_root:
            words = words[words != prefixes[:, :1]].reshape(count, n - 1)
            roots, chosen = prefixes[:, 0].copy(), prefixes[:, 1:]
        heads = np.full((count, n + 1), FREE, dtype=np.int64)
        heads[np.arange(count)[:, None], words[:, : chosen.shape[1]]] = chosen
        return roots, heads, words[:, chosen.shape[1] :]


class HeadPaths:
    """Prefixes of which each goes on from what was eliminated for the one that it has grown from.

    In float64 while that keeps all digits, and from there on in wide numbers.
    """

    def __init__(self, choices: Conditionals, size: int) -> None:
        self._choices, self._size, self._kind = choices, size, choices.first
        self._paths: Any = None
        self._tables: Any = None

    def __call__(self, prefixes: Choices, above: Int) -> Float:
        choices, n = self._choices, self._choices.depth
        if choices.distribution.single_root and not prefixes.shape[1]:
            return choices.log_probs_of_each(prefixes)
        if self._paths is not None:
            self._paths = head_path.Path(*(part[above] for part in self._paths))
            head_path.set_heads(self._paths, prefixes[:, -1].copy())
        parts, out = choices.parts_of(prefixes), np.empty((len(prefixes), n + 1))

        def ask(kind: Kind) -> tuple[Float, bool]:
            if self._paths is None or kind is not self._kind:
                self._start(kind, parts)
            tables, probs = self._tables, kind.zeros(n + 1)
            return out, head_path.log_next_heads(self._paths, choices.weights(kind), tables, probs, out)

        return in_wide_if_needed(ask, self._kind)

    def _start(self, kind: Kind, parts: tuple[Choices, Choices, Choices]) -> None:
        """Begin at the prefixes that have these parts, in tables of its own each."""
        weights, paths = self._choices.weights(kind), []
        self._kind, self._tables = kind, path_tables(self._choices.depth, kind, self._size)
        for i, (root, heads, words) in enumerate(zip(*parts, strict=True)):
            tables = head_path.PathTables(*(kind.each(itemgetter(i), numbers) for numbers in self._tables))
            paths.append(head_path.start_path(weights, root, heads, words.copy(), True, tables))
            paths[-1].levels[head_path.OWNER] = i
        self._paths = head_path.Path(*map(np.stack, zip(*paths, strict=True)))


def some_are_improbable(log_weights: Float) -> bool:
    """Whether float64 may take trees of these weights for impossible that are not; (n+1, n+1), columns shifted."""
    return bool(_least(log_weights).sum() < SAFE_LOG)


def weights_in_range(log_weights: Float) -> bool:
    """Whether float64 holds all positive weights; (n+1, n+1), columns shifted."""
    return bool(_least(log_weights).min() > LOSSLESS_LOG)


def _least(log_weights: Float) -> Float:
    """Of each node the least logarithm of an arc that is allowed, at most 0."""
    return np.where(np.isfinite(log_weights), log_weights, 0.0).min(axis=0)


# A projective tree as a sequence of choices: how the items of Eisner's chart are split.
#
# Of n words there are 2 n choices: where each item is split, from the top down. Probabilities come from the chart in
# wide numbers, so that their logarithms are accurate however small they are.


class Derivations(TreeChoices):
    """The nodes, 0..n, at which the items of a projective tree are split."""

    def __init__(self, distribution: ArcFactored) -> None:
        self._grammar, self._n = eisner_of(distribution.factorisation).in_wide_numbers.grammar, distribution.n
        self.depth = 2 * distribution.n

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """See `TreeChoices`; O(n) each."""
        return self._follow(prefixes, np.zeros(1))[0][:, 0]

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """See `TreeChoices`; O(n^2) in all."""
        before = np.array([prefix], dtype=np.int64)
        log_probs, chosen, _ = self._follow(before, rng.random(self.depth - len(prefix)))
        return log_probs[0], chosen[0]

    def heads_of_each(self, prefixes: Choices) -> Heads:
        return self._follow(prefixes, np.empty(0))[2]

    def _follow(self, prefixes: Choices, uniforms: Float) -> tuple[Float, Choices, Heads]:
        """What `follow_choices` fills."""
        shape = len(prefixes), len(uniforms)
        chosen, log_probs = np.empty(shape, dtype=np.int64), np.empty((*shape, self._n + 1))
        heads = np.empty((len(prefixes), self._n), dtype=np.int32)
        derivations.follow_choices(self._grammar, prefixes, uniforms, chosen, log_probs, heads)
        return log_probs, chosen, heads


def eisner_of(factorisation: Factorisation) -> EisnerChart:
    assert isinstance(factorisation, EisnerChart)
    return factorisation


# A tree as a sequence of choices, whichever tree space it is of.


CHOICES = {NonProjective: Conditionals, Projective: Derivations}


def choices_in(distribution: ArcFactored) -> TreeChoices:
    return by_space(CHOICES, distribution.space, HeadByHead)(distribution)


# Stochastic beam search (Kool, van Hoof, Welling 2019) over Colbourn's conditionals: Stanojevic 2022's SBS-SWOR.
#
# Every tree gets a log-probability perturbed by Gumbel noise of its own, and those with the k largest are drawn. A
# prefix carries the largest of its trees', so the beam finds them level by level. Minus the perturbed value is the
# logarithm of the tree's arrival time.


def draw_beam(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees; one more is followed, for its arrival time."""
    conditionals = choices_in(distribution)
    beam, prefixes, above = conditionals.beam(size + 1), np.empty((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
    log_probs, perturbed = np.zeros(1), np.array([rng.gumbel()])
    for _ in range(conditionals.depth):
        below = log_probs[:, None] + beam(prefixes, above)
        values = _perturb(below, perturbed, rng)
        kept = np.argsort(-values, axis=None, kind="stable")[: size + 1]
        kept = kept[np.isfinite(values.ravel()[kept])]
        above, choices = np.divmod(kept, values.shape[1])
        prefixes = np.column_stack([prefixes[above], choices])
        log_probs, perturbed = below.ravel()[kept], values.ravel()[kept]
    count = min(size, len(log_probs), int(np.searchsorted(np.exp(log_probs).cumsum(), mass)) + 1 if mass < 1 else size)
    heads = conditionals.heads_of_each(prefixes)[:count]
    with np.errstate(over="ignore"):
        arrivals = np.append(np.exp(-perturbed), np.inf)
    log_probs_of_trees, tau = distribution.tree_log_probs(heads), float(arrivals[count])
    return Draws(heads, log_probs_of_trees, arrivals[:count], tau, exhausted=count == len(log_probs))


def _perturb(log_probs: Float, largest: Float, rng: np.random.Generator) -> Float:
    """Gumbel noise around log_probs (b, c), given that each row's largest is `largest` (b,).

    Kool et al. 2019, appendix B.3: without a difference of large exponentials.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        free = log_probs + rng.gumbel(size=log_probs.shape)
        gap = largest[:, None] - free + np.log1p(-np.exp(free - free.max(axis=1, keepdims=True)))
        given = largest[:, None] - np.maximum(gap, 0.0) - np.log1p(np.exp(-np.abs(gap)))
    return np.where(np.isfinite(log_probs), given, -np.inf)


# Trie sampling (Shi, Bieber, Sutton 2020) over Colbourn's conditionals: Stanojevic 2022's Trie-SWOR.
#
# The papers subtract the mass of what was drawn from every node above it; on sharp distributions that cancels and the
# draw stops early. Here a node's remaining mass is always the sum over its children, so nothing is ever subtracted.


class Node:
    """A prefix met before: log-probabilities of the next choice, the same of trees not drawn yet, and nodes below."""

    __slots__ = ("children", "log_left", "log_probs")

    def __init__(self, log_probs: Float) -> None:
        self.log_probs = log_probs
        self.log_left = log_probs.copy()
        self.children: dict[int, Node] = {}


Branch = Callable[[Prefix], Iterable[tuple[Float, int]]]


def draw_new(root: Node, depth: int, rng: np.random.Generator, branch: Branch) -> list[tuple[Node, int]]:
    """Draw `depth` choices from what is left, and take them out of it: each with its node.

    branch: a prefix -> the log-probabilities of the values of each choice after it, and one drawn by them.
    """
    path: list[tuple[Node, int]] = []
    below: Node | None = root
    while below is not None:
        path.append((below, pick(below.log_left, rng)))
        below = below.children.get(path[-1][1])
    if len(path) < depth:
        for log_probs, choice in branch(choices_of(path)):
            node, last = path[-1]
            node.children[last] = Node(log_probs)
            path.append((node.children[last], int(choice)))
    log_left = -np.inf
    for node, choice in reversed(path):
        node.log_left[choice] = node.log_probs[choice] + log_left
        log_left = log_sum(node.log_left)
    return path


def choices_of(path: list[tuple[Node, int]]) -> Prefix:
    return tuple(choice for _, choice in path)


def draw_trie(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees; one walk down the trie each."""
    conditionals = choices_in(distribution)
    root = Node(conditionals.log_probs(()))

    def draw() -> tuple[Prefix, float]:
        path = draw_new(
            root, conditionals.depth, rng, lambda prefix: zip(*conditionals.branch(prefix, rng), strict=True)
        )
        return choices_of(path), log_sum(root.log_left)

    return one_by_one(distribution, conditionals, size, rng, mass, draw)


# Sampling without replacement by a list of the trees drawn (Zmigrod et al. 2021a, Fig. 7), kept as the baseline.
#
# At every choice the mass of the drawn trees that share it is taken off its probability (their eq. 23), which costs a
# pass over the list: k^2 n in all. Where that subtraction would cancel, the mass left is summed over the choices below
# instead.


# A remainder below this share of a choice's probability has lost too many digits to a subtraction.
SAFE_SHARE = 1e-6


def draw_zmigrod(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees."""
    conditionals = choices_in(distribution)
    drawn: Choices = np.empty((0, conditionals.depth), dtype=np.int64)
    log_probs: Float = np.empty(0)

    def draw() -> tuple[Prefix, float]:
        nonlocal drawn, log_probs
        prefix, log_prob, kept = Prefix(), 0.0, np.arange(len(drawn))
        while len(prefix) < conditionals.depth:
            choice = pick(_log_left(conditionals, prefix, drawn[kept], log_probs[kept] - log_prob), rng)
            log_prob += conditionals.log_probs(prefix)[choice]
            kept = kept[drawn[kept, len(prefix)] == choice]
            prefix = (*prefix, choice)
        drawn, log_probs = np.vstack([drawn, prefix]), np.append(log_probs, log_prob)
        return prefix, log_sum(_log_left(conditionals, (), drawn, log_probs))

    return one_by_one(distribution, conditionals, size, rng, mass, draw)


def _log_left(conditionals: TreeChoices, prefix: Prefix, drawn: Choices, log_shares: Float) -> Float:
    """Log-probability, given a prefix, of each next choice together with a tree not drawn yet.

    drawn: the trees drawn with that prefix; log_shares: their log-probabilities given it.
    """
    log_left = conditionals.log_probs(prefix).copy()
    choices = drawn[:, len(prefix)]
    for choice in np.unique(choices).tolist():
        same = choices == choice
        shares = log_shares[same] - log_left[choice]
        left = 1.0 - float(np.exp(shares).sum())
        if len(prefix) + 1 == conditionals.depth:
            log_left[choice] = -np.inf
        elif left > SAFE_SHARE:
            log_left[choice] += np.log(left)
        else:
            log_left[choice] += log_sum(_log_left(conditionals, (*prefix, choice), drawn[same], shares))
    return log_left


# Distinct labelled trees: two labelings of one tree are two samples.
#
# With replacement, at one draw per unit of time, labelled trees come as the trees do, each with labels drawn for it. So
# the distinct trees in order, with their arrival times, come first, from any algorithm of the register; a tree's first
# labeling comes with it, each further one after another Exp(1) / (P(tree) times what is left of its labelings). The k
# that come first are what is asked for; no more than k trees can be among them.
#
# The order is exact while arrival times are numbers: for trees of probability above e^-700.


def draw_labelled(
    algorithm: Algorithm, distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0
) -> Draws:
    """Up to `size` distinct labelled trees; `mass` is as of `Algorithm.draw`.

    The labelings are drawn by streams of the seed of `rng`, which does not move on: see `label_stream`.
    """
    if distribution.labels is None:
        problem, option = "the scores tell no labels to draw", Setting("labels")
        raise DeptreeError(problem, f"Give their names ({option})", sent_id=distribution.id, options=[option])
    trees = algorithm.draw(distribution, size, rng)
    streams = [label_stream(rng, number) for number in range(len(trees.heads))]
    each = [labelings(*own) for own in zip(distribution.labels.of(trees.heads), streams, strict=True)]
    waiting = list(zip(trees.arrivals.tolist(), range(len(each)), strict=True))  # increasing: a heap
    drawn: list[tuple[int, Prefix, float, float]] = []
    most = most_certain(size) if mass < 1 else 0
    certain, covered = 0, 0.0
    while waiting and len(drawn) < size:
        arrival, number = waiting[0]
        log_prob = float(trees.log_probs[number])
        labels, log_share, log_left = next(each[number])
        drawn.append((number, labels, log_share + log_prob, arrival))
        covered += float(np.exp(log_share + log_prob))
        if not certain and most and (covered >= mass or len(drawn) == most):
            certain, size = len(drawn), size_for_mass(len(drawn), size)
        if log_left == -np.inf:
            heapq.heappop(waiting)
            continue
        with np.errstate(over="ignore"):
            wait = float(streams[number].standard_exponential() * np.exp(-log_prob - log_left))
        heapq.heapreplace(waiting, (arrival + wait, number))
    numbers, labels_drawn, log_probs, arrivals = zip(*drawn, strict=True) if drawn else ([], [], [], [])
    tau = min(waiting[0][0] if waiting else np.inf, trees.tau)
    heads = trees.heads[list(numbers)]
    labels_of = np.array(labels_drawn, dtype=np.int32).reshape(heads.shape)
    exhausted = not waiting and trees.exhausted
    return Draws(heads, np.array(log_probs), np.array(arrivals), tau, exhausted, certain, labels_of)


def labelings(log_probs: Float, rng: np.random.Generator) -> Iterator[tuple[Prefix, float, float]]:
    """The labelings of one tree, each once, with its log-probability, and the logarithm of what is left then.

    log_probs: (n, L) given the tree, words independent of each other.
    """
    root = Node(log_probs[0])

    def branch(prefix: Prefix) -> Iterator[tuple[Float, int]]:
        return ((of_word, pick(of_word, rng)) for of_word in log_probs[len(prefix) :])

    while True:
        path = draw_new(root, len(log_probs), rng, branch)
        log_prob = float(sum(node.log_probs[choice] for node, choice in path))
        yield choices_of(path), log_prob, log_sum(root.log_left)
