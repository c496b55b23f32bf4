"""How messages read: one of a thing in the singular, and the words of whoever reads them, Python's or the command's."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.cli.app import deptree
from deptree_cli.core.errors import DeptreeError, Setting, counted, one_of
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
    *("q words", "heuristic.q words", "self.q target words", "q target words", "there words"),  # p x q
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
# Arcs that every tree needs, and that cross: 1 -> 3 and 4 -> 2.
CROSSED = np.full((5, 5), -np.inf)
CROSSED[[0, 1, 4, 1], [1, 3, 2, 4]] = 0.0

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def texts(file: Path) -> list[str]:
    """All constant texts of a file but for docstrings."""
    parts = [part for string in strings(file) for part in ast.walk(string) if isinstance(part, ast.Constant)]
    return [part.value for part in parts if isinstance(part.value, str)]


def test_the_library_speaks_no_options() -> None:
    assert [(file, text) for file in LIBRARY for text in texts(file) if OPTION.search(text)] == []


def test_what_a_message_tells_to_set_is_an_option_of_some_command() -> None:
    """Every `Setting` of the package, wherever it is written down."""
    options = {opt for name in COMMANDS for each in command(name).params for opt in each.opts}
    calls = [node for file in FILES for node in ast.walk(ast.parse(file.read_text("utf-8"))) if is_setting(node)]
    written = [[ast.literal_eval(each) for each in call.args] for call in calls if constant(call)]
    assert len(written) >= 15
    assert {Setting(*each).as_option.partition(" ")[0] for each in written} <= options


def is_setting(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Setting"


def constant(call: ast.Call) -> bool:
    return all(isinstance(each, ast.Constant) for each in call.args)


BUDGET, ROOTS, LOG = Setting("budget"), Setting("single_root", False, "multi-root"), Setting("scale", "log", "from log")


def test_an_argument_as_an_option() -> None:
    error = DeptreeError("it is wrong", f"Pass {LOG}, {ROOTS} or another {BUDGET}", options=[LOG, ROOTS, BUDGET])
    assert str(error) == 'it is wrong. Pass `scale="log"`, `single_root=False` or another `budget`.'
    assert error.on_command_line == "it is wrong. Pass --from log, --multi-root or another --budget."
    assert pickle.loads(pickle.dumps(error)).on_command_line == error.on_command_line


@pytest.mark.parametrize(
    ("options", "scores", "says"),
    [
        (["weight"], [[0, -1], [0, 0]], "pass --from log."),
        (["log"], [[0, 1, 1], [0, 0, -np.inf], [0, -np.inf, 0]], "(--multi-root)."),
        (["log", "--projective"], CROSSED, "leave out --projective."),
    ],
)
def test_errors_of_the_library_name_options(
    options: list[str], scores: list[list[float]], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The library by itself calls them arguments, in backticks."""
    np.save(tmp_path / "s.npy", scores)
    with pytest.raises(DeptreeError) as caught:
        deptree(
            ["partition", str(tmp_path / "s.npy"), "--from", f"head-dep,{options[0]}", *options[1:]],
            standalone_mode=False,
        )
    assert caught.value.on_command_line.endswith(says)
    assert "`" in str(caught.value)
    assert "`" not in caught.value.on_command_line


@pytest.mark.parametrize(
    ("names", "remedy"),
    [([], ""), (["a"], "Choose a"), (["a", "b"], "Choose one of a, b"), ("abc", "Choose one of a, b, c")],
)
def test_one_of_names(names: str, remedy: str) -> None:
    """No commas without names."""
    assert one_of(names) == remedy
