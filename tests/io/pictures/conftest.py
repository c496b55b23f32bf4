"""What the tests of pictures share: arcs and pictures in a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from deptree_cli.io.pictures.arcs import OTHER, TREE, Arc, Picture


@pytest.fixture(scope="session")
def picture() -> Callable[..., Picture]:
    """A picture of forms and heads, all arcs certain but for `others`: (head, dependent, probability)."""

    def draw(
        forms: str, heads: Sequence[int], others: Sequence[tuple[int, int, float]] = (), labels: str = ""
    ) -> Picture:
        lost = {dependent: sum(p for _, other, p in others if other == dependent) for _, dependent, _ in others}
        named = labels.split() or [""] * len(heads)
        arcs = [Arc(head, word, 1 - lost.get(word, 0.0), named[word - 1], TREE) for word, head in enumerate(heads, 1)]
        arcs += [Arc(head, word, p, "", OTHER) for head, word, p in others]
        return Picture("s-1", forms.split(), arcs, "most probable tree, probability 0.5")

    return draw
