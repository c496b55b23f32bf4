"""Results as arrays or as scores, in every container of scores that can be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.encoders.base import Encoder, Page, Write, by_method
from deptree_cli.io.scores import containers
from deptree_cli.io.scores.arrays import NO_EXTRAS, Extras
from deptree_cli.io.scores.containers import Container
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.sentence import Warn

# What is to be known of scores beside what their signature says: the user asked for their layout, and can tell it to a
# reader.
LAYOUT_ASKED = "layout asked"


class SentenceScores(NamedTuple):
    """A sentence's scores as they are written, and what else is known of it."""

    sent_id: str
    array: Array
    extras: Extras = NO_EXTRAS

    def scores(self) -> SentenceScores:
        return self


def tell_left_out(encoder: Encoder, warn: Warn) -> None:
    """Tell that a format has no place for what is known of sentences beside their scores of arcs."""
    if not containers.CONTAINERS.get(encoder.name).keeps_extras:
        warn("extras", f"{encoder.suffixes[0]} holds no sentences and no labels: .npz and .jsonl do")


def written(others: bool = False) -> Iterator[Container]:
    """Yield the containers that are written; `others`: those of other packages too, which are looked for."""
    yield from (each for each in (containers.CONTAINERS if others else containers.CONTAINERS.known) if each.write)


def of_arrays(others: bool = False) -> Iterator[Encoder]:
    """Yield an encoder for each container that holds arrays under the names of sentences."""
    encode = partial(by_method, "arrays")
    for each in written(others):
        if each.holds_arrays:
            yield Encoder(each.name, each.suffixes, encode, partial(_open_arrays, each), header=False)


def of_scores(others: bool = False) -> Iterator[Encoder]:
    """Yield an encoder of scores for each container, text first."""
    encode = partial(by_method, "scores")
    for each in sorted(written(others), key=lambda each: each.holds_arrays):
        header = each.keeps_meta(True) != each.keeps_meta(False)
        yield Encoder(each.name, each.suffixes, encode, partial(_open_scores, each), header=header)


@contextmanager
def _open_arrays(container: Container, path: str | None, page: Page) -> Iterator[Write]:
    assert container.write is not None
    with container.write(path, Meta(page.signature), False) as add:

        def write(arrays: Iterable[tuple[str, Array, str]]) -> None:
            for sent_id, array, beside in arrays:
                add(sent_id, array, beside=beside) if beside else add(sent_id, array)

        yield write


@contextmanager
def _open_scores(container: Container, path: str | None, page: Page) -> Iterator[Write]:
    """Raise if a reader would take the scores for others, or could not tell the sentences apart."""
    assert container.write is not None
    header, meta = page.header is not False, Meta.of(page.signature)
    if not container.named and not meta.ordered:
        problem = "the order of the sentences is not known, and the output keeps no names"
        remedy = "Choose another container, or give the sentences with --conllu FILE"
        raise DeptreeError(problem, remedy, place=path or "")
    bare = container.keeps_meta(True)  # then the user left out the header, and so knows that it is not there
    needed = meta.options_to_read(layout=not (page.about is LAYOUT_ASKED or bare))
    if needed and not container.keeps_meta(header):
        what = container.suffixes[0] + " without its header" * bare
        problem = f"a {what} cannot store that these scores are read with {' '.join(needed)}"
        keeping = [each.suffixes[0] for each in written(others=True) if each.keeps_meta(True)]
        remedy = "Leave out --no-header" if bare else f"Write {', '.join(keeping[:-1])} or {keeping[-1]}"
        raise DeptreeError(problem, remedy, place=path or "")
    with container.write(path, meta, header) as add:
        yield lambda scores: add(*scores)
