"""`python -m benchmarks constraints`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.constraints import costs, heuristic, partial, validity
from benchmarks.constraints.labelled import treebanks
from benchmarks.table import Table


def run() -> Iterator[Table]:
    """Validity of both treebanks; the heuristic beside the best trees; time; known heads."""
    with tempfile.TemporaryDirectory() as name:
        for treebank in treebanks(Path(name)):
            yield from validity.tables(treebank)
            yield heuristic.table(treebank)
            yield costs.table(treebank)
            yield partial.table(treebank)
