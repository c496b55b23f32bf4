"""What commands read and how: SCORES, the options that say how to interpret it, and the object that they become."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from deptree_cli.cli.layout_options import LAYOUT_OPTIONS, UNTEMPERED_OPTIONS, one_layout, own_trees, signature_of
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.rule_options import check_known, obeying
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.sections import Decorator, bound, reading_option
from deptree_cli.cli.work import Counted, Source
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.labels import is_root
from deptree_cli.core.spaces import Short
from deptree_cli.io.conllu.malformed import no_sentences
from deptree_cli.io.files.streams import check_readable, place_of, share_of
from deptree_cli.io.scores.files import ScoreFiles, ScoreStream, side_of
from deptree_cli.io.scores.labels import layout_of_arcs, read_labels
from deptree_cli.io.scores.layout import CHOICES, Layout
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.presets import layout, text_of
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.scores.temperatures import temperature_of
from deptree_cli.io.sentence import Sentence, Side

if TYPE_CHECKING:
    from deptree_cli.io.rules.constraints import Constraints
    from deptree_cli.io.trees.base import GivenTree


# Sentences as they are read.
Read = Iterable[Sentence | DeptreeError]


@dataclass(frozen=True)
class ScoreOptions:
    """What is read, and how it is interpreted.

    Attributes:
        files: the score files, in order, each with the paths of what belongs to it.
        how: how records become distributions.
        labels_path: the file of the names of labels, if the scores tell them.
    """

    files: tuple[ScoreFiles, ...]
    how: Interpretation
    labels_path: str | None = None

    @property
    def place(self) -> str:
        """What messages call the first of the score files."""
        return self.files[0].source.place

    @property
    def conllu(self) -> str | None:
        """The path of the first file of sentences; there are as many as score files, or none."""
        return self.files[0].conllu

    @property
    def gold(self) -> str | None:
        """The path of the first file of gold heads; there are as many as score files, or none."""
        return self.files[0].gold

    @property
    def other(self) -> ScoreSource | None:
        """A second score file of the same sentences, for commands that compare."""
        return self.files[0].other

    @property
    def name(self) -> str:
        """The paths of the score files."""
        return ", ".join(each.source.path for each in self.files)

    def with_other(self, path: str) -> ScoreOptions:
        """Return these with a second score file of the same sentences.

        Raises:
            DeptreeError: it says that it has another layout, or no scores.
        """
        other, read = ScoreSource(path), self.how.layout.complete
        own = other.layout(Layout())
        for name in CHOICES:
            one, two = getattr(read, name), getattr(own, name)
            if one and two and one != two:
                problem = f"the file says {two} of itself, but {self.place} is read as {one}"
                raise DeptreeError(problem, "Convert one of them: deptree convert", place=other.place)
        return replace(self, files=(replace(self.files[0], other=other), *self.files[1:]))

    def check_words(self) -> None:
        """Raise unless there are sentences to write as CoNLL-U.

        Raises:
            DeptreeError: a score file has none, neither of its own nor from --conllu.
        """
        for each in self.files:
            if each.conllu is None and not each.source.has_words:
                raise no_sentences().at(each.source.place)

    def source(self, run: RunOptions) -> Source[Sentence, ScoredSentence]:
        """The sentences, to be read once.

        Raises:
            DeptreeError: rules ask for what nobody gives, or there are several score files where two are compared.
        """
        if self.other is not None and len(self.files) > 1:
            raise DeptreeError("two score files are compared at a time", "Name one SCORES")
        reading = ScoreStream(self.files, self.how.layout, run.warn)
        items = Counted(self._watched(reading, run), reading.total, reading.share)
        how = replace(self.how, other_place=self.other.path) if self.other else self.how
        return Source(items, how, self.signature_fields, self.conllu is not None, self.check_words)

    def with_samples(
        self, trees: Iterable[GivenTree | DeptreeError], run: RunOptions
    ) -> Source[Sentence, ScoredSentence]:
        """The sentences with their trees, which may come in any order."""
        from deptree_cli.io.trees.sets import with_samples  # few commands read trees

        source = self.source(run)
        found = with_samples(source.items, trees, partial(run.skip, noun="sample"))
        return Source(Counted(found, lambda: len(found)), source.prepare, source.signature_fields)

    def of_trees(self, path: str, run: RunOptions) -> Source[Sentence, ScoredSentence]:
        """The trees of a file in their order, each with the sentence that it is a tree of; to be read once."""
        from deptree_cli.io.trees import read_trees  # few commands read trees
        from deptree_cli.io.trees.sets import scored_trees

        source = self.source(run)
        found = scored_trees(read_trees(path, named=False), self.side(source), place_of(path), run.warn)
        return Source(Counted(found, share=share_of([path])), source.prepare, source.signature_fields)

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
        """What of these a run must repeat to give the same result."""
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

_FIX_HEADS = reading_option(
    "--fix-heads",
    is_flag=True,
    often=True,
    help="Keep the HEADs and DEPRELs in --conllu that are not _.",
)

READING_OPTIONS = [_CONLLU, *LAYOUT_OPTIONS, _FIX_HEADS, LABEL_SCORES]

_SCORES = click.argument("scores", nargs=-1, required=True, type=INPUT)
_ONE_SCORES = click.argument("scores", type=INPUT)


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
judging_options = bound("scores", [_SCORES, _CONLLU, *LAYOUT_OPTIONS, LABEL_SCORES], options_of)
untempered_options = bound("scores", [_SCORES, _CONLLU, *UNTEMPERED_OPTIONS, LABEL_SCORES], options_of)

# The same with a single SCORES.
one_score_options = bound("scores", [_ONE_SCORES, *READING_OPTIONS], options_of)
