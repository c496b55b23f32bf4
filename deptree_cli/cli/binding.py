"""Options that a command receives as one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

from deptree_cli.cli.sections import Decorator, apply


def bound(
    name: str, options: Sequence[Decorator[Any]], build: Callable[..., Any], taken: Sequence[str] = ()
) -> Decorator[Any]:
    """Return what gives a command these options; their values reach it as the one object that `build` makes of them.

    Args:
        name: of the command's parameter for that object.
        build: takes the options by their names; those with a default may be missing from a command.
        taken: the names of these options, where the parameters of `build` do not tell.
    """
    names = taken or tuple(signature(build).parameters)

    def decorate(function: Callable[..., Any]) -> Any:
        @wraps(function)
        def with_object(**given: Any) -> Any:
            own = {each: given.pop(each) for each in names if each in given}
            return function(**{name: build(**own)}, **given)

        return apply(options, with_object)

    return decorate
