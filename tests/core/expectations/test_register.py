"""The register of quantities: complete entries, and what help texts and options are made of; laws are in tests/laws."""

from __future__ import annotations

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import QUANTITIES, Quantity
from deptree_cli.core.expectations.base import DISTRIBUTION, FEATURES, HEADS, NUMBER, VECTOR, unique_inputs

EACH = pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.name)


@EACH
def test_entries_are_complete(quantity: Quantity) -> None:
    assert quantity.summary.endswith(".")
    assert all(each.kind in (NUMBER, DISTRIBUTION, HEADS, FEATURES, VECTOR) for each in quantity.inputs)
    assert all(each.name and each.help for each in quantity.inputs)
    assert quantity.gradient_other is None or DISTRIBUTION in [each.kind for each in quantity.inputs]


def test_names_are_unique_and_found() -> None:
    assert len(set(QUANTITIES.names)) == len(QUANTITIES)
    assert QUANTITIES.get("entropy").name == "entropy"
    with pytest.raises(DeptreeError, match=r"there is no quantity 'entropi'\. Did you mean entropy\?"):
        QUANTITIES.get("entropi")


def test_each_input_is_one_option_whatever_quantities_share_it() -> None:
    found = unique_inputs(QUANTITIES)
    assert len({each.name for each in found}) == len(found)
    assert [each.name for each in found] == ["order", "other", "gold", "features", "target"]
