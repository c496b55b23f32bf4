"""Which trees there are: the options of spaces and of rules, for commands with scores and without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from deptree_cli.cli.help import READING
from deptree_cli.cli.options import NAME_OR_INPUT, Bundle, IntRange, flag, opt, reading
from deptree_cli.cli.run import Fold, Run
from deptree_cli.core.counts import BUDGET
from deptree_cli.core.errors import DeptreeError, counted, printable
from deptree_cli.io.sentence import Sentence, Warn

if TYPE_CHECKING:
    from deptree_cli.core.register import Register
    from deptree_cli.core.rule_search import GivenUp
    from deptree_cli.core.rules import Words
    from deptree_cli.core.spaces import Short, TreeSpace
    from deptree_cli.io.rules.constraints import Constraints


def spaces() -> Register[TreeSpace]:
    from deptree_cli.core.spaces import SPACES

    return SPACES


@dataclass(eq=False)
class Space(Bundle):
    """Which trees there are."""

    space: str | None = reading(
        "--space",
        metavar="NAME",
        often=True,
        names=lambda: spaces().names,
        shell_complete=lambda *asked: spaces().complete(*asked),
        help="Trees: {names} (short: --multi-root, --projective).",
    )
    multi_root: bool = flag("--multi-root", section=READING, help="", hidden=True)
    projective: bool = flag("--projective", section=READING, help="", hidden=True)

    @property
    def trees(self) -> TreeSpace:
        from deptree_cli.core.spaces import tree_space

        return tree_space(self.space, **self.short)

    @property
    def asked(self) -> TreeSpace | None:
        """The space, if an option names one; else None, for all single-root trees."""
        return self.trees if self.space or self.multi_root or self.projective else None

    @property
    def short(self) -> Short:
        return {"single_root": False if self.multi_root else None, "projective": self.projective or None}

    @property
    def signature_fields(self) -> dict[str, object]:
        asked = self.asked
        return signature_of(asked) if asked else {"root": "single", "trees": None}


SPACE = ("space", "multi_root", "projective")  # its options, for bundles that need a file which these do not


def signature_of(space: TreeSpace) -> dict[str, object]:
    return {"root": "single" if space.single_root else "multi", "trees": space.kind or None}


@dataclass(eq=False)
class Search(Bundle):
    """How far a search for trees that obey rules goes, and what it may give up."""

    budget: int = opt(
        "--budget",
        type=IntRange(1),
        default=BUDGET,
        often=False,
        sign="budget",
        only_unusual=True,
        help=f"Effort under rules: compute at most N maximum trees for each tree.  [default: {BUDGET}]",
    )
    relax: bool = flag(
        "--relax",
        often=False,
        sign="relax",
        only_unusual=True,
        help="If no tree obeys, give up as few rules as possible, word by word; a comment names them.",
    )


def rules(effect: str, default: Sequence[str] = ()) -> Any:
    """Declare ``--rules``, which becomes `Constraints`, or None; a command about nothing else has a default."""
    usual = f"  [default: {', '.join(default)}]" if default else ""
    return reading(
        "--rules",
        type=NAME_OR_INPUT,
        metavar="RULES",
        convert=_constraints,
        is_eager=True,
        many=True,
        default=default,
        often=bool(default),
        help=f"{effect}: ud (Universal Dependencies), tree (heads are a tree), misc (as MISC says), or files (.toml;"
        f" for words and spans .tsv). show prints those of ud.{usual}",
    )


def _constraints(names: Sequence[str]) -> Constraints | None:
    """What the names ask for; `show` prints the rules of Universal Dependencies as a file and ends."""
    if not names:
        return None
    from deptree_cli.io.rules.constraints import read_constraints  # few runs have rules

    if "show" in names:
        from deptree_cli.io.rules.reading import UD, text_of

        click.echo(text_of(UD), nl=False)
        click.get_current_context().exit()
    return read_constraints(names)


def check_known(rules: Constraints, labels: tuple[str, ...] | None, has_words: bool, warn: Warn) -> None:
    """Raise for rules that ask for what no option gives; tell of labels that only they name, or that they forbid."""
    from deptree_cli.io.rules.reading import Names, forbidden_labels, unknown_names, words_of

    words = replace(words_of(None, 1, None), labels=labels or ("",))
    lacking = list[tuple[str, int, str]]()
    if labels is None:
        idle = len(rules.rules.idle(replace(words, upos=["X"])))
        lacking.append(("labels", idle, "--labels FILE, and --label-scores FILE if these are apart"))
    else:
        warn("unknown labels", unknown_names(rules.rules, Names(frozenset(labels)), "that are not in --labels"))
        warn("forbidden labels", forbidden_labels(rules.rules, labels))
    if not has_words:
        lacking.append(("UPOS", _without_tags(rules, words), "the sentences: --conllu FILE"))
    for what, idle, remedy in lacking:
        if idle:
            which = f"{idle} of {counted(len(rules.rules.rules), 'rule')} of {rules.rules.name}"
            raise click.UsageError(f"{which} ask for {what}. Add {remedy}.")


def _without_tags(rules: Constraints, words: Words) -> int:
    """How many rules have no effect in a sentence because none of its words has a part of speech."""
    tagged = replace(words, upos=words.upos if words.has_tags else ["X"] * words.n)
    return len(rules.rules.idle(words)) - len(rules.rules.idle(tagged))


def obeying(
    records: Iterable[Sentence | DeptreeError], rules: Constraints, labels: tuple[str, ...] | None, warn: Warn
) -> Iterator[Sentence | DeptreeError]:
    """The sentences whose trees shall obey, as `met`; tells of rules about UPOS if the words of the first have none.

    At the end it tells which parts of speech and features no word has, where rules name some that ours do not.
    """
    from deptree_cli.io.rules.reading import Names

    names, is_told = None, any(rules.notices(Names(upos=frozenset("?"), feats=frozenset("?"))))
    for record in met(records, rules):
        if (is_told or names is None) and isinstance(record, Sentence) and record.block is not None:
            with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
                asked = rules.of(record.sent_id, record.block, record.block.n, None)
                if names is None and (idle := _without_tags(rules, replace(asked.words, labels=labels or ("",)))):
                    which = f"{counted(idle, 'rule')} of {rules.rules.name}"
                    warn("UPOS", f"{which} have no effect: the words have no UPOS")
                names = asked.names(()) | (names or Names())
        yield record
    for notice in rules.notices(names) if names else ():
        warn(notice, notice)


def met(
    items: Iterable[Any], rules: Constraints, names_of: Callable[[Any], Sequence[str]] = lambda item: [item.sent_id]
) -> Iterator[Any]:
    """The sentences as they are, and behind them an error for each that files of rules name and that did not come."""
    missing = {name: asked[0].place for name, asked in rules.of_words.items()}
    for item in items:
        for name in names_of(item) if missing else ():
            missing.pop(name, None)
        yield item
    for name, place in missing.items():
        yield DeptreeError("no sentence has this name", "Correct the name", place=place, sent_id=name)


@dataclass
class RelaxedSentences(Fold[tuple[str, str, "GivenUp"]]):
    """Names such sentences and counts them; each counts with its place, its id and what is given up."""

    run: Run
    count: int = 0
    attribute = "relaxed"

    def add(self, counts: tuple[str, str, GivenUp]) -> None:
        place, sent_id, (names, fewest) = counts
        self.count += 1
        unsure = "" if fewest else " (fewer may be enough: raise --budget)"
        line = printable(f"relaxed: {place} ({sent_id}): {', '.join(names)}{unsure}")
        self.run.warn(line, line)

    def lines(self) -> Iterator[str]:
        if self.count:
            yield f"{counted(self.count, 'sentence')} relaxed"
