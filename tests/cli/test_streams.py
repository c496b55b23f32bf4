"""Standard streams: in pipelines, closed or full, and in a locale of ASCII; data come through, or a line says why."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.every_command import COMMANDS, on_scores
from tests.lines import words
from tests.on_terminal import as_it_reads, on_terminal
from tests.sample import DATA

LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)
SCORES = "$DATA/scores.npz --from natasha -q"
MANY = f"deptree sample {SCORES} -k 200000 --seed 7"
CONLLU = "--conllu $DATA/sentences.conllu"
DEPTREE = (sys.executable, "-m", "deptree_cli")


@pytest.mark.slow("process")
@pytest.mark.parametrize("options", ["", CONLLU, "--unique", "-k 20000 --jobs 2"])
def test_head_ends_quietly(shell, options):
    """And with status 0: 1 says that sentences were skipped, and under `set -o pipefail` somebody reads it."""
    ran = shell(f"{MANY} {options} | head -1; echo ${{PIPESTATUS[0]}} >&2")
    assert (ran.err.strip(), ran.out.count(b"\n")) == ("0", 1)
    start = b"# generator = deptree|sample|" if options == CONLLU else b'{"sent_id":"en-1","sample":1,'
    assert ran.out.startswith(start)


CLOSED = [*(f"{line} -q" for line in on_scores("$DATA")), f"show {SCORES} --format text", "show --help"]


@pytest.mark.parametrize(
    "line", [*CLOSED, f"sample {SCORES} -k 200000 {CONLLU}", f"sample {SCORES} -k 200000 --format npz"]
)
def test_every_command_into_a_closed_pipe(shell, line):
    ran = shell(f"deptree {line} | true")
    assert (ran.err, ran.out) == ("", b"")


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", ">(cat)"])
def test_output_into_what_is_no_file(shell, name):
    ran = shell(f"deptree partition {SCORES} -o {name}; sleep 0.1")
    assert (ran.err, ran.out.count(b"\n")) == ("", 8)


FULL = ["--help", "sample --help", "--version", "sample --help-all"]


@pytest.mark.slow("process")
@pytest.mark.parametrize("start", ["deptree", f"env -u PYTHONUNBUFFERED {' '.join(DEPTREE)}"])
@pytest.mark.parametrize("line", [*FULL, f"partition {SCORES}", f"partition {SCORES} -o /dev/full"])
def test_a_full_disk(shell, start, line):
    """Also in a process of its own, whose standard output still has something in its buffer when it ends."""
    ran = shell(f"{start} {line} > /dev/full")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert ("standard output: " * (line in FULL) + "No space left on device") in ran.err


BEGINNING = [
    *("sample", "swor -k 3", "marginals", "partition --jobs 2"),
    *("decode --format jsonl --conllu many.conllu", "expect risk --gold many.conllu"),
]


@pytest.mark.parametrize("line", BEGINNING)
def test_output_begins_before_the_input_ends(line, warm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("many.conllu").write_bytes((DATA / "gold.conllu").read_bytes() * 50)
    command = [warm / "deptree", *line.split(), "-", "--from", "natasha", "-q"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first, rest = threading.Event(), []

    def read() -> None:
        rest.append(process.stdout.readline())
        first.set()
        rest.append(process.stdout.read())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    process.stdin.write(b"".join(LINES * 25))
    process.stdin.flush()
    came = first.wait(60)
    process.stdin.write(b"".join(LINES * 25))
    process.stdin.close()
    reader.join(60)
    assert came
    assert process.wait(60) == 0
    assert b"".join(rest).count(b"\n") == 400 * (3 if "swor" in line else 1)


# A fork for each command, which ends when it has warned, by Python and by NumPy.
WARNING = """
import os, sys, warnings
import click, numpy
from deptree_cli.__main__ import main
from tests.every_command import command
for name in sys.argv[1:]:
    command(name)
plain = click.Command.make_context
def make_context(self, *args, **kwargs):
    for kind in (UserWarning, DeprecationWarning, RuntimeWarning):
        warnings.warn("leaked", kind)
    numpy.float64(1) / numpy.float64(0)
    if not isinstance(self, click.Group):
        os._exit(0)
    return plain(self, *args, **kwargs)
click.Command.make_context = make_context
for name in sys.argv[1:]:
    if not os.fork():
        sys.argv = ["deptree", *name.split()]
        main()
    assert os.wait()[1] == 0
"""


@pytest.mark.slow("process")
@pytest.mark.parametrize("wanted", [False, True])
def test_no_warning_reaches_the_terminal_from_any_command(wanted):
    line = [sys.executable, *["-Wdefault"] * wanted, "-c", WARNING, *(COMMANDS[:1] if wanted else COMMANDS)]
    env = {**os.environ, "PYTHONPATH": str(DATA.parent)}
    ran = subprocess.run(line, capture_output=True, text=True, env=env, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert [part in ran.stderr for part in ("leaked", "divide by zero")] == [wanted, wanted]
    assert wanted or ran.stderr == ""


@pytest.mark.parametrize("line", [*CLOSED, "--help", "--version"])
def test_a_closed_standard_output_is_one_line(shell, line):
    ran = shell(f"deptree {line} >&-")
    assert (ran.code, ran.err) == (2, "deptree: standard output is closed. Name a file with -o.\n")


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_data_do_not_depend_on_standard_error(shell, stderr):
    draw = "sample $DATA/scores.npz --from natasha --seed 7 -k 2 --sampler wilson-rc"
    for line in (draw, "inspect $DATA/figure1.npy --json"):
        expected, ran = shell(f"deptree {line}"), shell(f"deptree {line} {stderr}")
        assert expected.out
        assert expected.err
        assert (ran.code, ran.out) == (expected.code, expected.out)
    ran = shell(f"deptree partition nothing.npz {stderr}")
    assert (ran.code, ran.out, ran.err) == (2, b"", "")


@pytest.mark.parametrize("line", [f"partition {SCORES}", "sample $DATA/scores.jsonl --from natasha -q -k 1"])
def test_a_closed_standard_input_is_no_matter_for_a_file(shell, line):
    ran = shell(f"deptree {line} --shard 1/2 <&-")
    assert (ran.code, ran.out.count(b"\n"), ran.err) == (0, 4, "")


@pytest.mark.parametrize("line", ["partition - --from natasha", "sample -", f"decode {SCORES} --conllu -"])
def test_a_closed_standard_input_is_said(shell, line):
    ran = shell(f"deptree {line} -q <&-")
    assert (ran.code, ran.out, ran.err) == (2, b"", "deptree: standard input is closed. Name a file instead of -.\n")


def test_all_three_closed(shell, tmp_path):
    """What is opened first must not become one of them."""
    ran = shell(f"deptree partition {SCORES} -o out.jsonl <&- >&- 2>&-")
    assert ran.code == 0
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 8


C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def in_c(tmp_path):
    """`deptree` in a locale of ASCII, in a folder with a file of a Greek name and one of a name that is no UTF-8."""
    text = (DATA / "gold.conllu").read_bytes().replace(b"sent_id = en-1", "sent_id = größe-1".encode())
    for name in (b"b\xff.conllu", b"big.conllu", "δέντρα.conllu".encode()):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(text)

    def run(line: str | list) -> tuple[int, str, str]:
        command, env = [*DEPTREE, *(words(line) if isinstance(line, str) else line)], {**os.environ, **C_LOCALE}
        ended = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False, timeout=120)
        return ended.returncode, ended.stdout.decode(), ended.stderr.decode()

    return run


def test_messages_have_the_name_that_was_typed(in_c):
    """And a suggestion, for which a common suffix is not likeness enough."""
    for name, remedy in {
        "δέντρο": "Did you mean δέντρα.conllu?",
        "бог": "Check the name.",
        "bigg": "Did you mean big.conllu?",
    }.items():
        code, _, err = in_c(f"check {name}.conllu")
        assert (code, err) == (2, f"deptree: {name}.conllu: no such file. {remedy}\n")


@pytest.mark.slow("process")
def test_rows_signatures_and_comparisons_have_letters(in_c):
    signature, row = in_c("eval δέντρα.conllu δέντρα.conllu --seed 1 --header -q")[1].splitlines()[:2]
    assert "|gold:δέντρα.conllu|" in signature
    assert '"system":"δέντρα.conllu"' in row
    scores = "$DATA/scores_stream.npy --from supar --conllu δέντρα.conllu"
    assert in_c(f"show {scores} --sentence größe-1 --format text")[1].startswith("größe-1: ")
    assert "there is no decoding method 'mär'." in in_c(f"decode {scores} --method mär")[2]


@pytest.mark.slow("process")
def test_bytes_that_are_no_letters_are_written_out(in_c):
    code, out, err = in_c(["eval", b"b\xff.conllu", b"b\xff.conllu", "--tsv", "-q"])
    assert (code, out.splitlines()[1].split("\t")[0], err) == (0, r"b\xff.conllu", "")
    assert in_c(["eval", b"b\xff.conllu", b"b\xff.conllu", "-q"])[0] == 0
    assert in_c(["check", b"c\xff.conllu"])[2] == "deptree: c\\xff.conllu: no such file. Check the name.\n"


@pytest.mark.slow("process")
@pytest.mark.usefixtures("in_c")
def test_a_table_on_a_terminal_has_letters(tmp_path):
    code, shown = on_terminal([*DEPTREE, "agree", "δέντρα.conllu", "big.conllu"], tmp_path, **C_LOCALE)
    assert (code, "δέντρα.conllu" in as_it_reads(shown)) == (0, True)
