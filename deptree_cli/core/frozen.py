"""Objects that never change: what they are made of is checked once, what follows from it is worked out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from deptree_cli.core.dtypes import read_only


class Frozen:
    """An object made of checked parts, its attributes, of which arrays are read-only.

    Attributes:
        MADE_OF: the parts' names. Only these travel to where it is unpickled, and to objects made of it.
    """

    MADE_OF: ClassVar[tuple[str, ...]]

    def _set(self, *parts: Any) -> None:
        """Take the parts, in the order of `MADE_OF`."""
        frozen = (read_only(part) if isinstance(part, np.ndarray) else part for part in parts)
        self.__dict__.update(zip(self.MADE_OF, frozen, strict=True))

    def _with(self, **changed: Any) -> Self:
        """Another object of the same parts but for some; nothing that was worked out goes along."""
        twin = object.__new__(type(self))
        twin._set(*(changed.get(name, getattr(self, name)) for name in self.MADE_OF))
        return twin

    def __reduce__(self) -> tuple[Callable[..., Frozen], tuple[object, ...]]:
        """What it was made of travels; what was worked out is worked out again where it arrives."""
        return _put_together, (type(self), *(getattr(self, name) for name in self.MADE_OF))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the {type(self).__name__} never changes; make another one")


def _put_together(kind: type[Frozen], *parts: Any) -> Frozen:
    found = object.__new__(kind)
    found._set(*parts)
    return found
