"""What known parsers hold in memory, as people dump it: the register of layouts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import one_of
from deptree_cli.core.register import Register
from deptree_cli.io.scores.layout import CHOICES, Layout

_SUPAR = Layout("dep-head", "first", "log")
_RECTANGLE = Layout("dep-head", "first", "log", rectangle=True)

PRESETS: Register[Layout] = Register(
    "layout",
    (
        replace(known, name=name)
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
    ),
    "deptree.presets",
)


def layout(
    preset: str | None = None, orient: str | None = None, root: str | None = None, scale: str | None = None
) -> Layout:
    """The layout of a preset (or the default one) with single answers overridden.

    Raises:
        DeptreeError: an unknown preset or answer.
    """
    given = {"orient": orient, "root": root, "scale": scale}
    overrides: dict[str, Any] = {name: answer for name, answer in given.items() if answer is not None}
    for name, answer in overrides.items():
        if answer not in CHOICES[name]:
            raise DeptreeError(f"unknown --{name} {answer}", one_of(CHOICES[name]))
    return replace(PRESETS.get(preset) if preset else Layout(), **overrides, given=tuple(overrides))


def answers(read: Layout) -> dict[str, str]:
    """The answers that give this layout again: the preset's name under `from`, and in what it differs from the preset.

    Without a preset the scale is always among them.
    """
    usual = PRESETS.get(read.name) if read.name else replace(Layout(), scale="")
    own = {"from": read.name or None, "orient": read.orient, "root": read.root, "scale": read.scale}
    return {name: answer for name, answer in own.items() if answer and answer != getattr(usual, name, None)}
