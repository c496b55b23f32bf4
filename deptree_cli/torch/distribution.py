"""The one object for losses, samples and best trees of a batch: a `torch.distributions.Distribution` over trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self, TypeVar, Unpack

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Distribution, constraints
from torch.distributions.kl import register_kl
from torch.distributions.utils import lazy_property

from deptree_cli.core.arc_factored import FEW
from deptree_cli.core.blocks import require_precision
from deptree_cli.core.counts import how_many, room_for_trees
from deptree_cli.core.distribution import TreeDistribution as Sentence
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError, located, name_in_batch, one_of
from deptree_cli.core.estimate import weights
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.padded import constant_of
from deptree_cli.core.spaces import Short, SpaceLike, tree_space
from deptree_cli.torch.ops import (
    TreeSupport,
    arcs_to_heads,
    at_least_zero,
    at_most_zero,
    checked_lengths,
    finite,
    heads_to_arcs,
    is_integer,
    log_partition,
    require_tensor,
    shift,
    sums_of,
    tree_scores,
    visible,
    word_mask,
)

# The log-probability of a tree that there is not: so low that its exponential is 0, and finite, so that a weight of 0
# times it is 0.
NO_TREE = -1e30

# Up to this many words the trees are few enough to be enumerated: 1,296 of 5.
MOST_WORDS = 5

EVENTS = ("heads", "arcs")

# Gold heads: checked, and which arcs they leave out.


def checked_gold(heads: Tensor, log_scores: Tensor, lengths: Tensor, partial: bool = True) -> Tensor:
    """Return gold heads (..., N) as int64 on the device of log_scores (..., N, N).

    Args:
        partial: whether some may be missing (negative).
    """
    require_tensor("heads", heads)
    if heads.shape != log_scores.shape[:-1] or not is_integer(heads):
        problem = f"heads are {heads.dtype} of shape {tuple(heads.shape)}, not integers of {(*log_scores.shape[:-1],)}"
        raise DeptreeError(problem, "Give the head of every node, 0 for ROOT; the entry of ROOT itself is ignored")
    heads = heads.to(log_scores.device, torch.int64)
    if visible(heads) and visible(lengths):
        own = torch.arange(heads.shape[-1], device=heads.device)
        wrong = (heads > lengths[..., None]) | (heads == own)
        wrong = word_mask(lengths, len(own)) & (wrong if partial else wrong | (heads < 0))
        for b, word in wrong.reshape(-1, len(own)).nonzero()[:1].tolist():
            head = int(heads.reshape(-1, len(own))[b, word])
            problem = f"the head of word {word} is {head}"
            remedy = f"Give 0 for ROOT, or another word of {int(lengths.flatten()[b])}"
            if head < 0:
                problem, remedy = f"{problem}, missing", "For partial annotation use partial_annotation_loss"
            raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))
    return heads


def wrong_heads(heads: Tensor, lengths: Tensor) -> Tensor:
    """Return which arcs give a word another head than the gold one, (..., N, N) bool; negative heads are missing."""
    known = word_mask(lengths, heads.shape[-1]) & (heads >= 0)
    node = torch.arange(heads.shape[-1], device=heads.device)
    return known[..., None, :] & (heads[..., None, :] != node[:, None])


# The distributions of a batch as PyTorch wants them. What is drawn and decoded is so by core's `TreeDistribution` of
# each sentence.


Method = TypeVar("Method", bound=Callable[..., Any])

# Of methods that `torch.compile` must not follow into NumPy: it breaks the graph there instead.
_left_to_python: Callable[[Method], Method] = torch.compiler.disable


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
            is not a tree.
        exhausted: (...,) bool, whether these are all the trees that the sentence has.
    """

    trees: Tensor
    log_probs: Tensor
    weights: Tensor
    exhausted: Tensor


class TreeDistribution(Distribution):
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
    arg_constraints = {"log_scores": constraints.dependent, "lengths": constraints.positive_integer}  # noqa: RUF012

    def __init__(
        self,
        log_scores: Tensor,
        lengths: Tensor | None = None,
        space: SpaceLike = None,
        *,
        event: str = "heads",
        precision: str = "float64",
        validate_args: bool | None = None,
        **short: Unpack[Short],
    ) -> None:
        if event not in EVENTS:
            raise DeptreeError(f"unknown event {event!r}", one_of(EVENTS))
        self.space = tree_space(space, **short)
        require_precision(precision)
        self.lengths = checked_lengths(log_scores, lengths)
        self.log_scores, self.event, self.precision = log_scores, event, precision
        event_shape = log_scores.shape[-1:] if event == "heads" else log_scores.shape[-2:]
        super().__init__(log_scores.shape[:-2], event_shape, validate_args)

    @property
    def nodes(self) -> int:
        """The number of nodes, N: words of the longest sentence, and ROOT."""
        return self.log_scores.shape[-1]

    @constraints.dependent_property(is_discrete=True)
    def support(self) -> TreeSupport:
        """The constraint that values are trees of the space; forbidden arcs are allowed, with log-probability -inf."""
        return TreeSupport(self.lengths, self.space, self.event)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """Return the distribution broadcast to a larger batch shape."""
        shape = torch.Size(batch_shape)
        scores = self.log_scores.expand(shape + self.log_scores.shape[-2:])
        return self._with(scores, self.lengths.expand(shape), _instance)

    def __getitem__(self, index: Any) -> Self:
        """Return the distributions of some sentences; the index is one into the batch shape."""
        which = torch.arange(self.lengths.numel(), device=self.lengths.device).reshape(self.batch_shape)[index]
        return self._with(self._flat_scores[which], self._flat_lengths[which])

    def _with(self, log_scores: Tensor, lengths: Tensor, _instance: Any = None) -> Self:
        new: Self = self._get_checked_instance(TreeDistribution, _instance)  # type: ignore[no-untyped-call]
        how: Any = {"event": self.event, "precision": self.precision, "validate_args": False}
        TreeDistribution.__init__(new, log_scores, lengths, self.space, **how)
        new._validate_args = self._validate_args
        return new

    @property
    def _flat_scores(self) -> Tensor:
        return self.log_scores.reshape(-1, self.nodes, self.nodes)

    @property
    def _flat_lengths(self) -> Tensor:
        return self.lengths.reshape(-1)

    @lazy_property
    def _shifted(self) -> tuple[Tensor, Tensor]:
        """Shifted scores, (B, N, N) float64, and the parts of what log Z loses by it, (B, N)."""
        return shift(self._flat_scores, self._flat_lengths, self.space)

    @lazy_property
    def _sums(self) -> tuple[Tensor, Tensor]:
        """log Z of shifted scores, (B,), and marginals, (B, N, N), float64."""
        return sums_of(self._shifted[0], self._flat_lengths, self.space.name, self.precision)

    def _to_batch_dtype(self, result: Tensor, event_dims: int = 0) -> Tensor:
        """A result (..., B, *event) in the precision and the batch shape of the scores."""
        at = result.dim() - event_dims - 1
        shape = result.shape[:at] + self.batch_shape + result.shape[at + 1 :]
        return result.reshape(shape).to(torch.promote_types(self.log_scores.dtype, torch.float32))

    @property
    def log_partition(self) -> Tensor:
        """The natural logarithm of the partition function, the sum of all trees' weights, (...,)."""
        return self._to_batch_dtype(self._sums[0] + constant_of(torch, self._shifted[1]))

    @property
    def log_count(self) -> Tensor:
        """The natural logarithm of the number of trees without a forbidden arc, (...,)."""
        scores = self._shifted[0].detach()
        arcs = torch.where(scores == -torch.inf, scores, 0.0)
        return self._to_batch_dtype(log_partition(arcs, self._flat_lengths, self.space))

    @property
    def marginals(self) -> Tensor:
        """The probability of every arc, (..., N, N); the columns of words sum to 1."""
        return self._to_batch_dtype(self._sums[1], 2)

    @property
    def mean(self) -> Tensor:
        """The expectation of trees as one-hot arcs, which is the marginals; an error for trees as heads."""
        if self.event == "heads":
            raise DeptreeError("the heads of words are names, which have no mean", 'Take event="arcs"')
        return self.marginals

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log-probabilities of trees, (*sample, ...), at most 0.

        -inf for a tree with a forbidden arc and, unless arguments are validated, for heads that are not a tree of the
        space.

        Args:
            value: (*sample, ..., N) heads, or (*sample, ..., N, N) arcs.
        """
        total, sound = self._scores_of(value)
        return self._to_batch_dtype(torch.where(sound, at_most_zero(total - self._sums[0]), -torch.inf))

    def unnormalized_log_prob(self, value: Tensor) -> Tensor:
        """Return the log-weights of trees, (*sample, ...): the sums of their arcs' log-scores. See `log_prob`."""
        total, sound = self._scores_of(value)
        return self._to_batch_dtype(torch.where(sound, total + constant_of(torch, self._shifted[1]), -torch.inf))

    def _scores_of(self, value: Tensor, is_sound: bool = False) -> tuple[Tensor, Tensor]:
        """The shifted scores of trees, (*sample, B), and whether each is possible; sound ones are not checked."""
        if self.event == "heads" and value.is_floating_point():
            raise DeptreeError(f"heads are of type {value.dtype}", "Give integers, 0 for ROOT")
        if self._validate_args and not is_sound:
            self._validate_sample(value)
        dims = len(self.event_shape) + len(self.batch_shape)
        sample_shape = value.shape[: max(value.dim() - dims, 0)]
        value = value.expand(sample_shape + self.batch_shape + self.event_shape)
        heads = arcs_to_heads(value) if self.event == "arcs" else value
        heads = heads.reshape(*sample_shape, self.lengths.numel(), self.nodes)
        total, possible = tree_scores(self._shifted[0], heads, word_mask(self._flat_lengths, self.nodes))
        if not (self._validate_args or is_sound):
            possible = possible & self.support.check(value).reshape(possible.shape)
        return total, possible

    def given(self, heads: Tensor) -> Self:
        """Return the distribution given heads, (..., N) integers, negative for words that may have any head.

        Raises:
            DeptreeError: a head is not a node of the sentence; or later, when a result is computed: no tree has these
                heads.
        """
        known = checked_gold(heads, self.log_scores, self.lengths)
        return self._with(self.log_scores.masked_fill(wrong_heads(known, self.lengths), -torch.inf), self.lengths)

    def entropy(self) -> Tensor:
        """Return the Shannon entropy in nats, (...,); at least 0."""
        log_z, marginals = self._sums
        # the marginals by which log Z and the expected score change cancel: what is left is by how they change
        mean = (marginals * finite(self._shifted[0]).detach()).sum((-2, -1))
        return self._to_batch_dtype(at_least_zero(log_z.detach() - mean))

    def cross_entropy(self, other: TreeDistribution) -> Tensor:
        """Return E[-log of the probability under `other`] in nats, (...,); infinite if that forbids a possible tree."""
        here, there = self._beside(other)
        mean = (here._sums[1] * finite(there._shifted[0])).sum((-2, -1))
        found = at_least_zero(there._sums[0] - mean)
        return here._to_batch_dtype(found.masked_fill(here._goes_beyond(there), torch.inf))

    def kl(self, other: TreeDistribution) -> Tensor:
        """Return the Kullback-Leibler divergence from `other`, (...,); infinite if `other` forbids a possible tree.

        The same as `torch.distributions.kl_divergence(self, other)`, and differentiable in the scores of both.
        """
        here, there = self._beside(other)
        (log_z, marginals), (their_log_z, _) = here._sums, there._sums
        differences = finite(here._shifted[0]) - finite(there._shifted[0])
        found = at_least_zero((marginals * differences).sum((-2, -1)) + (their_log_z - log_z))
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
        suspect = ((self._shifted[0] > -torch.inf) & (other._shifted[0] == -torch.inf)).any(-1).any(-1)
        found = suspect | (self.space != other.space)
        for b in found.nonzero()[:, 0].tolist():
            ours, theirs = self._sentences[b], other._sentences[b]
            forbidden = ours.support & np.isneginf(theirs.log_scores)
            found[b] = bool(forbidden.any()) or ours.space.goes_beyond(theirs.space, ours.support)
        return found

    @lazy_property
    def _sentences(self) -> list[Sentence]:
        """The distribution of each sentence, or a DeptreeError that names the first that has none."""
        scores, found = self._flat_scores.detach().to("cpu", torch.float64).numpy(), []
        for b, n in enumerate(self._flat_lengths.tolist()):
            with located(sent_id=name_in_batch(b)):
                found.append(Sentence(scores[b, : n + 1, : n + 1], space=self.space, id=name_in_batch(b)))
        return found

    def _trees(self, trees: Sequence[Heads], sample_shape: torch.Size, batch_shape: torch.Size | None = None) -> Tensor:
        """Trees of each sentence, (m, n) heads, as values (*sample, ...) of the event; -1 where there is none."""
        heads = np.full((sample_shape.numel(), len(trees), self.nodes), -1, dtype=np.int64)
        for b, rows in enumerate(trees):
            heads[: len(rows), b, 1 : rows.shape[1] + 1] = rows
        shape = sample_shape + (self.batch_shape if batch_shape is None else batch_shape)
        found = torch.from_numpy(heads).to(self.log_scores.device).reshape(*shape, self.nodes)
        return found if self.event == "heads" else heads_to_arcs(found, self.log_scores.dtype)

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
        if not isinstance(sample_shape, Sequence):
            problem = f"the shape of samples is {sample_shape!r}"
            raise DeptreeError(problem, "Give a tuple, (5,) for 5 trees of each sentence")
        shape = torch.Size([how_many(size) for size in sample_shape])
        streams = self._streams(generator)
        with room_for_trees(shape.numel()) as size:
            drawn = [each.sample(size, rng) for each, rng in zip(self._sentences, streams, strict=True)]
            return self._trees(drawn, shape)

    def _streams(self, generator: torch.Generator | None) -> list[np.random.Generator]:
        """A random stream for each sentence, from one number of PyTorch's generator, its default one if None.

        So `torch.manual_seed` decides the trees, and those of a sentence do not depend on the sentences behind it.
        """
        count, device = len(self._sentences), "cpu" if generator is None else generator.device
        root = np.random.SeedSequence(int(torch.randint(2**63 - 1, (), generator=generator, device=device)))
        return [np.random.Generator(np.random.PCG64(each)) for each in root.spawn(count)]

    @_left_to_python
    def sample_without_replacement(self, k: int, generator: torch.Generator | None = None) -> DistinctTrees:
        """Sample k distinct trees of each sentence, or all if it has fewer.

        See `top_k` for many, and `sample` for the generator.
        """
        with room_for_trees(how_many(k)) as size:
            pairs = zip(self._sentences, self._streams(generator), strict=True)
            draws = [each.sample_without_replacement(size, rng) for each, rng in pairs]
            found = [each.heads for each in draws]
            trees = self._trees(found, _rows_for(size, found))
        counts_for = np.zeros((len(trees), len(draws)))
        for b, each in enumerate(draws):
            counts_for[: len(each.heads), b] = weights(each.log_probs, each.window)
        of_trees = self._to_batch_dtype(torch.from_numpy(counts_for).to(trees.device))
        exhausted = torch.tensor([each.exhausted for each in draws], device=trees.device).reshape(self.batch_shape)
        return DistinctTrees(trees, self._log_probs_of(trees, found), of_trees, exhausted)

    def _log_probs_of(self, trees: Tensor, found: Sequence[Heads]) -> Tensor:
        """The log-probabilities of padded trees (k, ...): `NO_TREE` behind those found."""
        total, possible = self._scores_of(trees, is_sound=True)
        log_probs = at_most_zero(total - self._sums[0])
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
        found = self._trees([trees], torch.Size([len(trees)]), torch.Size([1] * len(self.batch_shape)))
        return found.expand(len(trees), *self.batch_shape, *self.event_shape) if expand else found


def _rows_for(size: int, found: Sequence[Heads]) -> torch.Size:
    """The sample shape of `size` distinct trees, of many no more than were found of any sentence."""
    return torch.Size([size if size <= FEW else max(map(len, found), default=0)])


register_kl(TreeDistribution, TreeDistribution)(TreeDistribution.kl)  # type: ignore[no-untyped-call]
