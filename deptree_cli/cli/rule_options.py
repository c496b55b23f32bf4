"""Options that say what trees must obey, and what of it has no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.params import NAME_OR_INPUT
from deptree_cli.cli.ranges import IntRange
from deptree_cli.cli.sections import Decorator, apply, option, reading_option
from deptree_cli.core.constraints.branch_and_bound import BUDGET
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.rules.constraints import Constraints

# Instead of a file.
MISC = "misc"
SHOW = "show"


@dataclass(frozen=True)
class RuleOptions:
    """What the options say.

    Attributes:
        rules: a name or a file.
        constraints: `MISC` or a file.
        spans: the same.
    """

    rules: str | None = None
    constraints: str | None = None
    spans: str | None = None

    @property
    def in_sentences(self) -> str:
        """The first option that asks for what stands in the sentences, with its value; nothing if none does."""
        given = (("--constraints", self.constraints), ("--spans", self.spans))
        return next((f"{option} {MISC}" for option, value in given if value == MISC), "")

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of this a run must repeat to give the same result."""
        from deptree_cli.io.rules.reading import read_rules  # few runs have rules

        name = read_rules(self.rules).name if self.rules else None
        return {"rules": name, "constraints": self.constraints, "spans": self.spans}

    def read(self) -> Constraints | None:
        """The same, read; None where nothing is asked."""
        if not (self.rules or self.constraints or self.spans):
            return None
        from deptree_cli.io.rules.constraints import read_constraints  # few runs have rules

        return read_constraints(self.rules, self.constraints, self.spans)


NO_RULES = RuleOptions()

_SEARCH = [
    option(
        "--budget",
        type=IntRange(1),
        default=BUDGET,
        often=False,
        metavar="N",
        help=f"Best trees that the search for a tree may compute under rules.  [default: {BUDGET}]",
    ),
    option(
        "--relax",
        is_flag=True,
        often=False,
        help="If no tree obeys, give up the fewest rules, each for one word at a time; a comment names them.",
    ),
]

# Gives a command --budget and --relax: how far a search for trees that obey goes, and what it may give up.
search_options: Decorator[Any] = partial(apply, _SEARCH)


# What commands that keep them tell of rules that only a tree decides.
KEPT = ""


def check_arcs_decide(constraints: Constraints) -> None:
    """Raise for rules that only a tree decides, where only those are kept that single arcs decide."""
    rules, count = constraints.rules, len(constraints.rules.tree_rules)
    left = [f"{count} of {counted(len(rules.rules), 'rule')} of {rules.name}"] if count else []
    left += ["the spans"] if constraints.spans else []
    if left:
        problem = f"this command keeps rules about single arcs, and only whole trees decide {' and '.join(left)}"
        raise DeptreeError(problem, "Leave these out (--rules show prints ours), or use decode, sample or marginals")


def with_rules_told(
    records: Iterable[Sentence | DeptreeError],
    constraints: Constraints,
    labels: tuple[str, ...] | None,
    of_tree_rules: str,
) -> Iterator[Sentence | DeptreeError]:
    """The sentences with lines of notice: where rules have no effect for want of labels or of UPOS in the first
    sentence, labels that only the rules name or that they forbid, and what becomes of rules that only a tree decides.

    Args:
        of_tree_rules: what to tell of these, or nothing.
    """
    idle = None
    for record in records:
        if isinstance(record, Sentence):
            idle = _without_effect(record, constraints, labels) if idle is None else idle
            record = replace(record, notice="\n".join(filter(None, [record.notice, idle, of_tree_rules])))
        yield record


def _without_effect(record: Sentence, constraints: Constraints, labels: tuple[str, ...] | None) -> str:
    """What there is to say of rules without an effect, and of labels that they forbid."""
    from deptree_cli.io.rules.reading import forbidden_labels, unknown_labels

    unknown = "" if labels is None else unknown_labels(constraints.rules, labels, "that are not in --labels")
    forbidden, _ = forbidden_labels(constraints.rules, labels or ())
    return "\n".join(filter(None, [_idle(record, constraints, labels), unknown, forbidden]))


def _idle(record: Sentence, constraints: Constraints, labels: tuple[str, ...] | None) -> str:
    """What there is to say of rules without an effect in a sentence; nothing where all have their data."""
    from deptree_cli.io.rules.reading import words_of

    words = words_of(record.block, record.block.n if record.block else 1, None)
    tagged = replace(words, upos=["X"] * words.n)
    idle = len(constraints.rules.idle(words if labels is None else replace(words, labels=labels)))
    if labels is None and idle:
        return f"{counted(idle, 'rule')} of {constraints.rules.name} have no effect without labels: --labels FILE"
    if all(tag is None for tag in words.upos):
        idle -= len(constraints.rules.idle(replace(tagged, labels=labels or ("",))))
        if idle:
            why = ": the words have no UPOS" if record.block else " without the sentences: --conllu FILE"
            return f"{counted(idle, 'rule')} of {constraints.rules.name} have no effect{why}"
    return ""


def _show(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Print the rules of Universal Dependencies as a file and end, where that is asked for."""
    if value == SHOW:
        from deptree_cli.io.rules.reading import UD, text_of

        click.echo(text_of(UD), nl=False)
        context.exit()
    return value


def _options(sentences: str, default: str | None = None) -> list[Decorator[Any]]:
    """The options; `sentences`: what has MISC; `default`: the rules of a command that is about nothing else."""
    usual = f"  [default: {default}]" if default else ""
    return [
        reading_option(
            "--rules",
            type=NAME_OR_INPUT,
            metavar="ud|tree|FILE",
            callback=_show,
            is_eager=True,
            default=default,
            often=bool(default),
            help="Only trees that obey these rules: Universal Dependencies, nothing but a tree, or a .toml file; show"
            " prints those of ud." + usual,
        ),
        reading_option(
            "--constraints",
            type=NAME_OR_INPUT,
            metavar="misc|FILE",
            often=bool(default),
            help=f"HeadIn, NotHead, DeprelIn and DeprelNot of words: in MISC of {sentences}, or in a file (.jsonl,"
            " .tsv).",
        ),
        reading_option(
            "--spans",
            type=NAME_OR_INPUT,
            metavar="misc|FILE",
            often=bool(default),
            help="Spans of which one word has its head outside: mentions (Entity= in MISC), or a file (.jsonl, .tsv).",
        ),
    ]


rule_options = bound("rules", _options("--conllu"), RuleOptions)

# Of a command that checks trees: it has rules in any case.
check_options = bound("rules", _options("TREES", default="ud"), RuleOptions)
