"""Distributions over the trees that keep rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.counts import BUDGET, how_many, room_for_trees
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.errors import PROJECTIVE, TEMPERATURE, DeptreeError
from deptree_cli.core.labels import label_stream
from deptree_cli.core.rule_search import BranchAndBound, Found, GivenUp, LogScores, Relaxation, none_found
from deptree_cli.core.rules import Bound, LabelledTree, Words
from deptree_cli.core.ruleset import Ruleset, constraints_of, rules_of
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.scores import MOST_MASKED, need_of_masks
from deptree_cli.core.streams import Randomness, offshoot, stream_of

# Independent trees that obey, by rejection: labelled trees are drawn without regard to nogoods, those with one go.
#
# So trees that obey keep their proportions, whatever the rules; what it costs is the share of trees that obey.

# With fewer among those that were drawn it is given up, once there are `ENOUGH`.
LEAST_ACCEPTANCE = 1e-4
ENOUGH = 20_000

# How many trees are drawn at once: at least, lest a block cost more than its trees, and at most, for memory.
SMALLEST, LARGEST = 16, 8192

# How many more are drawn than are needed on average, so that another block is seldom needed.
MARGIN = 1.1

# Of how many distinct trees it is remembered whether they obey.
REMEMBERED = 100_000

# Labelled trees that are drawn: how many -> heads (k, n), and numbers of labels (k, n) if there are labels.
Draw = Callable[[int], tuple[Heads, Heads | None]]


@dataclass(frozen=True, eq=False)
class Accepted:
    """The first (k, n) of `accepted` trees that obey, out of `proposed` that were drawn."""

    heads: Heads
    labels: Heads | None
    proposed: int
    accepted: int

    @property
    def acceptance(self) -> float:
        return self.accepted / self.proposed


def accepted(draw: Draw, size: int, rules: Sequence[Bound]) -> Accepted:
    """The first `size` trees drawn, in blocks, that have no nogood.

    Fewer where, of 20,000 trees or more, fewer than one in 10,000 had none.
    """
    blocks, known = list[tuple[Heads, Heads | None]](), dict[bytes, bool]()  # trees come again: each is looked at once

    def obeys(heads: Heads, labels: Heads) -> bool:
        key = heads.tobytes() + labels.tobytes()
        if (found := known.get(key)) is None:
            tree = LabelledTree(heads.tolist(), labels.tolist())
            found = not any(next(each.nogoods(tree), None) for each in rules)
            if len(known) < REMEMBERED:
                known[key] = found
        return found

    proposed = found = 0
    while found < size and not (proposed >= ENOUGH and found < LEAST_ACCEPTANCE * proposed):
        wanted = (
            MARGIN * (size - found) * proposed / found if found else proposed or size
        )  # as many again if none obeys
        block = int(min(max(np.ceil(wanted), SMALLEST), LARGEST))
        heads, labels = draw(block)
        good = np.array(list(map(obeys, heads, np.zeros_like(heads) if labels is None else labels)))
        blocks.append((heads[good], None if labels is None else labels[good]))
        proposed, found = proposed + block, found + int(good.sum())
    of_trees = np.concatenate([heads for heads, _ in blocks])[:size]
    of_words = [labels for _, labels in blocks if labels is not None]
    return Accepted(of_trees, np.concatenate(of_words)[:size] if of_words else None, proposed, found)


# A distribution whose trees obey rules: what arcs decide is masked, what only trees decide is looked for in them.

# Methods: trees that have most of arcs' scores, or of their probabilities.
MST, MBR = "mst", "mbr"


@dataclass(frozen=True, eq=False)
class Constrained:
    """A distribution, without the forbidden arcs, whose trees have no nogood that rules find.

    `constraints` are the same under names, for messages, and to give some up.
    """

    distribution: ArcFactored
    rules: Sequence[Bound]
    constraints: Relaxation | None = None
    given_up: GivenUp | None = None

    def best_trees(self, size: int = 1, method: str = MST, budget: int = BUDGET) -> list[Found]:
        """The `size` best trees without nogoods, the best first, or fewer.

        Args:
            size: how many.
            method: `MBR`: those with the highest expected labelled attachment score; else the most probable, each with
                its most probable labels.
            budget: how many maximum trees each of them may take; the last tree may not be certain then.
        """
        found, opened, is_infeasible = self._search(size, method, budget)
        if not found and is_infeasible:
            none = DeptreeError("no tree obeys the rules", "Give one up", sent_id=self.distribution.id)
            raise self.constraints.error(budget) if self.constraints else none
        if not found:
            can_relax = bool(self.constraints and self.constraints.can_relax)
            raise none_found(opened, self.distribution.id, can_relax)
        if found[0].score + found[0].gap < -MOST_MASKED:
            arcs = found[0].heads, np.arange(1, self.distribution.n + 1), found[0].labels
            error = need_of_masks(LogScores(self.distribution).whole[arcs], trees="every tree that obeys the rules")
            raise error.at(sent_id=self.distribution.id)
        return [  # beside masks sums of scores are not exact
            each if each.score > -MOST_MASKED else replace(each, gap=each.gap + len(each.heads) * math.ulp(each.score))
            for each in found
        ]

    def sample(
        self, size: int, rng: Randomness | None = None, sampler: str = "auto", *, seed: int | None = None
    ) -> Accepted:
        """Draw independent trees without nogoods, with labels if there are some, and tell how many were drawn for it.

        They follow the distribution given that there is no nogood, exactly if the sampler is exact.

        Args:
            size: how many.
            rng, seed: a seed, which gives the trees that `deptree sample --seed` gives under the same rules for this
                id, or a Generator; a fresh seed if neither is given.
            sampler: a name in `samplers.SAMPLERS`.

        Raises:
            DeptreeError: as `draw`; there is no such sampler; or the size or the seed is none.
        """
        stream = stream_of(rng, seed, self.distribution.id)
        with room_for_trees(how_many(size, least=1)) as wanted:
            return self.draw(wanted, offshoot(stream) if stream is rng else stream, SAMPLERS.get(sampler))

    def draw(self, size: int, stream: np.random.Generator, sampler: Sampler) -> Accepted:
        """The same by the numbers of a stream, and of one beside it for labels."""
        known, beside = self.distribution.labels, label_stream(stream)

        def proposals(count: int) -> tuple[Heads, Heads | None]:
            heads = sampler.draw(self.distribution, count, stream)
            return heads, known.draw_by(heads, beside) if known else None

        found = accepted(proposals, size, self.rules)
        if len(found.heads) == size:
            return found
        problem = f"{found.accepted:,} of {found.proposed:,} drawn trees obey the rules, fewer than 1 in 10,000"
        remedy = f"Find the best tree instead, with `deptree decode`, give up rules, or lower {TEMPERATURE}"
        if not self.distribution.space.projective:
            remedy += f", or pass {PROJECTIVE}: most rules are broken less by trees without crossing arcs"
        raise DeptreeError(problem, remedy, sent_id=self.distribution.id, options=[TEMPERATURE, PROJECTIVE])

    def _search(self, size: int, method: str, budget: int) -> tuple[list[Found], int, bool]:
        """The best trees, how many maximum trees they took, and whether it is certain that there is none; kept."""
        asked = size, method, budget
        if asked not in self._searched:
            worth = expected_arcs(self.distribution) if method == MBR else LogScores(self.distribution)
            search = BranchAndBound(worth, self.distribution.space, self.rules, budget)
            trees = list(islice(search.trees(), size)) if size > 1 else list(filter(None, [search.best()]))
            self._searched[asked] = trees, search.opened, search.is_infeasible
        return self._searched[asked]

    @cached_property
    def _searched(self) -> dict[object, tuple[list[Found], int, bool]]:
        return {}


def under(
    constraints: Relaxation, forbidden: Bool, rules: Sequence[Bound], relax: bool = False, budget: int = BUDGET
) -> Constrained:
    """Return a distribution under constraints, of which `rules` find nogoods that only a tree decides.

    The fewest are given up, if asked, where no tree obeys, or none is found within `budget` maximum trees.
    """
    try:
        distribution = constraints.base.without_forbidden(forbidden)
    except DeptreeError:
        if relax:
            return _relaxed(constraints, budget)
        raise constraints.error(budget) from None
    found = Constrained(distribution.without_need_of_masks(), rules, constraints)
    has_tree = not (relax and rules) or found._search(1, MST, budget)[0]
    return found if has_tree else _relaxed(constraints, budget)


def _relaxed(constraints: Relaxation, budget: int) -> Constrained:
    kept, given_up = constraints.kept(budget)
    distribution = constraints.base.without_forbidden(constraints.forbidden(kept))
    return Constrained(distribution, rules_of(kept), replace(constraints, listed=lambda: kept), given_up)


def constrained(
    distribution: ArcFactored, rules: Ruleset, words: Words | None = None, *, relax: bool = False, budget: int = BUDGET
) -> Constrained:
    """Return the distribution under rules, which without `words` know the sentence's labels only.

    Raises:
        DeptreeError: every tree of positive weight has an arc that rules forbid, and nothing is given up.
    """
    names = distribution.labels.names if distribution.labels else ("",)
    known = words or Words(names, [None] * distribution.n, [frozenset()] * distribution.n)
    constraints = Relaxation(distribution, partial(constraints_of, rules, known))
    return under(constraints, rules.forbidden(known), rules.bound(known), relax, budget)


def expected_arcs(distribution: ArcFactored) -> Float:
    """The probabilities of arcs with labels, (n+1, n+1, L), ``[head, dependent, label]``; -inf where there is none."""
    labels, arcs = distribution.labels, distribution.marginals()[..., None]
    possible = np.isfinite(distribution.log_scores)[..., None]
    if labels is not None:
        possible, arcs = possible & (labels.log_probs > -np.inf), labels.marginals(arcs[..., 0])
    return np.where(possible, arcs, -np.inf)
