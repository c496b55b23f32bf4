"""The probability of a known derivation, event by event."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.hpyp.columns import RECORD
from deptree_cli.kernels.hpyp.configurations import SHIFT, begin, reduce, shift
from deptree_cli.kernels.hpyp.model import ACTIONS, TAGS, WORDS, context_for, new_workspace
from deptree_cli.kernels.hpyp.predictions import predict_dish


@kernel
def replay(model, words, tags, actions, log_probs):
    """Add the log-probabilities of a derivation's actions, tags and words to log_probs (3,), in nats.

    words, tags: (n,) symbols; actions: (2 n,), a derivation of a tree (`oracle.py`). Words that are not generated add
    nothing. What impossible actions would have had is not shared out among the others.
    """
    workspace = new_workspace(model)
    records = np.empty((2 * words.shape[0] + 2, RECORD), np.int32)
    used, index = begin(records), 0
    for step in range(actions.shape[0]):
        top, action = used - 1, actions[step]
        log_probs[ACTIONS] += log_prob(model, ACTIONS, records, top, 0, action, workspace)
        if action == SHIFT:
            tag, word = tags[index], words[index]
            log_probs[TAGS] += log_prob(model, TAGS, records, top, 0, tag, workspace)
            if model.roots[WORDS] >= 0:
                log_probs[WORDS] += log_prob(model, WORDS, records, top, tag, word, workspace)
            index += 1
            shift(records, used, top, index, tag, word)
        else:
            reduce(records, used, top, action, model.labels)
        used += 1


@kernel
def log_prob(model, process, records, top, next_tag, dish, workspace):
    """Return the log-probability of a dish in a configuration, by one of the processes."""
    context = context_for(model, process, records, top, next_tag, workspace)
    return np.log(predict_dish(model.tables, model.roots[process], context, workspace.path, dish))
