"""Every field, comment and entry of MISC that a command writes is in the table of fields, and the reverse."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.cli.help import EVERY, QUANTITY, fields
from deptree_cli.io.conllu import columns
from tests.every_command import COMMANDS, ENTRIES, command, example, options

DATA = Path(__file__).parents[2] / "sample_data"
SCORES = "scores.npz --from natasha"
LABELS = "--labels labels.json --label-scores label_scores.npz"
CONLLU = "--conllu sentences.conllu"
FORBIDDEN = "--rules forbidden.tsv"

# Lines that run in a folder with the sample data, for all that each command can write. They may read earlier files.
LINES = f"""
sample {SCORES} {LABELS} --unique -k 3 --seed 7
sample {SCORES} {LABELS} --unique -k 3 --seed 7 {CONLLU}
sample {SCORES} {LABELS} --rules ud -k 3 --seed 7 {CONLLU}
sample {SCORES} {LABELS} --rules ud -k 3 --seed 7 {CONLLU} --format jsonl --header
swor {SCORES} {LABELS} --mass 0.9 --seed 7
swor {SCORES} {LABELS} --mass 0.9 --seed 7 {CONLLU} -o swor.conllu
swor {SCORES} {LABELS} -k 5 --seed 7 -o swor.jsonl
estimate swor.jsonl
estimate swor.jsonl --quantity arcs
decode {SCORES} {LABELS} --rules ud {CONLLU}
decode {SCORES} {LABELS} --rules ud {CONLLU} --format jsonl
decode {SCORES} {LABELS} -k 2
decode {SCORES} {LABELS} {FORBIDDEN} --relax {CONLLU}
decode {SCORES} {LABELS} {FORBIDDEN} --relax
decode {SCORES} --mass 0.9
decode {SCORES} --mass 0.9 {CONLLU}
marginals {SCORES} {LABELS}
marginals {SCORES} {LABELS} --above 0.5
calibrate {SCORES} {LABELS} --gold gold.conllu --coverage 0.5 -o calibrated.json
calibrate {SCORES} {LABELS} --gold gold.conllu --coverage 0.5
marginals {SCORES} --temperature calibrated.json --head-sets
marginals {SCORES} --temperature calibrated.json --head-sets {CONLLU}
marginals {SCORES} {LABELS} --conllu gold.conllu
marginals {SCORES} {LABELS} --rules ud -k 50 --seed 7 {CONLLU} --format jsonl
score {SCORES} gold.conllu
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
agree one.jsonl one.jsonl --test --seed 1 --per sentence
combine scores.npz:natasha gold.conllu
combine scores.npz:natasha gold.conllu {CONLLU}
combine scores.npz:natasha scores.npz:natasha {CONLLU}
check swor.conllu
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
diff gold.conllu gold.conllu sentences.conllu
diff gold.conllu sentences.conllu --scores {SCORES} {LABELS}
diff gold.conllu sentences.conllu --format conllu
check-bias {SCORES} -k 50 --seed 7
check-bias figure1.npy --sampler wilson-rc -k 500 --seed 7
inspect {SCORES} --gold gold.conllu
inspect scores.npy --from head-dep,log --conllu gold.conllu
convert {SCORES} --header
convert {SCORES} --header {LABELS}
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
hpyp train treebank.conllu -o states.npz --iterations 3 --states 2 --seed 1
hpyp train treebank.conllu -o text.npz --iterations 2 --unlabelled raw.conllu --seed 1
bitext expectations bitext.npz
bitext expectations bitext.npz --method randomized --iterations 50 --seed 7
bitext expectations bitext.npz --method rdp --iterations 5 --seed 7
bitext align bitext.npz --above 0.1 --format jsonl
bitext align bitext.npz --gold bitext_gold.align --report - -o links.align
"""


LISTED = {name for line in LINES.split("\n") for name in COMMANDS if line.startswith(f"{name} ")}

# Others as their lines call them; not those that draw pictures or write nothing.
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data, and what some lines need besides."""
    folder = tmp_path_factory.mktemp("fields")
    for path in DATA.iterdir():
        (folder / path.name).symlink_to(path)
    with np.load(DATA / "scores.npz") as scores:
        np.savez(folder / "features.npz", **{key: np.ones((*scores[key].shape, 2)) for key in scores})
    (folder / "target.txt").write_text("1\n2\n", encoding="utf-8")
    (folder / "forbidden.tsv").write_text("en-1\t1\tHeadIn\t2\nen-1\t2\tHeadIn\t1\n", encoding="utf-8")
    return folder


# In the data itself; or written under conditions that no line here meets, or by the page of a report.
READ = {"text", "text_en", "SpaceAfter", "Also"}
RARE = {"interrupted", "DoubtNote"}
# The names of the processes are keys of `contexts`.
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


def name_of(line: str) -> str:
    """The command of a line, of a group by two words."""
    return max((name for name in COMMANDS if f"{line} ".startswith(f"{name} ")), key=len)


@pytest.mark.slow("process")
def test_commands_write_what_the_table_says_and_nothing_else(folder: Path, warm: Path) -> None:
    environment = {**os.environ, "PATH": f"{warm}:{os.environ['PATH']}"}
    written: dict[str, set[str]] = defaultdict(set)
    for line in [*LINES.strip().split("\n"), *(" ".join(example(name)) for name in OTHERS)]:
        if line.startswith("dump natasha") and find_spec("slovnet") is None:
            continue
        words = ["deptree", *line.split()]
        ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode in (0, 1, 3), ran.stderr
        files = [folder / name for name in re.findall(r"-o (\S+)", line) if not name.endswith(".npz")]
        found = {*names_in(ran.stdout), *(name for file in files for name in names_in(file.read_text("utf-8")))}
        known = explained(name_of(line)) | READ | PROCESSES
        assert found <= known, f"{line}: not in the table: {found - known}"
        written[name_of(line)] |= found
    missing = {name: certain(name) - found for name, found in written.items() if certain(name) - found}
    assert not missing, f"never written: {missing}"


def test_the_table_has_commands_and_options_that_there_are() -> None:
    for each in {one for row in fields() for one in row.commands} - {EVERY}:
        name, _, option = each.partition(" -")
        assert name in COMMANDS
        assert not option or f"-{option}".split()[0] in options(name)


def test_notes_of_an_earlier_run_are_in_the_table() -> None:
    assert {key.decode() for key in columns.COMMENTS | columns.MISC} <= {one for row in fields() for one in row.names}
