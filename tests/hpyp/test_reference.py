"""The references by themselves: counts, and what must sum to one."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import space
from deptree_cli.hpyp.model.sentences import LEXICALISED, UNLEXICALISED
from tests.hpyp.reference import ACTION, WORD, Configuration, Enumeration, Model, Posterior, oracle_derivations
from tests.hpyp.reference import static_oracle as static

HYPER = 3, (0.3, 0.6, 0.8), (1.5, 0.0, -0.2)
CONTEXTS = [(1, 1), (1, 1), (1, 2), (2, 2)]


def test_dishes_of_all_customers_sum_to_one():
    """The evidence, over all dishes that four customers could have."""
    chosen = product(range(3), repeat=len(CONTEXTS))
    found = [Posterior(*HYPER, list(zip(CONTEXTS, dishes, strict=True))).evidence for dishes in chosen]
    assert math.fsum(found) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("context", [(1, 1), (1, 3), (3, 1)])
def test_predictions_are_ratios_of_evidences(context):
    """P(dish | events), seatings summed out, is P(events and dish) / P(events)."""
    events = list(zip(CONTEXTS, [0, 0, 1, 0], strict=True))
    posterior = Posterior(*HYPER, events)
    for dish in range(3):
        longer = Posterior(*HYPER, [*events, (context, dish)])
        assert posterior.prob(context, dish) == pytest.approx(longer.evidence / posterior.evidence, rel=1e-12)


def segments(n, labels):
    """Derivations of n words below one child of the root: Catalan's binary trees, a direction for each inner node, a
    label for each arc."""
    return math.comb(2 * n - 2, n - 1) // n * 2 ** (n - 1) * labels**n


def sequences(n, labels):
    """The same below any number of children of the root, one after the other."""
    return sum(segments(first, labels) * sequences(n - first, labels) for first in range(1, n + 1)) if n else 1


def uniform(labels):
    return Model(labels, lambda _: [0.2] * (2 * labels + 1), lambda _: [0.25] * 4, lambda _: [0.1] * 4)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize(("n", "labels"), [(1, 2), (2, 2), (3, 2), (4, 1), (5, 1)])
def test_derivations_are_as_many_as_binary_trees_and_the_oracle_finds_all(n, labels, single_root):
    """Of all projective trees, and each has the same probability in a uniform model."""
    found, derivations = Enumeration(uniform(labels), [2] * n, [[2]] * n, single_root), defaultdict(set)
    count = segments(n, labels) if single_root else sequences(n, labels)
    assert found.evidence == pytest.approx(count * 0.2 ** (2 * n) * 0.25**n * 0.1**n, rel=1e-12)
    for one in found.derivations:
        derivations[one.tree].add(one.actions)
    assert sum(map(len, derivations.values())) == len(found.derivations) == count
    trees = all_trees(n, space(single_root, projective=True)).tolist()
    labelled = product(trees, product(range(1, labels + 1), repeat=n))
    assert set(derivations) == {tuple(zip(tree, chosen, strict=True)) for tree, chosen in labelled}
    for tree, expected in derivations.items():
        assert sorted(map(tuple, oracle_derivations(tree, labels, single_root))) == sorted(expected)
        # Reductions come first.
        assert tuple(static(tree, labels, single_root)) == max(expected, key=lambda one: [a > 0 for a in one])


def test_contexts_of_a_configuration_worked_out_by_hand():
    """Words 1 and 2 hang on 3 from the left, 4 and 5 on 3 from the right; 6 is shifted, 7 comes next."""
    arcs = frozenset({(3, 2, 1), (3, 1, 1), (3, 4, 1), (3, 5, 1)})
    configuration = Configuration(7, 1, stack=(0, 3, 6), shifted=6, arcs=arcs)
    words, tags = [11, 12, 13, 14, 15, 16, 17], [21, 22, 23, 24, 25, 26, 27]
    assert configuration.context(ACTION, words, tags) == (26, 23, 0, 0, 1, 25, 16, 13)
    assert configuration.context(WORD, words, tags) == (27, 0, 0, 16, 13)
    names = ("lc(s2).t", "lc(s2).w", "rc(s2).w", "s4.t", "s3.w", "rc(s3).t", "lc(s4).t")
    assert configuration.context(names, words, tags) == (21, 11, 15, 0, 1, 0, 0)
    at_the_end = configuration._replace(stack=(0,), shifted=7, arcs=frozenset({(0, 3, 1)}))
    assert at_the_end.context(("s1.t", "rc(s1).t", "lc(s1).t", "b.t", "s2.t"), words, tags) == (1, 23, 0, 0, 0)


def test_the_package_has_the_contexts_of_the_paper():
    assert (LEXICALISED.action, LEXICALISED.tag, LEXICALISED.word) == (ACTION, ACTION, WORD)
    assert (UNLEXICALISED.action, UNLEXICALISED.tag, UNLEXICALISED.word) == (ACTION[:6], ACTION[:6], ())


def table(size, seed, possible):
    """A distribution for every context, drawn from a Dirichlet once and for all."""

    def probs(context):
        found = np.zeros(size)
        found[possible] = np.random.default_rng([seed, *context]).dirichlet(np.ones(len(possible)))
        return found.tolist()

    return probs


def test_prefixes_of_all_sentences_sum_to_one_and_so_do_marginals():
    """If no action that is not legal has a probability, which the tags of s2 and s3 (0: nothing there) decide."""
    free = table(5, 3, range(5))

    def action(context):
        return [1.0, 0, 0, 0, 0] if 0 in (context[1], context[4]) else free(context)

    model = Model(2, action, table(4, 4, [2, 3]), table(4, 5, [2, 3]))
    for n in (1, 2, 3):
        found = [Enumeration(model, words, [[2, 3]] * n) for words in product([2, 3], repeat=n)]
        totals = np.sum([one.prefix_evidences for one in found], axis=0)
        np.testing.assert_allclose(totals, 2.0 ** (n - 1 - np.arange(n)))  # a prefix is in 2^(n - i) sentences
    model = model._replace(action=free)
    for n in (1, 2, 3):
        marginals = Enumeration(model, [2] * n, [[2, 3]] * n).marginals()
        np.testing.assert_allclose(marginals.sum(axis=(0, 2))[1:], 1, atol=1e-12)
        assert marginals[0].sum() == pytest.approx(1, abs=1e-12)
