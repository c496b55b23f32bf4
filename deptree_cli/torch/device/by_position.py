"""What the sweeps on a device begin with: weights of padded batches, shifted, in the order of elimination."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from deptree_cli.torch.shifted import below_highest

# Words (B,) that change places with the one at a position.
Exchange = tuple[int, Tensor]


@dataclass(frozen=True)
class ByPosition:
    """Weights of a batch in the order of elimination: the word that is eliminated m-th is at position m.

    Attributes:
        weights: (B, n+1, n), heads and dependents by position, ROOT last; 0 where an arc is forbidden or padding.
        padding: (B, n), which positions hold no word; the last one always holds a word.
        exchanges: how words came to their positions.
        constants: (B, n) float64 or more, what log Z loses because columns are shifted, and ROOT's row.
    """

    weights: Tensor
    padding: Tensor
    exchanges: list[Exchange]
    constants: Tensor

    def with_padding(self) -> Tensor:
        """Return a copy of the weights in which padded words hang on the last one: their pivots are 1, and no more."""
        A = self.weights.clone()
        A[:, -2] += self.padding
        return A

    def where_possible(self, values: Tensor) -> Tensor:
        """Return values (B, n+1, n), exactly 0 where the weight is, whatever stood there."""
        return torch.where(self.weights > 0, values, 0.0)

    def of_nodes(self, values: Tensor) -> Tensor:
        """Return values (B, N, N) of arcs between nodes by position, (B, n+1, n)."""
        moved = _root_last(values)
        for exchange in self.exchanges:
            _exchange(moved, exchange)
        return moved

    def by_node(self, values: Tensor) -> Tensor:
        """Return values (B, n+1, n) by position, which are lost, as (B, N, N) by node, 0 in column 0."""
        for exchange in reversed(self.exchanges):
            _exchange(values, exchange)
        nodes = values.new_zeros(len(values), values.shape[1], values.shape[1])
        nodes[:, 1:, 1:], nodes[:, 0, 1:] = values[:, :-1], values[:, -1]
        return nodes


def by_position(log_scores: Tensor, lengths: Tensor, single_root: bool, search: bool) -> ByPosition:
    """Return shifted weights of log-scores (B, N, N) of sentences of so many words (B,).

    Args:
        search: whether to look for the order of largest pivots. Otherwise words are eliminated as they come, but for
            the last one: no pivot is 0 if that word reaches all others.
    """
    outside = torch.arange(log_scores.shape[1], device=log_scores.device) > lengths[:, None]
    weights, constants = _shifted(_checked(log_scores, outside), outside, single_root)
    padding, n = outside[:, 1:].clone(), weights.shape[2]
    exchanges = _largest_pivots(weights, padding) if search else [(n - 1, _last(weights))]
    for exchange in exchanges:
        _exchange(weights, exchange)
        _exchange_rows(padding, exchange)
    return ByPosition(weights, padding, exchanges, constants)


def _last(weights: Tensor) -> Tensor:
    """The word that only ROOT may govern, else the one with the best arc from ROOT, (B,)."""
    of_root = weights[:, -1]
    only_root = (weights[:, :-1].sum(1) == 0.0) & (of_root > 0.0)
    return (of_root + 2.0 * only_root).argmax(1)


def _checked(log_scores: Tensor, outside: Tensor) -> Tensor:
    """Log-scores (B, n+1, n), ROOT last, -inf where there is no arc, whatever stood there; NaN of arcs stays."""
    no_arc = outside[:, :, None] | outside[:, None]
    no_arc.diagonal(dim1=1, dim2=2).fill_(True)
    return _root_last(log_scores).masked_fill_(_root_last(no_arc), -math.inf)


def _root_last(arcs: Tensor) -> Tensor:
    """A copy (B, n+1, n) of what stands by node, (B, N, N)."""
    return torch.cat((arcs[:, 1:, 1:], arcs[:, :1, 1:]), 1)


def _shifted(log_scores: Tensor, outside: Tensor, single_root: bool) -> tuple[Tensor, Tensor]:
    """Weights (B, n+1, n) of log-scores, columns shifted by their maxima, and what log Z loses by it, (B, n or n + 2).

    Under the single-root constraint maxima are over the words, and ROOT's row is then shifted by its own.
    """
    own = log_scores[:, -1]
    peaks = (log_scores[:, :-1] if single_root else log_scores).amax(1)
    peaks = torch.where(peaks > -math.inf, peaks, own).masked_fill_(outside[:, 1:], 0.0)
    shifted = log_scores - peaks[:, None]
    constants = peaks.double()
    if single_root:
        shifted[:, -1], of_root = below_highest(own, peaks)
        constants = torch.cat((constants, of_root.double()), 1)
    return shifted.exp_(), constants


def _largest_pivots(weights: Tensor, padding: Tensor) -> list[Exchange]:
    """The exchanges by which the word with the largest weight of arcs from words comes first, and so on.

    With a single root a pivot is then 0 only where there is no tree; with several any order does.
    """
    A, n = weights[:, :-1].clone(), weights.shape[2]
    A += n * padding[:, None]  # more than any word has: padding comes first
    exchanges = []
    for m in range(n - 1):
        A[:, m:, m:].diagonal(dim1=1, dim2=2).zero_()
        exchanges.append((m, m + A[:, m:, m:].sum(1).argmax(1)))
        _exchange(A, exchanges[-1])
        column = A[:, m + 1 :, m : m + 1]
        A[:, m + 1 :, m + 1 :].addcmul_(column / column.sum(1, keepdim=True), A[:, m : m + 1, m + 1 :])
    return exchanges


def _exchange(arcs: Tensor, exchange: Exchange) -> None:
    """Exchange the rows of two words and their columns, in place."""
    _exchange_rows(arcs, exchange)
    _exchange_rows(arcs.mT, exchange)


def _exchange_rows(rows: Tensor, exchange: Exchange) -> None:
    """Exchange two of (B, n, ...), in place."""
    m, others = exchange
    sentences = torch.arange(len(rows), device=rows.device)
    ours, theirs = rows[:, m].clone(), rows[sentences, others]
    rows[sentences, others], rows[:, m] = ours, theirs
