"""MLAS and BLEX, which look at tags, features and lemmas too: counted by udtools, if that is installed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from io import StringIO
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import COLUMNS

METRICS = ("MLAS", "BLEX")

# Several roots are counted as they are, as in the other scores.
_HOW = {"multiple_roots_okay": True}

# Those of CoNLL-U; nothing is read of an unknown one, which is `_`.
_COLUMNS = [name if name != "deps" else "" for name in COLUMNS]


@cache
def udtools_version() -> str | None:
    """Return the version of udtools, None if it is not installed."""
    if find_spec("udtools") is None:
        return None
    from importlib.metadata import version

    return version("udtools")


def lexical_scores(gold: Block, system: Block) -> Int:
    """Count MLAS and BLEX of a tree of the same words, (2, 3): right, in the gold tree, in the system's.

    Raises:
        DeptreeError: udtools refuses one of the two.
    """
    from udtools.udeval import UDError, evaluate

    try:
        found = evaluate(_loaded(gold), _loaded(system))
    except (UDError, ValueError, LookupError, RecursionError) as error:  # the latter of what it does not look out for
        raise DeptreeError(f"udtools: {error}", "Repair the sentence", place=system.place) from None
    scores = [found[name] for name in METRICS]
    return np.array([[each.correct, each.gold_total, each.system_total] for each in scores], dtype=np.int64)


def _loaded(block: Block) -> Any:
    """A sentence as udtools reads it: words and multiword tokens, without enhanced dependencies."""
    from udtools.udeval import load_conllu

    rows = (b"\t".join(row) for row in block.cells(*_COLUMNS) if b"." not in row[0])
    text = b"\n".join(rows).decode("utf-8", "surrogateescape") + "\n"
    return load_conllu(StringIO(text + "\n"), block.place, _HOW)
