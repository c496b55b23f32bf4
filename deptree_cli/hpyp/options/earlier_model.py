"""The model that is already there when training begins: to go on with it, or not to lose it by mistake."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deptree_cli.cli.run_options import RunOptions
from deptree_cli.core.errors import DeptreeError, counted

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.trained import Trained
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
        problem = (
            f"the file exists, and is a model of other data ({counted(had.sentences, 'sentence')}, --tags {had.tagset})"
        )
    raise DeptreeError(problem, "Name another file with -m, or pass --force to overwrite this one", place=path)
