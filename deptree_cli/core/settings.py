"""What messages tell users to set: by an argument in Python, by an option on the command line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """An argument that a message names; its text is how Python writes it.

    Attributes:
        value: the one to pass; None where the message is about the argument as such.
        option: what the command line has in its place, if that is called otherwise.
    """

    argument: str
    value: object = None
    option: str = ""

    def __str__(self) -> str:
        value = f'"{self.value}"' if isinstance(self.value, str) else self.value
        return f"`{self.argument}`" if self.value is None else f"`{self.argument}={value}`"

    @property
    def as_option(self) -> str:
        """How the command line writes it."""
        value = "" if self.value in (None, True) else f" {self.value}"
        return f"--{self.option or self.argument.replace('_', '-') + value}"


# Those of which several modules speak.
BUDGET = Setting("budget")
ITERATIONS = Setting("iterations")
LOG_SCALE = Setting("scale", "log", "from log")
PROJECTIVE = Setting("projective", True)
RELAX = Setting("relax", True)
RESUME = Setting("resume")
SEVERAL_ROOTS = Setting("single_root", False, "multi-root")
STATES = Setting("states")
TEMPERATURE = Setting("temperature")
UNLABELLED = Setting("unlabelled")
