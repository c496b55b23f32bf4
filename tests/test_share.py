"""The man page and the completion files: as their generator writes them now, complete, and at work in real shells."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from deptree_cli import cli
from deptree_cli.share.__main__ import FILES, HERE, texts
from deptree_cli.share.manual import escaped, manual
from deptree_cli.share.program import Program, program

DATA = Path(__file__).parent.parent / "sample_data"

# What stands on the line, and words that must be offered and must not.
COMPLETIONS = [
    ("deptree sam", {"sample"}, {"swor", "scores.npz"}),
    ("deptree ", set(cli.COMMANDS), {"scores.npz"}),
    ("deptree --v", {"--version"}, {"--help"}),
    ("deptree sample --sam", {"--sampler"}, {"--seed"}),
    ("deptree sample -", {"--sampler", "-o", "--no-header", "--help"}, {"--method"}),
    ("deptree decode --method ", {"mst", "mbr"}, {"scores.npz"}),
    ("deptree sample --from su", {"supar", "supar-probs"}, {"stanza"}),
    ("deptree sample --sampler wilson", {"wilson", "wilson-rc"}, {"auto"}),
    ("deptree expect --jobs 2 r", {"renyi", "risk"}, {"entropy"}),
    ("deptree sample --seed ", set(), {"scores.npz", "sample"}),
]
LINES = [line for line, _, _ in COMPLETIONS]

# Where names of files must be offered: each goes on as sentences.conllu.
FILE_NAMES = [
    "deptree sample sent",
    "deptree expect kl sent",
    "deptree sample -k 3 --unique sent",
    "deptree sample --conllu sent",
]


@pytest.fixture(scope="module")
def made() -> Program:
    return program(cli.deptree, cli.COMMANDS)


@pytest.fixture(scope="module")
def page(made) -> str:
    return manual(made)


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_those_of_now(name):
    assert (HERE / name).read_text(encoding="utf-8") == texts()[name], "run: make share"


def test_the_generator_writes_where_it_is_told(tmp_path):
    subprocess.run([sys.executable, "-m", "deptree_cli.share", tmp_path / "new"], check=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()} == {
        name: (HERE / name).read_bytes() for name in FILES
    }


def section(page: str, name: str) -> str:
    return page.partition(f"\n.SH {name}\n")[2].partition("\n.SH ")[0]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_manual_has_every_command_and_option(made, page, name):
    text, shared = section(page, escaped(name.upper())), section(page, "SHARED OPTIONS")
    (command,) = [each for each in made.commands if each.name == name]
    assert f".TP\n\\fB{escaped(name)}\\fR\n" in section(page, "COMMANDS")
    assert command.options
    for option in command.options:
        explained = f".TP\n\\fB{escaped(option.names[0])}\\fR"
        assert rf"\fB{escaped(option.long[0])}\fR" in text
        assert explained in text or explained in shared


def test_every_argument_can_be_completed(made):
    """A new name of an argument has to be known as that of a file, or its words have to be told."""
    for command in made.commands:
        for argument in command.arguments:
            assert argument.values.files != bool(argument.values.words), f"{command.name} {argument.metavar}"


def test_the_manual_has_the_examples(made, page):
    examples = re.sub(r" *\\\(rs\n +", " ", section(page, "EXAMPLES"))
    for command in made.commands:
        assert command.example.startswith("deptree ")
        assert escaped(command.example) in examples


def test_the_manual_is_sound_roff(page):
    """Lines that begin like a macro are one, and what follows a backslash is an escape that was meant."""
    lines = page.splitlines()
    assert {line.split()[0] for line in lines if line[0] in ".'"} <= {
        *(".TH", ".SH", ".PP", ".TP", ".RS", ".RE", ".EX", ".EE", ".BR", ".br", ".nh", ".ad", '.\\"')
    }
    assert page.isascii()
    assert set(re.findall(r"\\(?:f.|\(..|\[u....|.)", page)) <= {
        *(r"\fB", r"\fI", r"\fR", r"\-", r"\&", r"\(aq", r"\(ga", r"\(rs", r"\(ha", r"\(ti", r"\(dq", r"\"")
    }
    assert "\b" not in page


def test_text_is_never_a_command(made, tmp_path):
    """Whatever the help says stands on the page as it is said."""
    nasty = (
        (".SH no section",),
        ("'br no break", r"  back\slash \fB", "  .5-fold"),
        ("word " * 13 + ".sp word.",),
    )
    page = manual(replace(made, top=replace(made.top, paragraphs=nasty)))
    assert not re.search(r"^\.(SH no|5|sp)|^'|\\f[^BIR]|back\\s", page, re.MULTILINE)
    if shutil.which("groff"):
        (tmp_path / "deptree.1").write_text(page, encoding="utf-8")
        ran = subprocess.run(["groff", "-man", "-Tascii", tmp_path / "deptree.1"], capture_output=True, check=True)
        shown = " ".join(re.sub(r"\x1b\[\d*m", "", ran.stdout.decode()).split())
        assert r".SH no section 'br no break back\slash \fB .5-fold word" in shown
        assert "word .sp word." in shown


def test_escapes():
    assert escaped("a-b's \\ ~ é") == r"a\-b\(aqs \(rs \(ti \[u00E9]"


CHECKS = [["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"], ["groff", "-man", "-ww", "-Tutf8"]]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check[0])
def test_roff_has_no_complaint(check, page, tmp_path):
    if shutil.which(check[0]) is None:
        pytest.skip(f"{check[0]} is missing")
    (tmp_path / "deptree.1").write_text(page, encoding="utf-8")
    ran = subprocess.run([*check, tmp_path / "deptree.1"], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    assert "deptree" in ran.stdout


def shell(name: str) -> str:
    found = shutil.which(name)
    return found or pytest.skip(f"{name} is missing")


# What bash itself calls when somebody presses the tabulator, with the words it would hand over.
IN_BASH = """
source "$1"
for line in "${@:2}"; do
    read -ra COMP_WORDS <<< "$line"
    if [[ $line == *' ' ]]; then COMP_WORDS+=(''); fi
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _deptree
    echo "${COMPREPLY[@]}"
done
"""

# Its status would say whether there was anything to replace.
IN_FISH = """
source $argv[1]
complete -C $argv[2] | string replace -r '\\t.*' ''; or true
"""


def offered(command: list[object]) -> list[set[str]]:
    """The words of each line that a shell wrote, one for each line to complete."""
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=DATA, timeout=60)
    return [set(line.split()) for line in ran.stdout.splitlines()]


def test_completion_in_bash():
    found = offered([shell("bash"), "--norc", "-c", IN_BASH, "bash", HERE / "deptree.bash", *LINES])
    for (line, wanted, unwanted), words in zip(COMPLETIONS, found, strict=True):
        assert wanted <= words, line
        assert not unwanted & words, line


def test_completion_in_fish():
    fish = [shell("fish"), "--no-config", "-c", IN_FISH, HERE / "deptree.fish"]
    for line, wanted, unwanted in COMPLETIONS:
        words = set().union(*offered([*fish, line]))
        assert wanted <= words, line
        assert not unwanted & words, line
    for line in FILE_NAMES:
        assert offered([*fish, line]) == [{"sentences.conllu"}], line


def typed(command: list[str], setup: str, line: str, wanted: str) -> str:
    """What an interactive shell shows after its setup and a line that ends with a tabulator."""
    terminal, inside = pty.openpty()
    env = {**os.environ, "TERM": "dumb", "COLUMNS": "200"}
    streams = {"stdin": inside, "stdout": inside, "stderr": inside}
    process = subprocess.Popen(command, cwd=DATA, env=env, start_new_session=True, **streams)
    try:
        os.write(terminal, f"{setup}; echo re''ady\n".encode())
        _shown(terminal, "\nready")
        os.write(terminal, f"{line}\t".encode())
        return _shown(terminal, wanted)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(inside)


def _shown(terminal: int, wanted: str) -> str:
    """What comes until the wanted text is there, or for twenty seconds."""
    text, end = "", time.monotonic() + 20
    while wanted not in text and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            text += re.sub("[\r\a]", "", os.read(terminal, 1 << 16).decode(errors="replace"))
    return text


@pytest.mark.parametrize("line", FILE_NAMES)
def test_file_names_in_bash(line):
    setup = f"source '{HERE}/deptree.bash'"
    assert "sentences.conllu" in typed([shell("bash"), "--norc", "-i"], setup, line, "sentences.conllu")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        *((line, "sentences.conllu") for line in FILE_NAMES),
        ("deptree sam", "sample "),
        ("deptree decode --calib", "--calibration"),
        ("deptree decode --method ms", "mst "),
        ("deptree sample --from=nat", "natasha "),
        ("deptree expect -q ent", "entropy "),
    ],
)
def test_completion_in_zsh(line, wanted):
    setup = f"fpath=('{HERE}' $fpath); autoload -U compinit; compinit -u -D"
    assert wanted in typed([shell("zsh"), "-f", "-i"], setup, line, wanted)
