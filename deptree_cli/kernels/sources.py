"""Which sources the machine code of a kernel stands on: its file, what that imports, and what types bring along.

Kernels contain code of each other, and numba does not track that. Found by reading sources, without importing any.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

IMPORT = re.compile(r"^[ \t]*from ([\w.]+) import (?:\(([^)]*)\)|([^#\n]*))", re.MULTILINE)
TUPLE = re.compile(r"^class \w+\(NamedTuple\):\n(?:[ \t].*\n|\n)*", re.MULTILINE)


@cache
def digest_of(path: Path) -> str:
    """Return a digest, 16 hexadecimal digits, of everything that the machine code of a file of kernels depends on.

    Beside the file and what it imports these are the fields of all named tuples, for a kernel may be compiled for one
    that it does not import, and the bodies that other files add to the operations it uses: of kinds of numbers, and of
    grammars.
    """
    digest = blake2b(_tuples(), digest_size=8)
    for source in sorted(sources_of(path)):
        digest.update(_text(source).encode())
    return digest.hexdigest()


def sources_of(path: Path) -> set[Path]:
    """Return a file, all that it imports of this package, at once or by way of others, and the bodies of operations."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += _imports(source) | _bodies(source)
    return found


@cache
def _imports(path: Path) -> set[Path]:
    """The files of the modules that a file imports, and of those that it imports something from."""
    names = {
        f"{origin}.{name}" if f"{origin}.{name}" in _modules() else origin
        for origin, in_brackets, in_line in IMPORT.findall(_text(path))
        for name in re.findall(r"\w+", in_brackets or in_line)
    }
    return {_modules()[name] for name in names & _modules().keys()}


@cache
def _bodies(path: Path) -> set[Path]:
    """The files that add bodies to the operations of a file, if it has some: by its name, or `as` they call it."""
    if "\n@operation\n" not in _text(path):
        return set()
    as_module = re.compile(rf"^from [\w.]+ import {path.stem}(?: as (\w+))?$", re.MULTILINE)
    named = {other: as_module.search(_text(other)) for other in _modules().values()}
    return {
        other
        for other, name in named.items()
        if name and re.search(rf"@{name[1] or path.stem}\.\w+\.register\(", _text(other))
    }


@cache
def _modules() -> dict[str, Path]:
    """The files of kernels, the wings' too, by the names of their modules."""
    home = PACKAGE.parent
    paths = sorted(path for folder in PACKAGE.rglob("kernels") for path in folder.rglob("*.py"))
    files = {".".join(path.relative_to(home).with_suffix("").parts): path for path in paths}
    return {name.removesuffix(".__init__"): path for name, path in files.items()}


@cache
def _tuples() -> bytes:
    """The source of all named tuples of kernels."""
    found = [each.rstrip() for path in _modules().values() for each in TUPLE.findall(_text(path))]
    return "\n".join(found).encode()


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
