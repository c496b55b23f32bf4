"""How messages read: one of a thing in the singular, and the words of whoever reads them, Python's or the command's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from deptree_cli.cli.report import ARGUMENT, ARGUMENTS, OPTIONS, line_of
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.nearest import one_of
from tests.every_command import COMMANDS, command

PACKAGE = Path(__file__).parents[1] / "deptree_cli"
FILES = sorted(PACKAGE.rglob("*.py"))

COUNTED = (
    *("word", "tree", "sentence", "arc", "sample", "iteration", "line", "pair", "label", "head", "tag", "feature"),
    *("target", "link", "worker", "step", "column", "row", "form", "file", "event", "particle", "digit"),
)

# What is never 1, or said of more than one number, by the source of the last number and what follows it.
NEVER_ONE = {
    *("roots words", "n words", "MOST_WORDS words", "ENUMERATED_N words", "TRIALS sentences"),
    "lost arcs",  # there is a line of its own for 1, or it cannot happen
    *("count trees", "iterations iterations"),  # fewer than 1
    *("q words", "heuristic.q words", "self.q target words", "q target words"),  # p x q
    *("_sizes(lengths) words", "_sizes(words.lengths) words", "_sizes((p, q)) words"),
    *("found.n words", "sentence.n words", "LONGEST words", "most steps"),  # long sentences
    *("side words", "served trees", "own trees"),  # no number: source words, single-root trees
}


def strings(file: Path) -> Iterator[ast.JoinedStr | ast.Constant]:
    """The strings of a file but for docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    docs = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.Constant) and node not in docs:
            yield node


def plurals(file: Path) -> list[str]:
    """Numbers in f-strings that are followed by a plural, which would be wrong of 1."""
    found = []
    for string in (each for each in strings(file) if isinstance(each, ast.JoinedStr)):
        for value, behind in pairwise(string.values):
            if isinstance(value, ast.FormattedValue) and isinstance(behind, ast.Constant):
                noun = re.match(rf" (?:distinct |source |target )?({'|'.join(COUNTED)})s\b", str(behind.value))
                found += [f"{ast.unparse(value.value)} {noun[0].strip()}"] if noun else []
    return found


def test_no_text_names_a_file_of_the_manual() -> None:
    """An installed package has none of them."""
    texts = [(file.name, each.value) for file in FILES for each in strings(file) if isinstance(each, ast.Constant)]
    assert not [each for each in texts if re.search(r"\bdocs/|\w\.md\b", str(each[1]))]


def test_one_of_a_thing_is_singular() -> None:
    """`counted` says ``1 word``."""
    assert not [(file, text) for file in FILES for text in plurals(file) if text not in NEVER_ONE]


@pytest.mark.parametrize("number", [0, 1, 2, -1])
def test_counted(number: int) -> None:
    assert counted(number, "word") == ("1 word" if number == 1 else f"{number} words")


# Whoever uses the library has no command line; `io` is read by the command above all.
LIBRARY = [
    file
    for file in FILES
    if {*file.relative_to(PACKAGE).parts} & {"core", "kernels", "model", "pruning", "torch", "jax", "parser.py"}
]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def texts(file: Path) -> list[str]:
    """All constant texts of a file but for docstrings."""
    parts = [part for string in strings(file) for part in ast.walk(string) if isinstance(part, ast.Constant)]
    return [part.value for part in parts if isinstance(part.value, str)]


def test_the_library_speaks_no_options() -> None:
    assert [(file, text) for file in LIBRARY for text in texts(file) if OPTION.search(text)] == []


@pytest.fixture(scope="module")
def found() -> list[str]:
    """What looks like an argument in a text of the library."""
    return sorted({found[0] for file in LIBRARY for text in texts(file) for found in ARGUMENT.finditer(text)})


def test_what_the_library_calls_an_argument_is_an_option_of_the_command(found: list[str]) -> None:
    options = {opt for name in COMMANDS for each in command(name).params for opt in each.opts}
    for argument in [*found, *(f"`{name}`" for name in ARGUMENTS if name not in ("kind", "single_root"))]:
        line = line_of(DeptreeError("wrong", f"Pass {argument}"))
        assert line.removeprefix("wrong. Pass ").removesuffix(".").partition(" ")[0] in options


def test_there_are_arguments(found: list[str]) -> None:
    assert {"`single_root=False`", "`projective=True`", '`scale="log"`'} <= set(found)
    assert {f"`{argument}`" for argument in OPTIONS} <= set(found)


@pytest.mark.parametrize(
    ("remedy", "line"),
    [
        ("or allow several roots (`single_root=False`)", "or allow several roots (--multi-root)."),
        ('Pass `scale="log"`', "Pass --scale log."),
        ("Train again without `resume`", "Train again without --resume."),
        ("The model was trained with `seed=3`", "The model was trained with --seed 3."),
        ("Name `action` or `word`, not `scale-`", "Name `action` or `word`, not `scale-`."),
    ],
)
def test_an_argument_as_an_option(remedy: str, line: str) -> None:
    assert line_of(DeptreeError("it is wrong", remedy)) == f"it is wrong. {line}"


@pytest.mark.parametrize(
    ("names", "remedy"),
    [([], ""), (["a"], "Choose a"), (["a", "b"], "Choose one of a, b"), ("abc", "Choose one of a, b, c")],
)
def test_one_of_names(names: str, remedy: str) -> None:
    """No commas without names."""
    assert one_of(names) == remedy
