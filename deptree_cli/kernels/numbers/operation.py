"""What an operation is: a function of numbers that has a body for each kind of them."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import Any

from deptree_cli.kernels.flags import INTERPRETED

if not INTERPRETED:
    from deptree_cli.kernels.numbers.choices import compile_choice


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
    if not INTERPRETED:
        compile_choice(choice, body, options)
    return choice
