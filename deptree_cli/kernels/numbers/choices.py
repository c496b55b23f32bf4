"""How numba compiles the choice that an operation makes (`operation.py`)."""

from __future__ import annotations

from functools import wraps
from typing import Any

from numba import types
from numba.extending import overload

from deptree_cli.kernels.within import WITHIN


def compile_choice(choice: Any, body: Any, options: dict[str, Any]) -> None:
    """Have calls of an operation compiled as calls of the body for the type of their first argument."""

    @overload(choice, jit_options=WITHIN | options)
    @wraps(body)
    def body_for(*kinds: Any) -> Any:
        return choice.dispatch(class_of(kinds[0]))


def class_of(kind: Any) -> type:
    """Return the Python class that stands for a numba type where bodies are chosen."""
    if hasattr(kind, "instance_class"):  # tuples with names, and vectors
        return kind.instance_class
    if isinstance(kind, types.Float):
        return float
    return tuple if isinstance(kind, types.BaseTuple) else object
