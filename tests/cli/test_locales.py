"""Names of files and other text in a locale that knows no letters but those of ASCII, and names that are no UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.on_terminal import as_it_reads, on_terminal
from tests.sample import DATA

DEPTREE = (sys.executable, "-m", "deptree_cli")
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
GOLD = (DATA / "gold.conllu").read_bytes().replace(b"sent_id = en-1", "sent_id = größe-1".encode())


@pytest.fixture
def run(tmp_path: Path):
    """`deptree` in a C locale, in a folder with a file of a Greek name and one of a name that is no UTF-8."""
    (tmp_path / "δέντρα.conllu").write_bytes(GOLD)
    (tmp_path / "big.conllu").write_bytes(GOLD)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xff.conllu")).write_bytes(GOLD)

    def run(*args: object) -> tuple[int, str, str]:
        env = {**os.environ, **C_LOCALE}
        ended = subprocess.run([*DEPTREE, *args], cwd=tmp_path, env=env, capture_output=True, check=False, timeout=120)
        return ended.returncode, ended.stdout.decode(), ended.stderr.decode()

    return run


def test_messages_have_the_name_that_was_typed(run) -> None:
    code, _, err = run("check", "δέντρο.conllu")
    assert (code, err) == (2, "deptree: δέντρο.conllu: no such file. Did you mean δέντρα.conllu?\n")


def test_a_common_suffix_is_no_likeness(run) -> None:
    assert run("check", "бог.conllu")[2] == "deptree: бог.conllu: no such file. Check the name.\n"
    assert run("check", "bigg.conllu")[2] == "deptree: bigg.conllu: no such file. Did you mean big.conllu?\n"


@pytest.mark.slow("process")
def test_rows_and_signatures_have_it_too(run) -> None:
    signature, row = run("eval", "δέντρα.conllu", "δέντρα.conllu", "--seed", "1", "--header", "-q")[1].splitlines()[:2]
    assert "|gold:δέντρα.conllu|" in signature
    assert '"system":"δέντρα.conllu"' in row


@pytest.mark.slow("process")
def test_bytes_that_are_no_letters_are_written_out(run) -> None:
    code, out, err = run("eval", b"b\xff.conllu", b"b\xff.conllu", "--tsv", "-q")
    assert (code, out.splitlines()[1].split("\t")[0], err) == (0, r"b\xff.conllu", "")
    assert run("eval", b"b\xff.conllu", b"b\xff.conllu", "-q")[0] == 0
    assert run("check", b"c\xff.conllu")[2] == "deptree: c\\xff.conllu: no such file. Check the name.\n"


@pytest.mark.slow("process")
def test_text_is_compared_with_text(run) -> None:
    scores = (DATA / "scores_stream.npy", "--from", "supar", "--conllu", "δέντρα.conllu")
    assert run("show", *scores, "--sentence", "größe-1", "--format", "text")[1].startswith("größe-1: ")
    assert "there is no decoding method 'mär'." in run("decode", *scores, "--method", "mär")[2]


@pytest.mark.slow("process")
def test_a_table_on_a_terminal(run, tmp_path: Path) -> None:
    command = [*DEPTREE, "agree", "δέντρα.conllu", "big.conllu"]
    code, shown = on_terminal(command, tmp_path, **C_LOCALE)
    assert (code, "δέντρα.conllu" in as_it_reads(shown)) == (0, True)
