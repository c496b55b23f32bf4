"""Options that say what trees must obey, and what of it has no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from deptree_cli.cli.sections import reading_option
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.scores.record import Record

if TYPE_CHECKING:
    from deptree_cli.io.rules.obliged import Obligations

MISC = "misc"
SHOW = "show"


@dataclass(frozen=True)
class Asked:
    """What the options say.

    Attributes:
        rules: a name or a file.
        constraints: `MISC` or a file.
        spans: whether entities hang together.
    """

    rules: str | None = None
    constraints: str | None = None
    spans: bool = False

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of this a run must repeat to give the same result."""
        from deptree_cli.io.rules.reading import read_rules  # few runs have rules

        return {
            "rules": read_rules(self.rules).name if self.rules else None,
            "constraints": self.constraints,
            "spans": "entity" if self.spans else None,
        }

    def obligations(self) -> Obligations | None:
        """The same, read; None where nothing is asked."""
        if not (self.rules or self.constraints or self.spans):
            return None
        from deptree_cli.io.rules.by_word import read_asked
        from deptree_cli.io.rules.obliged import NO_RULES, Obligations
        from deptree_cli.io.rules.reading import read_rules

        in_misc = self.constraints == MISC
        asked = read_asked(self.constraints) if self.constraints and not in_misc else {}
        return Obligations(read_rules(self.rules) if self.rules else NO_RULES, in_misc, asked, self.spans)


NOTHING = Asked()


def with_idle_rules(
    records: Iterable[Record | DeptreeError], obligations: Obligations, labels: tuple[str, ...] | None
) -> Iterator[Record | DeptreeError]:
    """The sentences, the first with a line of notice where rules have no effect for want of labels or of UPOS."""
    told = False
    for record in records:
        if isinstance(record, Record) and not told:
            told, line = True, _line_of(record, obligations, labels)
            record = replace(record, notice="\n".join(filter(None, [record.notice, line])))
        yield record


def _line_of(record: Record, obligations: Obligations, labels: tuple[str, ...] | None) -> str:
    """What there is to say of rules without an effect in a sentence; nothing where all have their data."""
    from deptree_cli.io.rules.reading import words_of

    words = words_of(record.block, record.block.n if record.block else 1, None)
    tagged = replace(words, upos=["X"] * words.n)
    idle = len(obligations.rules.idle(words if labels is None else replace(words, labels=labels)))
    if labels is None and idle:
        return f"{counted(idle, 'rule')} of {obligations.rules.name} have no effect without labels: --labels FILE"
    if all(tag is None for tag in words.upos):
        idle -= len(obligations.rules.idle(replace(tagged, labels=labels or ("",))))
        if idle:
            return f"{counted(idle, 'rule')} of {obligations.rules.name} have no effect: the words have no UPOS"
    return ""


def _show(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Print our rules as a file and end, where that is asked for."""
    if value == SHOW:
        from deptree_cli.io.rules.reading import NAMES, text_of

        click.echo("\n".join(map(text_of, NAMES)), nl=False)
        context.exit()
    return value


RULE_OPTIONS = [
    reading_option(
        "--rules",
        metavar="ud|FILE",
        callback=_show,
        is_eager=True,
        help="Rules that trees obey: those of Universal Dependencies, or of a .toml file; show prints ours.",
    ),
    reading_option(
        "--constraints",
        metavar="misc|FILE",
        help="HeadIn, NotHead, DeprelIn and DeprelNot of words: in MISC of --conllu, or in a file (.jsonl, .tsv).",
    ),
    reading_option("--spans", is_flag=True, help="Mentions of entities (Entity= in MISC) hang together."),
]
