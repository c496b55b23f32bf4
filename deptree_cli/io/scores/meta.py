"""What a score file says of itself by its signature: how its numbers are to be read, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.layout import CHOICES, Layout, layout, text_of
from deptree_cli.io.signature import parse

if TYPE_CHECKING:
    from deptree_cli.core.spaces import Short, TreeSpace

# The command whose arrays are probabilities of arcs, laid out as the scores that it read.
MARGINALS = "marginals"

# The commands that write scores; all others write results. A mixture of combine has no layout, and is none either.
WRITE_SCORES = ("convert", "dump", "hpyp parse", "combine")

# The order of sentences that nobody knows, which may have been sorted by name.
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Meta:
    """What a score file says of itself: signature and layout, empty and None if it does not.

    `trees`: what the trees are (`TreeSpace.kind`), empty for all of them: the scores mean nothing else. `ordered`: the
    order of the sentences is known.
    """

    signature: str = ""
    layout: Layout | None = None
    trees: str = ""
    ordered: bool = True

    @classmethod
    def of(cls, signature: object) -> Meta:
        """Take what a file has for a signature: of a command that writes scores it tells how they are to be read."""
        from deptree_cli.core.spaces import tree_space

        own = cls(signature) if isinstance(signature, str) else cls()
        fields = parse(own.signature).fields
        if own.command not in WRITE_SCORES or "from" not in fields:
            return own
        if trees := fields.get("trees", ""):
            tree_space(trees, None, None)
        return replace(own, layout=layout(fields["from"]), trees=trees, ordered=fields.get("order") != UNKNOWN)

    @property
    def command(self) -> str:
        """The command that wrote the file, empty if it does not say that one did."""
        signed = parse(self.signature)
        return signed.command if signed.program == "deptree" else ""

    @property
    def are_probabilities(self) -> bool:
        return self.layout is None and self.command == MARGINALS

    def read_with(self, asked: Layout) -> Layout:
        """Return how the file's scores are read: as it says of itself, and where it is silent as the options ask."""
        own = self.layout
        if self.are_probabilities:
            own = layout(parse(self.signature).fields.get("from")).merged(Layout(scale="weight"))
        if own is None:
            self.check_no_results()
            return asked
        for said, other in own.contradictions(asked):
            problem = f"the file says {said}, but {other} was asked for"
            raise DeptreeError(problem, "Remove it: the layout that the file names is used")
        return asked.merged(own)

    def check_of_pairs(self) -> None:
        """Raise if the file holds no scores of sentence pairs: no command writes any."""
        if self.layout is not None:
            raise DeptreeError("the file holds scores of trees", "Name a file of scores of sentence pairs")
        self.check_no_results()

    def check_no_results(self) -> None:
        """Raise if a command wrote the file as its results, which are not scores."""
        if (self.command and self.command not in WRITE_SCORES) or (self.command == "combine" and self.layout is None):
            problem = f"deptree {self.command} wrote this file, and it holds no scores"
            raise DeptreeError(problem, "Name the file of scores that it was made from")

    def options_to_read(self, layout: bool = True) -> list[str]:
        """Return the options for tree space, and for `layout`, that these scores need where these are not kept."""
        from deptree_cli.core.spaces import PROJECTIVE

        own, found = self.layout or Layout(), list[str]()
        if self.trees:
            found.append("--projective" if self.trees == PROJECTIVE.kind else f"--space {self.trees}")
        usual = all(getattr(own, name) in (None, answers[0]) for name, answers in CHOICES.items())
        return [*found, f"--from {text_of(own)}"] if layout and (not usual or own.labels == "first") else found


# Of a file that says nothing.
NOTHING = Meta()


def space_of(own: str, space: TreeSpace | str | None, **short: Unpack[Short]) -> TreeSpace:
    """Return the tree space that is asked for, beside what a file's own `trees` are; errors as of `tree_space`."""
    from deptree_cli.core.spaces import PROJECTIVE, tree_space

    if own == PROJECTIVE.kind:
        return tree_space(space, **short | {"projective": True})
    return tree_space(space or own or None, **short)
