"""A distribution whose trees obey rules: what arcs decide is masked, what only trees decide is looked for in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.conflicts import Finder
from deptree_cli.core.constraints.division import BUDGET, Division, Found
from deptree_cli.core.constraints.rejection import Accepted, accepted
from deptree_cli.core.constraints.ruleset import Ruleset
from deptree_cli.core.constraints.words import Words
from deptree_cli.core.counts import how_many, room_for_trees
from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.labels import label_stream
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.streams import Randomness, offshoot, stream_of

# The method whose trees have most of arcs' probabilities, not of their scores.
MBR = "mbr"


@dataclass(frozen=True, eq=False)
class Constrained:
    """A distribution whose trees obey.

    Attributes:
        distribution: without the arcs with labels that are forbidden.
        finders: what finds conflicts of its trees.
    """

    distribution: ArcFactored
    finders: Sequence[Finder]

    def best_trees(self, size: int = 1, method: str = "mst", budget: int = BUDGET) -> list[Found]:
        """The `size` best trees without conflicts, the best first, or fewer.

        Args:
            size: how many.
            method: `MBR`: those with the highest expected labelled attachment score; else the most probable, each with
                its most probable labels.
            budget: how many maximum trees it may take; the last tree may not be certain then.

        Raises:
            DeptreeError: there are none, or none was found.
        """
        worth = expected_arcs(self.distribution) if method == MBR else scores_with_labels(self.distribution)
        division = Division(worth, self.distribution.space, self.finders, budget)
        found = list(islice(division.trees(), size))
        if not found and division.is_infeasible:
            problem = "no tree obeys the rules"
            raise DeptreeError(problem, "Give one up, or pass `relax=True`", sent_id=self.distribution.id)
        if not found:
            problem = f"no tree that obeys the rules was found among {counted(division.opened, 'maximum tree')}"
            raise DeptreeError(problem, "Raise `budget`, or give up a rule", sent_id=self.distribution.id)
        return found

    def sample(
        self, size: int, rng: Randomness | None = None, sampler: str = "auto", *, seed: int | None = None
    ) -> Accepted:
        """Draw independent trees without conflicts, with labels if there are some, and tell how many were drawn for it.

        They follow the distribution given that there is no conflict, exactly if the sampler is exact.

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
        """The same by the numbers of a stream, and of one beside it for labels.

        Raises:
            DeptreeError: of 20,000 trees or more, fewer than one in 10,000 had no conflict; or the sampler does not
                serve the tree space.
        """
        known, beside = self.distribution.labels, label_stream(stream)

        def proposals(count: int) -> tuple[Heads, Heads | None]:
            heads = sampler.draw(self.distribution, count, stream)
            return heads, known.draw_by(heads, beside) if known else None

        found = accepted(proposals, size, self.finders)
        if len(found.heads) < size:
            raise self._hardly_any(found)
        return found

    def _hardly_any(self, found: Accepted) -> DeptreeError:
        """What to say where samples are not to be had."""
        problem = f"{found.accepted:,} of {found.proposed:,} drawn trees obey the rules, fewer than 1 in 10,000"
        remedy = "Find the best tree instead, with `deptree decode`, give up rules, or lower `temperature`"
        if not self.distribution.space.projective:
            remedy += ", or pass `projective=True`: most rules are broken less by trees without crossing arcs"
        return DeptreeError(problem, remedy, sent_id=self.distribution.id)


def constrained(distribution: ArcFactored, rules: Ruleset, words: Words | None = None) -> Constrained:
    """Return the distribution under rules.

    Args:
        distribution: with labels, if rules name some.
        rules: see `Ruleset`.
        words: what rules know of the sentence; without it, its labels only.

    Raises:
        DeptreeError: every tree of positive weight has an arc that rules forbid.
    """
    names = distribution.labels.names if distribution.labels else ("",)
    known = words or Words(names, [None] * distribution.n, [frozenset()] * distribution.n)
    return Constrained(distribution.without_forbidden(rules.forbidden(known)), rules.finders(known))


def expected_arcs(distribution: ArcFactored) -> Float:
    """The probabilities of arcs with labels, (n+1, n+1, L), ``[head, dependent, label]``; -inf where there is none."""
    labels, arcs = distribution.labels, distribution.marginals()
    return np.where(_possible(distribution), arcs[..., None] if labels is None else labels.marginals(arcs), -np.inf)


def scores_with_labels(distribution: ArcFactored) -> Float:
    """The log-scores of arcs with labels, (n+1, n+1, L), shifted, so that sums keep their digits."""
    scores = distribution.factorisation.shifted.high[..., None]
    if distribution.labels is None:
        return scores
    with np.errstate(invalid="ignore"):
        return np.where(_possible(distribution), scores + distribution.labels.log_probs, -np.inf)


def _possible(distribution: ArcFactored) -> Bool:
    """The arcs with labels that trees may have, (n+1, n+1, L)."""
    arcs = np.isfinite(distribution.log_scores)[..., None]
    return arcs if distribution.labels is None else arcs & (distribution.labels.log_probs > -np.inf)
