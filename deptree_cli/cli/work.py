"""What a command does to the items that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

Result = TypeVar("Result", covariant=True)

# Work on one item, prepared; its random stream is None where the run has no seed, and so nothing is random.
Function = Callable[[Any, Any], Result]


@runtime_checkable
class Work(Protocol[Result]):
    """What is done to items; it travels to worker processes."""

    @property
    def trees(self) -> int:
        """How many trees are drawn of an item."""
        return 0

    @property
    def in_batches(self) -> bool:
        """Whether many items are worked on at once, where they can be."""
        return False

    def one(self, prepared: Any, stream: Any) -> Result:
        """The result of an item. `stream`: its random numbers."""

    def batch(self, prepared: Any, streams: Any) -> Sequence[Any]:
        """The results of the items of a batch, None for what has to be worked on by itself."""
        return ()


@dataclass(frozen=True)
class Alone(Work[Result], Generic[Result]):
    """A function as work: of one item after another."""

    function: Function[Result]

    def one(self, prepared: Any, stream: Any) -> Result:
        """The result of an item."""
        return self.function(prepared, stream)


def as_work(work: Work[Result] | Function[Result]) -> Work[Result]:
    """Work, a plain function too."""
    return work if isinstance(work, Work) else Alone(work)
