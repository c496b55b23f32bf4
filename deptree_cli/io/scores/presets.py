"""Layouts by name and as text: what known parsers hold in memory, as people dump it, and single answers."""

from __future__ import annotations

from dataclasses import replace

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean
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


# What each answer answers.
QUESTIONS = {answer: name for name, answers in CHOICES.items() for answer in answers}


def layout(text: str | None = None) -> Layout:
    """The layout that a text tells.

    Args:
        text: the name of a preset, single answers such as ``dep-head,log``, or both: ``supar,weight``.

    Raises:
        DeptreeError: an unknown preset or answer, or two answers to one question.
    """
    words = text.split(",") if text else []
    preset = PRESETS.get(words.pop(0), QUESTIONS) if words and words[0] not in QUESTIONS else Layout()
    said = {QUESTIONS.get(word, ""): word for word in words}
    if "" in said or len(said) < len(words):
        remedy = did_you_mean(said.get("", ""), QUESTIONS, "Name a parser, or answers such as dep-head,first,log")
        raise DeptreeError(f"{text!r} is not a layout", remedy)
    return preset.merged(Layout(said.get("orient"), said.get("root"), said.get("scale")))


def complete(context: object, parameter: object, incomplete: str) -> list[str]:
    """The presets and answers that go on so: click's `shell_complete`."""
    before, comma, last = incomplete.rpartition(",")
    names = QUESTIONS if comma else (*PRESETS.names, *QUESTIONS)
    return [before + comma + each for each in names if each.startswith(last)]


def text_of(read: Layout) -> str:
    """The text that gives this layout again: the preset's name, and the answers that are not the preset's."""
    usual = PRESETS.get(read.name) if read.name else Layout()
    answers = [getattr(read, name) for name in CHOICES if getattr(read, name) != getattr(usual, name)]
    return ",".join(filter(None, [read.name, *answers]))
