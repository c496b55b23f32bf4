"""Options: one name means one thing in every command, no value is empty, and what becomes of a declaration."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from deptree_cli.cli import options
from deptree_cli.cli.options import (
    INPUT,
    NAME_OR_INPUT,
    OUTPUT,
    RESULTS,
    Bundle,
    Command,
    FileName,
    FloatRange,
    IntRange,
    command,
    flag,
    opt,
    reading,
    use,
)
from deptree_cli.cli.run import Run
from deptree_cli.core.corpus import most_workers
from tests.commands.readers import NOT_RANDOM
from tests.every_command import COMMANDS
from tests.every_command import command as command_of
from tests.every_command import options as options_of

EVERY = pytest.mark.parametrize("name", COMMANDS)

# Options of which commands have different kinds, and why.
DIFFERENT = {
    "--method": "combine has two, the others a register of them",
    "--output": "warm writes a folder",
    "-o": "as --output",
    "--temperature": "of sentence pairs there is none in a file: calibrate fits trees",
}


def kind_of(option: click.Option, context: click.Context) -> str:
    """What the help shows behind an option, and what it takes."""
    if option.is_flag:
        return "flag"
    use = "read" if option.type in (INPUT, NAME_OR_INPUT) else "written" if option.type in (OUTPUT, RESULTS) else ""
    return f"{option.make_metavar(context)}: {type(option.type).__name__} {use}"


def test_one_name_means_one_thing():
    kinds = defaultdict(lambda: defaultdict(list))
    for name in COMMANDS:
        context = click.Context(command_of(name), info_name=name)
        for option, each in options_of(name).items():
            if isinstance(each, click.Option):
                kinds[option][kind_of(each, context)].append(name)
    assert {option: dict(found) for option, found in kinds.items() if len(found) > 1}.keys() == DIFFERENT.keys()


SHORT = {"-j": "--jobs", "-q": "--quiet", "-o": "--output"}
ALONE = {  # work of one process: a model is trained, reading is most of the work, or there is one sentence
    *("hpyp train", "warm", "agree", "diff", "estimate", "eval", "show", "bitext show"),
}


@EVERY
def test_short_names_mean_the_same_everywhere(name):
    found = options_of(name)
    for short in SHORT.keys() - ({"-j"} if name in ALONE else set()):
        assert found[short] is found[SHORT[short]]
    assert ("-k" in found) == ("--size" in found)
    assert name in ("agree", "check-bias") or "--alpha" not in found
    written = found["--format"].type.choices if "--format" in found else []
    assert ("--json" in found, "--tsv" in found) == ("jsonl" in written, "tsv" in written)
    assert all(found[each].hidden for each in ("--json", "--tsv") if each in found)


@EVERY
def test_scripts_pass_a_seed_and_no_header_to_every_command(name):
    parameters = command_of(name).params
    assert {"--seed", "--no-header"} <= {each for one in parameters for each in (*one.opts, *one.secondary_opts)}


@pytest.mark.quick
@pytest.mark.parametrize("name", NOT_RANDOM)
def test_a_seed_changes_nothing_of_what_is_not_random(deptree, name):
    """Not even the signature, nor what is wrong."""
    ran, seeded = deptree(f"{name} {NOT_RANDOM[name]}"), deptree(f"{name} {NOT_RANDOM[name]} --seed 1")
    assert (seeded.code, seeded.out, seeded.err) == (ran.code, ran.out, ran.err)
    assert "seed" not in ran.err


# And DEPTREE_SCHEDULER, which is no option.
VARIABLES = {"--jobs": "DEPTREE_JOBS", "--quiet": "DEPTREE_QUIET"}


@EVERY
def test_nothing_else_is_set_in_the_environment(name):
    for each in command_of(name).params:
        assert each.envvar == VARIABLES.get(each.opts[0] if isinstance(each, click.Option) else "")


def test_the_number_of_workers_and_silence_by_the_environment(done, monkeypatch):
    expected = done("sample $SCORES --seed 7")
    assert "|seed:" in done("sample $SCORES").err
    monkeypatch.setenv("DEPTREE_JOBS", "100000")
    told = f"deptree: --jobs 100000: {most_workers()} workers, 4 for every core"
    assert done("sample $SCORES --seed 7").said == [told]
    assert done("sample $SCORES --seed 7 --jobs 1").said == []
    monkeypatch.setenv("DEPTREE_QUIET", "1")
    assert done("sample $SCORES").err == ""
    ran = done("sample $SCORES --seed 7")
    assert (ran.err, ran.out) == ("", expected.out)


@pytest.mark.parametrize(
    ("variable", "value"), [("DEPTREE_JOBS", "many"), ("DEPTREE_JOBS", "0"), ("DEPTREE_QUIET", "x")]
)
def test_a_value_that_makes_no_sense_names_the_variable(refused, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    refused("partition $SCORES", f"(env var: '{variable}')")


def test_a_local_cluster(real, done, monkeypatch):
    pytest.importorskip("distributed", reason="dask is not installed")
    monkeypatch.setenv("DEPTREE_SCHEDULER", "local")
    ran = real("partition $SCORES --shard 1/4")
    assert (ran.code, ran.err, ran.out) == (0, "", done("partition $SCORES --shard 1/4 --jobs 1").out)


def refusal(name: str, parameter: click.Parameter) -> str:
    """What a command answers to an empty value; nothing if it takes it."""
    several = parameter.multiple or parameter.nargs == -1
    try:
        parameter.process_value(click.Context(command_of(name)), ("",) if several else "")
    except click.BadParameter as error:
        return error.message
    return ""


@EVERY
def test_an_empty_value_is_refused_and_ranges_are_ours(name):
    for parameter in command_of(name).params:
        if isinstance(parameter.type, FileName | click.Path):
            assert refusal(name, parameter) == "The name is empty."
        elif isinstance(parameter, click.Option) and not parameter.is_flag:
            assert refusal(name, parameter), parameter.name
        assert isinstance(parameter.type, click.IntRange) == isinstance(parameter.type, IntRange)
        assert isinstance(parameter.type, click.FloatRange) == isinstance(parameter.type, FloatRange)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (IntRange(1), "0", "a whole number, 1 or more, found '0'"),
        (IntRange(1, 2**31 - 1), "0", "a whole number, 1 or more, found '0'"),
        (IntRange(1, 2**31 - 1), "2147483648", "a whole number, at most 2147483647, found '2147483648'"),
        (IntRange(1, 2**31 - 1), "1.5", "a whole number, 1 or more, found '1.5'"),
        (IntRange(1, 1000), "1001", "a whole number, from 1 to 1000, found '1001'"),
        (FloatRange(0, 1), "1.5", "a number, from 0 to 1, found '1.5'"),
        (FloatRange(0, 1), "nan", "a number, from 0 to 1, found 'nan'"),
        (FloatRange(0, min_open=True), "0", "a number, above 0, found '0'"),
        (FloatRange(0, 1, min_open=True), "many", "a number, above 0 and at most 1, found 'many'"),
        (FloatRange(0, 1, True, True), "1", "a number, above 0 and below 1, found '1'"),
    ],
)
def test_a_number_out_of_range_is_told_the_range(kind, text, said):
    with pytest.raises(click.BadParameter) as caught:
        kind.convert(text, None, None)
    assert caught.value.message == f"Expected {said}."
    assert IntRange(1, 10).convert("10", None, None) == 10
    assert FloatRange(0, 1).convert("0.5", None, None) == 0.5


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


def called(what: Command, line: str) -> Any:
    SEEN.clear()
    return CliRunner().invoke(what, line.split(), standalone_mode=False)


def test_values_become_objects():
    called(try_it, "a.npy --scale 2 --names b --cells c --deep 5 --seed 7 -j 1")
    matrices, loud, calm, seed, run = SEEN
    assert (matrices.path, matrices.names, matrices.cells, matrices.scale) == ("a.npy", "b", "c", 20)
    assert (matrices.inner.deep, matrices.made, loud, calm, seed) == (5, "made of a.npy", False, False, 7)
    assert (matrices.signature_fields, matrices.inner.signature_fields) == ({"scale": 20}, {"deep": 5})
    assert run.signature_fields == {"shard": None, "loud": False}
    assert replace(matrices, made="anew").path == "a.npy"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("what", "line", "says"),
    [
        (try_it, "a.npy --cells c", "--cells needs --names FILE."),
        (try_it, "a.npy --loud --calm", "--loud cannot be combined with --calm. Remove one."),
        (try_it, "a.npy --least 1 --most 0", "--least cannot be combined with --most. Remove one."),
        (try_it, "a.npy --shard 1/2", "No such option '--shard'."),
        (beside, "--scale 2", "--scale needs --path FILE."),
    ],
)
def test_what_an_option_needs_and_excludes(what, line, says):
    error = called(what, line).exception
    assert isinstance(error, click.UsageError)
    assert (error.message.partition(" Did")[0], SEEN) == (says, [])


def test_a_bundle_that_goes_with_one_option():
    called(beside, "--deep 4")
    assert (SEEN[0].deep, SEEN[1]) == (4, None)
    called(beside, "--path a.npy --deep 4")
    assert (SEEN[1].inner.deep, SEEN[1].cells, SEEN[1].made) == (4, None, "fixed")


def test_what_the_user_did_not_choose_is_news():
    called(try_it, "a.npy")
    first, run = SEEN[3:]
    assert run.chosen == {"seed"}
    called(try_it, "a.npy")
    assert SEEN[3] != first  # fresh: the same once in 2^32 times
    called(try_it, "a.npy --seed 0")
    assert (SEEN[3], SEEN[4].chosen) == (0, set())
    called(try_it, "a.npy --seed 0 --scale 7")
    assert SEEN[4].chosen == {"scale"}


def test_a_seed_and_a_header_are_hidden_where_they_change_nothing():
    assert called(beside, "--seed 3 --no-header").exit_code == 0
    page = called(beside, "--help-all").output
    assert [word in page for word in ("--deep", "--seed", "header")] == [True, False, False]
