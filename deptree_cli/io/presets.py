"""What known parsers hold in memory, as people dump it: layouts by name."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.layout import CHOICES, Layout

_SUPAR = Layout("dep-head", "first", "log")
_RECTANGLE = Layout("dep-head", "first", "log", rectangle=True)

PRESETS = {
    name: replace(known, preset=name, asked=f"--from {name} reads {known.orient}")
    for name, known in {
        "supar": _SUPAR,
        "diaparser": _SUPAR,
        "hanlp": _SUPAR,
        "supar-probs": Layout("dep-head", "first", "weight", rectangle=True),
        "stanza": Layout("dep-head", "first", "log"),
        "trankit": Layout("dep-head", "first", "log"),
        "udpipe2": _RECTANGLE,
        "natasha": _RECTANGLE,
        "allennlp": Layout("head-dep", "first", "weight", labels="first"),
        "spacy": Layout("dep-head", "diagonal", "log"),
        "torch-struct": Layout("head-dep", "diagonal", "log"),
        "synjax": Layout("head-dep", "first", "log"),
        "treesample": Layout("head-dep", "first", "weight"),
    }.items()
}


def layout(
    preset: str | None = None, orient: str | None = None, root: str | None = None, scale: str | None = None
) -> Layout:
    """The layout of a preset (or the default one) with single answers overridden.

    Raises:
        DeptreeError: an unknown preset or answer.
    """
    if preset is not None and preset not in PRESETS:
        near = difflib.get_close_matches(preset, PRESETS, 1)
        remedy = f"Did you mean {near[0]}?" if near else f"Choose one of {', '.join(PRESETS)}"
        raise DeptreeError(f"unknown preset --from {preset}", remedy)
    overrides: dict[str, Any] = {
        name: said for name, said in (("orient", orient), ("root", root), ("scale", scale)) if said is not None
    }
    for name, said in overrides.items():
        if said not in CHOICES[name]:
            raise DeptreeError(f"unknown --{name} {said}", f"Choose one of {', '.join(CHOICES[name])}")
    read = replace(PRESETS[preset] if preset else Layout(), **overrides)
    return replace(read, asked="") if orient else read
