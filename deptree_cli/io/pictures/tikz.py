r"""A picture as TikZ for papers: an environment of the LaTeX package tikz-dependency, to be `\input`.

The tree's arcs stand above the words, others below, each as opaque as it is probable.
"""

from __future__ import annotations

from deptree_cli.io.pictures.arcs import TREE, Arc, Picture
from deptree_cli.io.pictures.forms import shown_form

_ESCAPES = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",
    "]": "{]}",
}


def to_tikz(picture: Picture, signature: str = "") -> str:
    r"""Return the environment; its preamble needs ``\usepackage{tikz-dependency}``, and fontenc T1 for quotes."""
    words = r" \& ".join(map(escaped, picture.forms))
    return "\n".join(
        [
            *(f"% {shown_form(line)}" for line in (picture.name, picture.full_caption, signature) if line),
            r"% In the preamble: \usepackage[T1]{fontenc} \usepackage{tikz-dependency}",
            r"\begin{dependency}",
            r"\begin{deptext}[column sep=1em]",
            rf"{words} \\",
            r"\end{deptext}",
            *map(_arc, picture.arcs),
            r"\end{dependency}",
            "",
        ]
    )


def escaped(text: str) -> str:
    r"""The text as TeX shows it; no character is a command.

    >>> print(escaped("50 % & a_b"))
    50 \% \& a\_b
    """
    return "".join(_ESCAPES.get(character, character) for character in shown_form(text))


def _arc(arc: Arc) -> str:
    below = "" if arc.kind == TREE else "edge below, "
    options = f"{below}edge style={{opacity={arc.weight:.3f}}}"
    label = f"{{{escaped(arc.tag)}}}" if arc.tag else "{}"
    if not arc.head:
        return rf"\deproot[{options}]{{{arc.dependent}}}{label}"
    return rf"\depedge[{options}]{{{arc.head}}}{{{arc.dependent}}}{label}"
