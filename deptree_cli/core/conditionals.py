"""Samplers without replacement choice by choice: the conditionals of trees, a trie, beams, and Zmigrod's algorithm."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.factorisation import Factorisation
from deptree_cli.core.labels import label_stream
from deptree_cli.core.numbers import REAL, WIDE, Kind, in_range
from deptree_cli.core.spaces import Conditioned, Eisner, NonProjective, Projective, by_space, elimination_of
from deptree_cli.core.swor import Algorithm, Draws, clock_of, most_certain, size_for_mass
from deptree_cli.core.walks import path_tables
from deptree_cli.kernels import derivations as kernel
from deptree_cli.kernels.head_path import (
    FREE,
    LEVELS,
    OWNER,
    Path,
    PathTables,
    log_head_probs_of_each,
    log_heads_along,
    log_next_heads,
    set_heads,
    start_path,
)
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

    def beam(self, size: int) -> Beam:
        """The empty prefix, to grow to `size` prefixes at most."""
        return Beam(self)

    def log_probs(self, prefix: Prefix) -> Float:
        """Log-probability of each value 0..n of the choice after one prefix, (n+1,)."""
        return self.log_probs_of_each(np.array([prefix], dtype=np.int64))[0]

    def heads(self, prefix: Prefix) -> Heads:
        """The tree of a complete prefix, (n,) heads."""
        return self.heads_of_each(np.array([prefix], dtype=np.int64))[0]


class Beam:
    """Prefixes of one length that grow by one choice at a time, (b, length)."""

    def __init__(self, choices: TreeChoices) -> None:
        self.prefixes: Choices = np.empty((1, 0), dtype=np.int64)
        self._choices = choices

    def log_probs(self) -> Float:
        """Log-probability of each value of the choice after each prefix, (b, n+1)."""
        return self._choices.log_probs_of_each(self.prefixes)

    def grow(self, above: Int, values: Choices) -> None:
        """Go on with these of the prefixes, (c,), and with these choices."""
        self.prefixes = np.column_stack([self.prefixes[above], values])


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


Draw = Callable[[], tuple[Heads, float]]


def one_by_one(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float, draw: Draw) -> Draws:
    """Up to `size` trees, or as many as reach the mass: `draw` returns each and the logarithm of what is left then."""
    clock, log_left = clock_of(rng), [0.0]
    trees: list[Heads] = []
    while len(trees) < size and log_left[-1] > -np.inf and not (mass < 1.0 and np.exp(log_left[-1]) <= 1.0 - mass):
        heads, left = draw()
        trees.append(heads)
        log_left.append(left)
    heads = np.array(trees, dtype=np.int32).reshape(-1, distribution.n)
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
            log_head_probs_of_each(self.weights(kind), *given, *self._tables(kind), out, found)
            return out, bool(found.all())

        return in_range(ask, self.first)

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """See `TreeChoices`; of a prefix that is not empty, O(m^3) in all."""
        roots, heads, words = self.parts_of(np.array([prefix], dtype=np.int64))
        free, uniforms = words[0].copy(), rng.random(words.shape[1])
        chosen, out = np.empty_like(free), np.empty((len(free), self.depth + 1))

        def ask(kind: Kind) -> tuple[tuple[Float, Choices], bool]:
            tables, probs = self._tables(kind)
            given = self.weights(kind), roots[0], heads[0], free, tables, uniforms, probs
            return (out, chosen), log_heads_along(*given, chosen, out)

        return in_range(ask, self.first)

    def beam(self, size: int) -> Beam:
        """See `TreeChoices`; O(n^3) for each prefix in all, and without memory for that O(n^4)."""
        n = self.distribution.n
        return HeadPaths(self, size) if size * (3 * n + LEVELS) * n <= MOST_NUMBERS else Beam(self)

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


class HeadPaths(Beam):
    """Prefixes of which each goes on from what was eliminated for the one that it has grown from.

    In float64 while that keeps all digits, and from there on in wide numbers.
    """

    def __init__(self, choices: Conditionals, size: int) -> None:
        super().__init__(choices)
        self._conditionals, self._size = choices, size
        self._kind = choices.first
        self._paths: Any = None
        self._tables: Any = None

    def log_probs(self) -> Float:
        choices, n = self._conditionals, self._conditionals.depth
        if choices.distribution.single_root and not self.prefixes.shape[1]:
            return super().log_probs()
        out = np.empty((len(self.prefixes), n + 1))

        def ask(kind: Kind) -> tuple[Float, bool]:
            if self._paths is None or kind is not self._kind:
                self._start(kind)
            return out, log_next_heads(self._paths, choices.weights(kind), self._tables, kind.zeros(n + 1), out)

        return in_range(ask, self._kind)

    def grow(self, above: Int, values: Choices) -> None:
        super().grow(above, values)
        if self._paths is not None:
            self._paths = Path(*(part[above] for part in self._paths))
            set_heads(self._paths, values)

    def _start(self, kind: Kind) -> None:
        """Begin at these prefixes, in tables of its own each."""
        weights, paths = self._conditionals.weights(kind), []
        self._kind, self._tables = kind, path_tables(self._conditionals.depth, kind, self._size)
        for i, (root, heads, words) in enumerate(zip(*self._conditionals.parts_of(self.prefixes), strict=True)):
            tables = PathTables(*(kind.each(itemgetter(i), numbers) for numbers in self._tables))
            paths.append(start_path(weights, root, heads, words.copy(), True, tables))
            paths[-1].levels[OWNER] = i
        self._paths = Path(*map(np.stack, zip(*paths, strict=True)))


def some_are_improbable(log_weights: Float) -> bool:
    """Whether float64 may take trees of these weights for impossible that are not; (n+1, n+1), columns shifted."""
    least = np.where(np.isfinite(log_weights), log_weights, 0.0).min(axis=0)
    return bool(least.sum() < SAFE_LOG)


def weights_in_range(log_weights: Float) -> bool:
    """Whether float64 holds all positive weights; (n+1, n+1), columns shifted."""
    return bool(np.where(np.isfinite(log_weights), log_weights, 0.0).min() > LOSSLESS_LOG)


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
        out = np.empty((len(prefixes), self._n + 1))
        kernel.log_choice_probs_of_each(self._grammar, prefixes, out)
        return out

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """See `TreeChoices`; O(n^2) in all."""
        before, left = np.array(prefix, dtype=np.int64), self.depth - len(prefix)
        chosen, out = np.empty(left, dtype=np.int64), np.empty((left, self._n + 1))
        kernel.log_choice_probs_along(self._grammar, before, rng.random(left), chosen, out)
        return out, chosen

    def heads_of_each(self, prefixes: Choices) -> Heads:
        """See `TreeChoices`; depth is 2n."""
        heads = np.empty((len(prefixes), self._n), dtype=np.int32)
        kernel.heads_of_each(self._grammar, prefixes, heads)
        return heads


def eisner_of(factorisation: Factorisation) -> Eisner:
    assert isinstance(factorisation, Eisner)
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
    beam = conditionals.beam(size + 1)
    log_probs, perturbed = np.zeros(1), np.array([rng.gumbel()])
    for _ in range(conditionals.depth):
        below = log_probs[:, None] + beam.log_probs()
        values = _perturb(below, perturbed, rng)
        kept = np.argsort(-values, axis=None, kind="stable")[: size + 1]
        kept = kept[np.isfinite(values.ravel()[kept])]
        above, choices = np.divmod(kept, values.shape[1])
        beam.grow(above, choices)
        log_probs, perturbed = below.ravel()[kept], values.ravel()[kept]
    count = min(size, len(log_probs), int(np.searchsorted(np.exp(log_probs).cumsum(), mass)) + 1 if mass < 1 else size)
    heads = conditionals.heads_of_each(beam.prefixes)[:count]
    with np.errstate(over="ignore"):
        arrivals = np.append(np.exp(-perturbed), np.inf)
    return Draws(
        heads,
        distribution.tree_log_probs(heads),
        arrivals[:count],
        float(arrivals[count]),
        exhausted=count == len(log_probs),
    )


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


def draw_trie(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees; one walk down the trie each."""
    conditionals = choices_in(distribution)
    root = Node(conditionals.log_probs(()))

    def draw() -> tuple[Heads, float]:
        path = walk_known(root, conditionals.depth, rng)
        if len(path) < conditionals.depth:
            for log_probs, choice in zip(*conditionals.branch(choices_of(path), rng), strict=True):
                path.append((add_node(path, log_probs), int(choice)))
        remove(path)
        return conditionals.heads(choices_of(path)), log_sum(root.log_left)

    return one_by_one(distribution, size, rng, mass, draw)


def walk_known(root: Node, depth: int, rng: np.random.Generator) -> list[tuple[Node, int]]:
    """Choose among what is left as far as nodes are known."""
    path = [(root, pick(root.log_left, rng))]
    while len(path) < depth:
        node, choice = path[-1]
        if choice not in node.children:
            break
        below = node.children[choice]
        path.append((below, pick(below.log_left, rng)))
    return path


def add_node(path: list[tuple[Node, int]], log_probs: Float) -> Node:
    """A new node where the path leads to."""
    node, choice = path[-1]
    node.children[choice] = Node(log_probs)
    return node.children[choice]


def choices_of(path: list[tuple[Node, int]]) -> Prefix:
    return tuple(choice for _, choice in path)


def remove(path: list[tuple[Node, int]]) -> None:
    log_left = -np.inf
    for node, choice in reversed(path):
        node.log_left[choice] = node.log_probs[choice] + log_left
        log_left = log_sum(node.log_left)


# Sampling without replacement by a list of the trees drawn (Zmigrod et al. 2021a, Fig. 7), kept as the baseline.
#
# At every choice the mass of the drawn trees that share it is taken off its probability (their eq. 23), which costs a
# pass over the list: k^2 n in all. Where that subtraction would cancel, the mass left is summed over the choices below
# instead.


# A remainder below this share of a choice's probability has lost too many digits to a subtraction.
SAFE_SHARE = 1e-6

Drawn = Int  # (trees, depth): the choices of each drawn tree


def draw_zmigrod(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees."""
    conditionals = choices_in(distribution)
    drawn: Drawn = np.empty((0, conditionals.depth), dtype=np.int64)
    log_probs: Float = np.empty(0)

    def draw() -> tuple[Heads, float]:
        nonlocal drawn, log_probs
        prefix, log_prob, kept = Prefix(), 0.0, np.arange(len(drawn))
        while len(prefix) < conditionals.depth:
            choice = pick(_log_left(conditionals, prefix, drawn[kept], log_probs[kept] - log_prob), rng)
            log_prob += conditionals.log_probs(prefix)[choice]
            kept = kept[drawn[kept, len(prefix)] == choice]
            prefix = (*prefix, choice)
        drawn, log_probs = np.vstack([drawn, prefix]), np.append(log_probs, log_prob)
        return conditionals.heads(prefix), log_sum(_log_left(conditionals, (), drawn, log_probs))

    return one_by_one(distribution, size, rng, mass, draw)


def _log_left(conditionals: TreeChoices, prefix: Prefix, drawn: Drawn, log_shares: Float) -> Float:
    """Log-probability, given a prefix, of each next choice together with a tree not drawn yet.

    drawn: the trees drawn with that prefix; log_shares: their log-probabilities given it.
    """
    log_left = conditionals.log_probs(prefix).copy()
    choices = drawn[:, len(prefix)]
    for choice in np.unique(choices).tolist():
        same = choices == choice
        shares = log_shares[same] - log_left[choice]
        log_left[choice] += _log_remainder(conditionals, (*prefix, choice), drawn[same], shares)
    return log_left


def _log_remainder(conditionals: TreeChoices, prefix: Prefix, drawn: Drawn, log_shares: Float) -> float:
    """log of the share of a prefix's mass that was not drawn."""
    if len(prefix) == conditionals.depth:
        return -np.inf
    left = 1.0 - float(np.exp(log_shares).sum())
    if left > SAFE_SHARE:
        return float(np.log(left))
    return log_sum(_log_left(conditionals, prefix, drawn, log_shares))


# Distinct labelled trees: two labelings of one tree are two samples.
#
# With replacement, at one draw per unit of time, labelled trees come as the trees do, each with labels drawn for it. So
# the distinct trees in order, with their arrival times, come first, from any algorithm of the register; a tree's first
# labeling comes with it, each further one after another Exp(1) / (P(tree) times what is left of its labelings). The k
# that come first are what is asked for; no more than k trees can be among them.
#
# The order is exact while arrival times are numbers: for trees of probability above e^-700.


def draw(
    algorithm: Algorithm, distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0
) -> Draws:
    """Up to `size` distinct labelled trees; `mass` is as of `Algorithm.draw`.

    The labelings are drawn by streams of the seed of `rng`, which does not move on: see `label_stream`.
    """
    if distribution.labels is None:
        problem, option = "the scores tell no labels to draw", Setting("labels")
        raise DeptreeError(problem, f"Give their names ({option})", sent_id=distribution.id, options=[option])
    trees = algorithm.draw(distribution, size, rng)
    of_trees = distribution.labels.of(trees.heads)
    each = [Labelings(own, label_stream(rng, number)) for number, own in enumerate(of_trees)]
    waiting = list(zip(trees.arrivals.tolist(), range(len(each)), strict=True))  # increasing: a heap
    drawn: list[tuple[int, tuple[int, ...], float, float]] = []
    most = most_certain(size) if mass < 1 else 0
    certain, covered = 0, 0.0
    while waiting and len(drawn) < size:
        arrival, number = waiting[0]
        labels, log_prob = each[number].draw()
        log_prob += float(trees.log_probs[number])
        drawn.append((number, labels, log_prob, arrival))
        covered += float(np.exp(log_prob))
        if not certain and most and (covered >= mass or len(drawn) == most):
            certain, size = len(drawn), size_for_mass(len(drawn), size)
        wait = each[number].wait(float(trees.log_probs[number]))
        if wait is None:
            heapq.heappop(waiting)
        else:
            heapq.heapreplace(waiting, (arrival + wait, number))
    numbers, labels_drawn, log_probs, arrivals = zip(*drawn, strict=True) if drawn else ([], [], [], [])
    tau = min(waiting[0][0] if waiting else np.inf, trees.tau)
    heads = trees.heads[list(numbers)]
    labels_of = np.array(labels_drawn, dtype=np.int32).reshape(heads.shape)
    exhausted = not waiting and trees.exhausted
    return Draws(heads, np.array(log_probs), np.array(arrivals), tau, exhausted, certain, labels_of)


class Labelings:
    """The labelings of one tree, each to be drawn once: log_probs (n, L), words independent of each other."""

    def __init__(self, log_probs: Float, rng: np.random.Generator) -> None:
        self._log_probs = log_probs
        self._rng = rng
        self._top = Node(log_probs[0])

    def draw(self) -> tuple[tuple[int, ...], float]:
        """A labeling that was not drawn before, and its log-probability given the tree."""
        path = walk_known(self._top, len(self._log_probs), self._rng)
        while len(path) < len(self._log_probs):
            node = add_node(path, self._log_probs[len(path)])
            path.append((node, pick(node.log_left, self._rng)))
        remove(path)
        return tuple(choice for _, choice in path), float(sum(node.log_probs[choice] for node, choice in path))

    def wait(self, log_prob: float) -> float | None:
        """How long it takes until the next one comes, if the tree has this log-probability; None: never."""
        log_left = log_sum(self._top.log_left)
        if log_left == -np.inf:
            return None
        with np.errstate(over="ignore"):
            return float(self._rng.standard_exponential() * np.exp(-log_prob - log_left))
