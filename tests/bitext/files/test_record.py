"""A record becomes a distribution, here and in another process, and errors say where it was read."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.bitext.files import PairRecord, ScoredPair, scored
from deptree_cli.core.errors import DeptreeError

SCORES = np.array([[1.0, -np.inf, 0.5], [-1.0, 2.0, 0.25]])
NULLS = np.array([-0.5, 0.5]), np.array([0.0, -np.inf, 1.0])


def record(**changed: object) -> PairRecord:
    fields: dict[str, object] = {"sent_id": "x", "number": 3, "place": "s.npz[x]", "scores": SCORES}
    fields |= {"source_nulls": NULLS[0], "target_nulls": NULLS[1], "source": ("a", "b"), "target": ("c", "d", "e")}
    return PairRecord(**{**fields, **changed})  # type: ignore[arg-type]


def test_the_distribution_of_a_record() -> None:
    found = scored(record(), 2.0)
    ours, theirs = found.distribution, AlignmentDistribution(SCORES / 2, "log", NULLS[0] / 2, NULLS[1] / 2)
    assert (found.id, ours.id) == ("x", "x")
    for name in ("log_scores", "source_nulls", "target_nulls"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_it_travels() -> None:
    """What is done to records and these go to worker processes, the result may come back."""
    how, read = pickle.loads(pickle.dumps((partial(scored, temperature=0.5), record())))
    back: ScoredPair = pickle.loads(pickle.dumps(how(read)))
    assert (back.record.source, back.record.target) == (("a", "b"), ("c", "d", "e"))
    np.testing.assert_array_equal(back.distribution.log_scores, SCORES / 0.5)


def test_errors_say_where() -> None:
    with pytest.raises(DeptreeError, match=r"^s\.npz\[x\] \(x\): there are no source words"):
        scored(record(scores=SCORES[:0], source_nulls=NULLS[0][:0]))
    with pytest.raises(DeptreeError, match=r"^s\.npz\[x\] \(x\): the temperature"):
        scored(record(), temperature=1e-200)
