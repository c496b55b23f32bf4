"""What is left of a word's arcs where some of its choices go: the best of them, for searches that ask it often.

A choice is some heads of a word, (n+1, 1), or heads with labels, (n+1, L); so is what a word may have. Scores are
(n+1, n+1, L), ``[head, dependent, label]``; a column (n+1,) has the best score of each of a word's arcs until now, -inf
where it is not left.
"""

from __future__ import annotations

import math

from deptree_cli.kernels.flags import kernel


@kernel
def best_label(scores, word, head, kept, gone):
    """Return the best score of an arc with a label that is kept and not gone, -inf if there is none; and the label."""
    most, found = -math.inf, 0
    for label in range(scores.shape[2]):
        if kept.shape[1] > 1 and not kept[head, label]:
            continue
        if (gone.shape[1] == 1 or not gone[head, label]) and scores[head, word, label] > most:
            most, found = scores[head, word, label], label
    return most, found


@kernel
def most_left(scores, word, column, kept, gone, most, at):
    """Fill in the best of a word's arcs without those that are gone: of arcs from words, and from ROOT.

    most (2, n+1): the best score of arcs to each word from words, and that from ROOT, -inf if none is left.
    at (3, n+1): the head and the label of the one, and the label of the other.
    """
    most[0, word] = most[1, word] = -math.inf
    at[0, word] = at[1, word] = at[2, word] = 0
    for head in range(column.shape[0]):
        row = 1 if head == 0 else 0
        if column[head] > most[row, word]:  # else none of its labels is better
            own, label = column[head], 0
            if gone.shape[1] > 1:
                own, label = best_label(scores, word, head, kept, gone)
            elif gone[head, 0]:
                own = -math.inf
            if own > most[row, word]:
                most[row, word] = own
                at[1 + row, word] = label
                if row == 0:
                    at[0, word] = head
    if gone.shape[1] == 1:
        at[1, word] = best_label(scores, word, at[0, word], kept, gone)[1]
        at[2, word] = best_label(scores, word, 0, kept, gone)[1]


@kernel
def fill_left(scores, word, column, kept, gone, labels, found):
    """Fill labels (n+1, L) with what is left of what is kept; and found (n+1,), the best scores of arcs with these."""
    for head in range(column.shape[0]):
        count = 0
        for label in range(scores.shape[2]):
            labels[head, label] = kept.shape[1] == 1 or kept[head, label]
            count += gone[head, label]
        found[head] = column[head]
        if count > 0:
            for label in range(scores.shape[2]):
                labels[head, label] = labels[head, label] and not gone[head, label]
            if column[head] > -math.inf:
                found[head] = best_label(scores, word, head, labels, gone)[0]
