"""``deptree hpyp train``."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deptree_cli.cli.help import WRITING
from deptree_cli.cli.options import (
    INPUT,
    OUTPUT,
    IntRange,
    check_effect,
    command,
    mark_provenance,
    option,
    reading_option,
)
from deptree_cli.cli.run import Messages, RunOptions, on_error_option, quiet_option
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.treebank import Tags, read_treebank
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.complete import Complete
from deptree_cli.hpyp.model.defaults import SPACING
from deptree_cli.hpyp.options.training_run import Targets, check_overwriting, model_to_resume, run_training
from deptree_cli.io.files.streams import STDIN
from deptree_cli.io.signature import signature
from deptree_cli.kernels.budget import compile_kernels

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.contexts import Contexts
    from deptree_cli.hpyp.model.trained import Progress, Trained


@command()
@click.argument("treebank", metavar="TREEBANK...", nargs=-1, required=True, type=INPUT)
@option(
    "--output",
    "-o",
    "model",
    type=OUTPUT,
    required=True,
    section=WRITING,
    often=True,
    help="Write the model to FILE after every iteration, so that --resume can continue from it.",
)
@reading_option(
    "--column",
    "tags",
    type=click.Choice(["upos", "xpos"]),
    default="upos",
    often=True,
    help="The column of tags.  [default: upos]",
)
@reading_option(
    "--unlabelled",
    type=INPUT,
    multiple=True,
    often=True,
    help="CoNLL-U without trees, to learn more words from; tags are predicted. May be repeated.",
)
@reading_option(
    "--contexts",
    type=INPUT,
    often=True,
    help="TOML with lists `action`, `tag`, `word`: what each is predicted from (see the manual).",
)
@option("--lexicalised/--unlexicalised", default=True, help="Model words and tags, or only tags.  [default: words too]")
@option("--iterations", type=IntRange(1), default=10, metavar="N", help="Passes over the treebank.  [default: 10]")
@option(
    "--states",
    type=IntRange(1, 1000),
    default=1,
    metavar="N",
    help=f"Average over N states of the model: {SPACING} more iterations for each but the first.  [default: 1]",
)
@option(
    "--passes",
    type=IntRange(1),
    default=1,
    metavar="N",
    help="Passes over --unlabelled, after the iterations; the first uses best trees, others samples.  [default: 1]",
)
@option(
    "--oracle",
    type=click.Choice(["static", "sampled"]),
    default="static",
    help="Order in which a tree's arcs are built: as early as possible (static), or sampled anew in every iteration."
    "  [default: static]",
)
@option("--resume", is_flag=True, help="Continue the training of -o, up to --iterations and --passes.")
@option(
    "--force",
    is_flag=True,
    section=WRITING,
    often=True,
    help="Overwrite -o even if it is not a model of the same data.",
)
@option(
    "--seed",
    type=IntRange(0),
    metavar="N",
    help="Make the run repeatable.  [default: fresh, shown on stderr; with --resume, the model's]",
)
@on_error_option
@quiet_option
def train(**options: Any) -> int:
    """Train a parser on a treebank, and write a model for the other `deptree hpyp` commands.

    Reads CoNLL-U with tags and trees, several files one after another. Sentences in which a word has no tag or no label
    (_) are left out and counted. It is an error if these are most of the treebank. Before training, crossing arcs are
    moved up the tree until they no longer cross.

    Training is a Gibbs sampler over the parser's Pitman-Yor processes, which smooth its counts. The model is the last
    state of the sampler. With --states N it is N states; trees and surprisals are then averages and take N times as
    long. After an interruption, repeat the command with --resume: the model has the same bytes as that of a run without
    interruption.

    With --unlabelled, the trained parser then reads sentences without trees and adds their words to its word model. The
    probabilities of actions and tags do not change. In each pass, all sentences are parsed with the model as it was at
    the start of the pass.
    """
    return _train(TrainOptions(**options))


@dataclass(frozen=True)
class TrainOptions:
    """The command line."""

    treebank: tuple[str, ...]
    model: str
    tags: Tags
    unlabelled: tuple[str, ...]
    contexts: str | None
    lexicalised: bool
    iterations: int
    states: int
    passes: int
    oracle: str
    resume: bool
    force: bool
    seed: int | None
    on_error: str
    quiet: bool


def _train(options: TrainOptions) -> int:
    _check(options)
    messages = Messages(options.quiet, options.on_error == "skip")
    run = RunOptions(options.model, quiet=options.quiet, messages=messages)
    contexts = _contexts(options)
    complete = Complete(options.tags)
    trees = _usable(read_treebank(options.treebank, options.tags), run, Annotated.check_trainable)
    treebank = list(complete.of(trees))
    text = list(_usable(read_treebank(options.unlabelled, options.tags), run, Annotated.check_forms))
    if not treebank:
        raise DeptreeError("there are no sentences to train on", "Check the file", place=options.treebank[0])
    if options.unlabelled and not text:
        raise DeptreeError("there are no sentences to read", "Check the file", place=options.unlabelled[0])
    compile_kernels()  # every iteration goes over all words
    from deptree_cli.hpyp.model.resuming import check_kept, check_targets
    from deptree_cli.hpyp.model.trained import Settings  # these load kernels: when there is work
    from deptree_cli.hpyp.model.training import Training

    before = model_to_resume(options.model, run) if options.resume else None
    settings = Settings(_seed(options, before), options.oracle, options.tags)
    training = Training(treebank, contexts, settings, text, before)
    targets = Targets(options.iterations, options.passes if text else 0, options.states)
    check_targets(training.progress, targets.iterations, targets.passes)
    check_kept(before, targets.kept)
    if not (options.resume or options.force):
        check_overwriting(options.model, training)
    run.warn("left out", complete.line)
    messages.tell()
    run_training(training, targets, options.model, partial(_signature, contexts, options), run)
    messages.conclude()
    return 1 if messages.skipped else 0


def _check(options: TrainOptions) -> None:
    """Find what is wrong with the command line before anything is read.

    Raises:
        DeptreeError: the model is no file that can be written again and again.
        click.UsageError: options contradict each other.
    """
    path = Path(options.model)
    if options.model == STDIN or (path.exists() and not path.is_file()):
        problem = "the model is written after every iteration, so it must be a file"
        raise DeptreeError(problem, "Pass a file name with -o", place=options.model)
    if not path.absolute().parent.is_dir():
        raise DeptreeError("its folder does not exist", f"Create {path.parent} first", place=options.model)
    if not options.unlabelled:
        check_effect(["passes"], "--unlabelled")
    if options.states > 1 and options.unlabelled:
        raise click.UsageError(
            "--states cannot be combined with --unlabelled: only the last state reads it. Remove one."
        )
    if options.resume and options.force:
        raise click.UsageError("--resume continues the model of -o, --force overwrites it. Remove one.")


def _contexts(options: TrainOptions) -> Contexts:
    """The contexts of the file, or those of the paper."""
    from deptree_cli.hpyp.files.contexts_file import read_contexts
    from deptree_cli.hpyp.model.contexts import LEXICALISED, UNLEXICALISED

    default = LEXICALISED if options.lexicalised else UNLEXICALISED
    contexts = read_contexts(options.contexts, default) if options.contexts else default
    if options.unlabelled and not contexts.word:
        raise DeptreeError("a parser without words learns nothing from text", "Remove --unlabelled")
    return contexts


def _usable(
    found: Iterable[Annotated | DeptreeError], run: RunOptions, check: Callable[[Annotated], object]
) -> Iterator[Annotated]:
    """The sentences that pass a check."""
    for sentence in found:
        try:
            if isinstance(sentence, DeptreeError):
                raise sentence
            check(sentence)
            yield sentence
        except DeptreeError as error:
            run.skip(error)


def _seed(options: TrainOptions, before: Trained | None) -> int:
    """The seed given, that of the model to go on with, or a fresh one."""
    if options.seed is not None:
        return options.seed
    mark_provenance(click.get_current_context(), "seed")
    return before.progress.seed if before else secrets.randbits(32)


def _signature(contexts: Contexts, options: TrainOptions, progress: Progress) -> str:
    """How a model was made that has come so far; contexts of a file are there without spaces."""
    return signature(
        "hpyp train",
        {
            "column": progress.tagset,
            "words": "yes" if contexts.word else "no",
            "contexts": " ".join(contexts.to_toml().replace(" ", "").split()) if options.contexts else None,
            "iterations": min(progress.iterations, options.iterations),
            "states": options.states if options.states > 1 else None,
            "oracle": progress.oracle,
            "passes": progress.passes or None,
            "seed": progress.seed,
        },
    )
