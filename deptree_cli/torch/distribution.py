"""The one object for losses, samples and best trees of a batch: a `torch.distributions.Distribution` over trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.distributions.kl import register_kl
from torch.distributions.utils import lazy_property

from deptree_cli.core.arc_factored import FEW
from deptree_cli.core.counts import how_many, room_for_trees
from deptree_cli.core.distribution import TreeDistribution as Sentence
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import weights
from deptree_cli.core.oracle import all_trees
from deptree_cli.torch.batch_distribution import BatchDistribution
from deptree_cli.torch.gold import checked_gold, with_known_heads
from deptree_cli.torch.sentences import (
    NO_TREE,
    checked_sample_shape,
    padded_heads,
    padded_numbers,
    sentences,
    streams,
)
from deptree_cli.torch.shifted import at_least_zero, at_most_zero, expected_surprisal
from deptree_cli.torch.trees import heads_to_arcs

Method = TypeVar("Method", bound=Callable[..., Any])

# Up to so many words the trees are few enough to be enumerated: 1,296 of 5.
MOST_WORDS = 5


def _left_to_python(function: Method) -> Method:
    """Keep `torch.compile` from following a method into NumPy: it breaks the graph there instead."""
    return torch.compiler.disable(function)  # type: ignore[no-untyped-call]


class BestTrees(NamedTuple):
    """The most probable trees of each sentence, the best first.

    Attributes:
        trees: (k, ..., N) heads or (k, ..., N, N) arcs; all -1 (or 0) if a sentence has fewer than k.
        log_probs: (k, ...), differentiable; -1e30 if there is no tree.
    """

    trees: Tensor
    log_probs: Tensor


class DistinctTrees(NamedTuple):
    """Distinct trees of each sentence, in the order in which sampling with replacement would first find them.

    The sum of weight times value over the trees is an unbiased estimate of the value's expectation.

    Attributes:
        trees: (k, ..., N) heads or (k, ..., N, N) arcs; all -1 (or 0) if a sentence has fewer than k.
        log_probs: (k, ...), differentiable; -1e30 if there is no tree.
        weights: (k, ...), constants: probabilities divided by those of being among the k (Kool et al. 2019); 0 if there
            is no tree.
        exhausted: (...,) bool, whether these are all the trees that the sentence has.
    """

    trees: Tensor
    log_probs: Tensor
    weights: Tensor
    exhausted: Tensor


class TreeDistribution(BatchDistribution):
    """Distributions over the dependency trees of a batch of sentences.

    As in PyTorch, whatever takes an argument is a method, and so is `entropy()`. The rest are properties, computed on
    first use: `log_partition`, `marginals`, `argmax`, `mbr`, `mode`. In torch-struct these are properties too (its
    `partition` is `log_partition` here, its `topk` is `top_k`).

    All sums are differentiable, twice where that makes sense, and computed in float64 on the CPU. Results have the
    precision of the scores, at least float32. No gradient is NaN, unless one that comes in is infinite or NaN: it is 0
    at forbidden arcs, in padding, and where a result is infinite. Results are cached with their graphs. To call
    `backward` twice, retain the graph or make a new distribution, as training loops do.

    Args:
        log_scores: (..., N, N), ``[head, dependent]``, natural logarithms of weights; node 0 is ROOT. Column 0 and the
            diagonal are ignored; -inf (or a mask of -1e15 or below) forbids an arc.
        lengths: (...,) integers, the number of words of each sentence, ROOT not counted; all N - 1 if None. What lies
            beyond is padding, and ignored.
        space: which trees: ``single-root`` if None, ``multi-root``, ``projective``, ``projective-multi-root``, or
            another name in `SPACES` of deptree_cli.core.spaces.
        event: "heads": a tree is (..., N), int64, entry j the head of node j, -1 for ROOT and padding; "arcs": it is
            (..., N, N), 1 for its arcs, in the type of the scores.
        precision: of sums, "float64" or "float32"; float64 for scores of any type, as entropies multiply errors of
            marginals by scores.
        validate_args: whether `log_prob` raises a ValueError for heads that are not a tree; if not, it returns -inf. By
            default it raises, unless Python runs with -O, as in all of PyTorch's distributions.
        single_root, projective: in the place of `space`: whether exactly one arc leaves ROOT (True if not given), and
            whether arcs may not cross (False if not given).

    Attributes:
        log_scores, lengths, event, precision: as given; lengths are always there.
        space: the `TreeSpace`.

    Raises:
        DeptreeError: shapes do not fit, or a name is misspelt. If a sentence has no tree, this comes with the first
            result that is asked for.

    >>> d = TreeDistribution(torch.tensor([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 4.0, 0.0]]))
    >>> d.argmax
    tensor([-1,  2,  0])
    """

    has_enumerate_support = True

    def given(self, heads: Tensor) -> Self:
        """Return the distribution given heads, (..., N) integers, negative for words that may have any head.

        Raises:
            DeptreeError: a head is not a node of the sentence; or later, when a result is computed: no tree has these
                heads.
        """
        known = checked_gold(heads, self.log_scores, self.lengths)
        return self._with(with_known_heads(self.log_scores, known, self.lengths), self.lengths)

    def entropy(self) -> Tensor:
        """Return the Shannon entropy in nats, (...,); at least 0."""
        sums = self._sums
        found = expected_surprisal(sums.marginals, self._shifted, sums.log_z)
        return self._to_batch_dtype(found)

    def cross_entropy(self, other: TreeDistribution) -> Tensor:
        """Return E[-log of the probability under `other`] in nats, (...,); infinite if that forbids a possible tree."""
        here, there = self._beside(other)
        ours, theirs = here._sums, there._sums
        found = expected_surprisal(ours.marginals, there._shifted, theirs.log_z)
        return here._to_batch_dtype(found.masked_fill(here._goes_beyond(there), torch.inf))

    def kl(self, other: TreeDistribution) -> Tensor:
        """Return the Kullback-Leibler divergence from `other`, (...,); infinite if `other` forbids a possible tree.

        The same as `torch.distributions.kl_divergence(self, other)`, and differentiable in the scores of both.
        """
        here, there = self._beside(other)
        ours, theirs = here._sums, there._sums
        differences = here._shifted.finite() - there._shifted.finite()
        found = at_least_zero((ours.marginals * differences).sum((-2, -1)) + (theirs.log_z - ours.log_z))
        return here._to_batch_dtype(found.masked_fill(here._goes_beyond(there), torch.inf))

    def _beside(self, other: TreeDistribution) -> tuple[Self, TreeDistribution]:
        """Both, of one batch shape."""
        if self.nodes != other.nodes or self.log_scores.device != other.log_scores.device:
            problem = f"scores of shape {tuple(self.log_scores.shape)} on {self.log_scores.device} are compared with"
            others = f"those of shape {tuple(other.log_scores.shape)} on {other.log_scores.device}"
            raise DeptreeError(f"{problem} {others}", "Compare distributions over the same sentences, padded alike")
        shape = torch.Size(np.broadcast_shapes(self.batch_shape, other.batch_shape))
        here = self if self.batch_shape == shape else self.expand(shape)
        there = other if other.batch_shape == shape else other.expand(shape)
        if not torch.equal(here.lengths, there.lengths):
            raise DeptreeError("distributions over sentences of differing lengths are compared", "Give both the same")
        return here, there

    @_left_to_python
    def _goes_beyond(self, other: TreeDistribution) -> Tensor:
        """Whether some tree is possible here and not there, (B,) bool; exact, and mostly seen at a glance."""
        suspect = ((self._shifted.scores > -torch.inf) & (other._shifted.scores == -torch.inf)).any(-1).any(-1)
        found = suspect | (self.space != other.space)
        for b in found.nonzero()[:, 0].tolist():
            ours, theirs = self._sentences[b], other._sentences[b]
            forbidden = ours.support & np.isneginf(theirs.log_scores)
            found[b] = bool(forbidden.any()) or ours.space.goes_beyond(theirs.space, ours.support)
        return found

    @lazy_property
    def _sentences(self) -> list[Sentence]:
        return sentences(self._flat_scores, self._flat_lengths, self.space.name)

    def _trees(self, trees: Sequence[Heads], sample_shape: torch.Size) -> Tensor:
        """Trees of each sentence, (m, n) heads, as values (*sample, ...) of the event asked for."""
        heads = padded_heads(trees, sample_shape.numel(), self.nodes, self.log_scores.device)
        return self._as_event(heads.reshape(sample_shape + self.batch_shape + (self.nodes,)))

    @lazy_property
    @_left_to_python
    def argmax(self) -> Tensor:
        """The most probable trees, (..., N) or (..., N, N)."""
        return self._trees([each.argmax()[None] for each in self._sentences], torch.Size())

    @property
    def mode(self) -> Tensor:
        """The same as `argmax`."""
        return self.argmax

    @lazy_property
    @_left_to_python
    def mbr(self) -> Tensor:
        """The trees with the highest expected attachment score: minimum-Bayes-risk decoding. Shaped as `argmax`."""
        return self._trees([each.mbr()[None] for each in self._sentences], torch.Size())

    @_left_to_python
    def top_k(self, k: int) -> BestTrees:
        """Return the k most probable trees of each sentence, the best first.

        For k above 10,000 there are at most as many rows as any sentence has trees.
        """
        with room_for_trees(how_many(k)) as size:
            best = [each.top_k(size) for each in self._sentences]
            trees = self._trees(best, _rows_for(size, best))
        return BestTrees(trees, self._log_probs_of(trees, best))

    @_left_to_python
    def sample(self, sample_shape: Any = torch.Size(), generator: torch.Generator | None = None) -> Tensor:  # noqa: B008
        """Sample independent trees, (*sample_shape, ..., N) or (*sample_shape, ..., N, N).

        Args:
            generator: the random numbers; by default PyTorch's own, set by `torch.manual_seed`.
        """
        shape = checked_sample_shape(sample_shape)
        randomness = streams(len(self._sentences), generator)
        with room_for_trees(shape.numel()) as size:
            drawn = [each.sample(size, rng) for each, rng in zip(self._sentences, randomness, strict=True)]
            return self._trees(drawn, shape)

    @_left_to_python
    def sample_without_replacement(self, k: int, generator: torch.Generator | None = None) -> DistinctTrees:
        """Sample k distinct trees of each sentence, or all if it has fewer.

        See `top_k` for many, and `sample` for the generator.
        """
        with room_for_trees(how_many(k)) as size:
            pairs = zip(self._sentences, streams(len(self._sentences), generator), strict=True)
            draws = [each.sample_without_replacement(size, rng) for each, rng in pairs]
            found = [each.heads for each in draws]
            trees = self._trees(found, _rows_for(size, found))
        counts_for = padded_numbers([weights(each.log_probs, each.window) for each in draws], len(trees), trees.device)
        exhausted = torch.tensor([each.exhausted for each in draws], device=trees.device).reshape(self.batch_shape)
        return DistinctTrees(trees, self._log_probs_of(trees, found), self._to_batch_dtype(counts_for), exhausted)

    def _log_probs_of(self, trees: Tensor, found: Sequence[Heads]) -> Tensor:
        """The log-probabilities of padded trees (k, ...): `NO_TREE` behind those found."""
        total, possible = self._scores_of_sound(trees)
        log_probs = at_most_zero(total - self._sums.log_z)
        counts = torch.tensor([len(each) for each in found], device=trees.device)
        is_one = torch.arange(len(trees), device=trees.device)[:, None] < counts
        return self._to_batch_dtype(torch.where(is_one & possible, log_probs, NO_TREE))

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return every tree of the space, (trees, ..., N) or (trees, ..., N, N), in lexicographic order.

        Trees with forbidden arcs are among them: their log-probability is -inf.

        Args:
            expand: whether to repeat them for every sentence; otherwise the batch shape is all ones.

        Raises:
            DeptreeError: sentences differ in length, or have more than 5 words.
        """
        n = int(self.lengths.max()) if self.lengths.numel() else self.nodes - 1
        if bool((self.lengths != n).any()):
            raise DeptreeError("sentences of differing lengths have differing trees", "Enumerate each by itself")
        if n > MOST_WORDS:
            problem = f"{n} words have too many trees to enumerate, at most {MOST_WORDS} words do not"
            raise DeptreeError(problem, "Draw trees with sample_without_replacement")
        trees = all_trees(n, self.space)
        heads = padded_heads([trees], len(trees), self.nodes, self.log_scores.device)
        heads = heads.reshape(-1, *(1 for _ in self.batch_shape), self.nodes)
        return self._as_event(heads.expand(-1, *self.batch_shape, -1) if expand else heads)

    def _as_event(self, heads: Tensor) -> Tensor:
        """Trees as values of the event asked for."""
        return heads if self.event == "heads" else heads_to_arcs(heads, self.log_scores.dtype)


def _rows_for(size: int, found: Sequence[Heads]) -> torch.Size:
    """The sample shape of `size` distinct trees, of many no more than were found of any sentence."""
    return torch.Size([size if size <= FEW else max(map(len, found), default=0)])


@register_kl(TreeDistribution, TreeDistribution)  # type: ignore[no-untyped-call, untyped-decorator]
def _kl(here: TreeDistribution, there: TreeDistribution) -> Tensor:
    return here.kl(there)
