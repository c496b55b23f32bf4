"""The options of reading scores: files, layout, and what belongs to them; and those that choose a sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from deptree_cli.cli.help import READING
from deptree_cli.cli.options import INPUT, Bundle, check_effect, flag, opt, positive, reading, use
from deptree_cli.cli.rule_options import SPACE, Space, check_known, obeying, signature_of
from deptree_cli.cli.run import Run, Select, Source, Tasks
from deptree_cli.cli.terminal import Counted
from deptree_cli.core.errors import DeptreeError, counted, did_you_mean
from deptree_cli.io.files.streams import check_readable, has_sentences
from deptree_cli.io.sentence import Sentence, Side

if TYPE_CHECKING:
    from deptree_cli.io.rules.constraints import Constraints
    from deptree_cli.io.scores.files import ScoreFiles, ScoreSource
    from deptree_cli.io.scores.layout import Layout
    from deptree_cli.io.scores.records import Interpretation, ScoredSentence
    from deptree_cli.io.trees import GivenTree


def _number_or_path(said: str) -> float | str | None:
    """The number, which is not a name of a file."""
    with suppress(ValueError):
        return positive(float(said))
    return said


def own_trees(sources: Sequence[ScoreSource]) -> str:
    """What the files say that their trees are, which is news to the user, empty if they say nothing."""
    kinds = {each.meta.trees: each for each in sources}
    own = next(filter(None, kinds), "")
    if own and len(kinds) > 1:
        place = kinds[own].place
        raise DeptreeError(f"holds {own} trees, but other files do not", "Pass them in separate runs", place=place)
    return own


def one_layout(sources: Sequence[ScoreSource], asked: Layout) -> Layout:
    """The layout of all the files, as they say of themselves, which is news to the user, or as the options ask."""
    layouts = [each.layout(asked) for each in sources]
    for each, own in zip(sources, layouts, strict=True):
        if own.reading != layouts[0].reading:
            problem = f"has another layout than {sources[0].place}"
            remedy = "Pass them in separate runs, or pass --from if one of them does not name its layout"
            raise DeptreeError(problem, remedy, place=each.place)
    return layouts[0]


def own_labels(sources: Sequence[ScoreSource]) -> tuple[str, ...]:
    """The names of the labels of which the files hold scores, none if they hold none."""
    for each in sources[1:]:
        if each.labels != sources[0].labels:
            problem = f"has scores of other labels than {sources[0].place}, or none"
            raise DeptreeError(problem, "Pass them in separate runs", place=each.place)
    return sources[0].labels


def check_one_each(scores: Sequence[str], name: str, paths: Sequence[str]) -> None:
    """Raise unless there is one path for each score file, or none at all."""
    if paths and len(paths) != len(scores):
        option, counts = f"--{name.replace('_', '-')}", counted(len(scores), "score file")
        raise click.UsageError(
            f"{counts} but {len(paths)} {option}. Pass {option} once per score file, in the same order."
        )


def layouts() -> ModuleType:
    from deptree_cli.io.scores import layout as module

    return module


# Options that say nothing of trees without scores.
_OF_SCORES = "conllu", "preset", "temperature", "labels", "lengths", "fix_heads", "label_scores", "gold"


@dataclass(eq=False)
class Scores(Bundle):
    """What is read, each score file with the paths of what belongs to it, and how records become distributions."""

    scores: str | tuple[str, ...] = opt(type=INPUT, many=True)
    conllu: tuple[str, ...] = reading(
        "--conllu", type=INPUT, many=True, often=True, help="The sentences in CoNLL-U, one file per file of SCORES."
    )
    preset: str | None = reading(
        "--from",
        metavar="LAYOUT",
        often=True,
        shell_complete=lambda *asked: layouts().complete(*asked),
        names=lambda: layouts().PRESETS.names,
        help="Layout: a parser ({names}), or parts: head-dep|dep-head, first|last|diagonal (ROOT), weight|log.",
    )
    trees: Space = use(Space)
    temperature: float | str = reading(
        "--temperature",
        type=INPUT,
        default=1.0,
        convert=_number_or_path,
        metavar="X|FILE",
        help="Divide log-scores by X, or by the temperatures in FILE of deptree calibrate.  [default: 1]",
    )
    labels: str | None = reading(
        "--labels", type=INPUT, help="Names of labels (JSON or one per line); the last axis of the scores holds labels."
    )
    lengths: tuple[str, ...] = reading(
        "--lengths", type=INPUT, many=True, help="Words per sentence of a padded batch, one number a line or .npy."
    )
    fix_heads: bool = flag(
        "--fix-heads",
        section=READING,
        often=True,
        help="Keep the HEADs and DEPRELs in --conllu that are not _.",
    )
    label_scores: tuple[str, ...] = reading(
        "--label-scores",
        type=INPUT,
        many=True,
        needs=["labels"],
        help="Scores of labels given the arc, (n, n+1, L) or in the layout of the arc scores; needs --labels.",
    )
    rules: Constraints | None = None
    gold: tuple[str, ...] = ()
    or_trees: bool = False  # sentences with trees may stand in the place of scores: then they are `given`
    given: tuple[str, ...] = ()
    files: tuple[ScoreFiles, ...] = ()
    how: Interpretation = None  # type: ignore[assignment]  # made of the options, as are files

    def __post_init__(self) -> None:
        from deptree_cli.io.scores.files import ScoreFiles, ScoreSource
        from deptree_cli.io.scores.meta import space_of
        from deptree_cli.io.scores.records import UNCHANGED, Interpretation, Temperature

        if self.files:
            return
        scores = (self.scores,) if isinstance(self.scores, str) else self.scores
        of_trees = [has_sentences(each) for each in scores] if self.or_trees else [False]
        if all(of_trees):
            self.given = scores
            check_effect({*_OF_SCORES, *SPACE}, "scores: these are sentences with trees")
            return
        if any(of_trees):
            raise DeptreeError("some files have trees, some scores", "Pass them in separate runs", place=scores[0])
        feats = self.rules is not None and self.rules.rules.ask_feats
        files = [ScoreFiles(ScoreSource(path), feats=feats) for path in scores]
        for name in ("conllu", "lengths", "label_scores", "gold"):
            paths: Sequence[Any] = getattr(self, name)
            check_one_each(scores, name, paths)
            for at, path in enumerate(paths):
                files[at] = replace(files[at], **{name: path})
        for each in files if len(files) > 1 else ():
            check_readable(each.paths)
        self.files, sources = tuple(files), [each.source for each in files]
        labels, said = None, self.temperature
        temperature = UNCHANGED if isinstance(said, str) else Temperature(said)
        layout = one_layout(sources, layouts().layout(self.preset))
        for option, asked in (("--rules misc", self.rules and self.rules.in_misc), ("--fix-heads", self.fix_heads)):
            if asked and not self.has_sentences:
                raise click.UsageError(f"{option} needs --conllu FILE.")
        own = () if self.label_scores else own_labels(sources)
        layout = layout.of_arcs(bool(self.labels or own), bool(self.label_scores or own))
        if self.labels or isinstance(said, str):
            from deptree_cli.io.scores.reading import read_labels, temperature_of  # few runs have such files

            labels = read_labels(self.labels) if self.labels else None
            temperature = temperature_of(said)
        if own and labels and len(own) != len(labels):
            problem = f"there are scores of {counted(len(own), 'label')}, but {self.labels} names {len(labels)}"
            raise DeptreeError(problem, "Leave out --labels: the file names its own", place=sources[0].place)
        self.how = Interpretation(
            layout=layout,
            labels=labels or own or None,
            space=space_of(own_trees(sources), self.trees.space, **self.trees.short),
            temperature=temperature,
            fix_heads=self.fix_heads,
            constraints=self.rules,
        )

    @property
    def news(self) -> list[str]:
        if self.given:
            return []
        sources, asked = [each.source for each in self.files], layouts().layout(self.preset)
        chosen = {"trees": own_trees(sources), "from": self.how.layout.reading != asked.reading}
        return [name for name, by_file in chosen.items() if by_file]

    @property
    def place(self) -> str:
        return self.files[0].source.place

    @property
    def name(self) -> str:
        return ", ".join(each.source.path for each in self.files)

    @property
    def has_sentences(self) -> bool:
        """Whether the sentences are known, from --conllu or from the score files."""
        return bool(self.conllu) or all(each.source.has_words for each in self.files)

    def check_words(self) -> None:
        """Raise unless there are sentences to write as CoNLL-U, in the score files or from --conllu."""
        from deptree_cli.io.conllu.columns import no_sentences

        for each in self.files:
            if each.conllu is None and not each.source.has_words:
                raise no_sentences().at(each.source.place)

    def source(self, run: Run) -> Source[Sentence, ScoredSentence]:
        """The sentences, to be read once."""
        from deptree_cli.io.scores.files import ScoreStream

        other = self.files[0].other
        if other is not None and len(self.files) > 1:
            raise DeptreeError("two score files are compared at a time", "Name one SCORES")
        reading = ScoreStream(self.files, self.how.layout, run.warn)
        items = Counted(self._watched(reading, run), reading.total, reading.share)
        how = replace(self.how, other_place=other.path) if other else self.how
        return Source(items, how, self.signature_fields, bool(self.conllu), self.check_words)

    def with_samples(self, trees: Iterable[GivenTree | DeptreeError], run: Run) -> Source[Sentence, ScoredSentence]:
        from deptree_cli.io.trees.sets import with_samples  # few commands read trees

        source = self.source(run)
        found = with_samples(source.items, trees, partial(run.skip, noun="sample"))
        return Source(Counted(found, lambda: len(found)), source.prepare, source.signature_fields)

    def side(self, source: Source[Sentence, ScoredSentence]) -> Side:
        """The sentences as what is read together with others; CoNLL-U gives them an order."""
        from deptree_cli.io.scores.files import side_of

        side = side_of(source.items, self.files[0].source)
        return replace(side, ordered=True, keys=()) if self.conllu else side

    def _watched(self, records: Iterable[Sentence | DeptreeError], run: Run) -> Iterable[Sentence | DeptreeError]:
        """The sentences, as they are; what cannot be obeyed is told, and which of their fixed labels have no score."""
        how = self.how
        if how.constraints is not None:
            check_known(how.constraints, how.labels, self.has_sentences, run.warn)
            records = obeying(records, how.constraints, how.labels, run.warn)
        return self._with_known_labels(records, run) if how.fix_heads and how.labels is not None else records

    def _with_known_labels(
        self, records: Iterable[Sentence | DeptreeError], run: Run
    ) -> Iterator[Sentence | DeptreeError]:
        from deptree_cli.core.label_names import is_root

        known = {*(self.how.labels or ()), None}
        for record in records:
            block = record.block if isinstance(record, Sentence) else None
            with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
                for label in block.labels if block else ():
                    if label not in known and not is_root(label or ""):
                        where = "it is kept as annotated, unscored"
                        known_by = self.labels or self.place
                        run.warn(f"label {label}", f"the label {label!r} is not in {known_by}: {where}")
            yield record

    @property
    def signature_fields(self) -> dict[str, object]:
        other = self.files[0].other
        return {
            "from": layouts().text_of(self.how.layout.complete),
            **signature_of(self.how.space),
            **self.how.temperature.signature_fields(self.how.labels is not None),
            "heads": "fixed" if self.how.fix_heads else None,
            "other": other.path if other else None,
            "labels": self.labels,
            "labelscores": ",".join(each.label_scores for each in self.files if each.label_scores) or None,
            "rules": self.how.constraints.name if self.how.constraints else None,
        }


def gold(text: str) -> Any:
    """Declare ``--gold FILE``: sentences with gold heads; `text` is what for."""
    help_text = f"Gold heads: the sentences in CoNLL-U, matched by sent_id, or else by order. {text}"
    return reading("--gold", type=INPUT, many=True, often=True, help=help_text)


def beside(help: str, lacks: Collection[str] = (), but: Collection[str] = ()) -> Any:
    """Declare scores beside something else, ``--scores FILE``: the bundle, or None where the option is not given.

    Args:
        lacks: options of a matrix that the command has not, beside --conllu and --fix-heads, which none has.
        but: options that say something without scores too.
    """
    path = reading("--scores", type=INPUT, often=True, help=help)
    return use(Scores, lacks=["conllu", "fix_heads", *lacks], only_with="scores", but=but, scores=path)


# The argument of commands that draw trees as they are, too.
SCORES_OR_TREES = opt(metavar="SCORES|TREES...", many=True, type=INPUT)

WANTED = opt("--sentence", metavar="ID", help="The sent_id of the sentence, or its number.  [default: the first]")
MOST_NAMES = 10_000  # names of sentences kept to find the one that may have been meant


def chosen_sentence(wanted: str | None, place: str, noun: str = "sentence") -> Select:
    """What chooses the one sentence of a name or else of a running number, or the first; no other is computed.

    `place` and `noun`: what is read, and what a sentence is called, for messages.
    """

    def choose(tasks: Tasks) -> Tasks:
        found = None
        names, sentences = list[str](), 0
        for sentences, task in enumerate(tasks, 1):
            name = task.sent_id if isinstance(task, DeptreeError) else task[0].sent_id
            if wanted in (None, name):
                yield task
                return
            found = task if wanted == str(sentences) else found
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
