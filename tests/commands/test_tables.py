"""Tables of every command on terminals of 80 and 60 columns, with ids as treebanks have them: numbers are never cut."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.hpyp import Parser
from tests.every_command import COMMANDS, command, reading
from tests.sample import DATA

# As in UD_English-EWT, UD_English-GUM and UD_Czech-PDT.
IDS = {
    "en-1": "weblog-blogspot.com_rigorousintuition_20060511134300_ENG_20060511_134300-0003",
    "en-2": "weblog-blogspot.com_rigorousintuition_20060511134300_ENG_20060511_134300-0004",
    "en-3": "reviews-048363-0004",
    "en-4": "GUM_academic_librarians-12",
    "cs-1": "newsgroup-groups.google.com_FOOLED_1bf9cc736b66efd4_ENG_20050904_130400-0006",
    "cs-2": "cmpr9410-001-p2s1",
    "ru-1": "email-enronsent00_01-0077",
    "ru-2": "ru-2",
}

SCORES = ("s.npz", "--from", "natasha")
GOLD = ("--gold", "gold.conllu")

# What a table is shown for: a command with an option, if that makes another table, and its arguments.
TABLES = {
    "partition": SCORES,
    "partition --summary": SCORES,
    "check-bias": (*SCORES, "-k", 50, "--seed", 1),
    "inspect": (*SCORES, *GOLD),
    "score": (*SCORES, "gold.conllu"),
    "eval": ("gold.conllu", "gold.conllu", "--seed", 1),
    "eval --by=label": ("gold.conllu", "gold.conllu", "--seed", 1),
    "doubt": (*SCORES, "--conllu", "gold.conllu"),
    "agree": ("gold.conllu", "gold.conllu"),
    "agree --per=sentence": ("gold.conllu", "gold.conllu"),
    "measure": ("gold.conllu", "--seed", 1),
    "agree --test": ("gold.conllu", "t.jsonl", "--seed", 1),
    "check": ("gold.conllu", "--rules", "leaf.toml"),
    "expect": ("entropy", *SCORES),
    "estimate": ("swor.jsonl",),
    "calibrate": (*SCORES, *GOLD, "-o", "out.jsonl"),
    "hpyp perplexity": ("m.npz", "gold.conllu", "--seed", 1),
    "bitext align": (DATA / "bitext.npz", "--gold", DATA / "bitext_gold.align", "-o", "out.jsonl"),
}


def formats(name: str) -> set[str]:
    """What --format may be."""
    return {each for param in command(name).params if param.name == "fmt" for each in param.type.choices}


# Other commands that write tables do so as their lines call them.
LISTED = {name.partition(" --")[0] for name in TABLES}
TABLES |= {
    name: (*reading(name, "s.npz")[1:], "--from", "natasha")
    for name in COMMANDS
    if "table" in formats(name) and name not in LISTED
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with scores, gold heads, a rule that they break, and a model."""
    folder = tmp_path_factory.mktemp("tables")
    with np.load(DATA / "scores.npz") as scores:
        np.savez(folder / "s.npz", **{IDS[key]: scores[key] for key in scores})
    text = (DATA / "gold.conllu").read_text(encoding="utf-8")
    for short, name in IDS.items():
        text = text.replace(f"# sent_id = {short}\n", f"# sent_id = {name}\n")
    (folder / "gold.conllu").write_text(text, encoding="utf-8")
    (folder / "leaf.toml").write_text('leaf = [{ name = "root-should-be-leaf", label = "root" }]')
    Parser.train(DATA / "treebank.conllu", iterations=2, seed=1).save(folder / "m.npz")
    return folder


@pytest.fixture
def work(files: Path, put, done, tmp_path: Path) -> None:
    """Those files in the folder of the test."""
    for path in files.iterdir():
        put(path.name, path.read_bytes())
    put("t.jsonl", done("sample", *SCORES, "-k", 9, "--seed", 1, "-q").out)
    put("swor.jsonl", done("swor", *SCORES, "-k", 20, "--seed", 1, "-q").out)


def table(text: str) -> str:
    """What comes to the terminal without talk, which is not fitted to it, and without the line on compiling."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("deptree: ") and "compiling" not in line)


def is_cut_id(text: str) -> bool:
    """Whether it is the beginning and the end of an id around an ellipsis."""
    ahead, _, behind = text.partition("…")
    return any(
        len(ahead) > 2 < len(behind) and each.startswith(ahead) and each.endswith(behind) for each in IDS.values()
    )


def texts(table: str) -> set[str]:
    """All that stands in a table but for ids; names of fields part by part, for narrow ones break them."""
    parts = [part for word in table.split() for part in (word.split("_") if re.fullmatch("[a-z_]+", word) else [word])]
    return {part for part in parts if part not in IDS.values() and not is_cut_id(part) and part.strip("─")}


def line_of(name: str) -> tuple[object, ...]:
    """What a table is shown for, as it is typed."""
    words, dashes, option = name.partition(" --")
    return (*words.split(), *TABLES[name], *([f"--{option}"] if dashes else []))


@pytest.mark.slow("process")
@pytest.mark.parametrize("name", TABLES)
def test_no_columns_are_no_width(terminal, work, name: str) -> None:
    args = line_of(name)
    assert table(terminal(*args, columns=0)[1]) == table(terminal(*args, columns=80)[1])


@pytest.mark.parametrize("columns", [80, 60])
@pytest.mark.parametrize("name", TABLES)
def test_it_fits_and_nothing_but_ids_is_cut(terminal, work, name: str, columns: int) -> None:
    args = line_of(name)
    found, wide = (table(terminal(*args, columns=each)[1]) for each in (columns, 400))
    assert len(wide.split()) > 10
    assert max(map(len, found.splitlines())) <= columns
    assert "…" not in "".join(texts(found))
    assert texts(found) == texts(wide)
