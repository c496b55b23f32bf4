"""The joint probability of a sentence with its tree: of words, tags and the actions that build the tree."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.hpyp.model.corpus import Corpus
from deptree_cli.hpyp.model.parsing import BIT
from deptree_cli.hpyp.model.trained import Trained


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
    from deptree_cli.hpyp.kernels.oracle import replay
    from deptree_cli.hpyp.model.derivations import Derivations  # these load kernels: when there is work

    try:
        sentence.check_tree()
    except DeptreeError:
        return "no_tree"
    if UNKNOWN in sentence.deprels:
        return "no_tree"
    symbols = trained.symbols
    if symbols.unseen_labels(sentence):
        return "unseen_label"
    corpus = Corpus.of([sentence], symbols)
    if not corpus.tags.all():
        return "unknown_tag"
    log_probs = np.zeros(3)
    replay(trained.model, corpus.words, corpus.tags, Derivations(symbols, corpus).actions, log_probs)
    return Joint(-log_probs / BIT, corpus.lifted > 0)
