"""Objects that never change: made of parts once, whose arrays are read-only, and pickled as these parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from deptree_cli.core.dtypes import read_only

Kind = TypeVar("Kind", bound="Frozen")


class Frozen:
    """An object of parts that are set once, by `_set`; what is worked out of them is kept as a `cached_property`.

    What was worked out goes neither into a copy with other parts nor into a pickle.

    Attributes:
        FIELDS: the names of the parts.
    """

    FIELDS: ClassVar[tuple[str, ...]]

    def _set(self, **parts: Any) -> None:
        frozen = {name: read_only(part) if isinstance(part, np.ndarray) else part for name, part in parts.items()}
        self.__dict__.update(frozen)

    def _with(self, **changed: Any) -> Self:
        """The same with other parts, which are taken as they are."""
        return _made_of(type(self), self._fields | changed)

    @property
    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.FIELDS}

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        return _made_of, (type(self), self._fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} never changes; its methods return new ones")


def _made_of(kind: type[Kind], parts: Mapping[str, Any]) -> Kind:
    """An object of checked parts."""
    found = object.__new__(kind)
    found._set(**parts)
    return found
