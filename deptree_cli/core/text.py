"""Text from files that is spliced into lines: comments, columns, names of entries."""

from __future__ import annotations

import re

# Controls, separators of lines, halves of surrogate pairs: with them a line would end, or not be UTF-8.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def fits_a_line(text: str) -> bool:
    """Whether text can stand in a line with others without ending it or a column of it."""
    return not _UNFIT.search(text)
