"""Settings by the environment: how a run is done, never what comes of it."""

from __future__ import annotations

import click
import pytest

from deptree_cli.core.corpus import most_workers
from tests.every_command import COMMANDS, command
from tests.sample import SCORES

# And DEPTREE_SCHEDULER, which is no option.
VARIABLES = {"--jobs": "DEPTREE_JOBS", "--quiet": "DEPTREE_QUIET"}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_else_is_set_there(name: str) -> None:
    for each in command(name).params:
        assert each.envvar == VARIABLES.get(each.opts[0] if isinstance(each, click.Option) else "")


def test_the_number_of_workers_and_silence(done, monkeypatch) -> None:
    expected = done("sample", *SCORES, "--seed", 7)
    assert "|seed:" in done("sample", *SCORES).err
    monkeypatch.setenv("DEPTREE_JOBS", "100000")
    told = f"deptree: --jobs 100000: {most_workers()} workers, 4 for every core"
    assert done("sample", *SCORES, "--seed", 7).said == [told]
    assert done("sample", *SCORES, "--seed", 7, "--jobs", 1).said == []
    monkeypatch.setenv("DEPTREE_QUIET", "1")
    for ran in (done("sample", *SCORES, "--seed", 7), done("sample", *SCORES)):
        assert ran.err == ""
    assert done("sample", *SCORES, "--seed", 7).out == expected.out


def test_a_local_cluster(real, done, monkeypatch) -> None:
    pytest.importorskip("distributed", reason="dask is not installed")
    monkeypatch.setenv("DEPTREE_SCHEDULER", "local")
    ran = real("partition", *SCORES, "--shard", "1/4")
    assert (ran.code, ran.err, ran.out) == (0, "", done("partition", *SCORES, "--shard", "1/4", "--jobs", 1).out)


@pytest.mark.parametrize(
    ("variable", "value"), [("DEPTREE_JOBS", "many"), ("DEPTREE_JOBS", "0"), ("DEPTREE_QUIET", "x")]
)
def test_a_value_that_makes_no_sense_names_the_variable(deptree, monkeypatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    ran = deptree("partition", *SCORES)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert f"(env var: '{variable}')" in ran.err


def test_a_file_of_the_folder_changes_nothing(done, put) -> None:
    put("deptree.toml", "size = 3\n")
    assert len(done("decode", *SCORES).rows) == 8
