"""``deptree warm``: compile what commands need, by running over examples the lines that their help tells to try."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import chdir, redirect_stderr, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import click
import numpy as np

from deptree_cli.cli.options import command, opt, use
from deptree_cli.cli.run import ALONE, Run
from deptree_cli.cli.table import Entry, entries_of
from deptree_cli.core.errors import DeptreeError, counted, did_you_mean
from deptree_cli.core.undo import undone_at_once
from deptree_cli.kernels.budget import compile_kernels
from deptree_cli.kernels.kept import LEVEL, NATIVE, TARGET, cache_folder, keep_in, serves

# Ids that example lines name stand first. Scores are ordinary ones but for those of the last two, which leave the range
# of float64.
IDS, LENGTHS = ("en-1", *"abcdefg"), (2, 1, 3, 6, 9, 14, 6, 9)
PAIRS = {"de-3": (2, 3), "a": (4, 5), "b": (6, 7)}
TAGS, LABELS = ("DET", "NOUN", "VERB"), ("det", "nsubj", "root")


def write_examples(folder: Path) -> None:
    """Write files of the names that example lines read, but for what commands write; sample data are not installed."""
    random = np.random.Generator(np.random.PCG64(1))
    matrices = [*(random.normal(size=(n + 1, n + 1)) for n in LENGTHS[:-2]), *map(_saturated, LENGTHS[-2:])]
    as_natasha: dict[str, Any] = {name: each.T[1:] for name, each in zip(IDS, matrices, strict=True)}
    np.savez(folder / "scores.npz", **as_natasha)
    pairs: dict[str, Any] = {name: random.normal(size=each) for name, each in PAIRS.items()}
    np.savez(folder / "bitext.npz", **pairs)
    words = "".join(f"{'w ' * source}|||{' w' * target}\n" for source, target in PAIRS.values())
    (folder / "bitext.txt").write_text(words)
    (folder / "bitext_gold.align").write_text("0-0\n" * len(PAIRS))
    for name in ("sentences", "gold", "broken", "treebank"):
        (folder / f"{name}.conllu").write_text("".join(map(_sentence, IDS, LENGTHS)))


def _saturated(n: int) -> np.ndarray:
    """Log-scores of pairs of words that all but choose each other, which elimination cannot do in float64."""
    log_scores = np.full((n + 1, n + 1), -30.0)
    log_scores[1:2, 3:4] = -np.inf
    for word in range(1, n, 2):
        log_scores[word, word + 1] = log_scores[word + 1, word] = 0.0
    return log_scores


def _sentence(sent_id: str, n: int) -> str:
    """Words of which each governs the one before it, the last one is the root."""
    kinds = [2 if word == n else word % 2 for word in range(1, n + 1)]
    words = [
        f"{word}\tw{word % 4}\t_\t{TAGS[kind]}\t_\t_\t{(word + 1) % (n + 1)}\t{LABELS[kind]}\t_\t_\n"
        for word, kind in enumerate(kinds, start=1)
    ]
    return f"# sent_id = {sent_id}\n{''.join(words)}\n"


def warm_up(names: Iterable[str], entries: Mapping[str, Entry]) -> tuple[int, int]:
    """Run the lines of commands so that their machine code is kept; how many kernels were compiled, and were there."""
    compile_kernels()
    chosen = [name for name in names if entries[name].reads not in ("text", "")]  # it takes a parser; it is `warm`
    wants_model = any(entries[name].reads == "model" for name in chosen)
    first = [name for name, each in entries.items() if each.writes == "model" and (wants_model or name in chosen)]
    program = click.get_current_context().find_root().command
    with (
        TemporaryDirectory(prefix="deptree-warm-") as folder,
        undone_at_once(partial(shutil.rmtree, folder, ignore_errors=True)),  # on Ctrl-C and the like
        chdir(folder),
        redirect_stderr(io.StringIO()),  # nobody wants to hear what commands have to tell
    ):
        write_examples(Path(folder))
        for name in dict.fromkeys([*first, *chosen]):
            line = entries[name].line
            try:
                for space in ("", " --multi-root", " --projective"):
                    with suppress(*(click.UsageError, DeptreeError) if space else ()):  # its sampler may not serve it
                        run_line(line.replace(f"deptree {name}", f"deptree {name}{space}"), program)
            except (click.ClickException, DeptreeError) as error:
                raise DeptreeError(f"{line} failed ({error})", "Report it, please") from None
    from deptree_cli.kernels.machine_code import FILES

    compiled = sum(map(bool, FILES.values()))
    return compiled, len(FILES) - compiled


def run_line(line: str, program: click.Command) -> None:
    """Run the commands of a line, each of which reads what the one before it wrote; other programs are left out."""
    streams, written = (sys.stdin, sys.stdout), os.devnull
    try:
        for number, stage in enumerate(line.split(" | ")):
            name, *args = shlex.split(stage)
            if name == "deptree":
                read, written = written, f"stage-{number}"
                with Path(read).open() as sys.stdin, Path(written).open("w") as sys.stdout, suppress(SystemExit):
                    program(args, standalone_mode=False)
    finally:
        sys.stdin, sys.stdout = streams


@command()
def warm(
    commands: tuple[str, ...] = opt(metavar="COMMAND...", many=True, required=False),
    cpu: str | None = opt(
        "--cpu",
        type=click.Choice([LEVEL, NATIVE]),
        help=f"The processor to compile for: this one, or any of its level.  [default: {NATIVE}, with -o {LEVEL}]",
    ),
    folder: str | None = opt(
        "--output",
        "-o",
        type=click.Path(file_okay=False),
        metavar="FOLDER",
        help="Where to keep the machine code.  [default: the user's cache]",
    ),
    run: Run = use(Run, lacks=[*ALONE, "output", "on_error"]),
) -> int:
    """Compile the kernels of commands ahead of time, so that first runs are fast.

    Without COMMAND it compiles all commands, which takes some minutes. It does not compile anything twice,
    so an interrupted run continues where it ended.
    """
    entries = entries_of(click.get_current_context())
    names = _chosen(commands, list(entries))
    place, began = Path(folder).absolute() if folder else cache_folder(), monotonic()
    if folder:
        with suppress(OSError):  # whether it serves is asked next; others can read it, as it may be the package's
            Path(folder).mkdir(mode=0o755, parents=True, exist_ok=True)
    if place is None or not serves(place):
        problem = "this folder cannot be written" if folder else "there is no folder to keep machine code in"
        raise DeptreeError(problem, "Set NUMBA_CACHE_DIR, or pass -o FOLDER", place=folder or "")
    if (cpu or (LEVEL if folder else NATIVE)) == LEVEL:  # for any processor of this machine's level
        os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = TARGET  # before numba is imported
    if folder:
        keep_in(place)
    compiled, there = warm_up(names, entries)
    if not run.quiet:
        kernels = f"{counted(compiled, 'kernel')} compiled, {there} were there"
        click.echo(f"{kernels}, in {place}; {monotonic() - began:.0f} s")
    return 0


def _chosen(words: tuple[str, ...], names: list[str]) -> list[str]:
    """The commands that words name; a group's name stands for all of its commands, unless one of them follows."""
    chosen, rest = set[str](), list(words)
    while rest:
        pair, word = " ".join(rest[:2]), rest[0]
        found = [pair] if pair in names else [name for name in names if f"{name} ".startswith(f"{word} ")]
        if not found:
            raise click.UsageError(f"No such command {word!r}. {did_you_mean(word, names, '')}".rstrip())
        chosen.update(found)
        del rest[: 2 if found == [pair] else 1]
    return [name for name in names if name in chosen or not words]
