"""The joint probability of a sentence with its tree: of words, tags and the actions that build the tree."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.hpyp.annotated import UNKNOWN, Annotated
from deptree_cli.core.hpyp.parsing import BIT
from deptree_cli.core.hpyp.trained import Trained


class Joint(NamedTuple):
    """What a sentence and its tree cost.

    Attributes:
        bits: (3,), of the actions, the tags and the words; 0 for words that are not generated.
        lifted: whether arcs crossed, which were lifted: the parser builds projective trees only.
    """

    bits: Float
    lifted: bool


# Why a sentence has no joint probability: heads or labels are missing, or the heads are no tree with one root; the
# parser cannot build its tree, for it was trained on no such label; or a tag is missing or was never seen, and would
# have to be summed out.
Unscored = Literal["no_tree", "unseen_label", "unknown_tag"]


def joint(trained: Trained, sentence: Annotated) -> Joint | Unscored:
    """The bits of a sentence with its tags and its tree, by the derivation that makes every arc as soon as it can."""
    from deptree_cli.kernels.hpyp.oracle import derive, replay  # loads kernels: when there is work
    from deptree_cli.kernels.hpyp.projectivise import projectivise

    try:
        sentence.check_tree()
    except DeptreeError:
        return "no_tree"
    if UNKNOWN in sentence.deprels:
        return "no_tree"
    symbols = trained.symbols
    numbers, tags = symbols.label_numbers, symbols.tags_of(sentence)
    if not numbers.keys() >= set(sentence.deprels):
        return "unseen_label"
    if not tags.all():
        return "unknown_tag"
    heads = sentence.heads.astype(np.int32)
    lifts = projectivise(heads)
    labels = np.array([numbers[label] for label in sentence.deprels], dtype=np.int32)
    actions = np.empty(2 * sentence.n, dtype=np.int32)
    derive(heads, labels, len(numbers), actions)
    log_probs = np.zeros(3)
    replay(trained.model, symbols.words_of(sentence), tags, actions, log_probs)
    return Joint(-log_probs / BIT, lifts > 0)
