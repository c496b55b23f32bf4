"""Options of repairing trees, as one object: what trees should be, what changes cost, and where ties go."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import click

from deptree_cli.cli.companion_scores import NAMES, companion, companion_options
from deptree_cli.cli.layout_options import asked_space, signature_of
from deptree_cli.cli.params import INPUT, FloatRange
from deptree_cli.cli.rule_options import rule_option, search_options
from deptree_cli.cli.score_options import LABEL_SCORES, ScoreOptions
from deptree_cli.cli.sections import bound, option, reading_option
from deptree_cli.core.constraints.branch_and_bound import BUDGET
from deptree_cli.core.repair.given import ONE_EACH, Costs
from deptree_cli.core.spaces import TreeSpace

if TYPE_CHECKING:
    from deptree_cli.io.rules.constraints import Constraints

# Which trees are meant: with or without scores.
_SPACE = ("space", "multi_root", "projective")

_MOST = 1000


@dataclass(frozen=True)
class RepairOptions:
    """What the options say.

    Attributes:
        rules: what trees must obey.
        space: of which they must be.
        scores: where ties go; None: to the habits of a treebank, as labels do that they do not tell.
        like: the file of that treebank; None: the input's own sentences without mistakes.
        costs: of another head, and of another label.
        worth: how many nats a change must gain for each unit of its cost.
        budget: how many best trees the search for a tree may compute.
        relax: whether rules are given up if no tree obeys.
    """

    rules: Constraints
    space: TreeSpace
    scores: ScoreOptions | None
    like: str | None
    costs: Costs
    worth: float
    budget: int
    relax: bool

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        own: dict[str, object] = {
            **signature_of(self.space),
            "rules": self.rules.name,
        }
        scores = {"scores": self.scores.name, **self.scores.signature_fields} if self.scores else {}
        return {
            **scores,
            **own,
            "like": self.like,
            "cost": None if self.costs == ONE_EACH else "{}-{}".format(*self.costs),
            "worth": None if self.worth == inf else self.worth,
            "budget": None if self.budget == BUDGET else self.budget,
            "relax": "yes" if self.relax else None,
        }


def _costs(context: click.Context, parameter: click.Parameter, text: str) -> Costs:
    """``HEAD:LABEL`` as two numbers."""
    match = re.fullmatch(r"([1-9]\d*):([1-9]\d*)", text)
    if not match or max(map(int, match.groups())) > _MOST:
        raise click.BadParameter(f"{text!r} is not HEAD:LABEL, two numbers from 1 to {_MOST} such as 3:1.")
    return Costs(int(match[1]), int(match[2]))


_OPTIONS = [
    rule_option("Rules that trees must obey", ["ud"]),
    option(
        "--cost",
        default="1:1",
        metavar="HEAD:LABEL",
        callback=_costs,
        help="Costs of changing a head, and of changing a label; both cost HEAD + LABEL.  [default: 1:1]",
    ),
    option(
        "--worth",
        type=FloatRange(0),
        default=inf,
        metavar="NATS",
        help="Also make changes that gain more than NATS per unit of cost; 0: the best tree.  [default: inf]",
    ),
    search_options,
    reading_option(
        "--like", type=INPUT, often=True, help="A treebank from which to learn how words attach.  [default: TREES]"
    ),
    *companion_options("Arc scores, to choose among equally near trees."),
    LABEL_SCORES,
]


def _repair(
    *,
    rules: Constraints,
    cost: Costs,
    worth: float,
    budget: int,
    relax: bool,
    like: str | None,
    scores: str | None,
    **how: Any,
) -> RepairOptions:
    found = companion(scores=scores, also=_SPACE, **how)
    if like is not None and found is not None and found.how.labels is not None:
        raise click.UsageError("--like cannot be combined with --scores, which rank heads and labels. Remove one.")
    space = found.how.space if found else asked_space(*(how[name] for name in _SPACE))
    return RepairOptions(rules, space, found, like, cost, worth, budget, relax)


# Gives a command all of them, as one `how: RepairOptions`.
repair_options = bound(
    "how", _OPTIONS, _repair, ("rules", "cost", "worth", "budget", "relax", "like", "label_scores", *NAMES)
)
