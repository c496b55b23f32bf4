"""The options of reading scores: files, layout, trees and their rules; and those that choose samplers and sentences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import (
    INPUT,
    NAME_OR_INPUT,
    Decorator,
    IntRange,
    apply,
    bound,
    entry_option,
    mark_provenance,
    option,
    positive,
    reading_option,
)
from deptree_cli.cli.run import Fold, RunOptions, Select, Source, Task
from deptree_cli.cli.terminal import Counted
from deptree_cli.core.errors import DeptreeError, counted, did_you_mean, printable
from deptree_cli.core.labels import is_root
from deptree_cli.core.rule_search import BUDGET, GivenUp
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.spaces import SPACES, Short, TreeSpace, tree_space
from deptree_cli.io.conllu.columns import no_sentences
from deptree_cli.io.files.streams import check_readable
from deptree_cli.io.scores.companions import layout_of_arcs, read_labels, temperature_of
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource, ScoreStream, side_of
from deptree_cli.io.scores.layout import PRESETS, Layout, complete, layout, text_of
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.sentence import Sentence, Side, Warn

if TYPE_CHECKING:
    from deptree_cli.core.rules import Words
    from deptree_cli.io.rules.constraints import Constraints
    from deptree_cli.io.trees import GivenTree


SPACE_OPTIONS = [
    reading_option("--space", metavar="NAME", hidden=True, help="Which trees, also a space of another package."),
    reading_option("--multi-root", is_flag=True, often=True, help="Allow several ROOT arcs (spanning trees)."),
    reading_option("--projective", is_flag=True, often=True, help="Only trees without crossing arcs."),
]


def asked_space(space: str | None, multi_root: bool, projective: bool) -> TreeSpace:
    return tree_space(space, False if multi_root else None, projective or None)


# Of a command that reads trees without scores.
space_options = bound("space", SPACE_OPTIONS, asked_space)


def signature_of(space: TreeSpace) -> dict[str, object]:
    return {"root": "single" if space.single_root else "multi", "trees": space.kind or None}


def _number_or_path(context: click.Context, parameter: click.Parameter, said: str) -> float | str | None:
    """A click callback: the number, which is no name of a file."""
    try:
        number = float(said)
    except ValueError:
        return said
    return positive(context, parameter, number)


# What matrices need wherever they are read.
MATRIX_OPTIONS = [
    reading_option(
        "--from",
        "preset",
        metavar="LAYOUT",
        often=True,
        shell_complete=complete,
        names=lambda: PRESETS.names,
        help="A parser's layout ({names}), or parts: head-dep, dep-head (rows); first, last, diagonal (ROOT); "
        "weight, log.",
    ),
    *SPACE_OPTIONS,
]

_TEMPERATURE = reading_option(
    "--temperature",
    type=INPUT,
    default="1",
    callback=_number_or_path,
    metavar="X|FILE",
    help="Divide log-scores by X, or by the temperatures in FILE of deptree calibrate.  [default: 1]",
)

_LABELS = reading_option(
    "--labels", type=INPUT, help="Names of labels (JSON or one per line); the last axis of the scores holds labels."
)

LENGTHS = reading_option(
    "--lengths",
    type=INPUT,
    multiple=True,
    help="Words per sentence of a padded batch, one number a line or .npy.",
)

# What the scores of one parser need.
_LAYOUT_OPTIONS = [*MATRIX_OPTIONS, _TEMPERATURE, _LABELS, LENGTHS]


def own_trees(sources: Sequence[ScoreSource]) -> str:
    """What the files say that their trees are, which is news to the user, empty if they say nothing."""
    kinds = {each.meta.trees: each for each in sources}
    own = next(filter(None, kinds), "")
    if own:
        if len(kinds) > 1:
            place = kinds[own].place
            raise DeptreeError(f"is of {own} trees, and not all others are", "Read them one by one", place=place)
        mark_provenance(click.get_current_context(silent=True), "trees")
    return own


def one_layout(sources: Sequence[ScoreSource], asked: Layout) -> Layout:
    """The layout of all the files, as they say of themselves, which is news to the user, or as the options ask."""
    layouts = [each.layout(asked) for each in sources]
    for each, own in zip(sources, layouts, strict=True):
        if own.reading != layouts[0].reading:
            problem = f"is read in another layout than {sources[0].place}"
            remedy = "Read them one by one, or pass --from if one of them does not name its layout"
            raise DeptreeError(problem, remedy, place=each.place)
    if layouts[0].reading != asked.reading:
        mark_provenance(click.get_current_context(silent=True), "from")
    return layouts[0]


_SEARCH = [
    option(
        "--budget",
        type=IntRange(1),
        default=BUDGET,
        often=False,
        metavar="N",
        help=f"Effort under rules: compute at most N maximum trees for each tree.  [default: {BUDGET}]",
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
    """``--rules``, which reaches a command as `Constraints`, or None; a command about nothing else has a default."""
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
    """What the names ask for; `show` prints the rules of Universal Dependencies as a file and ends."""
    if not names:
        return None
    from deptree_cli.io.rules.constraints import read_constraints  # few runs have rules

    if "show" in names:
        from deptree_cli.io.rules.reading import UD, text_of

        click.echo(text_of(UD), nl=False)
        context.exit()
    return read_constraints(names)


def check_known(rules: Constraints, labels: tuple[str, ...] | None, has_words: bool, warn: Warn) -> None:
    """Raise for rules that ask for what no option gives; tell of labels that only they name, or that they forbid."""
    from deptree_cli.io.rules.reading import Names, forbidden_labels, unknown_names, words_of

    words = replace(words_of(None, 1, None), labels=labels or ("",))
    if labels is None:
        missing = len(rules.rules.idle(replace(words, upos=["X"])))
        _check_all_have(rules, "labels", missing, "--labels FILE, and --label-scores FILE if these are apart")
    else:
        warn("unknown labels", unknown_names(rules.rules, Names(frozenset(labels)), "that are not in --labels"))
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


@dataclass(frozen=True)
class ScoreOptions:
    """What is read, each score file with the paths of what belongs to it, and how records become distributions."""

    files: tuple[ScoreFiles, ...]
    how: Interpretation
    labels_path: str | None = None

    @property
    def place(self) -> str:
        return self.files[0].source.place

    @property
    def conllu(self) -> str | None:
        """The path of the first file of sentences; there are as many as score files, or none."""
        return self.files[0].conllu

    @property
    def gold(self) -> str | None:
        return self.files[0].gold

    @property
    def other(self) -> ScoreSource | None:
        return self.files[0].other

    @property
    def name(self) -> str:
        return ", ".join(each.source.path for each in self.files)

    def check_words(self) -> None:
        """Raise unless there are sentences to write as CoNLL-U, in the score files or from --conllu."""
        for each in self.files:
            if each.conllu is None and not each.source.has_words:
                raise no_sentences().at(each.source.place)

    def source(self, run: RunOptions) -> Source[Sentence, ScoredSentence]:
        """The sentences, to be read once."""
        if self.other is not None and len(self.files) > 1:
            raise DeptreeError("two score files are compared at a time", "Name one SCORES")
        reading = ScoreStream(self.files, self.how.layout, run.warn)
        items = Counted(self._watched(reading, run), reading.total, reading.share)
        how = replace(self.how, other_place=self.other.path) if self.other else self.how
        return Source(items, how, self.signature_fields, self.conllu is not None, self.check_words)

    def with_samples(
        self, trees: Iterable[GivenTree | DeptreeError], run: RunOptions
    ) -> Source[Sentence, ScoredSentence]:
        from deptree_cli.io.trees.sets import with_samples  # few commands read trees

        source = self.source(run)
        found = with_samples(source.items, trees, partial(run.skip, noun="sample"))
        return Source(Counted(found, lambda: len(found)), source.prepare, source.signature_fields)

    def side(self, source: Source[Sentence, ScoredSentence]) -> Side:
        """The sentences as what is read together with others; CoNLL-U gives them an order."""
        side = side_of(source.items, self.files[0].source)
        return replace(side, ordered=True, keys=()) if self.conllu else side

    def _watched(
        self, records: Iterable[Sentence | DeptreeError], run: RunOptions
    ) -> Iterable[Sentence | DeptreeError]:
        """The sentences, as they are; what cannot be obeyed is told, and which of their fixed labels have no score."""
        how = self.how
        if how.constraints is not None:
            has_words = all(each.conllu or each.source.has_words for each in self.files)
            check_known(how.constraints, how.labels, has_words, run.warn)
            records = obeying(records, how.constraints, how.labels, run.warn)
        return self._with_known_labels(records, run) if how.fix_heads and how.labels is not None else records

    def _with_known_labels(
        self, records: Iterable[Sentence | DeptreeError], run: RunOptions
    ) -> Iterator[Sentence | DeptreeError]:
        known = {*(self.how.labels or ()), None}
        for record in records:
            labels: list[str | None] = []
            with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
                labels = record.block.labels if isinstance(record, Sentence) and record.block else []
            for label in labels:
                if label not in known and not is_root(label or ""):
                    where = "it stays where the sentences have it, without a score"
                    run.warn(f"label {label}", f"the label {label!r} is not in {self.labels_path}: {where}")
            yield record

    @property
    def signature_fields(self) -> dict[str, object]:
        return {
            "from": text_of(self.how.layout.complete),
            **signature_of(self.how.space),
            **self.how.temperature.signature_fields(self.how.labels is not None),
            "heads": "fixed" if self.how.fix_heads else None,
            "other": self.other.path if self.other else None,
            "labels": self.labels_path,
            "labelscores": ",".join(each.label_scores for each in self.files if each.label_scores) or None,
            "rules": self.how.constraints.name if self.how.constraints else None,
        }


LABEL_SCORES = reading_option(
    "--label-scores",
    type=INPUT,
    multiple=True,
    help="Scores of labels given the arc, (n, n+1, L) or in the layout of the arc scores; needs --labels.",
)

_CONLLU = reading_option(
    "--conllu",
    type=INPUT,
    multiple=True,
    often=True,
    help="The sentences in CoNLL-U, one file per file of SCORES.",
)

READING_OPTIONS = [
    _CONLLU,
    *_LAYOUT_OPTIONS,
    reading_option(
        "--fix-heads", is_flag=True, often=True, help="Keep the HEADs and DEPRELs in --conllu that are not _."
    ),
    LABEL_SCORES,
]

_SCORES = click.argument("scores", nargs=-1, required=True, type=INPUT)


def gold_option(text: str) -> Decorator[Any]:
    """``--gold FILE``: sentences with gold heads; `text` is what for."""
    help_text = f"Gold heads: the sentences in CoNLL-U, matched by sent_id, or else by order. {text}"
    return reading_option("--gold", type=INPUT, multiple=True, often=True, help=help_text)


def _paired(scores: Sequence[str], feats: bool, **belonging: Sequence[str]) -> tuple[ScoreFiles, ...]:
    """The score files, each with what belongs to it: of every kind one for each of SCORES, or none at all."""
    found = [ScoreFiles(ScoreSource(path), feats=feats) for path in scores]
    for name, paths in belonging.items():
        if paths and len(paths) != len(scores):
            counts = f"{len(paths)} --{name.replace('_', '-')} for {len(scores)} SCORES"
            raise click.UsageError(f"{counts}: give one for each, in the same order.")
        changes: list[dict[str, Any]] = [{name: path} for path in paths] or [{}] * len(scores)
        found = [replace(each, **change) for each, change in zip(found, changes, strict=True)]
    for each in found if len(found) > 1 else ():
        check_readable(each.paths)
    return tuple(found)


def options_of(
    *,
    scores: str | tuple[str, ...],
    conllu: tuple[str, ...] = (),
    preset: str | None,
    labels: str | None,
    lengths: tuple[str, ...] = (),
    space: str | None,
    multi_root: bool,
    projective: bool,
    temperature: float | str = 1.0,
    fix_heads: bool = False,
    label_scores: tuple[str, ...] = (),
    gold: tuple[str, ...] = (),
    rules: Constraints | None = None,
) -> ScoreOptions:
    """What the options of reading become, by the names of their parameters."""
    if not conllu and (option := "--fix-heads" if fix_heads else "--rules misc" if rules and rules.in_misc else ""):
        raise click.UsageError(f"{option} needs the sentences: --conllu FILE.")
    paths = (scores,) if isinstance(scores, str) else scores
    feats = rules is not None and rules.rules.ask_feats
    found = _paired(paths, feats, conllu=conllu, lengths=lengths, label_scores=label_scores, gold=gold)
    read = one_layout([each.source for each in found], layout(preset))
    read = layout_of_arcs(read, labels is not None, bool(label_scores))
    short: Short = {"single_root": False if multi_root else None, "projective": projective or None}
    how = Interpretation(
        layout=read,
        labels=read_labels(labels) if labels else None,
        space=space_of(own_trees([each.source for each in found]), space, **short),
        temperature=temperature_of(temperature),
        fix_heads=fix_heads,
        constraints=rules,
    )
    return ScoreOptions(found, how, labels)


# Gives a command SCORES, of which there may be several, and the options of reading, as one `scores: ScoreOptions`.
score_options = bound("scores", [_SCORES, *READING_OPTIONS], options_of)

# The same for a command that judges the heads of --conllu, and so fixes none; and for one that seeks a temperature too.
judging_options = bound("scores", [_SCORES, _CONLLU, *_LAYOUT_OPTIONS, LABEL_SCORES], options_of)
untempered_options = bound("scores", [_SCORES, _CONLLU, *MATRIX_OPTIONS, _LABELS, LENGTHS, LABEL_SCORES], options_of)

# The same with a single SCORES.
one_score_options = bound("scores", [click.argument("scores", type=INPUT), *READING_OPTIONS], options_of)


def companion(*, scores: str | None, also: Collection[str] = (), **how: Any) -> ScoreOptions | None:
    """The options of reading scores, None without a file of them; `also` say something without scores too."""
    if scores is not None:
        return options_of(scores=scores, **how)
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name in {*how} - {*also}:
            raise click.UsageError(f"{parameter.opts[0]} is about scores. Add --scores FILE.")
    return None


def companion_scores_options(help: str, *more: Decorator[Any]) -> Decorator[Any]:
    """Give a command --scores FILE and the options of reading it, as one `scores: ScoreOptions | None`; and `more`."""
    return bound("scores", [*companion_options(help), *more], companion)


def companion_options(help: str) -> list[Decorator[Any]]:
    """The same options, for `companion`."""
    return [reading_option("--scores", type=INPUT, often=True, help=help), *MATRIX_OPTIONS, _TEMPERATURE, _LABELS]


def _named(entry: Sampler) -> str:
    return entry.name if entry.exact else f"{entry.name} (biased)"


def _described(entry: Sampler) -> str:
    kinds = [trees.name for trees in SPACES if entry.serves(trees)]
    served = " and ".join(filter(None, (", ".join(kinds[:-1]), *kinds[-1:])))
    return f"{_named(entry)}: {served} trees; {entry.cost}\n  {entry.source}"


sampler_option = entry_option(SAMPLERS, "--sampler", name=_named)

SAMPLERS_LISTED = Listing(
    "Samplers, with the cost of k trees of n words (h: mean hitting time of the walk)", SAMPLERS, _described
)


wanted_option = option(
    "--sentence", "wanted", metavar="ID", help="The sent_id of the sentence, or its number.  [default: the first]"
)

# Names of sentences kept to find the one that may have been meant.
MOST_NAMES = 10_000


def chosen_sentence(wanted: str | None, place: str, noun: str = "sentence") -> Select[Any]:
    """What chooses the one sentence of a name or else of a running number, or the first; no other is computed.

    `place` and `noun`: what is read, and what a sentence is called, for messages.
    """

    def choose(tasks: Iterator[Task[Any] | DeptreeError]) -> Iterator[Task[Any] | DeptreeError]:
        found: Task[Any] | DeptreeError | None = None
        names, sentences = list[str](), 0
        for sentences, task in enumerate(tasks, 1):
            name = task.sent_id if isinstance(task, DeptreeError) else task[0].sent_id
            if wanted in (None, name):
                yield task
                return
            if wanted == str(sentences):
                found = task
            if len(names) < MOST_NAMES:
                names.append(name)
        if found is not None:
            yield found
        elif wanted is None:
            raise DeptreeError(f"there are no {noun}s to draw", "Check the file", place=place)
        else:
            remedy = did_you_mean(wanted, names, f"Give a sent_id, or a number from 1 to {sentences}")
            raise DeptreeError(f"there is no {noun} {wanted!r}", remedy, place=place)

    return choose
