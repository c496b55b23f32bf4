"""The arc-standard generative parser on tuples, to test the kernels by: all derivations of a sentence, one by one.

Nodes are 0 for the root and 1, ..., n for the words. The root's word and its tag have id 1; 0 stands for what is
missing. Actions are 0 for shift, 1, ..., L for left-arcs by label, and L + 1, ..., 2 L for right-arcs by label.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Distribution = Callable[[tuple[int, ...]], Sequence[float]]
Tree = tuple[tuple[int, int], ...]  # head and label of each word

SHIFT = 0
ACTION = ("s1.t", "s2.t", "rc(s1).t", "lc(s1).t", "s3.t", "rc(s2).t", "s1.w", "s2.w")
WORD = ("b.t", "rc(s1).t", "lc(s1).t", "s1.w", "s2.w")


class Configuration(NamedTuple):
    """A stack of nodes, top last; how many words are shifted; arcs as (head, dependent, label); single_root: the root
    takes one child, last."""

    n: int
    labels: int
    stack: tuple[int, ...] = (0,)
    shifted: int = 0
    arcs: frozenset[tuple[int, int, int]] = frozenset()
    single_root: bool = True

    def legal(self) -> list[int]:
        """The actions that are possible; none at the end."""
        found = [SHIFT] if self.shifted < self.n else []
        if len(self.stack) > 2:
            found += range(1, self.labels + 1)
        if len(self.stack) > 2 or (len(self.stack) == 2 and (self.shifted == self.n or not self.single_root)):
            found += range(self.labels + 1, 2 * self.labels + 1)
        return found

    def after(self, action: int) -> Configuration:
        """The configuration that a legal action leads to."""
        if action == SHIFT:
            return self._replace(stack=(*self.stack, self.shifted + 1), shifted=self.shifted + 1)
        *rest, s2, s1 = self.stack
        if action <= self.labels:
            return self._replace(stack=(*rest, s1), arcs=self.arcs | {(s1, s2, action)})
        return self._replace(stack=(*rest, s2), arcs=self.arcs | {(s2, s1, action - self.labels)})

    def tree(self) -> Tree:
        """Heads and labels of all words, at the end."""
        by_dependent = {dependent: (head, label) for head, dependent, label in self.arcs}
        return tuple(by_dependent[word] for word in range(1, self.n + 1))

    def node(self, name: str) -> int | None:
        """The node of an element such as ``s1``, ``lc(s2)`` or ``b``, or None."""
        if name == "b":
            return self.shifted + 1 if self.shifted < self.n else None
        if name.startswith("s"):
            depth = int(name[1:])
            return self.stack[-depth] if depth <= len(self.stack) else None
        parent = self.node(name[3:-1])
        if parent is None:
            return None
        children = [dependent for head, dependent, _ in self.arcs if head == parent]
        if name.startswith("lc"):
            return min((child for child in children if child < parent), default=None)
        return max((child for child in children if child > parent), default=None)

    def context(self, names: Sequence[str], words: Sequence[int], tags: Sequence[int]) -> tuple[int, ...]:
        """The symbols of elements such as ``rc(s1).t``, given ids of the words and tags known so far."""
        found = []
        for name, _, kind in (element.rpartition(".") for element in names):
            node = self.node(name)
            ids = words if kind == "w" else tags
            found.append(0 if node is None else 1 if node == 0 else ids[node - 1])
        return tuple(found)


def static_oracle(gold: Tree, labels: int, single_root: bool = True) -> list[int]:
    """The derivation of a projective tree that adds each arc as soon as it can be added."""
    configuration, actions = Configuration(len(gold), labels, single_root=single_root), []
    while configuration.legal():
        actions.append(max(_candidates(configuration, gold)))
        configuration = configuration.after(actions[-1])
    return actions


def gold_actions(configuration: Configuration, gold: Tree) -> list[int]:
    """All actions after which the tree can still be derived: what a non-deterministic oracle returns."""
    candidates = _candidates(configuration, gold)
    if len(candidates) == 2 and max(candidates) <= configuration.labels:
        s1 = configuration.stack[-1]
        missing = [word for word, (head, _) in enumerate(gold, 1) if head == s1 and word > configuration.shifted]
        return candidates if missing else [max(candidates)]
    return [max(candidates)]


def _candidates(configuration: Configuration, gold: Tree) -> list[int]:
    """Shift if it is legal, and the arc of the tree between the two topmost nodes if it can be added now."""
    found = [action for action in configuration.legal() if action == SHIFT]
    if len(configuration.stack) > 1:
        s2, s1 = configuration.stack[-2:]
        if s2 and gold[s2 - 1][0] == s1 and _is_complete(configuration, gold, s2):
            found.append(gold[s2 - 1][1])
        elif gold[s1 - 1][0] == s2 and _is_complete(configuration, gold, s1):
            found.append(configuration.labels + gold[s1 - 1][1])
    return found


def _is_complete(configuration: Configuration, gold: Tree, node: int) -> bool:
    """Whether a node has all children that it has in the tree."""
    has = {dependent for head, dependent, _ in configuration.arcs if head == node}
    return has == {word for word, (head, _) in enumerate(gold, 1) if head == node}


def oracle_derivations(gold: Tree, labels: int, single_root: bool = True) -> Iterator[list[int]]:
    """Yield all derivations of a tree that the non-deterministic oracle leads to."""

    def go_on(configuration: Configuration, actions: list[int]) -> Iterator[list[int]]:
        if not configuration.legal():
            yield actions
            return
        for action in gold_actions(configuration, gold):
            yield from go_on(configuration.after(action), [*actions, action])

    yield from go_on(Configuration(len(gold), labels, single_root=single_root), [])


def all_derivations(n: int, labels: int, single_root: bool = True) -> Iterator[tuple[list[int], Tree]]:
    """Yield every sequence of legal actions with the tree that it derives."""

    def go_on(configuration: Configuration, actions: list[int]) -> Iterator[tuple[list[int], Tree]]:
        legal = configuration.legal()
        if not legal:
            yield actions, configuration.tree()
        for action in legal:
            yield from go_on(configuration.after(action), [*actions, action])

    yield from go_on(Configuration(n, labels, single_root=single_root), [])


class Model(NamedTuple):
    """Distributions over 2 L + 1 actions, over tags and over words, indexed by id, given a context; word None: an
    unlexicalised model. *_elements: what their contexts hold."""

    labels: int
    action: Distribution
    tag: Distribution
    word: Distribution | None
    action_elements: Sequence[str] = ACTION
    tag_elements: Sequence[str] = ACTION
    word_elements: Sequence[str] = WORD

    def step(self, configuration: Configuration, action: int, words: Sequence[int], tags: Sequence[int]) -> float:
        """Return the probability of an action, and of the next word and its tag if it is a shift.

        words, tags: ids up to the next word at least.
        """
        return math.prod(self.factors(configuration, action, words, tags))

    def factors(
        self, configuration: Configuration, action: int, words: Sequence[int], tags: Sequence[int]
    ) -> tuple[float, float, float]:
        """Return the probabilities of the action, the tag and the word, 1 for what it does not bring."""
        prob = self.action(configuration.context(self.action_elements, words, tags))[action]
        if action != SHIFT:
            return prob, 1.0, 1.0
        place = configuration.shifted
        tag = self.tag(configuration.context(self.tag_elements, words, tags))[tags[place]]
        if self.word is None:
            return prob, tag, 1.0
        return prob, tag, self.word(configuration.context(self.word_elements, words, tags))[words[place]]

    def log_probs(self, words: Sequence[int], tags: Sequence[int], actions: Sequence[int]) -> NDArray[np.float64]:
        """Return the log-probabilities of a derivation's actions, tags and words, (3,)."""
        configuration, found = Configuration(len(words), self.labels), np.zeros(3)
        for action in actions:
            found += np.log(self.factors(configuration, action, words, tags))
            configuration = configuration.after(action)
        return found


class Derivation(NamedTuple):
    """A complete derivation of a sentence and its probability."""

    actions: tuple[int, ...]
    tags: tuple[int, ...]
    tree: Tree
    prob: float


class Enumeration:
    """All derivations of a sentence.

    Args:
        model: the distributions.
        words: ids.
        tags: the candidates of each word: one if it is given.

    Attributes:
        derivations: those with a probability above 0.
        evidence: the sum of their probabilities.
        prefix_evidences: of each word, the sum over partial derivations up to its shift, that included.
    """

    def __init__(
        self, model: Model, words: Sequence[int], tags: Sequence[Sequence[int]], single_root: bool = True
    ) -> None:
        self.model, self.words, self.candidates = model, tuple(words), tags
        self.derivations: list[Derivation] = []
        self._prefixes: list[list[float]] = [[] for _ in words]
        self._extend(Configuration(len(words), model.labels, single_root=single_root), (), (), 1.0)
        self.evidence = math.fsum(one.prob for one in self.derivations)
        self.prefix_evidences = [math.fsum(probs) for probs in self._prefixes]

    def _extend(
        self, configuration: Configuration, actions: tuple[int, ...], tags: tuple[int, ...], prob: float
    ) -> None:
        legal = configuration.legal()
        if not legal:
            self.derivations.append(Derivation(actions, tags, configuration.tree(), prob))
        for action in legal:
            is_shift = action == SHIFT
            for more in [(tag,) for tag in self.candidates[configuration.shifted]] if is_shift else [()]:
                longer = prob * self.model.step(configuration, action, self.words, tags + more)
                if longer == 0:
                    continue
                if is_shift:
                    self._prefixes[configuration.shifted].append(longer)
                self._extend(configuration.after(action), (*actions, action), tags + more, longer)

    def best(self) -> Derivation:
        """The most probable derivation, tags included."""
        return max(self.derivations, key=lambda one: one.prob)

    def tree_probs(self) -> dict[Tree, float]:
        """The posterior of labelled trees, derivations and tags summed out."""
        found: defaultdict[Tree, float] = defaultdict(float)
        for one in self.derivations:
            found[one.tree] += one.prob / self.evidence
        return dict(found)

    def marginals(self) -> NDArray[np.float64]:
        """The posterior of labelled arcs, (n + 1, n + 1, L + 1) ``[head, dependent, label]``."""
        found = np.zeros((len(self.words) + 1, len(self.words) + 1, self.model.labels + 1))
        for tree, prob in self.tree_probs().items():
            for dependent, (head, label) in enumerate(tree, 1):
                found[head, dependent, label] += prob
        return found

    def surprisals(self) -> list[float]:
        """Bits of each word given those before it."""
        before = [1.0, *self.prefix_evidences[:-1]]
        return [math.log2(one / other) for one, other in zip(before, self.prefix_evidences, strict=True)]


class RandomTable:
    """A distribution for every context, drawn from a symmetric Dirichlet once and for all.

    Args:
        size: of how many outcomes.
        concentration: of the Dirichlet; below 1 distributions are peaked.
        seed: another seed, other distributions.
        possible: which outcomes may have a probability above 0; all if None.
    """

    def __init__(self, size: int, concentration: float, seed: int, possible: Sequence[int] | None = None) -> None:
        self.size, self.concentration, self.seed = size, concentration, seed
        self.possible = list(range(size)) if possible is None else list(possible)
        self._known: dict[tuple[int, ...], list[float]] = {}

    def __call__(self, context: tuple[int, ...]) -> list[float]:
        """Return the probabilities, (size,)."""
        if context not in self._known:
            probs = np.zeros(self.size)
            rng = np.random.default_rng([self.seed, *context])
            probs[self.possible] = rng.dirichlet(np.full(len(self.possible), self.concentration))
            self._known[context] = probs.tolist()
        return self._known[context]
