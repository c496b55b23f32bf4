"""Docstrings and comments name what there is: files, names of the code, and parts of what they explain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

# A user's file, and what backticks hold that is no name of ours: of Python, of other packages, of CoNLL-U.
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
    """What a file has.

    Attributes:
        names: all names in code, and words of strings that are no docstrings.
        texts: docstrings and comments.
        explained: what has a docstring, with that.
    """

    names: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    explained: list[tuple[Explained, str]] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path) -> Source:
        found, text = cls(set(path.with_suffix("").parts)), path.read_text(encoding="utf-8")
        docstrings = set()
        for node in ast.walk(ast.parse(text)):  # a docstring comes after what it explains
            if isinstance(node, Explained) and (docstring := ast.get_docstring(node, clean=False)):
                found.explained.append((node, docstring))
                docstrings.add(docstring)
            found.names.update(names_of(node, docstrings))
        found.texts = [*docstrings, *re.findall("# .*", text)]
        return found


@cache
def sources() -> dict[str, Source]:
    paths = sorted((ROOT / "deptree_cli").rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): Source.of(path) for path in paths}


def names_of(node: ast.AST, docstrings: set[str]) -> Iterator[str]:
    for name in ("id", "attr", "arg", "name", "asname"):
        if isinstance(value := getattr(node, name, None), str):
            yield from value.split(".")
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings:
        yield from WORD.findall(node.value)


def test_names_in_texts_are_those_of_something() -> None:
    names = set.union(*(each.names for each in sources().values())) | OTHERS
    files = [
        f"/{path.relative_to(ROOT)}" for folder in ("deptree_cli", "docs") for path in (ROOT / folder).rglob("*.*")
    ]
    suffixes = {file[at + 1 :] for file in files for at, letter in enumerate(file) if letter == "/"} | OTHERS
    stale = {
        f"{path}: {name}"
        for path, source in sources().items()
        for text in source.texts
        for quoted in [*FILE.findall(text), *QUOTED.findall(text)]
        for name in ([quoted] if FILE.fullmatch(quoted) else WORD.findall(FILE.sub("", quoted)))
        if name not in (suffixes if FILE.fullmatch(quoted) else names)
    }
    assert stale == set()


def test_docstrings_explain_parameters_and_fields_that_are_there() -> None:
    stale = [
        f"{path}:{node.lineno}: {part}"
        for path, source in sources().items()
        for node, text in source.explained
        if (told := set(parts(node, text)))
        for part in told - {name for each in ast.walk(node) for name in names_of(each, {text})}
    ]
    assert stale == []


def parts(node: Explained, text: str) -> Iterator[str]:
    """The parameters or fields that a docstring explains."""
    if isinstance(node, ast.FunctionDef) and node.args.kwarg is None and "Args:\n" in text:
        yield from ARGUMENT.findall(ast.get_docstring(node).partition("Args:\n")[2].partition("\n\n")[0])
    if isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases):
        yield from (name for each in FIELD.findall(ast.get_docstring(node)) for name in each.split(", "))
