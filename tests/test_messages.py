"""How messages, docstrings and comments read: singulars, options or arguments, and names of what there is."""

from __future__ import annotations

import ast
import pickle
import re
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError, Setting, counted, one_of
from tests.every_command import COMMANDS, command
from tests.house import FILES, PACKAGE, PROJECT, tree_of

PATHS = list(FILES.values())

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


@cache
def strings(path):
    """The strings of a file but for docstrings."""
    docs = {node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Expr)}
    return [
        each for each in ast.walk(tree_of(path)) if isinstance(each, ast.JoinedStr | ast.Constant) and each not in docs
    ]


def texts(path):
    return [each.value for each in strings(path) if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def plurals(path):
    """Numbers in f-strings that are followed by a plural, which would be wrong of 1."""
    for string in (each for each in strings(path) if isinstance(each, ast.JoinedStr)):
        for value, behind in pairwise(string.values):
            if isinstance(value, ast.FormattedValue) and isinstance(behind, ast.Constant):
                noun = re.match(rf" (?:distinct |source |target )?({'|'.join(COUNTED)})s\b", str(behind.value))
                if noun:
                    yield f"{ast.unparse(value.value)} {noun[0].strip()}"


def test_one_of_a_thing_is_singular():
    """`counted` says ``1 word``."""
    assert not [(path, text) for path in PATHS for text in plurals(path) if text not in NEVER_ONE]
    assert [counted(number, "word") for number in (0, 1, 2, -1)] == ["0 words", "1 word", "2 words", "-1 words"]


def test_no_text_names_a_file_of_the_manual():
    """An installed package has none of them."""
    assert not [(path, text) for path in PATHS for text in texts(path) if re.search(r"\bdocs/|\w\.md\b", text)]


def test_the_library_speaks_no_options():
    """Whoever uses it has no command line; `io` is read by the command above all."""
    rooms = {"core", "kernels", "model", "pruning", "torch", "jax", "parser.py"}
    library = [path for path in PATHS if {*path.relative_to(PACKAGE).parts} & rooms]
    option = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    assert [(path, text) for path in library for text in texts(path) if option.search(text)] == []


def test_what_a_message_tells_to_set_is_an_option_of_some_command():
    """Every `Setting` of the package, wherever it is written down."""
    options = {opt for name in COMMANDS for each in command(name).params for opt in each.opts}
    calls = [node for path in PATHS for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    settings = [call for call in calls if getattr(call.func, "id", "") == "Setting"]
    written = [
        [each.value for each in call.args]
        for call in settings
        if all(isinstance(each, ast.Constant) for each in call.args)
    ]
    assert len(written) >= 15
    assert {Setting(*each).as_option.partition(" ")[0] for each in written} <= options


def test_an_argument_as_an_option():
    settings = Setting("scale", "log", "from log"), Setting("single_root", False, "multi-root"), Setting("budget")
    log, roots, budget = settings
    error = DeptreeError("it is wrong", f"Pass {log}, {roots} or another {budget}", options=settings)
    assert str(error) == 'it is wrong. Pass `scale="log"`, `single_root=False` or another `budget`.'
    assert error.on_command_line == "it is wrong. Pass --from log, --multi-root or another --budget."
    assert pickle.loads(pickle.dumps(error)).on_command_line == error.on_command_line


# Arcs that every tree needs, and that cross: 1 -> 3 and 4 -> 2.
CROSSED = np.full((5, 5), -np.inf)
CROSSED[[0, 1, 4, 1], [1, 3, 2, 4]] = 0.0


@pytest.mark.parametrize(
    ("options", "scores", "says"),
    [
        ("weight", [[0, -1], [0, 0]], "pass --from log.\n"),
        ("log", [[0, 1, 1], [0, 0, -np.inf], [0, -np.inf, 0]], "(--multi-root).\n"),
        ("log --projective", CROSSED, "leave out --projective.\n"),
    ],
)
def test_errors_of_the_library_name_options(options, scores, says, refused, put):
    """The library by itself calls them arguments, in backticks."""
    put("s.npy", np.array(scores))
    said = refused(f"partition s.npy --from head-dep,{options}").err
    assert said.endswith(says)
    assert "`" not in said


def test_one_of_names():
    """No commas without names."""
    said = ["", "Choose a", "Choose one of a, b", "Choose one of a, b, c"]
    assert [one_of(names) for names in ([], ["a"], ["a", "b"], "abc")] == said


# Docstrings and comments. A user's file, and what backticks hold that is not a name of ours: of Python, of other
# packages, of CoNLL-U.
OTHERS = {"del", "finally", "python", "benchmarks", "Key", "functools", "slovnet", "Language", "topk"}
OTHERS |= {"kl_divergence", "manual_seed", "cat"}

WORD = re.compile(r"[A-Za-z_]\w*")
FILE = re.compile(r"[\w/.-]*\w\.(?:py|toml|json|js|md)\b")
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FIELD = re.compile(r"(?:^|[.;] |\n)([a-z_]+(?:, [a-z_]+)*):\s")
ARGUMENT = re.compile(r"^    (\w+): ", re.MULTILINE)
Explained = ast.Module | ast.ClassDef | ast.FunctionDef


@dataclass
class Source:
    """Names in the code of a file and words of its strings, its docstrings and comments, and what has a docstring."""

    names: set = field(default_factory=set)
    texts: list = field(default_factory=list)
    explained: list = field(default_factory=list)

    @classmethod
    def of(cls, path):
        found, docstrings = cls(set(path.relative_to(PROJECT).with_suffix("").parts)), set()
        for node in ast.walk(tree_of(path)):  # a docstring comes after what it explains
            if isinstance(node, Explained) and (docstring := ast.get_docstring(node, clean=False)):
                found.explained.append((node, docstring))
                docstrings.add(docstring)
            found.names.update(names_of(node, docstrings))
        found.texts = [*docstrings, *re.findall("# .*", path.read_text(encoding="utf-8"))]
        return found


def names_of(node, docstrings):
    for name in ("id", "attr", "arg", "name", "asname"):
        if isinstance(value := getattr(node, name, None), str):
            yield from value.split(".")
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings:
        yield from WORD.findall(node.value)


SOURCES = {path.relative_to(PROJECT).as_posix(): Source.of(path) for path in PATHS}


def test_names_in_docstrings_and_comments_are_those_of_something():
    names = set.union(*(each.names for each in SOURCES.values())) | OTHERS
    files = [f"/{path.relative_to(PROJECT)}" for room in (PACKAGE, PROJECT / "docs") for path in room.rglob("*.*")]
    suffixes = {file[at + 1 :] for file in files for at, letter in enumerate(file) if letter == "/"} | OTHERS
    stale = {
        f"{path}: {name}"
        for path, source in SOURCES.items()
        for text in source.texts
        for quoted in [*FILE.findall(text), *QUOTED.findall(text)]
        for name in ([quoted] if FILE.fullmatch(quoted) else WORD.findall(FILE.sub("", quoted)))
        if name not in (suffixes if FILE.fullmatch(quoted) else names)
    }
    assert stale == set()


def test_docstrings_explain_parameters_and_fields_that_are_there():
    stale = [
        f"{path}:{node.lineno}: {part}"
        for path, source in SOURCES.items()
        for node, text in source.explained
        if (explained := set(parts(node, text)))
        for part in explained - {name for each in ast.walk(node) for name in names_of(each, {text})}
    ]
    assert stale == []


def parts(node, text):
    """The parameters or fields that a docstring explains."""
    if isinstance(node, ast.FunctionDef) and node.args.kwarg is None and "Args:\n" in text:
        yield from ARGUMENT.findall(ast.get_docstring(node).partition("Args:\n")[2].partition("\n\n")[0])
    if isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases):
        yield from (name for each in FIELD.findall(ast.get_docstring(node)) for name in each.split(", "))
