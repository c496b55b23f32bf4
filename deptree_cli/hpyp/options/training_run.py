"""A training that keeps what it has: a model after every iteration, a line for each, and one where it is cut short."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from deptree_cli.cli.options import chosen_for_user
from deptree_cli.cli.run import RunOptions
from deptree_cli.cli.terminal import Counted, message, progress
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.undo import undone_at_once
from deptree_cli.hpyp.model.defaults import kept_iterations

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.trained import Progress, Trained
    from deptree_cli.hpyp.model.training import Training


def model_to_resume(path: str, run: RunOptions) -> Trained | None:
    """The model to go on with, if there is one."""
    from deptree_cli.hpyp.files.model_file import read_model  # loads kernels: when there is work

    if Path(path).exists():
        return read_model(path)[0]
    run.warn("resume", f"{path} does not exist yet: training starts from the beginning")
    return None


def check_overwriting(path: str, training: Training) -> None:
    """Make sure that a path is free, or holds nothing but a model of the same data, which training repeats.

    Raises:
        DeptreeError: it holds something else.
    """
    from deptree_cli.hpyp.files.model_file import read_model
    from deptree_cli.hpyp.model.resuming import is_of

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


@dataclass(frozen=True)
class Targets:
    """How far training shall come.

    Attributes:
        burn_in: iterations over the treebank until the first state that is kept.
        passes: over text.
        states: that are kept, the others `SPACING` iterations after the one before.
    """

    burn_in: int
    passes: int
    states: int = 1

    @property
    def kept(self) -> range:
        """After which iterations states are kept."""
        return kept_iterations(self.burn_in, self.states)

    @property
    def iterations(self) -> int:
        """How many iterations there shall be in all."""
        return self.kept[-1]


def run_training(
    training: Training, targets: Targets, path: str, made_by: Callable[[Progress], str], run: RunOptions
) -> None:
    """Train up to the targets; write the model under a path after every iteration and pass, at the end compressed.

    Args:
        made_by: the signature of a model that has come so far.
        quiet: whether nothing is written to stderr but errors.
    """
    from deptree_cli.hpyp.files.model_file import write_model

    kept = Checkpoint(path, training.progress, run.quiet)
    steps = _steps(training, targets)
    source: Counted[str] = Counted(
        (),
        total=lambda: _left(training.progress, targets) + kept.steps,
        noun="iteration",
        note=lambda: f"log p {training.progress.log_likelihoods[-1]:,.0f}",
    )
    with undone_at_once(kept.tell):
        for line in progress(steps, source):
            kept.about_to_hold(training.progress)
            write_model(path, training.trained(), made_by(training.progress), compressed=False)
            kept.steps += 1
            if not (run.quiet or sys.stderr.isatty()):
                message(line)
        write_model(path, training.trained(), made_by(training.progress))
    signature = made_by(training.progress)
    if chosen_for_user(signature):
        run.warn("signature", signature)
    run.warn("summary", _summary(training, path))


def _left(done: Progress, targets: Targets) -> int:
    return targets.iterations - done.iterations + targets.passes - done.passes


def _steps(training: Training, targets: Targets) -> Iterator[str]:
    """Train; yield a line about every step."""
    for number in range(training.progress.iterations + 1, targets.iterations + 1):
        start = monotonic()
        line = f"iteration {number} of {targets.iterations}: log-likelihood {training.iterate(targets.kept):.1f}"
        yield f"{line}, {monotonic() - start:.1f} s"
    for number in range(training.progress.passes + 1, targets.passes + 1):
        start = monotonic()
        line = f"pass {number} of {targets.passes}: log-likelihood of its words {training.read():.1f}"
        yield f"{line}, {monotonic() - start:.1f} s"


def _summary(training: Training, path: str) -> str:
    """What was learned, and from what."""
    trained = training.trained()
    had, symbols = trained.progress, trained.symbols
    words = f"{counted(symbols.lexicon.vocabulary.size - 2, 'word')} and classes, " if symbols.is_lexicalised else ""
    text = f" and {had.text_sentences} without trees" if had.text_sentences else ""
    return (
        f"{counted(had.sentences, 'sentence')} ({counted(training.words, 'word')}){text}: {words}"
        f"{counted(len(symbols.tags.symbols), 'tag')}, {counted(len(symbols.labels), 'label')}; "
        f"{counted(had.lifted, 'tree')} made projective; {path}: {_bytes(Path(path).stat().st_size)}"
    )


def _bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


class Checkpoint:
    """What is there when training is cut short.

    Attributes:
        steps: how many iterations and passes this run has finished.
    """

    def __init__(self, path: str, before: Progress, quiet: bool) -> None:
        self.steps = 0
        self._path, self._file = path, _identity(path)
        self._held = self._coming = before
        self._waiting = [] if quiet else [self._line]

    def about_to_hold(self, progress: Progress) -> None:
        """Note how far the model will have come that the file is about to hold.

        Whether it holds it yet is seen from the file: a signal may come as soon as that is renamed into its place. It
        may come between two of these lines, too, whose order matters.
        """
        held, now = self._progress(), _identity(self._path)
        self._held = held
        self._file = now
        self._coming = progress

    def _progress(self) -> Progress:
        """How far the model in the file has come."""
        return self._held if _identity(self._path) == self._file else self._coming

    def tell(self) -> None:
        """Write it on stderr, once, past streams, which a signal may have interrupted."""
        if self._waiting:
            os.write(2, f"deptree: {self._waiting.pop()()}\n".encode())

    def _line(self) -> str:
        progress = self._progress()
        if not progress.iterations:
            return "interrupted before the first iteration was done: there is no model"
        done = f"pass {progress.passes}" if progress.passes else f"iteration {progress.iterations}"
        return f"interrupted; {self._path} is as it was after {done}. Repeat the command with --resume to go on"


def _identity(path: str) -> tuple[int, int] | None:
    """What tells a file from the one that is renamed into its place; None where there is none."""
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns
