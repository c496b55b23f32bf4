"""The register of quantities: complete entries, and what help texts and options are made of; laws are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import DISTRIBUTION, FEATURES, HEADS, NUMBER, VECTOR, OfDistribution, unique_inputs
from deptree_cli.core.quantities import EXPECTED

EACH = pytest.mark.parametrize("quantity", EXPECTED, ids=lambda quantity: quantity.name)


@EACH
def test_entries_are_complete(quantity: OfDistribution) -> None:
    assert quantity.summary.endswith(".")
    assert all(each.kind in (NUMBER, DISTRIBUTION, HEADS, FEATURES, VECTOR) for each in quantity.inputs)
    assert all(each.name and each.help for each in quantity.inputs)
    assert quantity.gradient_other is None or DISTRIBUTION in [each.kind for each in quantity.inputs]


def test_each_input_is_one_option_whatever_quantities_share_it() -> None:
    found = unique_inputs(EXPECTED)
    assert len({each.name for each in found}) == len(found)
    assert [each.name for each in found] == ["order", "other", "gold", "features", "target"]


OF_FEATURES = [each for each in EXPECTED if FEATURES in [needed.kind for needed in each.inputs]]


def functions_of_features(distribution: TreeDistribution, features: Float) -> list[Float]:
    """The values and gradients of all quantities that features are given for."""
    by_kind = {FEATURES: features, VECTOR: np.ones(2)}
    return [
        function(distribution, *(by_kind[each.kind] for each in quantity.inputs))
        for quantity in OF_FEATURES
        for function in filter(None, (quantity.value, quantity.gradient))
    ]


@pytest.mark.parametrize("unused", [np.nan, -np.inf, np.inf])
def test_features_of_arcs_that_no_tree_has_do_not_count(graphs, unused: float) -> None:
    """Forbidden ones, loops, arcs to ROOT, and an allowed arc that no tree has: 3 is the head of 2."""
    scores = graphs.gaussian(4)
    scores[:, 3], scores[2, 3] = -np.inf, 0.0
    distribution = graphs.distribution(scores)
    features = np.random.default_rng(1).normal(size=(5, 5, 2))
    expected = functions_of_features(distribution, np.where(distribution.support[..., None], features, 0.0))
    features[~distribution.support] = unused
    assert len(expected) == 5
    for found, wanted in zip(functions_of_features(distribution, features), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("value", [np.nan, -np.inf, np.inf])
def test_features_of_arcs_that_trees_have_are_finite(graphs, value: float) -> None:
    distribution, features = graphs.distribution(graphs.gaussian(4)), np.ones((5, 5, 2))
    features[1, 2, 0] = value
    for quantity in OF_FEATURES:
        for function in filter(None, (quantity.value, quantity.gradient)):
            with pytest.raises(DeptreeError, match="a feature of an arc that some tree has is not a finite number"):
                function(distribution, features, *[np.ones(2)] * (len(quantity.inputs) - 1))
    with pytest.raises(DeptreeError, match="a target is not a finite number"):
        EXPECTED.get("ge").value(distribution, np.ones((5, 5, 2)), np.array([0.0, value]))
