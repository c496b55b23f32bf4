"""Rows by one rule: --format, the suffix of -o, a table on a terminal, else JSON Lines; and what fields they have."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.cli.help import EVERY, QUANTITY, fields
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp import Parser
from deptree_cli.io.conllu import columns
from deptree_cli.io.encoders.base import TSV, Page, Sheet
from tests.commands.sessions import hold_session
from tests.every_command import COMMANDS, ENTRIES, command, example, options, reading
from tests.lines import words
from tests.sample import DATA

ROWS = [
    "partition $SCORES",
    "partition $SCORES --summary",
    "expect entropy $SCORES",
    "inspect $SCORES",
    "check-bias $SCORES -k 50 --seed 7",
    "estimate draws.jsonl",
]


@pytest.fixture
def drawn(done) -> None:
    done("swor $SCORES -k 5 --seed 7 -o draws.jsonl")


@pytest.mark.quick
@pytest.mark.parametrize("line", ROWS)
def test_tsv_has_what_json_has(deptree, drawn, line: str) -> None:
    """With fields within fields; the suffix of a file asks for it."""
    ran, sheet = deptree(f"{line} --json"), deptree(f"{line} --tsv")
    found = list(csv.DictReader(io.StringIO(sheet.out.decode()), delimiter="\t", quoting=csv.QUOTE_NONE))
    for cells, row in zip(found, ran.rows, strict=True):
        flat = {f"{name}.{key}": each for name, of in row.items() if isinstance(of, dict) for key, each in of.items()}
        flat |= {name: value for name, value in row.items() if not isinstance(value, dict)}
        assert set(flat) <= set(cells)
        values = {name: flat.get(name) for name in cells}
        assert cells == {
            name: "" if value is None else value if isinstance(value, str) else json.dumps(value)
            for name, value in values.items()
        }
    assert found
    assert deptree(f"{line} -o rows.tsv").code == ran.code
    assert Path("rows.tsv").read_bytes() == sheet.out


@pytest.mark.parametrize(
    "line", ["check $GOLD --tsv", "diff $GOLD $GOLD --tsv", "repair $GOLD -o x.conllx --changes -"]
)
def test_tsv_without_rows_has_its_header(done, line: str) -> None:
    (header,) = done(line).out.decode().splitlines()
    assert header.startswith("sent_id\t")


@pytest.mark.parametrize("line", ROWS[:4])
def test_a_table_on_a_terminal_unless_json_is_asked_for(terminal, done, line: str) -> None:
    code, shown = terminal(*words(line), "-q")
    rows = done(line).rows
    assert (code, "{" in shown) == (0, False)
    assert all(name in shown for name in ("sent_id", "n") if name in rows[0])
    code, shown = terminal(*words(line), "--json")
    assert [json.loads(line) for line in shown.splitlines()] == rows
    code, shown = terminal(*words(line), "--tsv")
    assert "\t" in shown or "    " in shown


@pytest.mark.parametrize("line", ["inspect $SCORES", "partition $SCORES --summary"])
def test_single_rows_may_be_json_files(done, line: str) -> None:
    done(f"{line} -o one.json")
    assert json.loads(Path("one.json").read_bytes()) == done(line).rows[0]


def test_a_session_of_what_has_no_place(deptree, golden, put, drawn) -> None:
    put("features.npz", {"1": np.ones((3, 3, 2))})
    put("one.npy", np.ones((3, 3)))
    hold_session(deptree, golden, "rows.txt")


def test_a_cell_stays_in_its_line_and_column(capfdbinary) -> None:
    """Whatever a form or a name holds: a tab, an end of line, a space that nobody sees."""
    row = {"form": "a\tb\nc\rd\x85e\u2028f\xa0g", "bits": 0.1, "n": None}
    with TSV.open(None, Page("", sheet=Sheet(("form", "bits", "n")))) as write:
        write(TSV.encode(row, None))
    lines = capfdbinary.readouterr().out.decode().split("\n")
    assert lines == ["form\tbits\tn", r"a\tb\nc\rd\x85e\u2028f\xa0g" + "\t0.1\t", ""]
    with pytest.raises(DeptreeError, match="n is more than a number, which TSV cannot store"):
        write([{"n": [1]}])


# Ids as in UD_English-EWT, UD_English-GUM and UD_Czech-PDT, on terminals of 80 and 60 columns: numbers are never cut.
EWT = "weblog-blogspot.com_rigorousintuition_20060511134300_ENG_20060511_134300-000"
IDS = {
    "en-1": f"{EWT}3",
    "en-2": f"{EWT}4",
    "en-3": "reviews-048363-0004",
    "en-4": "GUM_academic_librarians-12",
    "cs-1": "newsgroup-groups.google.com_FOOLED_1bf9cc736b66efd4_ENG_20050904_130400-0006",
    "cs-2": "cmpr9410-001-p2s1",
    "ru-1": "email-enronsent00_01-0077",
    "ru-2": "ru-2",
}
NATASHA = "s.npz --from natasha"

# Commands that show a table, with an option if that makes another one.
TABLES = [
    f"partition {NATASHA}",
    f"partition {NATASHA} --summary",
    f"check-bias {NATASHA} -k 50 --seed 1",
    f"inspect {NATASHA} --gold gold.conllu",
    f"score {NATASHA} gold.conllu",
    "eval gold.conllu gold.conllu --seed 1",
    "eval gold.conllu gold.conllu --seed 1 --by label",
    f"doubt {NATASHA} --conllu gold.conllu",
    "agree gold.conllu gold.conllu",
    "agree gold.conllu gold.conllu --per sentence",
    "agree gold.conllu t.jsonl --seed 1 --test",
    "measure gold.conllu --seed 1",
    "check gold.conllu --rules leaf.toml",
    "diff gold.conllu best.jsonl",
    f"expect entropy {NATASHA}",
    "estimate swor.jsonl",
    f"calibrate {NATASHA} --gold gold.conllu -o out.jsonl",
    "hpyp perplexity m.npz gold.conllu --seed 1",
    "bitext align $DATA/bitext.npz --gold $DATA/bitext_gold.align -o out.jsonl",
]


def shows_tables(name: str) -> bool:
    """Whether --format may be a table."""
    return any(each.name == "fmt" and "table" in each.type.choices for each in command(name).params)


def name_of(line: str) -> str:
    """The command of a line, of a group by two words."""
    return max((name for name in COMMANDS if f"{line} ".startswith(f"{name} ")), key=len)


# Others do so as their lines call them.
SHOWN = set(map(name_of, TABLES))
TABLES += [
    f"{' '.join(reading(name, 's.npz'))} --from natasha"
    for name in COMMANDS
    if shows_tables(name) and name not in SHOWN
]


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
def on_terminal(files: Path, put, done, terminal):
    """The table of a line on a terminal, without talk, which is not fitted to it, and the line on compiling."""
    for path in files.iterdir():
        put(path.name, path.read_bytes())
    done(f"sample {NATASHA} -k 9 --seed 1 -q -o t.jsonl")
    done(f"swor {NATASHA} -k 20 --seed 1 -q -o swor.jsonl")
    done(f"decode {NATASHA} -q -o best.jsonl")

    def run(line: str, columns: int) -> str:
        shown = terminal(*words(line), columns=columns)[1].splitlines()
        return "\n".join(each for each in shown if not each.startswith("deptree: ") and "compiling" not in each)

    return run


def is_id(text: str) -> bool:
    """Also the beginning and the end of one around an ellipsis."""
    ahead, dots, behind = text.partition("…")
    return text in IDS.values() or any(
        len(ahead) > 2 < len(behind) and each.startswith(ahead) and each.endswith(behind)
        for each in IDS.values()
        if dots
    )


def texts(shown: str) -> set[str]:
    """All that stands in a table but for ids; names of fields part by part, for narrow ones break them."""
    parts = [part for word in shown.split() for part in (word.split("_") if re.fullmatch("[a-z_]+", word) else [word])]
    return {part for part in parts if not is_id(part) and part.strip("─")}


@pytest.mark.parametrize("columns", [80, 60])
@pytest.mark.parametrize("line", TABLES)
def test_a_table_fits_and_nothing_but_ids_is_cut(on_terminal, line: str, columns: int) -> None:
    found, wide = on_terminal(line, columns), on_terminal(line, 400)
    assert len(wide.split()) > 10
    assert max(map(len, found.splitlines())) <= columns
    assert "…" not in "".join(texts(found))
    assert texts(found) == texts(wide)
    assert columns == 60 or on_terminal(line, 0) == found  # no columns are no width


SCORES = "scores.npz --from natasha"
LABELS = "--labels labels.json --label-scores label_scores.npz"
CONLLU = "--conllu sentences.conllu"
FORBIDDEN = "--rules forbidden.tsv"

# Lines that run in a folder with the sample data, for all that each command can write. They may read earlier files.
WRITING = f"""
sample {SCORES} {LABELS} --unique -k 3 --seed 7
sample {SCORES} {LABELS} --unique -k 3 --seed 7 {CONLLU}
sample {SCORES} {LABELS} --rules ud -k 3 --seed 7 {CONLLU}
sample {SCORES} {LABELS} --rules ud -k 3 --seed 7 {CONLLU} --format jsonl --header
swor {SCORES} {LABELS} --mass 0.9 --seed 7
swor {SCORES} {LABELS} --mass 0.9 --seed 7 {CONLLU} -o swor.conllu
swor {SCORES} {LABELS} -k 5 --seed 7 -o swor.jsonl
estimate swor.jsonl
estimate swor.jsonl --quantity arcs
decode {SCORES} {LABELS} {FORBIDDEN} --relax {CONLLU}
decode {SCORES} {LABELS} {FORBIDDEN} --relax
decode {SCORES} --mass 0.9
decode {SCORES} --mass 0.9 {CONLLU}
marginals {SCORES} {LABELS} --above 0.5
calibrate {SCORES} {LABELS} --gold gold.conllu --coverage 0.5 -o calibrated.json
marginals {SCORES} --temperature calibrated.json --head-sets
marginals {SCORES} --temperature calibrated.json --head-sets {CONLLU}
marginals {SCORES} {LABELS} --conllu gold.conllu
marginals {SCORES} {LABELS} --rules ud -k 50 --seed 7 {CONLLU} --format jsonl
score {SCORES} {LABELS} gold.conllu
measure gold.conllu --per word
measure gold.conllu -k 5 --seed 1 --scores scores.npz --from natasha
measure gold.conllu -k 5 --seed 1 --scores scores.npz --from natasha --per sentence
doubt {SCORES} {LABELS} --conllu gold.conllu
doubt {SCORES} {LABELS} --conllu gold.conllu --per sentence
doubt scores.npz {SCORES} --conllu gold.conllu --conllu sentences.conllu
doubt {SCORES} --conllu gold.conllu --format conllu --rank margin
doubt {SCORES} --conllu gold.conllu --format conllu --rank disagreement
eval gold.conllu gold.conllu gold.conllu --seed 7
eval gold.conllu gold.conllu --seed 7 --by label
agree gold.conllu gold.conllu
agree gold.conllu gold.conllu --per sentence --scores scores.npz --from natasha
agree gold.conllu gold.conllu --per label
sample {SCORES} -k 30 --seed 1 -o one.jsonl
agree one.jsonl one.jsonl --test --seed 1
combine scores.npz:natasha gold.conllu
combine scores.npz:natasha gold.conllu {CONLLU}
combine scores.npz:natasha scores.npz:natasha {CONLLU}
check broken.conllu gold.conllu
repair broken.conllu --changes - -o repaired.conllu
repair gold.conllu --rules tree {FORBIDDEN} --relax
sample {SCORES} -k 5 --seed 1 {CONLLU} -o sampled.conllu
repair sampled.conllu --budget 1 --on-error skip
partition {SCORES}
partition {SCORES} --summary
expect entropy {SCORES} --grad
expect renyi --order 2 {SCORES}
expect kl {SCORES} --other scores.npz --grad
expect cross-entropy {SCORES} --other scores.npz
expect risk --gold gold.conllu {SCORES}
expect attachment --gold gold.conllu {SCORES}
expect features --features features.npz {SCORES}
expect covariance --features features.npz {SCORES}
expect ge --features features.npz --target target.txt {SCORES}
eval gold.conllu gold.conllu gold.conllu --seed 1
eval gold.conllu gold.conllu --seed 1 --by label
eval gold.conllu gold.conllu --seed 1 --by confusion
eval gold.conllu gold.conllu gold.conllu --seed 1 --by confusion
eval graph.conllu graph.conllu --seed 1 --per sentence
diff gold.conllu gold.conllu sentences.conllu
diff gold.conllu sentences.conllu --scores {SCORES} {LABELS}
diff gold.conllu sentences.conllu --format conllu
check-bias figure1.npy --sampler wilson-rc -k 500 --seed 7
inspect {SCORES} --gold gold.conllu
inspect scores.npy --from head-dep,log --conllu gold.conllu
convert {SCORES} --header
convert {SCORES} {CONLLU} {LABELS}
dump natasha paragraphs.txt
hpyp train treebank.conllu -o model.npz --iterations 2 --seed 1
hpyp parse model.npz raw.conllu
hpyp parse model.npz raw.conllu --format jsonl --tags predict
hpyp parse model.npz raw.conllu -k 2 --seed 1
hpyp parse model.npz raw.conllu -k 2 --seed 1 --format jsonl
hpyp parse model.npz raw.conllu --to-scores s.npz --seed 1 --tags predict -o parsed.conllu
hpyp surprisal model.npz raw.conllu --seed 1
hpyp surprisal model.npz raw.conllu --seed 1 --format jsonl
hpyp surprisal model.npz raw.conllu --seed 1 --tsv
hpyp surprisal model.npz raw.conllu --seed 1 --regions spaces
hpyp perplexity model.npz raw_gold.conllu --seed 1
hpyp generate model.npz -k 2 --seed 7
hpyp generate model.npz -k 2 --seed 7 --format jsonl
hpyp train treebank.conllu -o text.npz --iterations 2 --unlabelled raw.conllu --seed 1
bitext expectations bitext.npz
bitext expectations bitext.npz --method randomized --iterations 50 --seed 7
bitext align bitext.npz --above 0.1 --format jsonl
bitext align bitext.npz --gold bitext_gold.align --report - -o links.align
"""

# Others as their lines call them; not those that draw pictures or write nothing.
LISTED = {name_of(line) for line in WRITING.strip().split("\n")}
OTHERS = [name for name in COMMANDS if name not in LISTED and ENTRIES[name].writes not in ("picture", "page", "")]


def keys(value: Any) -> Iterator[str]:
    """The names of all fields, those within fields too."""
    for key, below in value.items() if isinstance(value, dict) else ():
        yield key
        yield from keys(below)
    for each in value if isinstance(value, list) else ():
        yield from keys(each)


def names_in(text: str) -> Iterator[str]:
    """The names that an output has: of JSON Lines, of TSV, or of CoNLL-U, there with those of the sentences read."""
    lines = text.splitlines()
    if lines and "\t" in lines[0] and not lines[0].startswith(("#", "1")):
        yield from lines[0].split("\t")
    for line in lines:
        if line.startswith("{"):
            yield from keys(json.loads(line))
        elif comment := re.match(r"# (\w+) =", line):
            yield comment[1]
        elif re.match(r"\d+\t", line):
            yield from (entry.partition("=")[0] for entry in line.split("\t")[-1].split("|") if "=" in entry)


# In the data itself; written under conditions that no line here meets, or by the page of a report; keys of `contexts`.
READ = {"text", "text_en", "SpaceAfter", "Also"}
RARE = {"interrupted", "DoubtNote"}
PROCESSES = {"action", "tag", "word"}


def explained(name: str) -> set[str]:
    """What the table says that a command writes, with the names of the quantities that its help lists."""
    rows = [each for each in fields() if each.commands == (EVERY,) or each.options(name) is not None]
    names = {one for each in rows for one in each.names}
    return names | ({entry.name for entry in command(name).listing.register} if QUANTITY in names else set())


def certain(name: str) -> set[str]:
    """Of these, what some line must write."""
    rows = [each for each in fields() if each.options(name) is not None]
    return {one for each in rows for one in each.names} - RARE - {QUANTITY}


@pytest.mark.slow("process")
def test_commands_write_what_the_table_says_and_nothing_else(deptree, put) -> None:
    for path in DATA.iterdir():
        Path(path.name).symlink_to(path)
    with np.load(DATA / "scores.npz") as scores:
        put("features.npz", {key: np.ones((*scores[key].shape, 2)) for key in scores})
    put("target.txt", "1\n2\n")
    put("graph.conllu", "1\ta\ta\tX\tX\t_\t0\troot\t0:root\t_\n\n")
    put("forbidden.tsv", "en-1\t1\tHeadIn\t2\nen-1\t2\tHeadIn\t1\n")
    written: dict[str, set[str]] = defaultdict(set)
    for line in [*WRITING.strip().split("\n"), *(" ".join(example(name)) for name in OTHERS)]:
        if line.startswith("dump natasha") and find_spec("slovnet") is None:
            continue
        ran = deptree(line)
        assert ran.code in (0, 1, 3), ran.err
        files = [Path(name) for name in re.findall(r"-o (\S+)", line) if not name.endswith(".npz")]
        found = {*names_in(ran.out.decode()), *(name for file in files for name in names_in(file.read_text("utf-8")))}
        known = explained(name_of(line)) | READ | PROCESSES
        assert found <= known, f"{line}: not in the table: {found - known}"
        written[name_of(line)] |= found
    missing = {name: certain(name) - found for name, found in written.items() if certain(name) - found}
    assert not missing, f"never written: {missing}"


def test_the_table_has_commands_options_and_notes_that_there_are() -> None:
    for each in {one for row in fields() for one in row.commands} - {EVERY}:
        name, _, option = each.partition(" -")
        assert name in COMMANDS
        assert not option or f"-{option}".split()[0] in options(name)
    assert {key.decode() for key in columns.COMMENTS | columns.MISC} <= {one for row in fields() for one in row.names}
