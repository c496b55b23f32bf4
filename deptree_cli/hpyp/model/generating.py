"""Sentences with their trees, drawn from a trained parser."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.streams import kernel_state
from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.hpyp.model.defaults import LONGEST
from deptree_cli.hpyp.model.trained import Trained

# How many sentences that are too long may be drawn in a row.
TRIALS = 1000


def generated(trained: Trained, sent_id: str, rng: np.random.Generator, longest: int = LONGEST) -> Annotated:
    """A sentence drawn from the model, among those of at most so many words; rare words stand as their classes.

    Raises:
        DeptreeError: the model hardly ever makes sentences so short.
    """
    from deptree_cli.hpyp.kernels.generation import generate  # loads kernels: when there is work

    symbols, state = trained.symbols, kernel_state(rng)
    words, tags, heads, deprels = np.empty((4, longest), dtype=np.int32)
    for _ in range(TRIALS):
        size = symbols.lexicon.vocabulary.size
        n = generate(trained.model, longest, size, state, words, tags, heads, deprels)
        if n:
            break
    else:
        problem = f"{TRIALS} sentences in a row had more than {counted(longest, 'word')}"
        raise DeptreeError(problem, "Allow longer sentences, or train on more data", sent_id=sent_id)
    forms = map(symbols.lexicon.vocabulary.symbol, words[:n].tolist())
    return Annotated(
        sent_id,
        "",
        tuple(forms) if symbols.is_lexicalised else (UNKNOWN,) * n,
        tuple(map(symbols.tags.symbol, tags[:n].tolist())),
        heads[:n].copy(),
        tuple(symbols.labels[label] for label in deprels[:n].tolist()),
    )
