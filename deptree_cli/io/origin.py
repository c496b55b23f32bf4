"""What score files that deptree wrote say of their own layout: the signature that they carry.

It stands on the first line of JSON Lines, in the comment of an `.npz` and among the metadata of `.safetensors`.
"""

from __future__ import annotations

import json
import zipfile
from contextlib import suppress
from pathlib import Path

from deptree_cli.io.inputs import STDIN, first_bytes
from deptree_cli.io.layout import Layout
from deptree_cli.io.presets import layout

# The commands that write scores; what others write are none.
_WRITERS = ("dump", "convert")


def own_layout(path: str) -> Layout | None:
    """The layout that a file (or standard input, of which nothing is taken away) says it has; None if it says nothing.

    Raises:
        DeptreeError: it has one that this version does not know.
    """
    said = _signature(path).split("|")
    if said[0] != "deptree" or len(said) < 2 or said[1] not in _WRITERS:
        return None
    fields = dict(field.split(":", 1) for field in said[2:] if ":" in field)
    return layout(fields.get("from"), fields.get("orient"), fields.get("rootat"), fields.get("scale"))


def _signature(path: str) -> str:
    """The signature in a file; whatever is wrong with the file is left for its reader to say."""
    head = first_bytes(path)
    found: object = None
    with suppress(Exception):
        if head.startswith(b"{"):
            found = json.loads(head.partition(b"\n")[0]).get("signature")
        elif path != STDIN and Path(path).is_file():
            found = (
                _in_archive(path) if head.startswith(b"PK") else _in_safetensors(path) if head[8:9] == b"{" else None
            )
    return found if isinstance(found, str) else ""


def _in_archive(path: str) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.comment.decode()


def _in_safetensors(path: str) -> str | None:
    from safetensors import safe_open

    with safe_open(path, "numpy") as file:
        metadata: dict[str, str] = file.metadata() or {}
    return metadata.get("signature")
