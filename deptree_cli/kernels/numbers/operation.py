"""What an operation is: a function of numbers that has a body for each kind of them."""

from __future__ import annotations

from functools import partial, singledispatch, wraps
from typing import Any

from deptree_cli.kernels.budget import when_compiled


def operation(body: Any = None, **options: Any) -> Any:
    """Return a function that chooses its body by the kind of its first argument; `body` is the one for float64.

    In Python `functools.singledispatch` chooses, at every call; in compiled code the same bodies are chosen by type
    while numba compiles, so that nothing is left of the choice. Other kinds add theirs with ``@operation.register``,
    under the same names of parameters.

    options: flags for the compiler, such as `forceinline`.
    """
    if body is None:
        return partial(operation, **options)
    choice = singledispatch(body)
    when_compiled(partial(_overload, choice, body, options))
    return choice


def _overload(choice: Any, body: Any, options: dict[str, Any]) -> None:
    """Let compiled code choose too."""
    from numba.extending import overload

    from deptree_cli.kernels.within import WITHIN

    @overload(choice, jit_options=WITHIN | options)
    @wraps(body)
    def body_for(*kinds: Any) -> Any:
        return choice.dispatch(_class_of(kinds[0]))


def _class_of(kind: Any) -> type:
    """The Python class that stands for a numba type."""
    from numba import types

    if hasattr(kind, "instance_class"):  # tuples with names, and vectors
        return kind.instance_class
    if isinstance(kind, types.Float):
        return float
    return tuple if isinstance(kind, types.BaseTuple) else object
