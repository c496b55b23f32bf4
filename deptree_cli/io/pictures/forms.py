"""Word forms as they can be shown: without what breaks a file or a terminal, and how wide they are.

Without the font nobody knows a width, so these are estimates, rather too wide than too narrow.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import accumulate

# Controls (with the escape of terminals), halves of characters, and line and paragraph separators.
_UNSHOWN = {"Cc", "Cs", "Zl", "Zp"}

# Embeddings, overrides and isolates that a form may open and never close; and what XML has no place for.
_REFUSED = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffe\uffff"}

_WITHOUT_WIDTH = {"Mn", "Me", "Cf"}

_LEFT_TO_RIGHT_MARK = "\u200e"

# Widths in em of what differs much from the usual letter.
_USUAL = 0.57
_NARROW = dict.fromkeys("ijlI.,:;!|'`()[]{}-/\\ tfr·’‘“”", 0.38)
_BROAD = dict.fromkeys("mwMWQO@%&—…ЖМШЩЮФжмшщюф", 0.9)
_EMS = {**_NARROW, **_BROAD}
_CAPITAL = 0.7


def shown_form(form: str) -> str:
    """The form without controls and the like, `_` where nothing is left."""
    kept = (char for char in form if unicodedata.category(char) not in _UNSHOWN and char not in _REFUSED)
    return "".join(kept).strip() or "_"


def is_right_to_left(text: str) -> bool:
    """Whether the text has letters of a script that is written from right to left."""
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


@lru_cache(4096)  # a table asks for each of its texts several times
def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(_cells_of(char) for char in text)


def ems(text: str) -> float:
    """How wide the text is in a proportional font, in em."""
    return sum(_ems_of(char) for char in text)


def fitted(text: str, width: int) -> str:
    """The text in exactly `width` columns: filled with blanks, or cut, which an ellipsis says."""
    if cells(text) > width:
        widths = accumulate(map(_cells_of, text))
        text = "".join(char for char, taken in zip(text, widths, strict=True) if taken <= width - 1) + "…"
    return among_others(text) + " " * (width - cells(text))


def among_others(text: str) -> str:
    """The text for a line with more behind it: no neighbour, be it a number, joins a right-to-left word's run."""
    return text + (_LEFT_TO_RIGHT_MARK if is_right_to_left(text) and text[-1] != _LEFT_TO_RIGHT_MARK else "")


def _cells_of(char: str) -> int:
    if unicodedata.category(char) in _WITHOUT_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _ems_of(char: str) -> float:
    columns = _cells_of(char)
    if columns != 1:
        return columns / 2
    return _EMS.get(char, _CAPITAL if char.isupper() else _USUAL)
