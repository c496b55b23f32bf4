"""What the tests of this folder share: draws from memory that holds junk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def over_junk(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], list[Any]]:
    """What an action returns if arrays that are not filled at first hold junk, of two kinds."""
    empty = np.empty

    def both(action: Callable[[], Any]) -> list[Any]:
        found = []
        for junk in (0, 7):

            def filled(*arguments: Any, junk: int = junk, **options: Any) -> np.ndarray:
                array = empty(*arguments, **options)
                array.fill(junk)
                return array

            monkeypatch.setattr(np, "empty", filled)
            found.append(action())
        return found

    return both
