"""What all commands have in common: workers, shards and seeds, a signature in front, an output into a file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deptree_cli.hpyp import Parser
from tests.commands.readers import RANDOM
from tests.every_command import COMMANDS, ENTRIES, example, options
from tests.sample import DATA

Command = Callable[..., list[str]]

# What takes long is done with less, after the line of the table.
LESS = {"check-bias": ("-k", "50"), "bitext expectations": ("--iterations", "20")}
LESS["eval"] = ("--seed", "1")
LESS |= {f"hpyp {name}": ("--particles", "20") for name in ("surprisal", "perplexity")}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.npz"
    Parser.train(DATA / "treebank.conllu", iterations=2, seed=1).save(path)
    return path


@pytest.fixture
def run(deptree, model, tmp_path: Path) -> Callable[..., bytes]:
    """The bytes that a command writes as its line says, but to standard output; and what other stages hand it."""
    for path in (each for each in [*DATA.iterdir(), model] if each.is_file()):
        shutil.copy(path, tmp_path)

    def run(name: str, *more: object) -> bytes:
        if name == "dump":
            pytest.importorskip("slovnet", reason="natasha is not installed")
        words = [*without_files(example(name))]
        stdin = run(ENTRIES[name].line.split()[1]) if "-" in words else b""
        seed = ("--seed", 1) if name in RANDOM and "--seed" not in words else ()
        ran = deptree(*words, *LESS.get(name, ()), *seed, "-q", *more, stdin=stdin)
        assert ran.code in (0, 1, 3), ran.err
        return ran.out

    return run


def without_files(words: list[str]) -> Iterator[str]:
    """The words of a line without -o and --changes."""
    for before, word in zip(["", *words], words, strict=False):
        if {before, word}.isdisjoint(("-o", "--changes")):
            yield word


def having(option: str, *but: str) -> pytest.MarkDecorator:
    found = {name: options(name).get(option) for name in COMMANDS if name not in but}
    return pytest.mark.parametrize("name", [name for name, each in found.items() if each and not each.hidden])


@having("--jobs")
def test_any_number_of_workers_writes_the_same_bytes(run, name: str) -> None:
    assert run(name, "--jobs", 2) == run(name, "--jobs", 1)


# One row of all sentences, rows in an order of their own, levels that depend on how many sentences there are, a page.
OF_ALL = ("eval", "agree", "doubt", "calibrate", "inspect", "report", "check-bias", "measure", "hpyp perplexity")
OF_ONE = ("show", "bitext show")


@having("--shard", *OF_ALL, *OF_ONE)
def test_shards_are_the_whole(run, name: str) -> None:
    """Sentence i is in shard i modulo N, as it is in the whole: all lines but headers, in any order."""
    fmt = ("--format", "jsonl") if "--format" in options(name) else ()
    parts = [run(name, *fmt, "--shard", f"{i}/3") for i in (1, 2, 3)]
    assert all(parts)
    assert lines(b"".join(parts)) == lines(run(name, *fmt))


def lines(data: bytes) -> list[bytes]:
    return sorted(line for line in data.splitlines() if not line.startswith((b"# generator", b'{"signature"')))


@having("--header", "repair", "bitext align")  # sentences stay as they are; links have no place for it
def test_the_signature_in_front_if_asked_for(run, name: str) -> None:
    first, _, rest = run(name, "--header").partition(b"\n")
    assert f"deptree|{name}|" in first.decode()
    assert rest == run(name, "--no-header")


@having("--output", "warm", "hpyp train", "bitext show")  # hpyp train writes a model, to a file alone
def test_a_file_has_the_bytes_of_standard_output(run, name: str) -> None:
    """By the suffix of the format that is usual there."""
    usual = run(name)
    suffix = next(suffix for start, suffix in STARTS.items() if usual.startswith(start))
    assert run(name, "-o", f"out{suffix}") == b""
    assert Path(f"out{suffix}").read_bytes() == usual


STARTS = {b"# generator": ".conllu", b"# ": ".conllu", b"{": ".jsonl", b"<svg": ".svg", b"<!": ".html", b"": ".align"}
