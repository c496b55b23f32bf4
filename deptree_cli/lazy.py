"""Packages that import their public names when these are first used: `deptree --help` must not wait for numba."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: its name.
        homes: name -> the module, within the package, that defines it.
    """

    def import_name(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted(homes)

    return import_name, names


def lazy_modules(package: str) -> Callable[[str], ModuleType]:
    """Return the `__getattr__` of a package whose modules are imported when they are first used."""

    def import_one(name: str) -> ModuleType:
        if find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return import_one
