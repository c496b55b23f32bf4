"""The sweeps of the elimination in a few large operations of PyTorch, on whatever device the tensors are.

A batch of weights A has shape (B, n+1, n): rows are heads, the words first and ROOT last, columns are dependents, and
the word that is eliminated m-th is at position m everywhere. Factors are kept in place, as of an LU factorisation:
row m right of the diagonal as it was when word m was eliminated, and below the diagonal its column divided by the
pivot. `kernels/trees/elimination.py` has the same sweeps, one sentence after another.

Products are summed, never multiplied as matrices, which autocast and TF32 would do with three digits.
"""

from __future__ import annotations

from deptree_cli.torch.device.dual import Numbers, concatenate


def eliminate(A: Numbers, single_root: bool) -> Numbers:
    """Factorise weights A (B, n+1, n) in place and return the pivots (B, n): n^3/3 multiply-adds, nothing subtracted.

    What detours back to the same word leave on the diagonal is not an arc, and never read.
    """
    n = A.shape[2]
    pivots: list[Numbers] = []
    for m in range(n - 1):
        column = A[:, m + 1 :, m : m + 1]
        pivots.append((column[:, :-1] if single_root else column).sum(1, keepdim=True))
        column.div_(pivots[m])
        A[:, m + 1 :, m + 1 :].addcmul_(column, A[:, m : m + 1, m + 1 :])
    pivots.append(A[:, n:, n - 1 :])
    return concatenate(pivots)[:, :, 0]


def adjoints(A: Numbers, pivots: Numbers, single_root: bool) -> Numbers:
    """Return d log Z / d weight, (B, n+1, n) by position, of factors: the sweep backwards (Zmigrod et al. 2021b).

    With c_i the sum of G[i, j] A[m, j] / S_m over the later words j, the adjoint of the arc i -> m is
    c_i + 1/S_m - sum_k c_k A[k, m] / S_m, or c_i where i is ROOT that is no part of the pivot. The adjoint of m's own
    row, with -1/S_m on the diagonal, makes that rest one more row of the same product; subtracting it leaves 0 there.
    """
    n = A.shape[2]
    rows, inverse = A[:, :n] / pivots[:, :, None], pivots.reciprocal()
    rows.diagonal(dim1=1, dim2=2).fill_(1.0)
    G = A.new_zeros(A.shape)
    G.diagonal(dim1=1, dim2=2)[:, :-1].copy_(inverse[:, :-1].neg())
    G[:, n, n - 1].copy_(inverse[:, n - 1])
    later = G[:, n - 1 :, n - 1 :]
    for m in range(n - 2, -1, -1):
        G[:, m, m + 1 :].copy_((A[:, m + 1 :, m : m + 1] * later).sum(1))
        later = G[:, m:, m:]
        c = (later * rows[:, m : m + 1, m:]).sum(2)
        column = later[:, :, 0].copy_(c)
        (column[:, :-1] if single_root else column).sub_(c[:, :1])
    return G
