"""``deptree eval`` for Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.evaluation.counts import METRICS
from deptree_cli.core.evaluation.scores import Resampling, Score, scores
from deptree_cli.io.evaluation.compared import compared_files


@dataclass(frozen=True)
class Evaluated:
    """Scores of a system, and of a second one beside it, by metric: ``evaluated["LAS"].f1.value``.

    Attributes:
        scores: those of the system.
        other: those of the second system; empty without one.
        differences: the second system's scores minus the first's, with p-values.
        sentences, words: the numbers of gold sentences and words compared.
        units: the number of resampled groups of sentences; fewer than sentences if a system splits these differently.
    """

    scores: Mapping[str, Score]
    other: Mapping[str, Score] = field(default_factory=dict)
    differences: Mapping[str, Score] = field(default_factory=dict)
    sentences: int = 0
    words: int = 0
    units: int = 0

    def __getitem__(self, metric: str) -> Score:
        """The system's score."""
        return self.scores[metric]


def evaluate(
    gold: str,
    system: str,
    other: str | None = None,
    *,
    no_punct: bool = False,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 1,
    on_error: Callable[[DeptreeError], None] | None = None,
) -> Evaluated:
    """Compare parsed trees with gold trees as ``deptree eval`` does: words are aligned by their characters.

    Args:
        gold, system, other: paths of CoNLL-U of the same text, whatever its tokens, words and sentences are; `other` is
            a second system.
        no_punct: whether UAS and LAS leave out punctuation.
        confidence, resamples, seed: of bootstrap intervals and of the paired test.
        on_error: called with the error of each sentence that cannot be compared, which is then left out.

    Raises:
        DeptreeError: a file cannot be read, there is nothing to compare, or (without `on_error`) a sentence cannot be.
    """
    units = []
    for each in compared_files(gold, [system] if other is None else [system, other], (), no_punct):
        if not isinstance(each, DeptreeError):
            units.append(each)
        elif on_error is None:
            raise each
        else:
            on_error(each)
    if not units:
        raise DeptreeError("there is no sentence to evaluate", "Give files with sentences of the same text", place=gold)
    how = Resampling(confidence, resamples, seed)
    systems, less = scores(np.array([unit.scores for unit in units]), METRICS, how)
    found = [{score.metric: score for score in each} for each in (*systems, less)]
    sizes = sum(unit.sentences for unit in units), sum(unit.words for unit in units), len(units)
    return Evaluated(found[0], found[1] if other else {}, found[-1], *sizes)
