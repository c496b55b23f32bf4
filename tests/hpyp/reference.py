"""Pitman-Yor processes and the parser on dictionaries and tuples, to test the kernels by: slow, written on their own.

A restaurant is named by the first symbols of a context, so ``()`` is the root and a context of m symbols has m + 1
levels. A table has one dish, and sends one customer with it to the parent; the root's tables draw their dishes from the
uniform distribution.

Nodes are 0 for the root and 1, ..., n for the words. The root's word and its tag have id 1; 0 stands for what is
missing. Actions are 0 for shift, 1, ..., L for left-arcs by label, and L + 1, ..., 2 L for right-arcs by label.
"""

import math
from collections import Counter, defaultdict, namedtuple
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np


class Franchise:
    """Seated restaurants to predict from: `vocabulary` dishes, discounts d and strengths theta of each level.

    seating: sorted ((context, dish), sizes of the tables in falling order)
    """

    def __init__(self, vocabulary, discounts, strengths, seating):
        self.vocabulary, self.discounts, self.strengths, self.seating = vocabulary, discounts, strengths, seating
        self.tables = defaultdict(dict)
        for (prefix, dish), sizes in seating:
            self.tables[prefix][dish] = sizes

    def prob(self, context, dish):
        """The probability that the next customer of a restaurant gets a dish."""
        below = self.prob(context[:-1], dish) if context else 1 / self.vocabulary
        d, theta = self.discounts[len(context)], self.strengths[len(context)]
        sizes = [size for own in self.tables[context].values() for size in own]
        if not sizes:
            return below
        from_tables = sum(size - d for size in self.tables[context].get(dish, ()))
        return (from_tables + (theta + d * len(sizes)) * below) / (theta + sum(sizes))

    def check(self, events):
        """Raise AssertionError where the tables do not fit each other or the customers that came."""
        sent = Counter(events)
        for (prefix, dish), sizes in self.seating:
            assert min(sizes) >= 1
            if prefix:
                sent[prefix[:-1], dish] += len(sizes)
        assert {event: sum(sizes) for event, sizes in self.seating} == sent


def log_seating(seating, discounts, strengths):
    """The log-probability of a seating with named customers: the product over customers, each given those who came
    before it to the same restaurant, dishes left out."""
    tables, found = defaultdict(list), 0.0
    for (prefix, _), sizes in seating:
        tables[prefix] += sizes
    for prefix, sizes in tables.items():
        seated, d, theta = Counter(), discounts[len(prefix)], strengths[len(prefix)]
        for arrived, table in enumerate(table for table, size in enumerate(sizes) for _ in range(size)):
            if arrived:  # the first one has no choice
                weight = seated[table] - d if seated[table] else theta + d * len(seated)
                found += math.log(weight) - math.log(theta + arrived)
            seated[table] += 1
    return found


def _shapes(count, most):
    """The sizes of the tables that so many customers may sit at, in falling order, none larger than `most`."""
    if not count:
        yield ()
    for size in range(min(count, most), 0, -1):
        yield from ((size, *rest) for rest in _shapes(count - size, size))


def _ways(sizes):
    """In how many ways customers with names sit at tables of these sizes."""
    alike = Counter(sizes)
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, [*sizes, *alike.values()]))


def _seatings(events):
    """All seatings of customers, whose contexts have one length, in their restaurants and those below; and how many
    ways of naming the customers of the tables each stands for."""
    if not events:
        yield {}, 1
        return
    for chosen in product(*(_shapes(count, count) for count in events.values())):
        here = dict(zip(events, chosen, strict=True))
        parents = Counter()
        for (context, dish), sizes in here.items():
            if context:
                parents[context[:-1], dish] += len(sizes)
        ways = math.prod(map(_ways, chosen))
        for below, ways_below in _seatings(parents):
            yield here | below, ways * ways_below


def posterior(vocabulary, discounts, strengths, events):
    """All seatings of a few customers with their probabilities given the dishes."""
    weights = {}
    for tables, ways in _seatings(Counter(events)):
        seating = tuple(sorted(tables.items()))
        drawn = sum(len(sizes) for (prefix, _), sizes in seating if not prefix)  # from the base distribution
        weights[seating] = ways * math.exp(log_seating(seating, discounts, strengths)) * vocabulary**-drawn
    evidence = math.fsum(weights.values())
    return {seating: weight / evidence for seating, weight in weights.items()}


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

    def legal(self):
        """The actions that are possible; none at the end."""
        found = [SHIFT] if self.shifted < self.n else []
        if len(self.stack) > 2:
            found += range(1, self.labels + 1)
        if len(self.stack) > 2 or (len(self.stack) == 2 and (self.shifted == self.n or not self.single_root)):
            found += range(self.labels + 1, 2 * self.labels + 1)
        return found

    def after(self, *actions):
        """The configuration that legal actions lead to."""
        if not actions:
            return self
        action, *more = actions
        *rest, s2, s1 = (0, *self.stack)
        if action == SHIFT:
            found = self._replace(stack=(*self.stack, self.shifted + 1), shifted=self.shifted + 1)
        elif action <= self.labels:
            found = self._replace(stack=(*rest[1:], s1), arcs=self.arcs | {(s1, s2, action)})
        else:
            found = self._replace(stack=(*rest[1:], s2), arcs=self.arcs | {(s2, s1, action - self.labels)})
        return found.after(*more)

    def tree(self):
        """Heads and labels of all words, at the end."""
        by_dependent = {dependent: (head, label) for head, dependent, label in self.arcs}
        return tuple(by_dependent[word] for word in range(1, self.n + 1))

    def node(self, name):
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

    def context(self, names, words, tags):
        """The symbols of elements such as ``rc(s1).t``, given ids of the words and tags known so far."""
        found = []
        for name, _, kind in (element.rpartition(".") for element in names):
            node = self.node(name)
            ids = words if kind == "w" else tags
            found.append(0 if node is None else 1 if node == 0 else ids[node - 1])
        return tuple(found)


@cache
def derivations_of(gold, labels):
    """All derivations of a tree, none if it is not projective: only arcs of the tree are ever made."""

    def go_on(configuration, actions):
        legal = configuration.legal()
        if not legal:
            yield actions
        for action in legal:
            after = configuration.after(action)
            if all(gold[dependent - 1] == (head, label) for head, dependent, label in after.arcs):
                yield from go_on(after, (*actions, action))

    return tuple(go_on(Configuration(len(gold), labels), ()))


def static_derivation(gold, labels):
    """The derivation of a projective tree that adds each arc as soon as it can be added: reductions come first."""
    return max(derivations_of(gold, labels), key=lambda actions: [action != SHIFT for action in actions])


class Model(NamedTuple):
    """Distributions over 2 L + 1 actions, over tags and over words, indexed by id, given a context; word None: an
    unlexicalised model. *_elements: what their contexts hold."""

    labels: int
    action: Any
    tag: Any
    word: Any
    action_elements: tuple[str, ...] = ACTION
    tag_elements: tuple[str, ...] = ACTION
    word_elements: tuple[str, ...] = WORD

    def factors(self, configuration, action, words, tags):
        """The probabilities of an action, and of the tag and the word if it is a shift, or else 1."""
        prob = self.action(configuration.context(self.action_elements, words, tags))[action]
        if action != SHIFT:
            return prob, 1.0, 1.0
        place = configuration.shifted
        tag = self.tag(configuration.context(self.tag_elements, words, tags))[tags[place]]
        if self.word is None:
            return prob, tag, 1.0
        return prob, tag, self.word(configuration.context(self.word_elements, words, tags))[words[place]]

    def step(self, configuration, action, words, tags):
        return math.prod(self.factors(configuration, action, words, tags))

    def log_probs(self, words, tags, actions):
        """The log-probabilities of a derivation's actions, tags and words, (3,)."""
        configuration, found = Configuration(len(words), self.labels), np.zeros(3)
        for action in actions:
            found += np.log(self.factors(configuration, action, words, tags))
            configuration = configuration.after(action)
        return found


Derivation = namedtuple("Derivation", "actions tags tree prob")


class Enumeration:
    """All derivations of a sentence, given the candidates for the tag of each word, that have a probability above 0.

    evidence: the sum of these; prefix_evidences: of each word, of partial derivations up to its shift, that included.
    """

    def __init__(self, model, words, tags):
        self.model, self.words, self.candidates, self.derivations = model, tuple(words), tags, []
        self._prefixes = [[] for _ in words]
        self._extend(Configuration(len(words), model.labels), (), (), 1.0)
        self.evidence = math.fsum(one.prob for one in self.derivations)
        self.prefix_evidences = [math.fsum(probs) for probs in self._prefixes]

    def _extend(self, configuration, actions, tags, prob):
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

    def marginals(self):
        """The posterior of labelled arcs, (n + 1, n + 1, L + 1) ``[head, dependent, label]``."""
        found = np.zeros((len(self.words) + 1, len(self.words) + 1, self.model.labels + 1))
        for one in self.derivations:
            for dependent, (head, label) in enumerate(one.tree, 1):
                found[head, dependent, label] += one.prob / self.evidence
        return found
