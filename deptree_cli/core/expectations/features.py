"""Means and covariances of features of arcs, and the generalised expectation objective (Zmigrod et al. 2021b)."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations.base import FEATURES as FEATURE_ARRAY
from deptree_cli.core.expectations.base import VECTOR, Input, arc_covariance
from deptree_cli.core.scores import real_numbers

FEATURES = Input("features", FEATURE_ARRAY, "Arrays like the scores with one more axis: of features")
TARGET = Input("target", VECTOR, "Expectations to meet, one number per feature")


def expected(distribution: ArcFactored, features: Float) -> Float:
    """The expected sums of arcs' features over a tree.

    (R,), for features (n+1, n+1, R): their T1.
    """
    return np.tensordot(distribution.marginals(), _of_trees(distribution, features), axes=2)


def expected_gradient(distribution: ArcFactored, features: Float) -> Float:
    """Compute the covariance of each arc with each feature's sum, (R, n+1, n+1): O(R n^3)."""
    by_feature = np.moveaxis(_of_trees(distribution, features), 2, 0)
    return np.array([arc_covariance(distribution, values) for values in by_feature])


def covariance(distribution: ArcFactored, features: Float) -> Float:
    """The covariances of the sums of arcs' features over a tree.

    (R, R), by R products with a Hessian (their T2^v): O(R n^3).
    """
    return np.tensordot(expected_gradient(distribution, features), _of_trees(distribution, features), axes=2)


def generalised(distribution: ArcFactored, features: Float, target: Float) -> float:
    """The generalised expectation objective: minus half the squared distance of the features' means from a target."""
    distance = _distance(distribution, features, target)
    return -0.5 * float(distance @ distance)


def generalised_gradient(distribution: ArcFactored, features: Float, target: Float) -> Float:
    """Compute minus the covariance of each arc with distance . features: O(n^3), for it is one direction, not R."""
    distance = _distance(distribution, features, target)
    return -arc_covariance(distribution, _of_trees(distribution, features) @ distance)


def _of_trees(distribution: ArcFactored, features: Float) -> Float:
    """The features (n+1, n+1, R) with 0 for arcs that no tree has, whatever stands there.

    Raises:
        DeptreeError: one of an arc that some tree has is not finite.
    """
    values = np.where(distribution.support[..., None], real_numbers(features, "features"), 0.0)
    return _finite(values, "a feature of an arc that some tree has")


def _finite(values: Float, what: str) -> Float:
    if not np.isfinite(values).all():
        raise DeptreeError(f"{what} is not a finite number", "Give finite ones")
    return values


def _distance(distribution: ArcFactored, features: Float, target: Float) -> Float:
    """What means of features exceed their targets by, (R,)."""
    return expected(distribution, features) - _finite(real_numbers(target, "targets"), "a target")
