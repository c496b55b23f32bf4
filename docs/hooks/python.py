"""Reference pages of the public Python names, from their docstrings and signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from textwrap import dedent
from types import ModuleType
from typing import Any

MODULES = (
    "deptree_cli",
    "deptree_cli.bitext",
    "deptree_cli.hpyp",
    "deptree_cli.pruning",
    "deptree_cli.torch",
    "deptree_cli.torch.losses",
    "deptree_cli.jax",
)
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):$")
ANNOTATION = re.compile(r"(: |-> )(?:ForwardRef\('([^']*)'\)|'([^']*)')")  # as a string, as ours are
ITEM = re.compile(r"^(\*{0,2}\w[\w, *]*): ")


def pages() -> dict[str, str]:
    """Return the page of every public module, by its place in the site."""
    return {f"reference/python/{name}.md": page(name) for name in MODULES}


def page(name: str) -> str:
    """Return what a module says of itself and its names; if an extra that it needs is missing, this instead."""
    return "\n\n".join(_page(name)) + "\n"


def _page(name: str) -> Iterator[str]:
    yield f"# {name}"
    try:
        module = import_module(name)
    except ImportError as error:
        yield f"This page was built without the module: {error}"
        return
    yield from _text(module)
    for each in module.__all__:
        yield from _name(each, getattr(module, each))


def _name(name: str, value: Any) -> Iterator[str]:
    """A section: the signature, the text, and of a class its methods."""
    if isinstance(value, ModuleType) or name == "__version__":
        return
    yield f"## {name}"
    if inspect.isclass(value):
        yield _signature(name, value)
        yield from _text(value)
        for member, found in _members(value):
            yield from _member(member, found)
    elif callable(value):
        yield _signature(name, value)
        yield from _text(value)
    else:
        names = ", ".join(f"`{each.name}`" for each in value)
        yield f"A register, `{type(value).__name__}`: {names}."


def _members(owner: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that are ours, in alphabetical order."""
    for name, member in sorted(inspect.getmembers_static(owner)):
        function = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
        if not name.startswith("_") and getattr(function, "__module__", "").startswith("deptree_cli"):
            yield name, member


def _member(name: str, member: Any) -> Iterator[str]:
    """A method with its signature, or a property."""
    function = getattr(member, "__func__", member)
    yield f"### {name}"
    if inspect.isfunction(function):
        yield _signature(name, function)
    yield from _text(member)


def _signature(name: str, value: Any) -> str:
    """The signature without `self`; none if Python knows none."""
    try:
        found = inspect.signature(value)
    except ValueError:
        return f"```python\n{name}(...)\n```"
    kept = [each for each in found.parameters.values() if each.name not in ("self", "cls")]
    plain = ANNOTATION.sub(r"\1\2\3", str(found.replace(parameters=kept)))
    return f"```python\n{name}{plain}\n```"


def _text(value: Any) -> Iterator[str]:
    """A docstring as Markdown: sections such as ``Args:`` as lists, doctests as code."""
    for paragraph in (inspect.getdoc(value) or "").split("\n\n"):
        heading, _, rest = paragraph.partition("\n")
        if SECTION.match(heading):
            yield f"*{heading.removesuffix(':')}*"
            yield "\n".join(_items(dedent(rest)))
        elif paragraph.startswith(">>> "):
            yield f"```pycon\n{paragraph}\n```"
        elif paragraph.startswith("    "):
            yield f"```text\n{dedent(paragraph)}\n```"
        else:
            yield paragraph


def _items(text: str) -> Iterator[str]:
    """The items of a section; an item's further lines are part of it."""
    for item in re.split(r"\n(?=\S)", text):
        line = " ".join(item.split())
        named = ITEM.match(line)
        yield f"- `{named[1]}`: {line[named.end() :]}" if named else f"- {line}"
