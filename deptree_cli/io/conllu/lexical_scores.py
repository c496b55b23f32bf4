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

METRICS = ("MLAS", "BLEX")

# Several roots are counted as they are, as in the other scores.
_HOW = {"multiple_roots_okay": True}

_DEPS = 8


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

    template = block.template
    lines = block.raw[template.rows_start : template.rows_end].decode("utf-8", "surrogateescape").split("\n")
    rows = [line.rstrip("\r").split("\t") for line in lines if line.strip()]
    kept = ([*row[:_DEPS], "_", *row[_DEPS + 1 :]] for row in rows if "." not in row[0])
    text = "".join("\t".join(row) + "\n" for row in kept)
    return load_conllu(StringIO(text + "\n"), block.place, _HOW)
