"""Masks of -1e6 to -9e14, whether trees need them or not: every question of core against 350 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import QUANTITIES
from deptree_cli.core.spaces import SPACES
from deptree_cli.second_order.model.distribution import SecondOrder
from tests.masks import DIGITS, Exact, Graph, Worst, graphs, pairs, random_scores

WITHIN = 1e-10
GRAPHS = 150  # 500 were looked at once


def distribution_of(graph: Graph) -> TreeDistribution:
    return TreeDistribution(graph.log_scores, single_root=graph.space.single_root, projective=graph.space.projective)


def plain_questions(worst: Worst, d: TreeDistribution, exact: Exact) -> None:
    """What is asked of any distribution over trees."""
    worst.see("log_partition", d.log_partition, exact.log_z)
    worst.see("marginals", d.marginals(), exact.marginals)
    worst.see("log_probs", d.log_probs(exact.trees), exact.log_probs)


def decoding(worst: Worst, d: TreeDistribution, exact: Exact) -> None:
    """The best trees are those of the highest log-probabilities, all different, in this order."""
    known = dict(zip(map(tuple, exact.trees.tolist()), exact.log_probs, strict=True))
    ranked = sorted(known.values(), reverse=True)
    worst.see("argmax", float(known[tuple(d.argmax().tolist())] - ranked[0]), 0.0)
    for k in (3, len(ranked) + 2):
        best = list(map(tuple, d.top_k(k).tolist()))
        assert len(set(best)) == len(best) == min(k, len(ranked))
        worst.see(
            "top_k", [float(known[tree] - other) for tree, other in zip(best, ranked, strict=False)], [0.0] * len(best)
        )
    right = exact.marginals[d.mbr(), np.arange(1, d.n + 1)].sum()
    highest = max(exact.marginals[tree, np.arange(1, d.n + 1)].sum() for tree in exact.trees)
    worst.see("mbr", right, highest)


def expectations(worst: Worst, d: TreeDistribution, exact: Exact, other: Graph) -> None:
    """The register of quantities, values and gradients."""

    def see(name: str, given: list[Any], value: Any, gradient: Any, of_other: Any = None) -> None:
        quantity = QUANTITIES.get(name)
        worst.see(name, quantity.value(d, *given), value)
        if gradient is not None:
            worst.see(f"{name} gradient", quantity.gradient(d, *given), gradient)
        if of_other is not None:
            worst.see(f"{name} gradient of the other", quantity.gradient_other(d, *given), of_other)

    of_log_scores(see, d, exact, other)
    of_values(see, exact, np.random.default_rng(d.n))


def of_log_scores(see: Callable[..., None], d: TreeDistribution, exact: Exact, other: Graph) -> None:
    """Entropies and divergences."""
    see("entropy", [], exact.entropy, -exact.covariances(exact.log_probs))
    for order in (0.5, 0.999, 3.0):
        power = exact.powered(order)
        gradient = order / (1 - order) * (power.marginals - exact.marginals) if order != 0.999 else None
        see("renyi", [order], exact.renyi(order), gradient)
    q, their = distribution_of(other), Exact.of(other)
    log_q = exact.under(their)
    if log_q is None:
        assert QUANTITIES.get("kl").value(d, q) == QUANTITIES.get("cross-entropy").value(d, q) == np.inf
    else:
        with mp.workdps(DIGITS):
            log_ratios = [x - y for x, y in zip(exact.log_probs, log_q, strict=True)]
        moved = their.marginals - exact.marginals
        see("kl", [q], exact.expectation(log_ratios), exact.covariances(log_ratios), moved)
        see("cross-entropy", [q], -exact.expectation(log_q), -exact.covariances(log_q), moved)


def of_values(see: Callable[..., None], exact: Exact, rng: np.random.Generator) -> None:
    """Risks and features."""
    n = exact.trees.shape[1]
    gold, features, target = exact.trees[0].copy(), rng.normal(size=(n + 1, n + 1, 2)), np.array([0.5, -1.0])
    gold[n // 2] = -1 if n > 1 else gold[0]
    wrong = ((exact.trees != gold) & (gold >= 0)).sum(axis=1).tolist()
    by_feature = [exact.sums(features[..., r]) for r in range(2)]
    means = [exact.expectation(values) for values in by_feature]
    known = max(int((gold >= 0).sum()), 1)
    see("risk", [gold], exact.expectation(wrong), exact.covariances(wrong))
    see("attachment", [gold], 1 - exact.expectation(wrong) / known, -exact.covariances(wrong) / known)
    see("features", [features], means, np.array([exact.covariances(values) for values in by_feature]))
    with mp.workdps(DIGITS):
        seconds = [
            exact.expectation([x * y for x, y in zip(a, b, strict=True)]) for a in by_feature for b in by_feature
        ]
        see(
            "covariance",
            [features],
            [s - m for s, m in zip(seconds, [a * b for a in means for b in means], strict=True)],
            None,
        )
        distance = [mean - t for mean, t in zip(means, target.tolist(), strict=True)]
        along = [sum(x * v for x, v in zip(distance, each, strict=True)) for each in zip(*by_feature, strict=True)]
        see("ge", [features, target], -sum(x * x for x in distance) / 2, -exact.covariances(along))


def others(worst: Worst, d: TreeDistribution, exact: Exact, graph: Graph) -> None:
    """Distributions made of this one, and what is drawn from it."""
    worst.see("root_marginals", d.root_marginals, exact.marginals[0])
    values = np.random.default_rng(d.n).normal(size=graph.log_scores.shape)
    worst.see("arc_covariance", d.factorisation.arc_covariance(values), exact.covariances(exact.sums(values)))
    for exponent in (0.3, 3.0):
        plain_questions_of(worst, "powered", d.powered(exponent), exact.powered(exponent))
    tempered = d.tempered(7.0)  # scores are divided in float64 (docs/how_it_works.md)
    plain_questions_of(worst, "tempered", tempered, Exact.of(Graph(tempered.log_scores, graph.space)))
    heads = [None] * d.n
    heads[0] = int(exact.trees[-1, 0])
    given = d.given(heads)
    plain_questions_of(worst, "given", given, Exact.of(Graph(given.log_scores, graph.space)))
    draws = d.sample_without_replacement(4, 1)
    known = dict(zip(map(tuple, exact.trees.tolist()), exact.log_probs, strict=True))
    worst.see("swor", draws.log_probs, [known[tuple(tree)] for tree in draws.heads.tolist()])


def plain_questions_of(worst: Worst, name: str, d: TreeDistribution, exact: Exact) -> None:
    worst.see(f"{name} marginals", d.marginals(), exact.marginals)
    worst.see(f"{name} log_probs", d.log_probs(exact.trees), exact.log_probs)


@pytest.mark.slow("size")
def test_every_question() -> None:
    """Errors of at most 1e-10, over graphs of which a third need a mask in every tree."""
    worst, needed = Worst(), 0
    for graph, other in pairs(GRAPHS):
        d, exact = distribution_of(graph), Exact.of(graph)
        plain_questions(worst, d, exact)
        decoding(worst, d, exact)
        expectations(worst, d, exact, other)
        others(worst, d, exact, graph)
        needed += d.factorisation.shifted_log_z[0] < -1e5
    print(needed, worst.errors)
    worst.check(WITHIN)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("parts", ["grandparent", "sibling", "both", "none"])
def test_second_order(parts: str, part_sums) -> None:
    """The same where grandparents and siblings have masks too."""
    worst, rng, needed = Worst(), np.random.default_rng(27), 0
    for graph in graphs(GRAPHS // 4, [each for each in SPACES if each.projective]):
        shape = (graph.n + 1,) * 3
        grandparent, sibling = (random_scores(rng, shape, rng.choice([0.1, 0.5, 0.9])) for _ in range(2))
        given = [
            grandparent if parts in ("grandparent", "both") else None,
            sibling if parts in ("sibling", "both") else None,
        ]
        try:
            d = SecondOrder(graph.log_scores, *given, single_root=graph.space.single_root)
        except DeptreeError:  # -inf leaves no tree
            continue
        exact = by_parts(d, part_sums)
        plain_questions(worst, d, exact)
        known = dict(zip(map(tuple, exact.trees.tolist()), exact.log_probs, strict=True))
        worst.see("argmax", float(known[tuple(d.argmax().tolist())] - max(exact.log_probs)), 0.0)
        right = [exact.marginals[tree, np.arange(1, d.n + 1)].sum() for tree in (d.mbr(), *exact.trees)]
        worst.see("mbr", right[0], max(right[1:]))
        assert set(map(tuple, d.sample(5, 1).tolist())) <= {tuple(exact.trees[t].tolist()) for t in exact.numbers}
        tempered = d.tempered(7.0)
        plain_questions_of(worst, "tempered", tempered, by_parts(tempered, part_sums))
        fixed = d.given([int(exact.trees[-1, 0]), *[None] * (d.n - 1)])
        plain_questions_of(worst, "given", fixed, by_parts(fixed, part_sums))
        needed += d.factorisation.shifted_log_z[0] < -1e5
    worst.check(WITHIN)
    assert needed > GRAPHS // 20


def by_parts(d: SecondOrder, part_sums: Any) -> Exact:
    """The distribution part by part, as `part_sums` names them."""

    def terms(tree: list[int]) -> list[float]:
        found = []
        for arc, above, beside in part_sums.parts(tree):
            found.append(d.log_scores[arc])
            found += [d.grandparent[above]] if d.grandparent is not None and above else []
            found += [d.sibling[beside]] if d.sibling is not None else []
        return found

    return Exact.by(d.space, d.n, terms)
