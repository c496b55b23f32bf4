"""A sentence as it was read, which can be written again with other trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Heads
from deptree_cli.io.conllu.splicing import Deprels, with_trees
from deptree_cli.io.conllu.tokens import applied, tokens_of
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from conllu.models import TokenList


@dataclass(frozen=True)
class SentenceAsRead:
    """A sentence that has scores, and may have words.

    Attributes:
        record: the sentence as it was read.
    """

    record: Sentence

    @property
    def id(self) -> str:
        """The sentence id: sent_id in CoNLL-U, else the key of the scores, else the number of the sentence."""
        return self.record.sent_id

    @property
    def tokens(self) -> TokenList:
        """The CoNLL-U sentence as a `TokenList` of the conllu library.

        Raises:
            DeptreeError: no CoNLL-U was read.
        """
        return tokens_of(self.record.sentence)

    def deprels(self, labels: Heads | None, trees: int) -> Deprels | None:
        """Return the labels of some trees, (k, n) numbers; None: words keep theirs where their heads are the same."""
        return None

    def apply(self, heads: ArrayLike, labels: ArrayLike | None = None) -> TokenList:
        """Return the tokens with a tree, (n,) heads, and labels, (n,) numbers of the distribution's labels."""
        deprels = self.deprels(None if labels is None else np.asarray([labels], dtype=np.int32), 1)
        names = [None if number < 0 else deprels.names[number] for number in deprels.index[0]] if deprels else None
        return applied(self.tokens, np.asarray(heads), names)

    def to_conllu(self, trees: ArrayLike, labels: ArrayLike | None = None, sent_ids: Sequence[str] = ()) -> str:
        """Return the sentence as CoNLL-U, byte for byte as read except for its tree.

        Args:
            trees: (n,) heads, or (k, n): each tree gets a copy of the sentence.
            labels: numbers of the distribution's labels, of the same shape.
            sent_ids: a sentence id for each tree; by default one tree keeps X, and k trees have `X/sample_1`, ...
        """
        heads = np.atleast_2d(np.asarray(trees, dtype=np.int32))
        single = np.ndim(trees) == 1
        names = list(sent_ids) or [self.id if single else f"{self.id}/sample_{k}" for k in range(1, len(heads) + 1)]
        numbers = None if labels is None else np.atleast_2d(np.asarray(labels, dtype=np.int32))
        deprels = self.deprels(numbers, len(heads))
        return with_trees(self.record.sentence.fresh(), heads, names, deprels=deprels).data.decode()
