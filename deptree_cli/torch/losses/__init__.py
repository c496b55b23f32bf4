"""Training losses for a batch of sentences, one function each.

Every function takes log_scores (B, N, N), ``[head, dependent]``, and, with the meanings and defaults that they have for
`log_partition`, lengths (B,), space (or single_root and projective) and precision. Gold heads are (B, N) integers:
entry j is the head of node j; entry 0 and padding are ignored. Losses are computed in float64, except log Z and
marginals, which have the `precision`; entropies and samples have float64 unless another one is asked for. All are
returned in the type of the scores, at least float32:

- reduction="none": the loss of every sentence, (B,);
- "sum": their sum;
- "mean": that sum divided by the number of words of the batch, so that a step does not depend on sentence lengths. For
  `generalised_expectation_loss` and `reinforce_loss`, which are not per word, it is divided by B.
"""

from __future__ import annotations

from deptree_cli.torch.losses.expectations import (
    entropy_regularisation,
    expected_cost,
    generalised_expectation_loss,
    minimum_risk_loss,
)
from deptree_cli.torch.losses.likelihood import negative_log_likelihood, partial_annotation_loss
from deptree_cli.torch.losses.reinforce import reinforce_loss

__all__ = [
    "entropy_regularisation",
    "expected_cost",
    "generalised_expectation_loss",
    "minimum_risk_loss",
    "negative_log_likelihood",
    "partial_annotation_loss",
    "reinforce_loss",
]
