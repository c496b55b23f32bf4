"""What is left of a word's arcs where some of its choices go: the best of them, for searches that ask it often.

A choice is some heads of a word, (n+1, 1), or heads with labels, (n+1, L); so is what a word may have.
"""

from __future__ import annotations

import math

from deptree_cli.kernels.flags import kernel


@kernel
def most_left(scores, word, column, kept, gone):
    """Return the best scores of a word's arcs without those that are gone: of arcs from words, and of that from ROOT.

    -inf if none is left. scores (n+1, n+1, L), ``[head, dependent, label]``; column (n+1,), the best of each until now,
    -inf where it is not left.
    """
    from_root, most = -math.inf, -math.inf
    for head in range(column.shape[0]):
        if gone.shape[1] == 1:
            if not gone[head, 0]:
                most = max(most, column[head])
        elif column[head] > most:  # else none of its labels is better
            for label in range(scores.shape[2]):
                if (kept.shape[1] == 1 or kept[head, label]) and not gone[head, label]:
                    most = max(most, scores[head, word, label])
        if head == 0:
            from_root, most = most, -math.inf
    return most, from_root


@kernel
def fill_left(scores, word, column, kept, gone, labels, found):
    """Fill labels (n+1, L) with what is left of what is kept, and found (n+1,) with the best scores of arcs with these.

    scores, column: as of `most_left`.
    """
    for head in range(column.shape[0]):
        most = -math.inf
        for label in range(scores.shape[2]):
            is_left = (kept.shape[1] == 1 or kept[head, label]) and not gone[head, label]
            labels[head, label] = is_left
            if is_left:
                most = max(most, scores[head, word, label])
        found[head] = most if column[head] > -math.inf else -math.inf
