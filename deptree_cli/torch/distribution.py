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
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError, in_batch, name_in_batch, one_of
from deptree_cli.core.estimate import weights
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import Short, SpaceLike, TreeSpace, tree_space
from deptree_cli.torch import ops
from deptree_cli.torch.ops import (
    Shifted,
    TreeSupport,
    arcs_to_heads,
    at_least_zero,
    at_most_zero,
    checked_lengths,
    expected_surprisal,
    heads_to_arcs,
    is_integer,
    require_tensor,
    shift,
    tree_scores,
    visible,
    wide,
    word_mask,
)

# The sentences of a batch one by one: what is drawn and decoded by core's `TreeDistribution`, as padded tensors.


# The log-probability of a tree that there is not: so low that its exponential is 0, and finite, so that a weight of 0
# times it is 0.
NO_TREE = -1e30


def sentences(log_scores: Tensor, lengths: Tensor, space: str) -> list[Sentence]:
    """Return the distribution of each sentence of a batch (B, N, N), lengths (B,), over the trees of a space.

    Raises:
        DeptreeError: names the sentence whose scores are none, or leave no tree.
    """
    scores = log_scores.detach().to("cpu", torch.float64).numpy()
    found = []
    for b, n in enumerate(lengths.tolist()):
        with in_batch(name_in_batch(b)):
            found.append(Sentence(scores[b, : n + 1, : n + 1], space=space, id=name_in_batch(b)))
    return found


def checked_sample_shape(sample_shape: Any) -> torch.Size:
    """Return the shape of samples."""
    if not isinstance(sample_shape, Sequence):
        problem = f"the shape of samples is {sample_shape!r}"
        raise DeptreeError(problem, "Give a tuple, (5,) for 5 trees of each sentence")
    return torch.Size([how_many(size) for size in sample_shape])


def streams(count: int, generator: torch.Generator | None) -> list[np.random.Generator]:
    """Return a random stream for each sentence, from one number of PyTorch's generator, its default one if None.

    So `torch.manual_seed` decides the trees, and those of a sentence do not depend on the sentences behind it.
    """
    device = "cpu" if generator is None else generator.device
    seed = int(torch.randint(2**63 - 1, (), generator=generator, device=device))
    root = np.random.SeedSequence(seed)
    return [np.random.Generator(np.random.PCG64(each)) for each in root.spawn(count)]


def padded_heads(trees: Sequence[Heads], size: int, nodes: int, device: torch.device) -> Tensor:
    """Return the trees of sentences, (m, n) each, as heads (size, B, N), -1 where there is no word or no tree."""
    found = np.full((size, len(trees), nodes), -1, dtype=np.int64)
    for b, rows in enumerate(trees):
        found[: len(rows), b, 1 : rows.shape[1] + 1] = rows
    return torch.from_numpy(found).to(device)


def padded_numbers(numbers: Sequence[Float], size: int, device: torch.device) -> Tensor:
    """Return a number for each tree, (m,) for each sentence, as (size, B) float64, 0 where there is no tree."""
    found = np.zeros((size, len(numbers)))
    for b, row in enumerate(numbers):
        found[: len(row), b] = row
    return torch.from_numpy(found).to(device)


# Gold heads: checked, and log-scores that allow only these.


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
        words = word_mask(lengths, heads.shape[-1])
        _refuse(words & ((heads > lengths[..., None]) | (heads == own)), heads, lengths)
        if not partial:
            _refuse(words & (heads < 0), heads, lengths)
    return heads


def _refuse(wrong: Tensor, heads: Tensor, lengths: Tensor) -> None:
    """Raise a DeptreeError for the first of the heads (..., N) that are wrong."""
    nodes = heads.shape[-1]
    for b, word in wrong.reshape(-1, nodes).nonzero()[:1].tolist():
        head = int(heads.reshape(-1, nodes)[b, word])
        problem = f"the head of word {word} is {head}"
        remedy = f"Give 0 for ROOT, or another word of {int(lengths.flatten()[b])}"
        if head < 0:
            problem, remedy = f"{problem}, missing", "For partial annotation use partial_annotation_loss"
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def raise_unless_tree(possible: Tensor, trees: TreeSpace) -> None:
    """Raise a DeptreeError for the first sentence (B,) whose heads are impossible, if values can be checked."""
    if visible(possible) and not bool(possible.all()):
        b = int((~possible).nonzero()[0, 0])
        problem = "the gold heads are not a tree of this space, or have an arc that the scores forbid"
        wider = " or ".join(f"{name}=False" for name in ("single_root", "projective") if getattr(trees, name))
        remedy = f"Correct them, or allow their arcs{', or pass ' * bool(wider)}{wider}"
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def with_known_heads(log_scores: Tensor, heads: Tensor, lengths: Tensor) -> Tensor:
    """Return log-scores (..., N, N) with -inf for every other head of a word whose head (..., N) is given."""
    return log_scores.masked_fill(wrong_heads(heads, lengths), -torch.inf)


def wrong_heads(heads: Tensor, lengths: Tensor) -> Tensor:
    """Return which arcs give a word another head than the gold one, (..., N, N) bool; negative heads are missing."""
    known = word_mask(lengths, heads.shape[-1]) & (heads >= 0)
    node = torch.arange(heads.shape[-1], device=heads.device)
    return known[..., None, :] & (heads[..., None, :] != node[:, None])


# A batch of tree distributions as PyTorch sees it: shapes, support, sums and log-probabilities.


EVENTS = ("heads", "arcs")


class Sums(NamedTuple):
    """What is summed up of all sentences, float64: log Z of shifted scores, (B,), and marginals, (B, N, N)."""

    log_z: Tensor
    marginals: Tensor


class BatchDistribution(Distribution):
    """What a `TreeDistribution` is made of, its shapes and its sums: see there for the arguments."""

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
        new: Self = self._get_checked_instance(BatchDistribution, _instance)  # type: ignore[no-untyped-call]
        how: dict[str, Any] = {"event": self.event, "precision": self.precision, "validate_args": False}
        BatchDistribution.__init__(new, log_scores, lengths, self.space, **how)
        new._validate_args = self._validate_args
        return new

    @property
    def _flat_scores(self) -> Tensor:
        return self.log_scores.reshape(-1, self.nodes, self.nodes)

    @property
    def _flat_lengths(self) -> Tensor:
        return self.lengths.reshape(-1)

    @lazy_property
    def _shifted(self) -> Shifted:
        return shift(wide(self._flat_scores), self._flat_lengths, self.space)

    @lazy_property
    def _sums(self) -> Sums:
        given = self._shifted.scores, self._flat_lengths, self.space.name, self.precision
        return Sums(*ops.log_partition_and_marginals_of_prepared(*given))

    def _to_batch_dtype(self, result: Tensor, event_dims: int = 0) -> Tensor:
        """A result (..., B, *event) in the precision and the batch shape of the scores."""
        at = result.dim() - event_dims - 1
        shape = result.shape[:at] + self.batch_shape + result.shape[at + 1 :]
        return result.reshape(shape).to(torch.promote_types(self.log_scores.dtype, torch.float32))

    @property
    def log_partition(self) -> Tensor:
        """The natural logarithm of the partition function, the sum of all trees' weights, (...,)."""
        return self._to_batch_dtype(self._sums.log_z + self._shifted.constant())

    @property
    def log_count(self) -> Tensor:
        """The natural logarithm of the number of trees without a forbidden arc, (...,)."""
        scores = self._shifted.scores.detach()
        arcs = torch.where(scores == -torch.inf, scores, 0.0)
        return self._to_batch_dtype(ops.log_partition(arcs, self._flat_lengths, self.space))

    @property
    def marginals(self) -> Tensor:
        """The probability of every arc, (..., N, N); the columns of words sum to 1."""
        return self._to_batch_dtype(self._sums.marginals, 2)

    @property
    def mean(self) -> Tensor:
        """The expectation of trees as one-hot arcs, which is the marginals; an error for trees as heads."""
        if self.event == "heads":
            raise DeptreeError("the heads of words are names, which have no mean", 'Take event="arcs"')
        return self.marginals

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log-probabilities of trees, (*sample, ...), at most 0.

        -inf for a tree with a forbidden arc and, unless arguments are validated, for heads that are no tree of the
        space.

        Args:
            value: (*sample, ..., N) heads, or (*sample, ..., N, N) arcs.
        """
        total, sound = self._scores_of(value)
        return self._to_batch_dtype(torch.where(sound, at_most_zero(total - self._sums.log_z), -torch.inf))

    def unnormalized_log_prob(self, value: Tensor) -> Tensor:
        """Return the log-weights of trees, (*sample, ...): the sums of their arcs' log-scores. See `log_prob`."""
        total, sound = self._scores_of(value)
        return self._to_batch_dtype(torch.where(sound, total + self._shifted.constant(), -torch.inf))

    def _scores_of(self, value: Tensor) -> tuple[Tensor, Tensor]:
        """The shifted scores of trees, (*sample, B) float64, and whether each is possible."""
        if self.event == "heads" and value.is_floating_point():
            raise DeptreeError(f"heads are of type {value.dtype}", "Give integers, 0 for ROOT")
        if self._validate_args:
            self._validate_sample(value)
        dims = len(self.event_shape) + len(self.batch_shape)
        sample_shape = value.shape[: max(value.dim() - dims, 0)]
        value = value.expand(sample_shape + self.batch_shape + self.event_shape)
        total, possible = self._scores_of_sound(value)
        if not self._validate_args:
            possible = possible & self.support.check(value).reshape(possible.shape)
        return total, possible

    def _scores_of_sound(self, value: Tensor) -> tuple[Tensor, Tensor]:
        """The same of values (*sample, ..., N[, N]) that need no check."""
        sample_shape = value.shape[: value.dim() - len(self.event_shape) - len(self.batch_shape)]
        heads = arcs_to_heads(value) if self.event == "arcs" else value
        heads = heads.reshape(*sample_shape, self.lengths.numel(), self.nodes)
        return tree_scores(self._shifted.scores, heads, word_mask(self._flat_lengths, self.nodes))


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
