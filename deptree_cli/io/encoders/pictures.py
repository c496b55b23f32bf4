"""Results that have a `picture` of arcs, in SVG, TeX and text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from deptree_cli.io.encoders.base import Encoder, Page, Write
from deptree_cli.io.files.output import Output
from deptree_cli.io.files.streams import screen_of
from deptree_cli.io.pictures.text import to_text


def _picture(result: Any, _: Any) -> Any:
    return result.picture


@contextmanager
def _drawing(draw: str, path: str | None, page: Page) -> Iterator[Write]:
    from deptree_cli.io.pictures import svg  # what text does not need

    with Output(path) as out:
        yield lambda picture: out.write(getattr(svg, draw)(picture, page.signature).encode())


def as_text(draw: Callable[[Any, int, bool], str]) -> Encoder:
    """Return the format of pictures that are drawn as text, this many columns wide, coloured or not."""

    @contextmanager
    def opened(path: str | None, page: Page) -> Iterator[Write]:
        with Output(path) as out:
            yield lambda picture: out.write(draw(picture, *screen_of(path)).encode())

    return Encoder("text", (".txt",), _picture, opened, for_people=True)


TEXT = as_text(to_text)
SVG = Encoder("svg", (".svg",), _picture, partial(_drawing, "to_svg"))
TEX = Encoder("tex", (".tex",), _picture, partial(_drawing, "to_tikz"))

PICTURES = (TEXT, SVG, TEX)
