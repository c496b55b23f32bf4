"""What the tests of sentence pairs share: everything that is in their files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deptree_cli.bitext.files import PairLayout, PairRecord, PairSource
from deptree_cli.core.errors import DeptreeError
from tests.io.conftest import says, scratch  # noqa: F401

Read = list[PairRecord | DeptreeError]


@pytest.fixture
def read() -> Callable[..., Read]:
    """Everything in score files: a path, the options of `PairLayout` and the paths of `PairSource`."""

    def everything(
        path: str, symmetric: str | None = None, text: str | None = None, first: int = 1, **layout: object
    ) -> Read:
        return list(PairSource(path, symmetric, text).read(PairLayout(**layout), first))  # type: ignore[arg-type]

    return everything
