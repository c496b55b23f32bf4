"""Trees word by word, each head given those before it: by the recursion of `head_path.py`, O(n^3) a tree.

One tree is drawn at a time; or many grow in lockstep, where several may go on from what was left out for one.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical, pick
from deptree_cli.kernels.elimination.contraction import FREE
from deptree_cli.kernels.elimination.head_path import (
    LEVELS,
    OWNER,
    Path,
    PathTables,
    descend,
    find_open,
    head_probs_at,
    next_heads,
    path_in_range,
    set_head,
    start_path,
)
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import get, is_positive, logarithm, one, row, scale


@kernel
def take_logarithms(probs, out):
    """Fill out (n+1,), float64, with the logarithms of numbers, -inf for 0."""
    for h in range(out.shape[0]):
        x = get(probs, h)
        out[h] = logarithm(x) if is_positive(x) else -math.inf


@kernel(allocates=True)
def log_head_probs_of_each(weights, roots, heads, words, tables, probs, out, in_range):
    """Fill out (b, n+1), float64, with the logarithms of the head distributions of each sentence's first free word.

    roots (b,), heads (b, n+1), words (b, m): the free words; of each as of `start_path`. in_range: (b,) which rows are
    wanted; unset where float64 lost digits of one. probs: (n+1,) to compute in.
    """
    for i in range(out.shape[0]):
        if in_range[i]:
            path = start_path(weights, roots[i], heads[i], words[i], True, tables)
            depth = next_heads(path, weights, roots[i], tables, probs)
            in_range[i] = path_in_range(weights, path, depth, -math.inf)
            take_logarithms(probs, out[i])


@kernel(allocates=True)
def log_heads_along(weights, root, heads, words, tables, uniforms, probs, chosen, out):
    """Draw the heads of the free words (m,) one after another: chosen (m,), by the random numbers uniforms (m,).

    Fills out (m, n+1), float64, with the logarithms of the distributions that they were drawn from; probs: (n+1,) to
    compute in; the rest as of `start_path`. Returns whether all of them were in range, however small.
    """
    path = start_path(weights, root, heads, words, True, tables)
    nodes = heads.shape[0]
    for x in range(words.shape[0]):
        depth = next_heads(path, weights, root, tables, probs)
        if not path_in_range(weights, path, depth, -math.inf):
            return False
        take_logarithms(probs, out[x])
        chosen[x] = pick(probs, 0, nodes, scale(one(probs), uniforms[x]))
        set_head(path, chosen[x])
    return True


@kernel(allocates=True)
def draw_ancestral(weights, roots, state, tables, probs, heads):
    """Fill heads (k, n) with trees below the nodes roots[i] (0, or a word that then gets head 0), from left to right.

    The ancestral sampler of Colbourn, Myrvold and Neufeld 1996, in O(n^3) a tree. state: of `xoshiro.py`; the rest as
    of `log_heads_along`.
    """
    nodes = heads.shape[1] + 1
    nothing, words = np.full(nodes, FREE), np.empty(nodes, np.int64)
    for i in range(heads.shape[0]):
        count = 0
        for word in range(1, nodes):
            heads[i, word - 1] = 0
            words[count] = word
            count += 1 if word != roots[i] else 0
        path = start_path(weights, roots[i], nothing, words[:count], True, tables)
        for x in range(count):
            next_heads(path, weights, roots[i], tables, probs)
            head = draw_categorical(probs, 0, nodes, one(probs), state)
            heads[i, words[x] - 1] = head
            set_head(path, head)


@kernel(allocates=True)
def log_next_heads(paths, weights, roots, tables, probs, out):
    """Fill out (b, n+1), float64, with the logarithms of the head distributions of the next word of each of b paths.

    paths: `Path`s in lockstep, stacked, each of which may be a copy of one before that then got a head (`set_heads`);
    roots (b,); tables: `PathTables`, stacked. A path's levels are in those of OWNER, and come into its own where it
    enters them. Returns whether all results were in range, as `log_heads_along` does.
    """
    for i in range(out.shape[0]):
        path, own = path_at(paths, i), tables_at(tables, i)
        level = find_open(path)
        descend(path, level, tables_at(tables, path.levels[OWNER, level]), own)
        path.levels[OWNER, level + 1 : LEVELS] = i
        depth = head_probs_at(path, weights, roots[i], own, probs)
        if not path_in_range(weights, path, depth, -math.inf):
            return False
        take_logarithms(probs, out[i])
    return True


@kernel(allocates=True)
def set_heads(paths, heads):
    """Give the word whose head distribution came last on each path a head: heads (b,), nodes."""
    for i in range(heads.shape[0]):
        set_head(path_at(paths, i), heads[i])


@kernel(allocates=True)
def path_at(paths, i):
    """Return one of several paths."""
    return Path(paths.words[i], paths.tops[i], paths.levels[i], paths.depth[i], paths.state[i])


@kernel(allocates=True)
def tables_at(tables, i):
    """Return the tables of one of several paths."""
    return PathTables(row(tables.H, i), row(tables.R, i))
