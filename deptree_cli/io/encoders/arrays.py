"""Results as arrays, in every container of scores that can be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from deptree_cli.core.dtypes import Array
from deptree_cli.io.encoders.base import Encoder, Page, Write
from deptree_cli.io.scores.containers import CONTAINERS, Container
from deptree_cli.io.scores.meta import Meta


def _arrays(result: Any, _: Any) -> Any:
    return result.arrays()


@contextmanager
def _open(container: Container, path: str | None, page: Page) -> Iterator[Write]:
    assert container.write is not None
    with container.write(path, Meta(page.signature), False) as add:

        def write(arrays: Iterable[tuple[str, Array, str]]) -> None:
            for sent_id, array, beside in arrays:
                add(sent_id, array, **({"beside": beside} if beside else {}))

        yield write


def of_containers(others: bool = False) -> Iterator[Encoder]:
    """Yield an encoder for each container that holds arrays under the names of sentences.

    Args:
        others: also for those of other packages, which are looked for.
    """
    for each in CONTAINERS if others else CONTAINERS.known:
        if each.write and each.holds_arrays:
            yield Encoder(each.name, each.suffixes, _arrays, partial(_open, each))
