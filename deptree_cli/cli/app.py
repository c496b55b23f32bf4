"""The command `deptree`, and the one place where an error becomes a line and an exit status."""

from __future__ import annotations

import errno
import os
import sys
from typing import NoReturn

import click

from deptree_cli.cli.signals import INTERRUPTED
from deptree_cli.cli.table import COMMANDS, LazyGroup
from deptree_cli.core.errors import DeptreeError, ReaderLeft, printable
from deptree_cli.kernels.budget import begin_with_python
from deptree_cli.version import __version__

DONE, BAD_INPUT = 0, 2
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # only writing meets these, and Python tells no name


class Deptree(LazyGroup):
    def invoke(self, ctx: click.Context) -> object:
        """Run as click does: all files of the run appear, or none; Ctrl-C ends it quietly, without an empty line."""
        from deptree_cli.io.files.output import all_or_none  # loads NumPy: not for the page of all commands

        try:
            with all_or_none():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)


@click.group(
    cls=Deptree,
    package="deptree_cli.commands",
    table=COMMANDS,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nTry: deptree sample scores.npz --from natasha --conllu sentences.conllu -k 10 --seed 7",
)
@click.version_option(__version__, "-V", "--version", prog_name="deptree")
def deptree() -> None:
    """Work with the distribution over dependency trees that a parser's arc scores define: probabilities of arcs and
    trees, samples, best trees, and words that may be wrong in a treebank.

    SCORES is a file of arc scores (.npy, .npz, .safetensors, .jsonl), maybe with sentences and labels, or - for
    standard input; several are read one after another. eval, measure, agree, diff, check, repair, combine, show and
    report also work with trees alone, in CoNLL-U.
    `deptree COMMAND --help` shows what a command does, --help-all explains all of its options and output fields.

    Exit status: 0 done; 1 done, but sentences were skipped, or a check failed (check, check-bias, diff, ...); 2 wrong
    usage or unreadable input; 130 interrupted.
    """


def main() -> NoReturn:
    """Run the command line; every way it can end becomes an exit status, errors a single line on stderr.

    What signals do is up to whoever owns the process: see `deptree_cli.__main__`.
    """
    # Before NumPy is loaded: matrices of a sentence are small, and threads over them mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    begin_with_python()
    try:
        code = deptree(standalone_mode=False)
        if sys.stdout:
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else DONE)
    except (click.ClickException, DeptreeError) as error:
        line = _one_line(error)
        _let_go(error)
        fail(line)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(INTERRUPTED)
    except (ReaderLeft, BrokenPipeError):
        # The reader (`| head`) has seen enough; what Python would flush at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except OSError as error:
        place = error.filename or ("standard output" if error.errno in NO_ROOM else "")
        fail(printable(f"deptree: {f'{place}: ' if place else ''}{error.strerror or error}."))


def _let_go(error: BaseException | None) -> None:
    """Forget where an error came from: the frames of its traceback hold readers that are half-way through their files.

    Frames and errors hold each other, so that without this the files would stay open until the garbage is collected.
    """
    while error is not None:
        error.__traceback__, error = None, error.__context__


def fail(line: str) -> NoReturn:
    """End with a line on stderr; what standard output could not take goes nowhere, lest Python ends with more lines."""
    click.echo(line, err=True)
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(BAD_INPUT)


def _one_line(error: click.ClickException | DeptreeError) -> str:
    if isinstance(error, DeptreeError):
        return " ".join(f"deptree: {error.on_command_line}".split())
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "deptree"
    return printable(" ".join(f"{command}: {error.format_message()} See {command} --help.".split()))
