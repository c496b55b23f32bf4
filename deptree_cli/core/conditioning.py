"""Log-scores of arcs given heads and labels of some words.

Each that is given is a condition on single arcs, and changes an arc's weight to what the arc weighs under it: to 0 if
it is another one than the given, times P(label | arc) if its label is given. So what is left is a distribution of the
same kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.label_names import is_root
from deptree_cli.core.labels import Labels

GivenHeads = Sequence[int | None]
GivenLabels = Sequence[str | None]


def conditioned(
    log_scores: Float, labels: Labels | None, heads: GivenHeads | None, names: GivenLabels | None
) -> tuple[Float, Labels | None]:
    """Return log-scores (n+1, n+1) and labels, given heads and labels of some words, n of each: None for any.

    A label's name that `labels` do not have is certain wherever it may stand, for nothing is known of it. Of scores
    without labels it says whether the head is ROOT, and no more.
    """
    log_scores, n = log_scores.copy(), len(log_scores) - 1
    known_heads = [None] * n if heads is None else _checked_heads(heads, n)
    for word, head in enumerate(known_heads, 1):
        if head is not None:
            if not np.isfinite(log_scores[head, word]):
                problem = f"the head of word {word} is fixed to {head or 'ROOT'}, an arc that the scores forbid"
                raise DeptreeError(problem, "Allow the arc, or put _ for this HEAD")
            log_scores[:head, word] = log_scores[head + 1 :, word] = -np.inf
    if names is None:
        return log_scores, labels
    shares, left = _shares(log_scores, labels, known_heads, _checked_names(names, n))
    return log_scores + shares, left


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
            # `root` may stand below ROOT, another label below words; below ROOT too if it was given together with that
            # head: so some treebanks have it.
            shares[:, word] = -np.inf if is_root(name) else 0.0
            shares[0, word] = 0.0 if is_root(name) or head == 0 else -np.inf
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
