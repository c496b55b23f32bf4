"""log Z and marginals as functions of tensors, under transformations too; conversions, and what is refused."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.autograd import forward_ad

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT, SPACES
from deptree_cli.torch import TreeDistribution, log_partition, log_partition_and_marginals, losses, marginals, ops
from tests.bounded import bounded

EACH_SPACE = pytest.mark.parametrize("space", SPACES.names)
LENGTHS = torch.tensor([4, 1, 3])
NESTED = TreeDistribution(torch.zeros(2, 3, 5, 5))
FEATURES = torch.ones(1, 5, 5)  # of which every tree has 4
ZEROS, HEADS = torch.zeros(2, 5, 5), torch.tensor([[-1, 2, 0, 2, 3]] * 2)


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def scores(seed=0):
    """A batch of three sentences of 4, 1 and 3 words with forbidden arcs, NaN where nobody must look."""
    found = drawn(3, 5, 5, seed=seed)
    found[0, 2, 3] = found[0, 0, 1] = found[2, 3, 1] = -torch.inf
    for b, n in enumerate(LENGTHS.tolist()):
        found[b, n + 1 :] = found[b, :, n + 1 :] = torch.nan
    found[:, :, 0] = torch.nan
    return found


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's own, about what is slow there
@EACH_SPACE
def test_derivatives_against_finite_differences(space):
    """Backward and forward, one direction and many at a time; of the numbers that count, as -inf has none."""
    how = {"check_forward_ad": True, "check_batched_grad": True}
    for seed, function in enumerate((log_partition, marginals)):
        log_scores = scores(seed)
        counts = torch.isfinite(log_scores)
        numbers = log_scores[counts].clone().requires_grad_()

        def of_numbers(numbers, function=function, log_scores=log_scores, counts=counts):
            return function(log_scores.masked_scatter(counts, numbers), LENGTHS, space)

        assert torch.autograd.gradcheck(of_numbers, numbers, **how)
        assert function is marginals or torch.autograd.gradgradcheck(of_numbers, numbers)


@EACH_SPACE
@pytest.mark.parametrize("name", ["log_partition", "log_partition_and_marginals", "arc_covariance", "are_trees"])
def test_operators_keep_the_rules_of_pytorch(space, name):
    """Schema, shapes under tracing; `opcheck` raises where one is broken. They have no derivatives of their own."""
    given = [torch.nan_to_num(scores(), nan=0.0), LENGTHS]
    if name == "arc_covariance":
        given.append(torch.ones(3, 5, 5, dtype=torch.float64))
    args = (*given, space, "float64") if name != "are_trees" else (HEADS[[0, 0, 0]], LENGTHS, space)
    torch.library.opcheck(getattr(torch.ops.deptree, name).default, args)


def test_any_leading_shape_stride_and_half_precision():
    log_scores = drawn(2, 3, 5, 5, seed=1, dtype=torch.float32)
    log_z, found = log_partition_and_marginals(log_scores)
    assert (log_z.shape, found.shape) == ((2, 3), (2, 3, 5, 5))
    torch.testing.assert_close(log_partition(log_scores[1, 2]), log_z[1, 2])
    half = log_scores.bfloat16().requires_grad_()
    of_half = log_partition(half)
    assert of_half.dtype == torch.float32
    of_half.sum().backward()
    assert half.grad.dtype == torch.bfloat16
    torch.testing.assert_close(of_half, log_partition(half.detach().float()))
    assert log_partition(torch.empty(0, 4, 4)).shape == (0,)
    torch.testing.assert_close(log_partition(log_scores.mT), log_partition(log_scores.mT.contiguous()))
    lengths = torch.tensor([4, 0, 2, 0])[::2]
    torch.testing.assert_close(log_partition(ZEROS, lengths), log_partition(ZEROS, lengths.clone()))


def test_another_default_device():
    """Tensors on the CPU are served where PyTorch makes its own elsewhere, as after set_default_device("cuda")."""
    heads = HEADS.clone()
    with torch.device("meta"):
        for loss in (losses.negative_log_likelihood, losses.partial_annotation_loss, losses.minimum_risk_loss):
            assert loss(ZEROS, heads) > 0
        assert TreeDistribution(ZEROS).given(heads).log_partition.shape == (2,)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_sums_have_the_precision_of_the_scores(dtype):
    """Unless another one is asked for; losses too. Both precisions differ, or this shows nothing."""
    log_scores = (3 * drawn(4, 9, 9, seed=2, dtype=torch.float32)).to(dtype)
    own, other = ("float64", "float32") if dtype == torch.float64 else ("float32", "float64")
    heads = torch.arange(-1, 8).expand(4, -1)
    assert torch.equal(marginals(log_scores), marginals(log_scores, precision=own))
    assert torch.equal(*(losses.negative_log_likelihood(log_scores, heads, precision=each) for each in (None, own)))
    assert not torch.equal(marginals(log_scores), marginals(log_scores, precision=other))


@pytest.mark.parametrize("of_gradient", [False, True])
@pytest.mark.parametrize("with_gradient", [False, True])
def test_errors_in_sums_are_not_taken_for_those_of_transformed_tensors(monkeypatch, of_gradient, with_gradient):
    """As where no thread can be started: nothing is computed once more in another way."""
    log_scores = scores().requires_grad_(with_gradient or of_gradient)
    found = marginals(log_scores, LENGTHS)

    def fails(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ops, "_batch", fails)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        found.backward(found.detach()) if of_gradient else log_partition(log_scores, LENGTHS)


@pytest.mark.parametrize("bad", [torch.inf, -torch.inf, torch.nan])
@EACH_SPACE
def test_gradients_that_are_not_finite_pass_on_as_nan(space, bad):
    """At the possible arcs of their sentence; the others have the gradients that they had."""
    of_marginals = drawn(3, 5, 5, seed=4)
    found = []
    for value in (1.0, bad):
        of_marginals[0, 1, 2] = value
        log_scores = scores().requires_grad_()
        probs = marginals(log_scores, LENGTHS, space)
        bounded(lambda probs=probs: probs.backward(of_marginals))
        found.append(log_scores.grad)
    torch.testing.assert_close(torch.isnan(found[1][0]), probs[0] > 0)
    torch.testing.assert_close(found[1][1:], found[0][1:], rtol=0, atol=0)


# Under `torch.func`, forward-mode derivatives, and in graphs that are broken for drawing.

SCORES = drawn(2, 5, 5)

SUMS = {
    "log Z": lambda scores: log_partition(scores).sum(),
    "marginals": lambda scores: (marginals(scores) ** 2).sum(),
    "log-probability": lambda scores: TreeDistribution(scores).log_prob(HEADS).sum(),
    "likelihood": lambda scores: losses.negative_log_likelihood(scores, HEADS),
    "partial": lambda scores: losses.partial_annotation_loss(scores, HEADS),
    "risk": lambda scores: losses.minimum_risk_loss(scores, HEADS),
    "entropy": losses.entropy_regularisation,
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own
@pytest.mark.parametrize("function", SUMS.values(), ids=SUMS)
def test_gradients_as_functions_and_forward(function):
    """`torch.func.grad` gives what backward() does; a tangent that is lost without a word would be taken for 0."""
    leaf = SCORES.clone().requires_grad_()
    grad = torch.func.grad(function)(SCORES)
    torch.testing.assert_close(grad, torch.autograd.grad(function(leaf), leaf)[0], rtol=1e-14, atol=1e-15)
    direction = drawn(*SCORES.shape, seed=1)
    with forward_ad.dual_level():
        found = forward_ad.unpack_dual(function(forward_ad.make_dual(SCORES, direction))).tangent
    for tangent in (found, torch.func.jvp(function, (SCORES,), (direction,))[1]):
        torch.testing.assert_close(tangent, (grad * direction).sum(), rtol=1e-12, atol=1e-14)


gradient = torch.func.grad(SUMS["log Z"])
HESSIANS = {
    "forward of a gradient": torch.func.hessian(SUMS["log Z"]),
    "reverse of a gradient": torch.func.jacrev(gradient),
    "forward of marginals": lambda scores: torch.func.jacfwd(marginals)(scores[0]),
    "of a loss": torch.func.hessian(lambda scores: 8 * SUMS["likelihood"](scores)),
    "vectorised": lambda scores: torch.autograd.functional.hessian(SUMS["log Z"], scores, vectorize=True),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's own, about what is slow there
@pytest.mark.parametrize("hessian", HESSIANS.values(), ids=HESSIANS)
def test_hessians(hessian):
    """The covariance of each two arcs, in whatever way it is asked for; each word has one head."""
    expected = torch.autograd.functional.hessian(SUMS["log Z"], SCORES)
    torch.testing.assert_close(expected, expected.permute(3, 4, 5, 0, 1, 2), rtol=1e-10, atol=1e-12)
    assert expected.sum(1).abs().max() < 1e-12
    found = hessian(SCORES)
    torch.testing.assert_close(found, expected[0, :, :, 0] if found.dim() == 4 else expected, rtol=1e-12, atol=1e-14)


def test_a_third_derivative_is_refused():
    log_scores = scores().requires_grad_()
    found = marginals(torch.nan_to_num(log_scores), LENGTHS)
    first = torch.autograd.grad((found**2).sum(), log_scores, create_graph=True)[0]
    with pytest.raises(DeptreeError, match="one derivative more"):
        first.sum().backward()
    with pytest.raises(DeptreeError, match="one derivative more"):
        torch.func.hessian(SUMS["entropy"])(SCORES)


MANY = {
    "log Z": log_partition,
    "marginals": marginals,
    "gradients": gradient,
    "entropies": lambda scores: TreeDistribution(scores).entropy(),
    "entropies' gradients": torch.func.grad(losses.entropy_regularisation),
    "log-probabilities": lambda scores: TreeDistribution(scores, validate_args=False).log_prob(HEADS),
    "risks": SUMS["risk"],
}


@pytest.mark.parametrize("function", MANY.values(), ids=MANY)
def test_many_batches_at_once(function):
    several = torch.stack([SCORES, SCORES * 2.0, SCORES.mT])
    expected = torch.stack([function(scores) for scores in several])
    torch.testing.assert_close(torch.func.vmap(function)(several), expected, rtol=1e-12, atol=1e-14)
    turned = torch.func.vmap(function, in_dims=2)(several.movedim(0, 2))
    torch.testing.assert_close(turned, expected, rtol=1e-12, atol=1e-14)


DRAWN = {
    "argmax": lambda scores: TreeDistribution(scores).argmax,
    "mbr": lambda scores: TreeDistribution(scores).mbr,
    "top_k": lambda scores: TreeDistribution(scores).top_k(3).log_probs,
    "sample": lambda scores: TreeDistribution(scores).sample((4,)),
    "without replacement": lambda scores: TreeDistribution(scores).sample_without_replacement(3).log_probs,
    "rewards": lambda scores: losses.reinforce_loss(scores, lambda heads: (heads == 0).sum(-1).double(), 3),
    "infinite divergence": lambda scores: TreeDistribution(scores).kl(
        TreeDistribution(scores.masked_fill(torch.eye(5).roll(1, 1).bool(), -torch.inf))
    ),
}


@pytest.mark.parametrize("function", DRAWN.values(), ids=DRAWN)
@pytest.mark.filterwarnings("ignore")  # PyTorch's own, about its caches
def test_compiled_steps_that_draw(function):
    torch.manual_seed(3)
    expected = function(SCORES)
    torch.manual_seed(3)
    torch.testing.assert_close(torch.compile(function, backend="eager")(SCORES), expected)


# Heads and arcs as tensors.


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_is_tree_of_all_heads(trees, n):
    """Every n numbers from -1 to n + 1: the same are trees as core says, whatever stands at ROOT and in padding."""
    heads = np.stack(np.meshgrid(*[np.arange(-1, n + 2)] * n, indexing="ij"), axis=-1).reshape(-1, n)
    padded = torch.full((len(heads), n + 3), 5)
    padded[:, 1 : n + 1] = torch.from_numpy(heads)
    np.testing.assert_array_equal(ops.is_tree(padded, torch.tensor(n), trees), trees.contains(heads))


def test_is_tree_of_long_chains_in_a_batch():
    """A chain of 9 words, one that ends in a cycle, and one of 3 words, in any leading shape."""
    chain, circle = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8], [-1, 0, 3, 4, 5, 6, 7, 8, 9, 2]
    heads = torch.tensor([chain, circle, [-1, 2, 0, 2, 77, 77, 77, 77, 77, -1]])
    found = ops.is_tree(heads.expand(2, 2, 3, 10), torch.tensor([9, 9, 3]))
    assert found.tolist() == [[[True, False, True]] * 2] * 2


def test_heads_to_arcs_and_back():
    heads = torch.tensor([[[4, 2, 0, 2, -1], [-1, 0, -1, -1, -1]]])
    arcs = ops.heads_to_arcs(heads)
    assert (arcs.dtype, arcs.shape) == (torch.float32, (1, 2, 5, 5))
    assert arcs.nonzero().tolist() == [[0, 0, 0, 2], [0, 0, 2, 1], [0, 0, 2, 3], [0, 1, 0, 1]]
    assert ops.arcs_to_heads(arcs).tolist() == [[[-1, 2, 0, 2, -1], [-1, 0, -1, -1, -1]]]
    lengths = torch.tensor([[2], [1]])
    assert ops.word_mask(lengths, 4).tolist() == [[[False, True, True, False]], [[False, True, False, False]]]
    possible = ops.arc_mask(lengths, 4).nonzero().tolist()
    assert possible == [[0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 1, 2], [0, 0, 2, 1], [1, 0, 0, 1]]


def test_arcs_are_trees_only_if_one_hot():
    """Two heads of a word, a half, or none make no tree; columns of padding and of ROOT do not count."""
    support = ops.TreeSupport(torch.tensor([2]), SINGLE_ROOT, "arcs")
    arcs = ops.heads_to_arcs(torch.tensor([[-1, 0, 1, -1]]))
    for weights, is_tree in ((1, 0), True), ((1, 1), False), ((0.5, 0), False), ((0.5, 0.5), False), ((0, 0), False):
        arcs[0, [0, 2], 1] = torch.tensor(weights).float()
        assert support.check(arcs).tolist() == [is_tree]
        padded = arcs.clone()
        padded[0, :, 3] = padded[0, :, 0] = 8.0
        assert support.check(padded).tolist() == [is_tree]


# What is given in another shape or type than was asked for: refused in one line, never broadcast in silence.


def likelihood(scores=ZEROS, heads=HEADS):
    return losses.negative_log_likelihood(scores, heads)


def expectation(targets, features=FEATURES, **how):
    return losses.generalised_expectation_loss(ZEROS, features, targets, **how)


def reinforced(scores=ZEROS, reward=lambda heads: heads.sum(-1), k=2):
    return losses.reinforce_loss(scores, reward, k)


def checked(shape, lengths=None):
    return ops.checked_lengths(torch.zeros(shape), None if lengths is None else torch.tensor(lengths))


def gold(loss, *heads):
    """Of a sentence behind one that is fine, in which an arc is forbidden."""
    scores = torch.zeros(2, 4, 4)
    scores[1, 3, 1] = -torch.inf
    return getattr(losses, loss)(scores, torch.tensor([[0, 0, 1, 1], heads]))


def arc(value, *at):
    """A batch whose second sentence has this score there."""
    scores = torch.zeros(2, 4, 4)
    scores[1][at] = value
    return TreeDistribution(scores)


def uneven(*shape):
    """Scores of five nodes, and lengths of 4 and 3."""
    return torch.zeros(*shape, 5, 5), 4 - torch.ones(shape, dtype=torch.int64).cumsum(-1) % 2


ASKS = [lambda d: d.argmax, lambda d: d.sample(), lambda d: d.log_partition]
FOUR, LIKELIHOOD, PARTIAL = torch.tensor([4.0]), "negative_log_likelihood", "partial_annotation_loss"
NO_TREE = "sentence 1 of the batch: the gold heads are not a tree of this space, or have an arc that the scores forbid"
NO_HEAD = "sentence 1 of the batch: no single-root tree is possible"
WORD_2 = (slice(None), 2)

COUNTED = [NESTED.sample_without_replacement, NESTED.top_k, lambda k: reinforced(k=k)]
COUNTED += [lambda k: NESTED.sample((k,)), lambda k: NESTED.sample((k, k))]
NO_NUMBERS = 1.5, None, "3", True

REFUSED = [
    *((lambda ask=ask: ask(-1), "-1 trees are asked for. Ask for 1 or more.") for ask in COUNTED),
    *(
        (lambda ask=ask, k=k: ask(k), f"{k!r} is not a number of trees")
        for ask in COUNTED
        for k in (1.5, None, "3", True)
    ),
    (lambda: checked((3,)), "log_scores are torch.float32 of shape (3,), not floats of (..., N, N)."),
    (lambda: checked((2, 3, 4)), "log_scores are torch.float32 of shape (2, 3, 4), not floats of (..., N, N)."),
    (lambda: checked((2, 4, 4), [1, 2, 3]), "lengths are torch.int64 of shape (3,), not integers of (2,)."),
    (lambda: checked((2, 4, 4), [2.0, 3.0]), "lengths are torch.float32 of shape (2,), not integers of (2,)."),
    (lambda: checked((2, 4, 4), [3, 4]), "sentence 1 of the batch: the length is 4, not 1 to 3."),
    (lambda: checked((2, 4, 4), [0, 3]), "sentence 0 of the batch: the length is 0, not 1 to 3."),
    (lambda: checked((1, 2, 4, 4), [[1, -2]]), "sentence 1 of the batch: the length is -2, not 1 to 3."),
    (lambda: log_partition(ZEROS.long()), "log_scores are torch.int64"),
    (lambda: log_partition(ZEROS.numpy()), "log_scores are of type ndarray"),
    (lambda: log_partition(ZEROS, [4, 4]), "lengths are of type list"),
    (lambda: log_partition(ZEROS, torch.tensor([True, True])), "lengths are torch.bool"),
    (lambda: likelihood(heads=HEADS.tolist()), "heads are of type list"),
    (lambda: likelihood(heads=HEADS > 0), "heads are torch.bool"),
    (lambda: NESTED.log_prob(HEADS.float()), "heads are of type torch.float32. Give integers"),
    (lambda: losses.minimum_risk_loss(ZEROS, HEADS[:, :3]), "torch.int64 of shape (2, 3), not integers of (2, 5)"),
    (lambda: losses.entropy_regularisation(ZEROS[0]), "log_scores have shape (5, 5), not (B, N, N)"),
    (lambda: reinforced(ZEROS[0]), "log_scores have shape (5, 5), not (B, N, N)"),
    (lambda: reinforced(k=1), "k is 1, and the reward of a tree is compared"),
    (lambda: reinforced(reward=lambda heads: heads.sum((0, 2))), "rewards have shape (2,), where heads have (2, 2, 5)"),
    *((lambda s=s: NESTED.given(torch.full(s, -1)), f"of shape {s}") for s in ((3, 2, 5), (6, 5), (2, 3, 4))),
    (lambda: expectation(torch.tensor([4.0, 9.0])), " (1,) or (2, 1)."),
    (lambda: expectation(torch.tensor([[4.0], [9.0]]), pooled=True), " (1,)."),
    (lambda: expectation(torch.tensor(4.0)), "targets have shape ()"),
    (lambda: expectation(FOUR, FEATURES[0]), "features have shape (5, 5)"),
    (lambda: expectation(FOUR, torch.ones(3, 1, 5, 5)), "features have shape (3, 1, 5, 5)"),
    (lambda: expectation(2 * FOUR, pooled=True, reduction="men"), "unknown reduction 'men'"),
    (lambda: losses.expected_cost(ZEROS, torch.ones(3, 5, 5)), "costs have shape (3, 5, 5)"),
    (lambda: losses.expected_cost(ZEROS, torch.ones(1, 2, 5, 5)), "costs have shape (1, 2, 5, 5)"),
    (lambda: TreeDistribution(ZEROS, precision="float23"), "Did you mean float32"),
    (lambda: TreeDistribution(ZEROS, event="head"), "unknown event 'head'. Choose one of heads, arcs"),
    (lambda: TreeDistribution(ZEROS).mean, "the heads of words are names, which have no mean"),
    (lambda: NESTED.kl(TreeDistribution(torch.zeros(6, 6))), "on cpu are compared with those of shape (6, 6)"),
    (lambda: NESTED.cross_entropy(TreeDistribution(*uneven(2, 3))), "of differing lengths are compared"),
    (lambda: TreeDistribution(torch.zeros(7, 7)).enumerate_support(), "6 words have too many trees to enumerate"),
    (lambda: TreeDistribution(*uneven(2)).enumerate_support(), "sentences of differing lengths have differing trees"),
    (lambda: NESTED.sample((10**6, 10**6)), "there is not enough memory for 1,000,000,000,000 trees. Ask for fewer"),
    *((lambda k=k: NESTED.sample(k), f"of samples is {k}. Give a tuple, (5,) for 5 trees") for k in (3, 1.5, None)),
    *((lambda ask=ask: ask(arc(-torch.inf, *WORD_2)), NO_HEAD) for ask in ASKS),
    *((lambda ask=ask: ask(arc(torch.nan, 0, 2)), "= -np.inf.") for ask in ASKS),
    (lambda: gold(LIKELIHOOD, 0, 2, 0, -1), "sentence 1 of the batch: the head of word 3 is -1, missing. For partial"),
    (lambda: gold(LIKELIHOOD, 0, 2, 1, 0), f"{NO_TREE}. Correct them, or allow their arcs, or pass single_root=False."),
    (lambda: gold(LIKELIHOOD, 0, 0, 0, 1), NO_TREE),
    (lambda: gold(LIKELIHOOD, 0, 3, 0, 2), NO_TREE),
    (lambda: gold("minimum_risk_loss", 0, -1, 4, -1), "the head of word 2 is 4. Give 0 for ROOT, or another"),
    (lambda: gold(PARTIAL, 0, -1, 2, -1), "sentence 1 of the batch: the head of word 2 is 2. Give 0 for ROOT"),
    (lambda: gold(PARTIAL, 0, 2, 1, -1), NO_HEAD),
    (lambda: gold(PARTIAL, 0, 3, -1, -1), "annotated heads"),
]


@pytest.mark.parametrize(("ask", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_refused(ask, message):
    """In one line."""
    with pytest.raises(DeptreeError, match=rf"\A.*{re.escape(message)}.*\Z"):
        ask()


def test_a_misspelt_argument():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'multiroot'.*single_root=False"):
        TreeDistribution(ZEROS, multiroot=True)


def test_targets_and_costs_of_every_shape():
    features, four = torch.cat([FEATURES, 2 * FEATURES]), torch.tensor([4.0, 8.0])
    for targets in (four, four.expand(2, 2)):
        for given in (features, features.expand(2, 2, 5, 5)):
            assert expectation(targets, given) == pytest.approx(0.0, abs=1e-10)
    assert expectation(2 * four, features, pooled=True) == pytest.approx(0.0, abs=1e-10)
    for shape in ((), (5, 5), (1, 5, 5), (2, 5, 5), (1, 5)):
        assert losses.expected_cost(ZEROS, torch.ones(shape), reduction="sum") == pytest.approx(8.0)


@pytest.mark.parametrize("score", [1e16, float(np.finfo(np.float32).max)])
@pytest.mark.parametrize("ask", [lambda scores: TreeDistribution(scores).entropy(), likelihood, log_partition])
def test_a_score_too_large_for_one(score, ask):
    """In float32 such a score leaves no digit of the others: nothing is answered as if there were some."""
    log_scores = drawn(2, 5, 5, dtype=torch.float32)
    log_scores[1, 1, 3] = score
    with pytest.raises(DeptreeError, match=r"sentence 1 of the batch: the score of 1 -> 3 .* is too large"):
        ask(log_scores)
