"""Real data, which do not come with the project."""

from __future__ import annotations

import os
from pathlib import Path


class UnavailableError(Exception):
    """What a benchmark needs is not on this machine; the message says what to do."""


def corpus(name: str) -> Path:
    """The folder of a corpus.

    Raises:
        UnavailableError: there is none.
    """
    folder = Path(os.environ.get("DEPTREE_DATA", "../shared/data")) / name
    if not folder.is_dir():
        raise UnavailableError(f"There is no {folder}. Set DEPTREE_DATA to the folder of {name}.")
    return folder
