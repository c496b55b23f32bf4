"""The one sentence that a command is for, whatever it reads: its option, and the choice among all that are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deptree_cli.cli.pipeline import Task
from deptree_cli.cli.sections import option
from deptree_cli.cli.work import Read
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean

# Names of sentences kept to find the one that may have been meant.
MOST_NAMES = 10_000

wanted_option = option(
    "--sentence", "wanted", metavar="ID", help="The sent_id of the sentence, or its number.  [default: the first]"
)


@dataclass(frozen=True)
class ChosenSentence:
    """Chooses the one sentence of that name or else of that running number, or the first one; no other is computed.

    Attributes:
        name: what was asked for, None for the first.
        place: what is read, for messages.
        noun: what a sentence is called.
    """

    name: str | None
    place: str
    noun: str = "sentence"

    def __call__(self, tasks: Iterator[Task[Read] | DeptreeError]) -> Iterator[Task[Read] | DeptreeError]:
        found: Task[Read] | DeptreeError | None = None
        names, sentences = list[str](), 0
        for sentences, task in enumerate(tasks, 1):
            name = task.sent_id if isinstance(task, DeptreeError) else task[0].sent_id
            if self.name in (None, name):
                yield task
                return
            if self.name == str(sentences):
                found = task
            if len(names) < MOST_NAMES:
                names.append(name)
        if found is None:
            raise self._unknown(names, sentences).at(self.place)
        yield found

    def _unknown(self, names: Sequence[str], sentences: int) -> DeptreeError:
        if self.name is None:
            return DeptreeError(f"there are no {self.noun}s to draw", "Check the file")
        remedy = did_you_mean(self.name, names, f"Give a sent_id, or a number from 1 to {sentences}")
        return DeptreeError(f"there is no {self.noun} {self.name!r}", remedy)
