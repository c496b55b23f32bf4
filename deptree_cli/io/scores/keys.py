"""The keys of a `.npz`: the names of sentences, and of what there is of a sentence beside its array.

Second-order scores of the sentence `KEY`, which `deptree_cli.second_order` reads, are under `KEY.grandparent` and
`KEY.sibling`; errors of what is written are under `KEY.standard_errors`; two keys `scores` and `lengths` are a padded
batch. So no sentence is written under a name that would be read as one of these.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import NpzOutput

BATCH = {"scores", "lengths"}

PARTS = ("grandparent", "sibling")
STANDARD_ERRORS = "standard_errors"

# What may stand behind a sentence's name and a dot.
BESIDE = (*PARTS, STANDARD_ERRORS)

_OTHERWISE = "Write JSON Lines, or give the sentence another sent_id"


def owner_of(key: str, beside: Iterable[str] = PARTS) -> str:
    """Return the key of the sentence that has something beside its array under this one; empty if none has."""
    owner, _, name = key.rpartition(".")
    return owner if name in beside else ""


def check_no_parts(keys: Iterable[str], place: str) -> None:
    """Raise if there are second-order scores: sums over arcs alone would drop them.

    Raises:
        DeptreeError: names the first of their keys.
    """
    if found := next(filter(owner_of, keys), None):
        problem = "these are second-order scores, which only the library takes into account"
        remedy = "Leave them out, or read the file in Python with deptree_cli.second_order.read"
        raise DeptreeError(problem, remedy, place=f"{place}[{found}]")


class SentenceArrays(NpzOutput):
    """A `.npz` with an array for each sentence, which a reader finds under the sentence's name and no other."""

    def write(self, key: str, array: NDArray[np.generic], beside: str = "") -> None:
        """Add a sentence's array, or what belongs `beside` it, one of `BESIDE`.

        Raises:
            DeptreeError: there is one of this name already, or the name would be read as another one.
        """
        if owner := owner_of(key, BESIDE):
            problem = f"in an .npz this name means the {key.rpartition('.')[2]} of {owner!r}"
            raise DeptreeError(problem, _OTHERWISE, sent_id=key)
        if key in self.names or f"{key}.npy.npy" in self.names:
            problem = "numpy.load cannot tell names in an .npz apart that differ by .npy at the end"
            raise DeptreeError(problem, _OTHERWISE, sent_id=key)
        super().write(f"{key}.{beside}" if beside else key, array)

    def check(self) -> None:
        """Raise if the whole would be read as something else.

        Raises:
            DeptreeError: its only sentences are called as the arrays of a padded batch.
        """
        if self.names == {f"{key}.npy" for key in BATCH}:
            problem = "an .npz of two sentences called scores and lengths would be read as a padded batch"
            raise DeptreeError(problem, _OTHERWISE)
