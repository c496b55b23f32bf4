"""What all commands have in common: workers, shards, headers, files, the same bytes by Python, and no waste."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numba
import pytest

from deptree_cli.core.audit import ENUMERATED_N
from deptree_cli.hpyp import Parser
from deptree_cli.kernels import questions
from tests.commands.readers import RANDOM
from tests.every_command import COMMANDS, ENTRIES, example, options
from tests.lines import table, words
from tests.sample import DATA
from tests.tree_files import read_blocks

# What takes long is done with less, after the line of the table.
LESS = {"check-bias": "-k 50", "bitext expectations": "--iterations 20", "eval": "--seed 1"}
LESS |= {f"hpyp {name}": "--particles 20" for name in ("surprisal", "perplexity")}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.npz"
    Parser.train(DATA / "treebank.conllu", iterations=2, seed=1).save(path)
    return path


@pytest.fixture
def run(deptree, model, tmp_path):
    """The bytes that a command writes as its line says, but to standard output; and what other stages hand it."""
    for path in (each for each in [*DATA.iterdir(), model] if each.is_file()):
        shutil.copy(path, tmp_path)

    def run(name: str, more: str = "") -> bytes:
        if name == "dump":
            pytest.importorskip("slovnet", reason="natasha is not installed")
        line = example(name)
        kept = [
            each for before, each in zip(["", *line], line, strict=False) if not {before, each} & {"-o", "--changes"}
        ]
        stdin = run(ENTRIES[name].line.split()[1]) if "-" in kept else b""
        seed = ("--seed", "1") if name in RANDOM and "--seed" not in kept else ()
        ran = deptree(*kept, *LESS.get(name, "").split(), *seed, "-q", *more.split(), stdin=stdin)
        assert ran.code in (0, 1, 3), ran.err
        return ran.out

    return run


def having(option: str, *but: str) -> pytest.MarkDecorator:
    found = {name: options(name).get(option) for name in COMMANDS if name not in but}
    return pytest.mark.parametrize("name", [name for name, each in found.items() if each and not each.hidden])


@having("--jobs")
def test_any_number_of_workers_writes_the_same_bytes(run, name):
    assert run(name, "--jobs 2") == run(name, "--jobs 1")


# One row of all sentences, rows in an order of their own, levels that depend on how many sentences there are, a page.
OF_ALL = ("eval", "agree", "doubt", "calibrate", "inspect", "report", "check-bias", "measure", "hpyp perplexity")


@having("--shard", *OF_ALL, "show", "bitext show")
def test_shards_are_the_whole(run, name):
    """Sentence i is in shard i modulo N, as it is in the whole: all lines but headers, in any order."""
    fmt = "--format jsonl " if "--format" in options(name) else ""
    parts = [run(name, f"{fmt}--shard {i}/3") for i in (1, 2, 3)]
    assert all(parts)
    assert lines(b"".join(parts)) == lines(run(name, fmt))


def lines(data: bytes) -> list[bytes]:
    return sorted(line for line in data.splitlines() if not line.startswith((b"# generator", b'{"signature"')))


@having("--header", "repair", "bitext align")  # sentences stay as they are; links have no place for it
def test_the_signature_in_front_if_wanted(run, name):
    first, _, rest = run(name, "--header").partition(b"\n")
    assert f"deptree|{name}|" in first.decode()
    assert rest == run(name, "--no-header")


STARTS = {b"# generator": ".conllu", b"# ": ".conllu", b"{": ".jsonl", b"<svg": ".svg", b"<!": ".html", b"": ".align"}


@having("--output", "warm", "hpyp train", "bitext show")  # hpyp train writes a model, to a file alone
def test_a_file_has_the_bytes_of_standard_output(run, name):
    usual = run(name)
    suffix = next(suffix for start, suffix in STARTS.items() if usual.startswith(start))
    assert run(name, f"-o out{suffix}") == b""
    assert Path(f"out{suffix}").read_bytes() == usual


INTERPRETED = """
    sample $SCORES -k 50 --seed 7; sample $SCORES -k 5 --seed 7 --projective; swor $SCORES -k 5 --seed 7;
    partition $SCORES; marginals $SCORES; marginals $SCORES --projective; marginals $DATA/saturated.npy --from log;
    expect entropy $SCORES --grad; decode $SCORES -k 3; decode $SCORES --method mbr $SENTENCES;
    check-bias $DATA/figure1.npy -k 200 --seed 7; bitext expectations $DATA/bitext.npz"""


@pytest.mark.slow("process")
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("line", [each.strip() for each in INTERPRETED.split(";")])
def test_python_comes_to_the_same_bytes_as_machine_code(deptree, line):
    command = [sys.executable, "-m", "deptree_cli", *words(line), "-q"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    interpreted = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=200)
    compiled = deptree(f"{line} -q")
    assert len(compiled.out) > 50
    assert (interpreted.stdout, interpreted.returncode) == (compiled.out, compiled.code)


with (DATA / "gold.conllu").open("rb") as file:
    LONG = sum(block.n > ENUMERATED_N for block in read_blocks(file, "gold"))  # which check-bias does not enumerate
R = 15  # features of an arc in label_scores.npz

# How often a line asks for eliminations or charts (log Z), looks back (marginals) and covariances (gradients): all
# sentences are 8; long ones L. The audit also pairs arcs that are expected five times in twenty trees, and five times
# not, less each word's likeliest: four. A gradient of features has one for each.
CALLS = """
    sample $SCORES -k 20                                        | 8  | 0  | 0
    sample $SCORES --sampler wilson-rc -o out.npz               | 0  | 0  | 0
    sample $SCORES --projective                                 | 8  | 0  | 0
    swor $SCORES -k 3                                           | 8  | 8  | 0
    swor $SCORES --mass 0.9 $LABELS --labelled                  | 8  | 8  | 0
    swor $SCORES -k 3 --sampler trie                            | 16 | 0  | 0
    decode $SCORES                                              | 8  | 8  | 0
    decode $SCORES -o out.npz                                   | 0  | 0  | 0
    marginals $SCORES --conllu $GOLD $LABELS                    | 8  | 8  | 0
    score $SCORES $GOLD                                         | 8  | 0  | 0
    eval $GOLD --scores $SCORES                                 | 8  | 8  | 8
    agree $GOLD $GOLD --scores $SCORES                          | 8  | 8  | 0
    repair $GOLD --scores $SCORES $LABELS --worth 0             | 8  | 0  | 0
    partition $SCORES                                           | 24 | 0  | 0
    expect entropy $SCORES --grad                               | 8  | 8  | 8
    expect renyi $SCORES --order 2                              | 16 | 0  | 0
    expect renyi $SCORES --order 2 --grad                       | 16 | 16 | 0
    expect kl $SCORES --other $DATA/scores.npz --grad           | 16 | 16 | 8
    expect attachment $SCORES --conllu $GOLD --grad             | 8  | 8  | 8
    expect features $SCORES --features $DATA/label_scores.npz --grad | 8 | 8 | 8 * R
    expect covariance $SCORES --features $DATA/label_scores.npz | 8  | 0  | 8 * R
    expect ge $SCORES --features $DATA/label_scores.npz --target target.txt --grad | 8 | 8 | 8
    combine $SCORES --method mixture                            | 8  | 8  | 0
    doubt $SCORES --conllu $GOLD $LABELS --per sentence         | 8  | 8  | 0
    inspect $SCORES --multi-root                                | 16 | 8  | 0
    inspect $SCORES --conllu $GOLD                              | 32 | 8  | 0
    check-bias $SCORES -k 20 --seed 7                           | 8  | L  | L + 4
    check-bias $SCORES --samples drawn.jsonl                    | 8  | L  | L + 4
    show $SCORES --sentence ru-1 --conllu $GOLD $LABELS --format text | 1 | 1 | 0
    report $SCORES --conllu $GOLD -o out.html                   | 16 | 8  | 0
"""


@pytest.fixture
def calls(monkeypatch):
    """How often each kernel was called since, once a sentence; those on dual numbers are parts of a covariance."""
    counts = Counter()

    def counted(name, kernel):
        def ask(items, pivots, packed, log_z, is_swept, *others):
            of_duals, size = " of duals" * (name == "covariances"), len(packed[2])
            counts[f"forth{of_duals}"] += 0 if is_swept and not of_duals else size
            counts[f"back{of_duals}"] += size if of_duals or (name == "sums" and len(others[0][0])) else 0
            return kernel(items, pivots, packed, log_z, is_swept, *others)

        return ask

    for name in ("sums", "samples", "covariances"):
        monkeypatch.setattr(questions, name, counted(name, getattr(questions, name)))
    return counts


@pytest.mark.parametrize(("line", "often"), table(CALLS))
def test_no_kernel_is_called_more_often_than_the_result_needs(deptree, done, put, calls, line, often):
    """A distribution keeps what was worked out; whoever makes a new one where there is one already pays again."""
    put("target.txt", "1\n" * R)
    put("drawn.jsonl", done("sample $SCORES -k 20 --seed 7").out)
    calls.clear()
    ran = deptree(f"{line} -q")
    assert ran.code == (3 if line.startswith("check-bias") else 0), ran.err  # twenty trees leave it undecided
    eliminations, looks_back, covariances = (eval(each, {"L": LONG, "R": R}) for each in often)
    assert (calls["forth"], calls["back"]) == (eliminations, looks_back)
    assert {calls[f"{name} of duals"] for name in ("forth", "back")} == {covariances}


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.reads == "scores"])
def test_no_line_to_try_sums_again_and_again(deptree, calls, monkeypatch, tmp_path, name):
    """But that of `calibrate`, which does at other temperatures."""
    for path in DATA.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    ran = deptree(*example(name), "-q")
    assert ran.code in (0, 1), ran.err
    assert calls["forth"] <= 4 * 8 or name == "calibrate"
