"""What a picture of a sentence pair shows: how probable every link is, and the links of the best alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.io.pictures.arcs import shown_form


@dataclass(frozen=True, eq=False)
class AlignmentPicture:
    """A sentence pair to be drawn: source words are rows, target words are columns.

    Attributes:
        name: the pair's.
        caption: what is shown, in a line.
        source, target: p and q words as they can be shown.
        probabilities: (p, q), of links.
        targets: (p,), of every source word the target word that it is linked with, -1 for none.
    """

    name: str
    caption: str
    source: Sequence[str]
    target: Sequence[str]
    probabilities: Float
    targets: Heads


def alignment_picture(
    name: str, words: tuple[Sequence[str], Sequence[str]], probabilities: Float, targets: Heads, caption: str
) -> AlignmentPicture:
    """Return the picture of a sentence pair.

    Args:
        words: of the source and of the target sentence; of a sentence without them their numbers are shown, from 0 as
            in links.
        probabilities: (p, q), of links.
        targets: (p,), of every source word the target word that it is linked with, -1 for none.
    """
    source, target = (
        [shown_form(word) for word in side or map(str, range(length))]
        for side, length in zip(words, probabilities.shape, strict=True)
    )
    return AlignmentPicture(shown_form(name), caption, source, target, probabilities, targets)
