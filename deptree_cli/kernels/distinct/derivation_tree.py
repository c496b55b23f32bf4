"""Distinct projective trees, in the order in which drawing with replacement would first meet them.

Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up. From then on trees
come from what is left behind the choices that trees are made by (`derivation_nodes.py`). When that begins depends on
past draws only, so the order is exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from deptree_cli.kernels.charts.walker import NONE, walk
from deptree_cli.kernels.distinct.derivation_nodes import TOP, draw_tree, insert
from deptree_cli.kernels.distinct.derivations import first_item
from deptree_cli.kernels.distinct.tree_set import place_of
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import as_float, get, is_positive, length, logarithm

# What a kernel comes back for: nothing more to draw, a larger set of trees, the trie, more slots.
DONE, SET, TRIE, SLOTS = range(4)


class Cursor(NamedTuple):
    """Where drawing is.

    needs: DONE, SET, TRIE or SLOTS. n_drawn: how many trees there are; repeats: how many draws were repeats;
    in_trie: how many of the trees are in the trie.
    """

    needs: int
    n_drawn: int
    repeats: int
    in_trie: int


class DerivationRules(NamedTuple):
    """The thresholds.

    Attributes:
        repeats: the trie comes in once there were so many repeats for every tree and one.
        least: one minus the probabilities drawn is not sound below this.
        stop: the probability left at which to stop.
        lowest: the logarithm of the probability left down to which the chart's numbers are sound.
    """

    repeats: float
    least: float
    stop: float
    lowest: float


@kernel
def draw_new(problem, rules, state, heads, log_left, seen, cursor, todo):
    """Go on filling heads (k, n) and log_left (k+1,) with replacement; return a cursor that needs DONE, SET or TRIE.

    seen: a set of the trees drawn (`tree_set.py`). log_left is the logarithm of the mass left before each tree, and
    after the last.
    """
    _, count, repeats, in_trie = cursor
    covered = 0.0
    for tree in range(count):
        covered += probability_of(problem, heads[tree])
    while True:
        left = 1.0 - covered
        if left < rules.least:
            return Cursor(TRIE, count, repeats, in_trie)
        log_left[count] = math.log(left)
        if count == heads.shape[0] or left < rules.stop:
            return Cursor(DONE, count, repeats, in_trie)
        if repeats >= rules.repeats * (count + 1):
            return Cursor(TRIE, count, repeats, in_trie)
        if 2 * count >= seen.shape[0]:
            return Cursor(SET, count, repeats, in_trie)
        walk(problem.grammar, state, todo, first_item(heads.shape[1], todo), heads[count])
        place = place_of(heads, heads[count], seen)
        if seen[place] == NONE:
            seen[place] = count
            covered += probability_of(problem, heads[count])
            count += 1
        else:
            repeats += 1


@kernel
def probability_of(problem, tree):
    """Return the probability of a tree (n,)."""
    log_prob = -problem.log_z
    for word in range(1, tree.shape[0] + 1):
        log_prob += problem.log_weights[tree[word - 1], word]
    return math.exp(log_prob)


@kernel
def draw_rest(problem, rules, state, heads, log_left, trie, cursor, work):
    """Go on filling heads and log_left from a trie; return a cursor that needs DONE or SLOTS.

    It is done at k trees, at the mass left that the rules name, or where the numbers are no longer sound (log_left
    shows that).
    """
    _, count, repeats, in_trie = cursor
    n, size = heads.shape[1], heads.shape[0]
    while True:
        if trie.used[0] + n * (n + 1) > length(trie.left):  # no tree's items have more places to be split at
            return Cursor(SLOTS, count, repeats, in_trie)
        if in_trie < count:
            insert(problem, trie, heads, in_trie, work)
            in_trie += 1
            continue
        total = get(trie.left, TOP)
        log_left[count] = logarithm(total) if is_positive(total) else -math.inf
        if not is_positive(total) or log_left[count] < rules.lowest or count == size or as_float(total) < rules.stop:
            return Cursor(DONE, count, repeats, in_trie)
        draw_tree(problem, trie, heads, count, state, work)
        count += 1
