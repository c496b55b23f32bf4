"""TikZ: an arc is a line, and no word is a command."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from deptree_cli.io.pictures.arcs import OTHER, Arc, Picture
from deptree_cli.io.pictures.svg import escaped, to_tikz

SPECIAL = '\\input{x} $a_1^2$ & 5% #1 ~ <b> |"[c]{'

PICTURE = Picture(
    "%name\nsecond",
    ["a", SPECIAL, "c"],
    [Arc(2, 1, 0.9, "x:y_z"), Arc(0, 2, 1.0), Arc(2, 3, 0.4), Arc(0, 1, 0.1, kind=OTHER), Arc(1, 3, 0.6, kind=OTHER)],
    "caption",
)


def test_every_arc_is_a_line():
    lines = to_tikz(PICTURE).splitlines()
    assert [line for line in lines if line.startswith("\\dep")] == [
        r"\depedge[edge style={opacity=0.900}]{2}{1}{x:y\_z .90}",
        r"\deproot[edge style={opacity=1.000}]{2}{ROOT}",
        r"\depedge[edge style={opacity=0.400}]{2}{3}{.40}",
        r"\deproot[edge below, edge style={opacity=0.100}]{1}{ROOT .10}",
        r"\depedge[edge below, edge style={opacity=0.600}]{1}{3}{.60}",
    ]
    assert sum(line.startswith("%") for line in lines) == 3  # a name with a newline stays a comment


def test_what_tex_takes_for_a_command_is_escaped():
    bare = re.sub(r"\\(text[a-z]+\{\}|[&%$#_{}])", "", escaped(SPECIAL))
    assert not set(bare) & set('\\&%$#_~^<>|"')


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_latex_takes_it(tmp_path):
    if subprocess.run(["kpsewhich", "tikz-dependency.sty", "environ.sty"], capture_output=True, check=False).returncode:
        pytest.skip("tikz-dependency is not installed")
    preamble = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{tikz-dependency}\begin{document}"
    (tmp_path / "x.tex").write_text(f"{preamble}\n{to_tikz(PICTURE)}\\end{{document}}\n", encoding="utf-8")
    ran = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout.decode(errors="replace")[-2000:]
