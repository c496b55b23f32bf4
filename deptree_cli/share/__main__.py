"""``python -m deptree_cli.share [FOLDER]``: write the man page and the completion files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from deptree_cli.cli import COMMANDS, deptree
from deptree_cli.share.bash import bash
from deptree_cli.share.fish import fish
from deptree_cli.share.manual import manual
from deptree_cli.share.program import Program, program
from deptree_cli.share.zsh import zsh

HERE = Path(__file__).parent

# name of a file -> its text
FILES: dict[str, Callable[[Program], str]] = {
    "deptree.1": manual,
    "deptree.bash": bash,
    "_deptree": zsh,
    "deptree.fish": fish,
}


def texts() -> dict[str, str]:
    """The files by name, as the command line of now makes them."""
    made = program(deptree, COMMANDS)
    return {name: write(made) for name, write in FILES.items()}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", default=HERE, type=click.Path(file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Write the man page and the completion files of deptree into FOLDER, by default beside their generator."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(prog_name="python -m deptree_cli.share")
