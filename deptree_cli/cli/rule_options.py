"""The option that says what trees must obey, and what of that cannot be obeyed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.params import NAME_OR_INPUT, IntRange
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.sections import Decorator, apply, option, reading_option
from deptree_cli.core.constraints.branch_and_bound import BUDGET
from deptree_cli.core.constraints.relaxation import GivenUp
from deptree_cli.core.errors import DeptreeError, counted, printable
from deptree_cli.io.sentence import Sentence, Warn

if TYPE_CHECKING:
    from deptree_cli.core.constraints.words import Words
    from deptree_cli.io.rules.constraints import Constraints


# Prints rules instead.
SHOW = "show"

_SEARCH = [
    option(
        "--budget",
        type=IntRange(1),
        default=BUDGET,
        often=False,
        metavar="N",
        help=f"Search effort under rules: compute at most N best trees for each tree.  [default: {BUDGET}]",
    ),
    option(
        "--relax",
        is_flag=True,
        often=False,
        help="If no tree obeys, give up as few rules as possible, word by word; a comment names them.",
    ),
]

# Gives a command --budget and --relax: how far a search for trees that obey goes, and what it may give up.
search_options: Decorator[Any] = partial(apply, _SEARCH)


def rule_option(effect: str, default: Sequence[str] = ()) -> Decorator[Any]:
    """``--rules``, which reaches a command as `Constraints`, or None.

    Args:
        effect: what becomes of rules.
        default: those of a command that is about nothing else.
    """
    usual = f"  [default: {', '.join(default)}]" if default else ""
    return reading_option(
        "--rules",
        type=NAME_OR_INPUT,
        metavar="ud|tree|misc|FILE",
        callback=_constraints,
        is_eager=True,
        multiple=True,
        default=default,
        often=bool(default),
        help=f"{effect}: ud (Universal Dependencies), tree (only that heads are a tree), misc (constraints in MISC), or"
        f" a file (.toml; for words and spans .tsv). May be repeated; show prints those of ud.{usual}",
    )


def _constraints(context: click.Context, parameter: click.Parameter, names: Sequence[str]) -> Constraints | None:
    """What the names ask for; `SHOW` prints the rules of Universal Dependencies as a file and ends."""
    if not names:
        return None
    from deptree_cli.io.rules.constraints import read_constraints  # few runs have rules

    if SHOW in names:
        from deptree_cli.io.rules.reading import UD, text_of

        click.echo(text_of(UD), nl=False)
        context.exit()
    return read_constraints(names)


def check_known(rules: Constraints, labels: tuple[str, ...] | None, has_words: bool, warn: Warn) -> None:
    """Raise for rules that ask for what no option gives; tell of labels that only they name, or that they forbid.

    Args:
        labels: those of the scores, None where nobody names them.
        has_words: whether there are sentences.
    """
    from deptree_cli.io.rules.reading import forbidden_labels, unknown_labels, words_of

    words = replace(words_of(None, 1, None), labels=labels or ("",))
    if labels is None:
        missing = len(rules.rules.idle(replace(words, upos=["X"])))
        _check_all_have(rules, "labels", missing, "--labels FILE, and --label-scores FILE if these are apart")
    else:
        warn("unknown labels", unknown_labels(rules.rules, labels, "that are not in --labels"))
        warn("forbidden labels", forbidden_labels(rules.rules, labels))
    if not has_words:
        _check_all_have(rules, "UPOS", _without_tags(rules, words), "the sentences: --conllu FILE")


def _check_all_have(rules: Constraints, what: str, missing: int, remedy: str) -> None:
    if missing:
        which = f"{missing} of {counted(len(rules.rules.rules), 'rule')} of {rules.rules.name}"
        raise click.UsageError(f"{which} ask for {what}. Add {remedy}.")


def _without_tags(rules: Constraints, words: Words) -> int:
    """How many rules have no effect in a sentence because none of its words has a part of speech."""
    tagged = replace(words, upos=words.upos if words.has_tags else ["X"] * words.n)
    return len(rules.rules.idle(words)) - len(rules.rules.idle(tagged))


def obeying(
    records: Iterable[Sentence | DeptreeError], rules: Constraints, labels: tuple[str, ...] | None, warn: Warn
) -> Iterator[Sentence | DeptreeError]:
    """The sentences whose trees shall obey, as `met`; tells of rules about UPOS if the words of the first have none."""
    from deptree_cli.io.rules.reading import words_of

    looked = False
    for record in met(records, rules):
        if not looked and isinstance(record, Sentence) and record.block is not None:
            looked = True
            with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
                words = replace(words_of(record.block, record.block.n, None), labels=labels or ("",))
                if idle := _without_tags(rules, words):
                    name = rules.rules.name
                    warn("UPOS", f"{counted(idle, 'rule')} of {name} have no effect: the words have no UPOS")
        yield record


def met(
    items: Iterable[Any], rules: Constraints, names_of: Callable[[Any], Sequence[str]] = lambda item: [item.sent_id]
) -> Iterator[Any]:
    """The sentences as they are, and behind them an error for each that files of rules name and that did not come.

    Args:
        names_of: what an item may be called in these files.
    """
    missing = {name: asked[0].place for name, asked in rules.of_words.items()}
    for item in items:
        for name in names_of(item) if missing else ():
            missing.pop(name, None)
        yield item
    for name, place in missing.items():
        yield DeptreeError("there is no sentence of this name", "Correct the name", place=place, sent_id=name)


class RelaxedSentences(Fold[tuple[str, str, GivenUp]]):
    """Names such sentences and counts them; each counts with its place, its id and what is given up."""

    attribute = "relaxed"

    def __init__(self, run: RunOptions) -> None:
        self._run = run
        self._count = 0

    def add(self, counts: tuple[str, str, GivenUp]) -> None:
        place, sent_id, (names, fewest) = counts
        self._count += 1
        unsure = "" if fewest else " (fewer may be enough: raise --budget)"
        line = printable(f"relaxed: {place} ({sent_id}): {', '.join(names)}{unsure}")
        self._run.warn(line, line)

    def lines(self) -> Iterator[str]:
        if self._count:
            yield f"{counted(self._count, 'sentence')} relaxed"
