"""Readings of unlabelled sentences: tags and derivations that a parser gives them, and their words seated by these."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.hpyp.columns import INDEX, PREVIOUS, ROOT, TAG
from deptree_cli.kernels.hpyp.configurations import read_actions
from deptree_cli.kernels.hpyp.filter import run_filter
from deptree_cli.kernels.hpyp.items import drawn
from deptree_cli.kernels.hpyp.search import search
from deptree_cli.kernels.hpyp.seating import has_room, remove, resample


@kernel
def read_best(model, words, size, tags, actions):
    """Write the tags (n,) and the derivation (2 n,) that a search with `size` particles finds."""
    records, last, _ = search(model, words, np.zeros_like(words), size)
    write_reading(records, last, tags, actions)


@kernel
def read_sampled(model, words, size, state, tags, actions):
    """Write the tags (n,) and the derivation (2 n,) of a particle, one of `size`, drawn by weight.

    Labels are in no context, and are all the first.
    """
    log_evidence = np.empty(words.shape[0] + 1)
    records, items, count = run_filter(model, words, np.zeros_like(words), size, state, log_evidence)
    write_reading(records, drawn(items, count, state), tags, actions)


@kernel
def write_reading(records, last, tags, actions):
    """Write the tags of words and the actions that led to a record."""
    read_actions(records, last, actions)
    at = last
    while at > ROOT:
        if records[at, INDEX] > 0:
            tags[records[at, INDEX] - 1] = records[at, TAG]
        at = records[at, PREVIOUS]


@kernel
def exchange(restaurants, old_nodes, old_entries, new_nodes, new_entries, cuts, order, start, state):
    """Send the customers of sentences away and seat those of their new readings, from place `start` of the order on.

    cuts: (sentences + 1,), where each sentence's events begin. Returns the place up to which there was room for the
    sizes of tables.
    """
    for place in range(start, order.shape[0]):
        first, last = cuts[order[place]], cuts[order[place] + 1]
        if not has_room(restaurants, 0, 2 * (last - first) * new_nodes.shape[1]):
            return place
        for event in range(first, last):
            remove(restaurants, old_nodes[event], old_entries[event], state)
        resample(restaurants, new_nodes, new_entries, first, last, False, state)
    return order.shape[0]
