"""Heads and labels that are given: what they leave of the log-scores, and of the labels.

Each is a condition on single arcs, and changes an arc's weight to what the arc weighs under it: to 0 if it is another
one than the given, times P(label | arc) if its label is given. So what is left is a distribution of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.labels import Labels, is_root
from deptree_cli.kernels.budget import foresee

GivenHeads = Sequence[int | None]
GivenLabels = Sequence[str | None]
Conditioned = tuple[Float, Labels | None]


def conditioned(
    log_scores: Float, labels: Labels | None, heads: GivenHeads | None, names: GivenLabels | None
) -> Conditioned:
    """Log-scores (n+1, n+1) and labels, given heads and labels of some words.

    Args:
        heads, names: n of each, None where a word may have any. A label's name that `labels` do not have is certain
            wherever it may stand, for nothing is known of it. Of scores without labels it tells whether the head is
            ROOT, and no more.

    Raises:
        DeptreeError: there are not n, they are no numbers of nodes or no names, or an arc is forbidden already.
    """
    n = len(log_scores) - 1
    known_heads = [None] * n if heads is None else _checked_heads(heads, n)
    log_scores = with_fixed_heads(log_scores, known_heads)
    if names is None:
        return log_scores, labels
    shares, left = _shares(log_scores, labels, known_heads, _checked_names(names, n))
    return log_scores + shares, left


def without_forbidden(log_scores: Float, labels: Labels | None, forbidden: Bool) -> Conditioned:
    """The same without arcs with labels that are forbidden, (n+1, n+1, L); L = 1 of scores without labels."""
    if labels is None:
        return np.where(forbidden[..., 0], -np.inf, log_scores), None
    from deptree_cli.kernels.trees.labels import drop, fill_beyond, fill_left  # loads kernels: when there is work

    foresee(forbidden.size)
    known = labels.log_probs, forbidden
    weights, left = np.empty_like(labels.log_probs), np.empty_like(labels.log_probs)
    highest, some = np.empty_like(log_scores), np.empty(log_scores.shape, dtype=np.bool_)
    fill_beyond(*known, highest, weights, some)
    np.exp(weights, out=weights)  # however improbable the labels are that are left
    drop(*known, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(some, highest + np.log(weights.sum(axis=-1)), 0.0)
        best = highest - shares  # in the order of what it is taken from
    fill_left(*known, shares, left)
    return np.where(log_scores > -np.inf, log_scores + shares, -np.inf), labels.with_log_probs(left, best)


def with_best_labels(log_scores: Float, labels: Labels) -> Float:
    """Log-scores of arcs with their most probable labels, (n+1, n+1)."""
    return log_scores + np.where(np.isfinite(log_scores), labels.best_log_probs, 0.0)


def with_fixed_heads(log_scores: Float, heads: GivenHeads) -> Float:
    """Log-scores (n+1, n+1) with every other head of some words forbidden: n checked heads."""
    fixed = log_scores.copy()
    for word, head in enumerate(heads, 1):
        if head is not None:
            if not np.isfinite(fixed[head, word]):
                problem = f"the head of word {word} is fixed to {head or 'ROOT'}, an arc that the scores forbid"
                raise DeptreeError(problem, "Allow the arc, or put _ for this HEAD")
            fixed[:head, word] = fixed[head + 1 :, word] = -np.inf
    return fixed


def _shares(
    log_scores: Float, labels: Labels | None, heads: GivenHeads, names: GivenLabels
) -> tuple[Float, Labels | None]:
    """log P(given label | arc), (n+1, n+1), 0 for words without one, -inf where it cannot be; and labels given it."""
    shares = np.zeros_like(log_scores)
    found = None if labels is None else labels.with_names([name for name in names if name is not None])
    log_probs = None if found is None else found.log_probs.copy()
    for word, (name, head) in enumerate(zip(names, heads, strict=True), 1):
        if name is None:
            continue
        if labels is not None and name in labels.scored:
            shares[:, word] = labels.log_probs[:, word, labels.names.index(name)]
        else:
            shares[:, word] = _wherever_it_may_stand(name, head, len(shares))
        possible = np.isfinite(log_scores[:, word]) & (shares[:, word] > -np.inf)
        if not possible.any():
            below = "" if head is None else f" below its head {head or 'ROOT'}"
            problem = f"word {word} is given the label {name!r}, which it cannot have{below}"
            raise DeptreeError(problem, "Correct it, allow it, or put _ for this DEPREL")
        shares[~possible, word] = -np.inf
        if found is not None and log_probs is not None:
            log_probs[:, word] = -np.inf
            log_probs[possible, word, found.names.index(name)] = 0.0
    return shares, None if found is None or log_probs is None else found.with_log_probs(log_probs)


def _wherever_it_may_stand(name: str, head: int | None, nodes: int) -> Float:
    """log P(label | head), (nodes,), of a label without scores: `root` below ROOT, another one below words.

    Another one also stands below ROOT where it was given together with that head: so some treebanks have it.
    """
    share = np.full(nodes, -np.inf if is_root(name) else 0.0)
    share[0] = 0.0 if is_root(name) or head == 0 else -np.inf
    return share


def _checked_heads(heads: GivenHeads, n: int) -> GivenHeads:
    if len(heads) != n:
        problem = f"{counted(len(heads), 'head')} given for a sentence of {counted(n, 'word')}"
        raise DeptreeError(problem, "Give one head per word, None where it is open")
    for word, head in enumerate(heads, 1):
        sound = isinstance(head, int | np.integer) and not isinstance(head, bool) and 0 <= head <= n
        if head is not None and not sound:
            shown = head.item() if isinstance(head, np.generic) else head
            problem = f"the head of word {word} is {shown!r}, not 0 to {n}"
            raise DeptreeError(problem, "Give 0 for ROOT, the number of a word, or None")
    return heads


def _checked_names(names: GivenLabels, n: int) -> GivenLabels:
    if isinstance(names, str) or len(names) != n:
        problem = f"{counted(len(names), 'label')} given for a sentence of {counted(n, 'word')}"
        raise DeptreeError(problem, "Give one label per word, None where it is open")
    for word, name in enumerate(names, 1):
        if name is not None and not isinstance(name, str):
            raise DeptreeError(f"the label of word {word} is {name!r}", "Give the name of a label, or None")
    return names
