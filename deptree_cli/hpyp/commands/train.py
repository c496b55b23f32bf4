"""``deptree hpyp train``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from deptree_cli.cli.help import WRITING
from deptree_cli.cli.options import INPUT, OUTPUT, Bundle, IntRange, command, flag, opt, reading, use, writing
from deptree_cli.cli.run import ALONE, Run
from deptree_cli.cli.terminal import Counted, message, progress
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.undo import undone_at_once
from deptree_cli.hpyp.files.treebank import Tagset, read_treebank
from deptree_cli.hpyp.model.sentences import LEXICALISED, SPACING, UNLEXICALISED, Annotated, Complete, kept_iterations
from deptree_cli.io.files.streams import STDIN
from deptree_cli.io.signature import signature
from deptree_cli.kernels.budget import compile_kernels

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.training import Progress, Training


@dataclass(eq=False)
class TrainOptions(Bundle):
    treebank: tuple[str, ...] = opt(metavar="TREEBANK...", many=True, type=INPUT)
    model: str = writing(
        "--output",
        "-o",
        type=OUTPUT,
        required=True,
        often=True,
        help="Write the model to FILE after every iteration, so that --resume can continue from it.",
    )
    tags: Tagset = reading(
        "--column",
        type=click.Choice(["upos", "xpos"]),
        default="upos",
        often=True,
        help="The column of tags.  [default: upos]",
    )
    unlabelled: tuple[str, ...] = reading(
        "--unlabelled",
        type=INPUT,
        many=True,
        often=True,
        help="CoNLL-U without trees, to learn more words from; tags are predicted. May be repeated.",
    )
    lexicalised: bool = opt(
        "--lexicalised/--unlexicalised", default=True, help="Model words and tags, or only tags.  [default: words too]"
    )
    iterations: int = opt("--iterations", type=IntRange(1), default=10, help="Passes over the treebank.  [default: 10]")
    states: int = opt(
        "--states",
        type=IntRange(1, 1000),
        default=1,
        help=f"Average over N states of the model: {SPACING} more iterations for each but the first.  [default: 1]",
    )
    passes: int = opt(
        "--passes",
        type=IntRange(1),
        default=1,
        needs=["unlabelled"],
        help="Passes over --unlabelled after those: by best trees, then by samples.  [default: 1]",
    )
    oracle: str = opt(
        "--oracle",
        type=click.Choice(["static", "sampled"]),
        default="static",
        help="Build a tree's arcs as early as possible, or in an order sampled in every iteration.  [default: static]",
    )
    resume: bool = flag(
        "--resume", without=["force"], help="Continue the training of -o, up to --iterations and --passes."
    )
    force: bool = flag(
        "--force", section=WRITING, often=True, help="Overwrite -o even if it is not a model of the same data."
    )

    def signature(self, progress: Progress) -> str:
        """How a model that has come so far was made."""
        fields = {
            "column": progress.tagset,
            "words": "yes" if self.lexicalised else "no",
            "iterations": min(progress.iterations, self.iterations),
            "states": self.states if self.states > 1 else None,
            "oracle": progress.oracle,
            "passes": progress.passes or None,
            "seed": progress.seed,
        }
        return signature("hpyp train", fields)


@command(gone={"--contexts": "in Python, Parser.train takes contexts"})
def train(
    options: TrainOptions = use(TrainOptions),
    seed: int = opt(
        "--seed",
        type=IntRange(0),
        help="Make the run repeatable.  [default: fresh, shown on stderr; with --resume, the model's]",
    ),
    run: Run = use(Run, lacks=("output", *ALONE)),
) -> int:
    """Train a parser on a treebank, for the other `deptree hpyp` commands.

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
    path = Path(options.model)
    if options.model == STDIN or (path.exists() and not path.is_file()):
        problem = "the model is written after every iteration, so it must be a file"
        raise DeptreeError(problem, "Pass a file name with -o", place=options.model)
    if not path.absolute().parent.is_dir():
        raise DeptreeError("its folder does not exist", f"Create {path.parent} first", place=options.model)
    if options.states > 1 and options.unlabelled:
        problem = "--states cannot be combined with --unlabelled: only the last state reads it"
        raise click.UsageError(f"{problem}. Remove one.")
    contexts = LEXICALISED if options.lexicalised else UNLEXICALISED
    if options.unlabelled and not contexts.word:
        raise DeptreeError("a parser without words cannot learn from text", "Remove --unlabelled")
    complete = Complete(options.tags)
    treebank = list(complete.of(read_treebank(options.treebank, options.tags, run.skip, Annotated.check_trainable)))
    text = list(read_treebank(options.unlabelled, options.tags, run.skip, Annotated.check_forms))
    if not treebank:
        raise DeptreeError("there are no sentences to train on", "Check the file", place=options.treebank[0])
    if options.unlabelled and not text:
        raise DeptreeError("there are no sentences to read", "Check the file", place=options.unlabelled[0])
    compile_kernels()  # every iteration goes over all words
    from deptree_cli.hpyp.files.model_file import read_model  # these load kernels: when there is work
    from deptree_cli.hpyp.model.training import Training, TrainingSettings, check_targets

    before = read_model(options.model)[0] if options.resume and path.exists() else None
    if options.resume and before is None:
        run.warn("resume", f"{options.model} does not exist yet: training starts from the beginning")
    if before and "seed" in run.chosen:
        seed = before.progress.seed
    training = Training(treebank, contexts, TrainingSettings(seed, options.oracle, options.tags), text, before)
    kept, passes = kept_iterations(options.iterations, options.states), options.passes if text else 0
    if before:
        check_targets(before, kept, passes)
    if not (options.resume or options.force):
        check_overwriting(options.model, training)
    run.warn("left out", complete.line)
    run.messages.tell()
    run_training(training, kept, passes, options, run)
    run.messages.conclude()
    return 1 if run.messages.skipped else 0


def check_overwriting(path: str, training: Training) -> None:
    """Raise unless the path is free, or holds a model of the same data, which training repeats."""
    from deptree_cli.hpyp.files.model_file import read_model
    from deptree_cli.hpyp.model.training import is_of

    file = Path(path)
    if not file.exists() or not file.stat().st_size:
        return
    problem = "the file exists, and is not a model that this version of deptree reads"
    with suppress(DeptreeError):
        trained = read_model(path)[0]
        if is_of(trained, training.symbols, training.progress):
            return
        had = trained.progress
        of = f"{counted(had.sentences, 'sentence')}, --column {had.tagset}"
        problem = f"the file exists, and is a model of other data ({of})"
    raise DeptreeError(problem, "Name another file with -o, or pass --force to overwrite this one", place=path)


# Training keeps what it has: a model after every iteration, a line for each, and a line if it is interrupted.


def run_training(training: Training, kept: range, passes: int, options: TrainOptions, run: Run) -> None:
    """Train, with the states of some iterations `kept`, and then with passes over text.

    The model is written after every iteration and pass, and compressed at the end.
    """
    from deptree_cli.hpyp.files.model_file import write_model

    path, had = options.model, training.progress
    todo, checkpoint = kept[-1] - had.iterations + passes - had.passes, Checkpoint(path, had, run.quiet)
    source = Counted[str](
        (), total=lambda: todo, noun="iteration", note=lambda: f"log p {training.progress.log_likelihoods[-1]:,.0f}"
    )
    with undone_at_once(checkpoint.tell):
        for line in progress(_steps(training, kept, passes), source):
            checkpoint.about_to_hold(training.progress)
            write_model(path, training.trained(), options.signature(training.progress), compressed=False)
            if not (run.quiet or sys.stderr.isatty()):
                message(line)
        write_model(path, training.trained(), options.signature(training.progress))
    if "seed" in run.chosen:
        run.warn("signature", options.signature(training.progress))
    run.warn("summary", _summary(training, path))


def _steps(training: Training, kept: range, passes: int) -> Iterator[str]:
    """Train; yield a line about every step."""
    for number in range(training.progress.iterations + 1, kept[-1] + 1):
        start = monotonic()
        line = f"iteration {number} of {kept[-1]}: log-likelihood {training.iterate(kept):.1f}"
        yield f"{line}, {monotonic() - start:.1f} s"
    for number in range(training.progress.passes + 1, passes + 1):
        start = monotonic()
        line = f"pass {number} of {passes}: log-likelihood of its words {training.read():.1f}"
        yield f"{line}, {monotonic() - start:.1f} s"


def _summary(training: Training, path: str) -> str:
    had, symbols, size = training.progress, training.symbols, Path(path).stat().st_size
    words = f"{counted(symbols.lexicon.vocabulary.size - 2, 'word')} and classes, " if symbols.is_lexicalised else ""
    text = f" and {had.text_sentences} without trees" if had.text_sentences else ""
    return (
        f"{counted(had.sentences, 'sentence')} ({counted(training.words, 'word')}){text}: {words}"
        f"{counted(len(symbols.tags.symbols), 'tag')}, {counted(len(symbols.labels), 'label')}; "
        f"{counted(had.lifted, 'tree')} made projective; {path}: "
        + (f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB")
    )


class Checkpoint:
    """What the model file holds if training is interrupted."""

    def __init__(self, path: str, before: Progress, quiet: bool) -> None:
        self._path, self._file = path, _identity(path)
        self._held = self._coming = before
        self._is_told = quiet

    def about_to_hold(self, progress: Progress) -> None:
        """Note how far the model will have come that the file is about to hold.

        Whether it holds it yet is seen from the file: a signal may come as soon as that is renamed into its place. It
        may come between two of these lines, too, whose order matters.
        """
        self._held, now = self._progress(), _identity(self._path)
        self._file = now
        self._coming = progress

    def _progress(self) -> Progress:
        return self._held if _identity(self._path) == self._file else self._coming

    def tell(self) -> None:
        """Write it on stderr, once, past streams, which a signal may have interrupted."""
        if self._is_told:
            return
        self._is_told, had = True, self._progress()
        line = "interrupted before the first iteration was done: there is no model"
        if had.iterations:
            done = f"pass {had.passes}" if had.passes else f"iteration {had.iterations}"
            line = f"interrupted; {self._path} is as it was after {done}. Repeat the command with --resume to go on"
        os.write(2, f"deptree: {line}\n".encode())


def _identity(path: str) -> tuple[int, int] | None:
    """What distinguishes a file from one that is renamed to its name; None if there is no file."""
    with suppress(FileNotFoundError):
        found = Path(path).stat()
        return found.st_ino, found.st_mtime_ns
    return None
