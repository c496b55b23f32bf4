"""Which names of labels mean something of their own, for whoever knows labels by name alone."""

from __future__ import annotations

import re

ROOT = "root"

# <pad>, [PAD], @@PADDING@@, an underscore, nothing
_SPECIAL = re.compile(r"<.*>|\[.*\]|@@.*@@|_?")


def is_special(name: str) -> bool:
    return _SPECIAL.fullmatch(name) is not None


def is_root(name: str) -> bool:
    return name.lower() == ROOT
