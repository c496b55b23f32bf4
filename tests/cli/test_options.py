"""Options are declared once: what becomes of a declaration on the command line, in refusals, objects and signatures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from deptree_cli.cli import options
from deptree_cli.cli.options import INPUT, Bundle, Command, command, flag, opt, reading, use
from deptree_cli.cli.run import Run
from tests.every_command import COMMANDS
from tests.every_command import command as command_of

SEEN: list[Any] = []


@dataclass(eq=False)
class Inner(Bundle):
    deep: int = opt("--deep", type=int, default=3, sign="deep")


@dataclass(eq=False)
class Matrices(Bundle):
    path: str | None = opt(type=INPUT)
    names: str | None = reading("--names", type=INPUT)
    cells: str | None = reading("--cells", metavar="CELLS", needs=["names"])
    inner: Inner = use(Inner)
    scale: float = reading("--scale", type=float, default=1.0, convert=lambda number: number * 10, sign="scale")
    made: str = ""

    def __post_init__(self) -> None:
        self.made = self.made or f"made of {self.path}"

    @property
    def news(self) -> list[str]:
        return ["scale"] if self.scale == 70 else []


@command()
def try_it(
    matrices: Matrices = use(Matrices),
    loud: bool = flag("--loud", help="Be loud.", without=["calm"], sign="loud"),
    calm: bool = flag("--calm", help="Be calm."),
    least: float | None = opt("--least", type=float, without=["most"]),
    most: float | None = opt("--most", type=float),
    seed: int = options.seed(),
    run: Run = use(Run, lacks=["shard"]),
) -> int:
    """Try it."""
    SEEN[:] = [matrices, loud, calm, seed, run]
    assert least is None or most is None
    return 0


@command()
def beside(
    inner: Inner = use(Inner),
    matrices: Matrices | None = use(
        Matrices, lacks=["cells"], only_with="path", but=["deep"], path=reading("--path", type=INPUT), made="fixed"
    ),
    run: Run = use(Run),
) -> int:
    """Do it beside something else."""
    SEEN[:] = [inner, matrices, run]
    return 0


def done(asked: Command, *args: str) -> Any:
    SEEN.clear()
    return CliRunner().invoke(asked, [*args], standalone_mode=False)


def refused(asked: Command, *args: str) -> str:
    error = done(asked, *args).exception
    assert isinstance(error, click.UsageError)
    assert not SEEN
    return error.message


def test_values_become_objects() -> None:
    done(try_it, "a.npy", "--scale", "2", "--names", "b", "--cells", "c", "--deep", "5", "--seed", "7", "-j", "1")
    matrices, loud, calm, seed, run = SEEN
    assert (matrices.path, matrices.names, matrices.cells, matrices.scale) == ("a.npy", "b", "c", 20)
    assert (matrices.inner.deep, matrices.made, loud, calm, seed) == (5, "made of a.npy", False, False, 7)
    assert matrices.signature_fields == {"scale": 20}
    assert matrices.inner.signature_fields == {"deep": 5}
    assert run.signature_fields == {"shard": None, "loud": False}
    assert replace(matrices, made="anew").path == "a.npy"


def test_what_an_option_needs_and_excludes() -> None:
    assert refused(try_it, "a.npy", "--cells", "c") == "--cells needs --names FILE."
    assert refused(try_it, "a.npy", "--loud", "--calm") == "--loud cannot be combined with --calm. Remove one."
    assert (
        refused(try_it, "a.npy", "--least", "1", "--most", "0") == "--least cannot be combined with --most. Remove one."
    )
    assert refused(beside, "--scale", "2") == "--scale needs --path FILE."
    assert "--shard" in refused(try_it, "a.npy", "--shard", "1/2")


def test_a_bundle_that_goes_with_one_option() -> None:
    done(beside, "--deep", "4")
    inner, matrices, _ = SEEN
    assert inner.deep == 4
    assert matrices is None
    done(beside, "--path", "a.npy", "--deep", "4")
    inner, matrices, _ = SEEN
    assert (matrices.inner.deep, matrices.cells, matrices.made) == (4, None, "fixed")


def test_what_the_user_did_not_choose_is_news() -> None:
    done(try_it, "a.npy")
    first, *_, run = SEEN[3:]
    assert run.chosen == {"seed"}
    done(try_it, "a.npy")
    assert SEEN[3] != first  # fresh: the same once in 2^32 times
    done(try_it, "a.npy", "--seed", "0")
    assert (SEEN[3], SEEN[4].chosen) == (0, set())
    done(try_it, "a.npy", "--seed", "0", "--scale", "7")
    assert SEEN[4].chosen == {"scale"}


@pytest.mark.parametrize("name", COMMANDS)
def test_scripts_pass_a_seed_and_no_header_to_every_command(name: str) -> None:
    known = {
        each: parameter
        for parameter in command_of(name).params
        for each in (*parameter.opts, *parameter.secondary_opts)
    }
    assert {"--seed", "--no-header"} <= {*known}


def test_where_they_change_nothing_they_are_hidden() -> None:
    assert done(beside, "--seed", "3", "--no-header").exit_code == 0
    page = done(beside, "--help-all").output
    assert "--deep" in page
    assert "--seed" not in page
    assert "header" not in page
