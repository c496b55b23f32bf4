"""Sentence pairs for Python users, each with its distribution, as the commands read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from deptree_cli.bitext.files.layout import PairLayout
from deptree_cli.bitext.files.pairs import PairSource
from deptree_cli.bitext.files.record import PairInterpretation, ScoredPair
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.read import prepared


def read_pairs(
    scores: str,
    text: str | None = None,
    *,
    symmetric: str | None = None,
    scale: str = "log",
    null: str | None = None,
    null_score: float | None = None,
    temperature: float = 1.0,
    on_error: Callable[[DeptreeError], None] | None = None,
) -> Iterator[ScoredPair]:
    """Read the sentence pairs of a score file, one at a time, as ``deptree bitext`` does.

    Args:
        scores: path of a file in any container; `-` is standard input.
        text: path of the words, a line ``source words ||| target words`` for each pair.
        symmetric: path of the scores of the other direction.
        scale, null, null_score, temperature: each as the option of that name on the command line.
        on_error: called with the error of each pair that cannot be used, which is then left out.

    Raises:
        DeptreeError: a file cannot be read, or (without `on_error`) a pair cannot be used.
    """
    records = PairSource(scores, symmetric, text).read(PairLayout(scale, null, null_score))
    return prepared(records, PairInterpretation(temperature), on_error)
