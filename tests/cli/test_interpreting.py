"""Small work is done by Python, where there is machine code smaller work only; all else is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from deptree_cli.cli.app import deptree
from deptree_cli.cli.interpreting import COSTS, SMALL, _name, _takes_less
from tests.every_command import COMMANDS, command

DATA = Path(__file__).parents[2] / "sample_data"
SCORES = f"{DATA}/scores.npz --from natasha"

# What a command did with kernels: whether numba was switched off, and how many it compiled.
PROGRAM = """
import atexit, os, sys
from deptree_cli.kernels import cache
heard = []
kept = cache.watch_compiling
cache.watch_compiling = lambda watcher: None
kept(heard.append)
atexit.register(lambda: print(os.environ.get("NUMBA_DISABLE_JIT"), sum(heard), file=sys.stderr))
from deptree_cli.cli.app import main
main()
"""


def run(cache: Path, line: str, **environment: str) -> tuple[str, str]:
    """What a command writes, and what it did with kernels."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    env = kept | {"NUMBA_CACHE_DIR": str(cache)} | environment
    command = [sys.executable, "-c", PROGRAM, *line.split(), "-q"]
    ended = subprocess.run(command, env=env, cwd=cache, capture_output=True, text=True, check=False, timeout=200)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, ended.stderr.strip()


@pytest.mark.slow("compile")
def test_small_work_is_interpreted(tmp_path: Path) -> None:
    """A run that compiles leaves a note; then the same options, and none but these, compile what is not tiny too."""
    tiny, small = (f"sample {DATA}/one.npy -k {k} --seed 7" for k in (100, 999))
    trees, done = run(tmp_path, small)
    assert done == "1 0"
    compiled, done = run(tmp_path, small, NUMBA_DISABLE_JIT="0")
    assert done.startswith("0 ")
    assert int(done.split()[1]) > 5
    assert run(tmp_path, small) == (compiled, "None 0")
    assert trees == compiled
    assert run(tmp_path, tiny)[1] == "1 0"
    assert run(tmp_path, f"{small} --multi-root")[1] == "1 0"


@pytest.mark.slow("compile")
def test_who_sets_the_variable_has_decided(tmp_path: Path) -> None:
    assert run(tmp_path, f"sample {DATA}/one.npy --seed 7", NUMBA_DISABLE_JIT="1")[1] == "1 0"
    assert run(tmp_path, f"inspect {DATA}/one.npy", NUMBA_DISABLE_JIT="0")[1].startswith("0 ")


def is_small(line: str) -> bool:
    """Whether the work of a command line is small, by its estimate."""
    name = next(name for name in sorted(COMMANDS, key=len, reverse=True) if line.startswith(f"{name} "))
    found, parent = command(name), click.Context(deptree, **deptree.context_settings)
    for word in name.split()[:-1]:
        parent = click.Context(click.Group(word), parent=parent)
    ctx = found.make_context(name.split()[-1], line.removeprefix(name).split(), parent=parent)
    assert _name(ctx) == name
    return _takes_less(SMALL, name, ctx)


@pytest.mark.parametrize(
    "line",
    [
        f"sample {SCORES} -k 10",
        f"partition {DATA}/scores_stream.npy",
        f"marginals {DATA}/scores.jsonl",
        f"check-bias {DATA}/figure1.npy -k 2000",
        f"decode {SCORES} --conllu {DATA}/sentences.conllu",
        f"decode {SCORES} --method mbr",
        f"hpyp parse {DATA}/scores.npz {DATA}/raw.conllu",
        f"hpyp parse {DATA}/scores.npz {DATA}/raw.conllu --tags predict",
        f"hpyp surprisal {DATA}/scores.npz {DATA}/raw.conllu",
        f"bitext align {DATA}/bitext.npz",
    ],
)
def test_small(line: str) -> None:
    assert is_small(line)


@pytest.mark.parametrize(
    "line",
    [
        f"sample {SCORES} -k 10000",
        f"sample {SCORES} --sampler wilson-reject",
        f"swor {SCORES} --mass .9",
        f"decode {SCORES} --rules tree",
        f"sample {SCORES} --rules tree",
        f"marginals {SCORES} --rules tree",
        "sample - -k 10",
        "sample /no/such/file.npz",
        f"sample {DATA}/README.md",
        f"sample {SCORES} --conllu {DATA}/sentences.conllu.gz",
        f"hpyp train {DATA}/treebank.conllu -m model.npz",
        f"hpyp parse {DATA}/scores.npz {DATA}/treebank.conllu",
        f"hpyp parse {DATA}/scores.npz {DATA}/raw.conllu --tags predict -k 2",
        f"hpyp surprisal {DATA}/scores.npz {DATA}/raw.conllu --tags predict",
        f"hpyp perplexity {DATA}/scores.npz {DATA}/raw.conllu --tags predict",
    ],
)
def test_large(line: str) -> None:
    assert not is_small(line)


@pytest.mark.parametrize(("n", "small"), [(10, True), (100, False)])
def test_words_and_sentences_count_rather_than_bytes(tmp_path: Path, n: int, small: bool) -> None:
    """A compressed file of nothing but zeros has few bytes."""
    np.savez_compressed(tmp_path / "zeros.npz", a=np.zeros((n + 1, n + 1)))
    assert is_small(f"partition {tmp_path}/zeros.npz") == small
    np.savez(tmp_path / "many.npz", **{f"s{i}": np.zeros((n + 1, n + 1)) for i in range(200)})
    assert not is_small(f"partition {tmp_path}/many.npz")


def test_every_command_is_priced_or_compiles() -> None:
    assert set(COMMANDS) - COSTS.keys() == {"combine", "dump", "hpyp train", "warm"}
    assert COSTS.keys() <= set(COMMANDS)
    for name, cost in COSTS.items():
        assert set(cost.by) <= {parameter.name for parameter in command(name).params}


def test_a_damaged_file_is_the_commands_to_tell(tmp_path: Path) -> None:
    """To look at its size ends in no traceback: NumPy's reader of headers raises what Python's tokenizer does."""
    whole = (DATA / "one.npy").read_bytes()
    (tmp_path / "one.npy").write_bytes(whole.replace(b"{'descr'", b"(((((((("))
    assert not is_small(f"partition {tmp_path}/one.npy")
