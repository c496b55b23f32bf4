"""The one object that users hold: a distribution over the trees of a sentence, and everything that it can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.counts import MOST_RANKED, how_many, room_for_trees
from deptree_cli.core.streams import offshoot, stream_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from deptree_cli.core.decoding import Ranked
    from deptree_cli.core.dtypes import Heads
    from deptree_cli.core.streams import Randomness
    from deptree_cli.core.swor import Draws

# Methods import what they need when they are called: a distribution that is asked for sums loads nothing else.


class TreeDistribution(ArcFactored):
    """A distribution over the dependency trees of one sentence: a tree's weight is the product of its arcs' weights.

    Trees are arrays of heads, int32: entry i is the head of word i+1, 0 for ROOT. A distribution never changes:
    `given`, `tempered`, `multi_root` and `labelled` return another one.

    Args:
        scores: (n+1, n+1), ``[head, dependent]``, node 0 is ROOT; column 0 and the diagonal are ignored. With `labels`
            they are (n+1, n+1, L), scores of arcs with each label; an arc then weighs the sum over its labels.
        scale: ``log`` (natural logarithms; ``-inf`` and masks of -1e15 or below forbid an arc) or ``weight``
            (non-negative; 0 forbids).
        space: which trees: ``single-root`` if None, ``multi-root``, ``projective``, ``projective-multi-root``, or
            another name in `SPACES`.
        labels: the L names of labels.
        id: the sentence's name in messages and outputs. Seeded samples depend on it.
        temperature: divides the log-scores.
        single_root, projective: in the place of `space`: whether exactly one arc leaves ROOT (True if not given), and
            whether arcs may not cross (False if not given).

    Attributes:
        log_scores: float64, (n+1, n+1), read-only; ``-inf`` where an arc is forbidden, in column 0 and on the diagonal.
        space: the `TreeSpace`.
        labels: the labels of arcs, which `labels.draw(trees, rng)` samples; None without labels.

    Raises:
        DeptreeError: says what is wrong with the scores and what to do.

    >>> weights = np.array([[0, 1, 1], [0, 0, 3], [0, 2, 0]])
    >>> TreeDistribution(weights, "weight").argmax()
    array([0, 1], dtype=int32)
    """

    def sample(self, k: int, rng: Randomness | None = None, sampler: str = "auto", *, seed: int | None = None) -> Heads:
        """Sample k independent trees, (k, n). `labels.draw(trees)` samples their labels.

        Args:
            rng, seed: a seed (the trees are those of `deptree sample --seed` for this id) or a Generator; a fresh seed
                if neither is given.
            sampler: a name in `samplers.SAMPLERS`.

        Raises:
            DeptreeError: the sampler is unknown or does not serve this tree space, or k or the seed is invalid.
        """
        from deptree_cli.core.samplers import SAMPLERS

        stream = stream_of(rng, seed, self.id)
        with room_for_trees(how_many(k)) as size:
            return SAMPLERS.get(sampler).draw(self, size, stream)

    def sample_without_replacement(
        self,
        k: int,
        rng: Randomness | None = None,
        algorithm: str = "auto",
        mass: float = 1.0,
        *,
        labelled: bool = False,
        seed: int | None = None,
    ) -> Draws:
        """Sample k distinct trees, or all if there are fewer, with what `estimate` needs.

        Args:
            rng, seed: as for `sample`.
            algorithm: a name in `swor.ALGORITHMS`.
            mass: stop when the trees reach this total probability, after a tenth more trees (at least 5) for the rest.
                If half of k trees (k - 5 if k is below 10) do not reach it, sample k.
            labelled: whether to sample labelled trees (`Draws.labels`); a tree with other labels is then another tree.

        Raises:
            DeptreeError: the algorithm is unknown, k or the seed is invalid, or there are no labels.
        """
        from deptree_cli.core.swor import ALGORITHMS

        stream = stream_of(rng, seed, self.id)
        with room_for_trees(how_many(k)) as size:
            if not labelled:
                return ALGORITHMS.get(algorithm).draw(self, size, stream, mass)
            from deptree_cli.core import conditionals  # loads kernels: when there is work

            stream = offshoot(stream) if stream is rng else stream
            return conditionals.draw_labelled(ALGORITHMS.get(algorithm), self, size, stream, mass)

    def top_k(self, k: int) -> Heads:
        """The k most probable trees, the best first, (k, n) or fewer."""
        from deptree_cli.core import decoding

        with room_for_trees(how_many(k)) as size:
            return decoding.best_trees(self, size)

    def argmax(self) -> Heads:
        """The most probable tree, (n,) heads."""
        from deptree_cli.core import decoding

        return decoding.maximum_tree(self)

    def top_mass(self, mass: float, most: int = MOST_RANKED) -> Ranked:
        """The fewest trees with a total probability of `mass`, to within 1e-9 because sums are rounded.

        Args:
            most: rank at most this many trees; `Ranked.complete` says whether these were enough.

        Raises:
            DeptreeError: the mass is not above 0 and at most 1.
        """
        from deptree_cli.core import decoding

        return decoding.covering(self, mass, most)

    def within(self, nats: float, most: int = MOST_RANKED) -> Ranked:
        """All trees, at most `most`, whose log-probability is within this many nats of the best one's, and 1e-9."""
        from deptree_cli.core import decoding

        return decoding.within(self, nats, most)

    def entropy(self) -> float:
        """Shannon entropy in nats: log Z - E[log-score]."""
        from deptree_cli.core import expectations

        return expectations.entropy(self)

    def renyi(self, order: float) -> float:
        """Renyi's entropy in nats, of a positive order; Shannon's if the order is 1."""
        from deptree_cli.core import expectations

        return expectations.renyi(self, order)

    def kl(self, other: ArcFactored) -> float:
        """Kullback-Leibler divergence from another distribution, in nats; infinite if that one forbids a possible tree.

        Absolute rounding errors are about 1e-13; what rounds below 0 is 0.
        """
        from deptree_cli.core import expectations

        return expectations.kl(self, other)

    def cross_entropy(self, other: ArcFactored) -> float:
        """Cross-entropy with another distribution, in nats; infinite if that one forbids a possible tree."""
        from deptree_cli.core import expectations

        return expectations.cross_entropy(self, other)

    def _repr_svg_(self) -> str | None:
        """The distribution as ``deptree show`` draws it, for notebooks: by whoever offers pictures, a floor above."""
        from importlib.metadata import entry_points

        for offer in entry_points(group="deptree.pictures", name="svg"):
            draw: Callable[[ArcFactored], str] = offer.load()
            return draw(self)
        return None
