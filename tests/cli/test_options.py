"""Options: one name means one thing in every command, no value is empty; what is completed, and loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict

import click
import pytest

from deptree_cli.cli.options import INPUT, NAME_OR_INPUT, OUTPUT, RESULTS, FileName, FloatRange, IntRange
from deptree_cli.cli.table import COMMANDS as TABLE
from deptree_cli.core.corpus import most_workers
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.parsers import PARSERS
from deptree_cli.io.scores.layout import PRESETS, QUESTIONS
from tests.commands.readers import NOT_RANDOM
from tests.every_command import COMMANDS, command, options

EVERY = pytest.mark.parametrize("name", COMMANDS)

# Options of which commands have different kinds, and why.
DIFFERENT = {
    "--method": "combine has two, the others a register of them",
    "--output": "warm writes a folder",
    "-o": "as --output",
    "--temperature": "of sentence pairs there is none in a file: calibrate fits trees",
}


def kind_of(option: click.Option, context: click.Context) -> str:
    if option.is_flag:
        return "flag"
    use = "read" if option.type in (INPUT, NAME_OR_INPUT) else "written" if option.type in (OUTPUT, RESULTS) else ""
    return f"{option.make_metavar(context)}: {type(option.type).__name__} {use}"


def test_one_name_means_one_thing():
    kinds = defaultdict(lambda: defaultdict(list))
    for name in COMMANDS:
        context = click.Context(command(name), info_name=name)
        for option, each in options(name).items():
            if isinstance(each, click.Option):
                kinds[option][kind_of(each, context)].append(name)
    assert {option: dict(found) for option, found in kinds.items() if len(found) > 1}.keys() == DIFFERENT.keys()


SHORT = {"-j": "--jobs", "-q": "--quiet", "-o": "--output"}
# Work of one process: a model is trained, reading is most of the work, or there is one sentence.
ALONE = ("hpyp train", "warm", "agree", "diff", "estimate", "eval", "show", "bitext show")


# And DEPTREE_SCHEDULER, which is no option.
VARIABLES = {"--jobs": "DEPTREE_JOBS", "--quiet": "DEPTREE_QUIET"}


@EVERY
def test_short_names_variables_and_what_scripts_pass_are_the_same_everywhere(name):
    found = options(name)
    for short in SHORT.keys() - ({"-j"} if name in ALONE else set()):
        assert found[short] is found[SHORT[short]]
    assert ("-k" in found) == ("--size" in found)
    assert name in ("agree", "check-bias") or "--alpha" not in found
    written = found["--format"].type.choices if "--format" in found else []
    assert ("--json" in found, "--tsv" in found) == ("jsonl" in written, "tsv" in written)
    assert all(found[each].hidden for each in ("--json", "--tsv") if each in found)
    assert {"--seed", "--no-header"} <= {*found, *(each for one in found.values() for each in one.secondary_opts)}
    for each in command(name).params:
        assert each.envvar == VARIABLES.get(each.opts[0] if isinstance(each, click.Option) else "")


@pytest.mark.quick
@pytest.mark.parametrize("name", NOT_RANDOM)
def test_a_seed_changes_nothing_of_what_is_not_random(deptree, name):
    ran, seeded = deptree(f"{name} {NOT_RANDOM[name]}"), deptree(f"{name} {NOT_RANDOM[name]} --seed 1")
    assert (seeded.code, seeded.out, seeded.err) == (ran.code, ran.out, ran.err)
    assert "seed" not in ran.err


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


@EVERY
def test_an_empty_value_is_refused_and_ranges_are_ours(name):
    for parameter in command(name).params:
        is_name = isinstance(parameter.type, FileName | click.Path)
        if is_name or (isinstance(parameter, click.Option) and not parameter.is_flag):
            several = parameter.multiple or parameter.nargs == -1
            with pytest.raises(click.BadParameter) as caught:
                parameter.process_value(click.Context(command(name)), ("",) if several else "")
            assert caught.value.message == "The name is empty." or not is_name
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


def test_a_seed_is_hidden_where_it_changes_nothing(done):
    page = done("partition --help-all").out
    assert [word in page for word in (b"--summary", b"--seed")] == [True, False]
    assert b"--no-header" not in done("warm --help-all").out


COMPLETED = {
    "": list(TABLE),
    "d": ["decode", "doubt", "diff", "dump"],
    "x": [],
    "hpyp ": ["train", "parse", "surprisal", "perplexity", "generate"],
    "hpyp train --iter": ["--iterations"],
    "sample --sampler wil": [name for name in SAMPLERS.names if name.startswith("wil")],
    "sample --sampler ": SAMPLERS.names,
    "check-bias x.npz --from ": [*PRESETS.names, *QUESTIONS],
    "convert x.npz --to tor": ["torch-struct"],
    "expect ren": ["renyi"],
    "dump ": PARSERS.names,
    "sample --from supar,dep": ["supar,dep-head"],
    "sample --fix": ["--fix-heads"],
    "marginals --no-h": ["--no-header"],
}
OF_FILES = ["sample sco", "sample x.npz --conllu sen", "diff x.npz oth", "expect kl sco", "estimate dra"]


@pytest.mark.parametrize("line", [*COMPLETED, *OF_FILES, "dump natasha par", "sample x.npz -o ou"])
def test_bash_completes_commands_options_and_registers_and_names_of_files_itself(warm, line):
    env = {**os.environ, "_DEPTREE_COMPLETE": "bash_complete", "COMP_WORDS": f"deptree {line}"}
    env["COMP_CWORD"] = str(line.count(" ") + 1)
    ran = subprocess.run([warm / "deptree"], capture_output=True, text=True, env=env, check=False)
    found = [f"plain,{name}" for name in COMPLETED[line]] if line in COMPLETED else [f"file,{line.split()[-1]}"]
    assert (ran.returncode, ran.stderr, [each for each in ran.stdout.splitlines() if each]) == (0, "", found)


@pytest.mark.parametrize(("group", "start"), [("", ""), ("", "d"), ("hpyp", "p")])
def test_what_a_command_does_is_completed_too(group, start):
    found = {item.value: item.help for item in command(group).shell_complete(click.Context(command(group)), start)}
    assert found == {name: entry.does for name, entry in command(group).table.items() if name.startswith(start)}


@pytest.mark.parametrize(
    ("line", "loaded"),
    [
        ("--help", ""),
        ("hpyp --help", ""),
        ("partition -h", "commands.partition"),
        ("hpyp train -h", "hpyp.commands.train"),
    ],
)
def test_a_command_is_loaded_when_it_is_called(line, loaded):
    program = f"""
import sys
from deptree_cli.cli.app import main
sys.argv[1:] = {line.split()}
try:
    main()
except SystemExit:
    print(*[each.removeprefix("deptree_cli.") for each in sys.modules if ".commands." in each], file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr == f"{loaded}\n"
