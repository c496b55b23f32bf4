"""Which rules a tree may break, as far as its labels tell, and which of its arcs are crossed: most trees break none."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel


@kernel
def fill_suspects(heads, labels, crossed, siblings, below, apart, crossing, found):
    """Set found (R,) to True for each of R rules that a tree, heads (n,) and labels (n,), may break.

    Labels of which a head has one dependent at most, siblings (R, L); pairs of labels of a head, which is a word, and
    its dependent, below (R, L, L); labels of dependents that stand beside their heads, apart (R, L), and whose arcs are
    not crossed, crossing (R, L). crossed: (n,), 0 for words whose arcs no arc crosses.
    """
    n = heads.shape[0]
    for rule in range(found.shape[0]):
        for i in range(n):
            if found[rule]:
                break
            head, label = heads[i], labels[i]
            found[rule] = crossing[rule, label] and crossed[i] != 0
            if head > 0:
                far = head - i - 1 > 1 or i + 1 - head > 1
                found[rule] = found[rule] or below[rule, labels[head - 1], label] or (far and apart[rule, label])
            if siblings[rule, label]:
                for j in range(i):
                    if heads[j] == head and siblings[rule, labels[j]]:
                        found[rule] = True
