"""CoNLL-U Plus in every command that reads sentences: the results are those of the same sentences as CoNLL-U."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from deptree_cli.hpyp import Parser
from tests.every_command import COMMANDS, ENTRIES
from tests.plus import MIXED, from_plus, to_plus
from tests.sample import DATA

GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")
SCORES = "scores.npz --from natasha"
WORDS = f"{SCORES} --conllu words.conllup"

# Lines whose sentences, words.conllup, are CoNLL-U in the first run and CoNLL-U Plus in the second.
LINES = [
    f"sample {WORDS} -k 2 --seed 1",
    f"sample {WORDS} --fix-heads --seed 1",
    f"swor {WORDS} -k 2 --seed 1",
    f"decode {WORDS}",
    f"decode {WORDS} -k 2 --deps basic --jobs 2",
    f"decode {WORDS} --rules tree --deps keep",
    f"marginals {WORDS}",
    f"marginals {WORDS} --tsv",
    f"score {SCORES} words.conllup",
    "eval words.conllup words.conllup --seed 1",
    "agree words.conllup words.conllup",
    "diff words.conllup words.conllup --format conllu",
    "check words.conllup",
    "repair words.conllup --projective",
    f"doubt {WORDS} --format conllu --top 3",
    f"doubt {WORDS} --json",
    f"partition {WORDS} --fix-heads",
    f"expect risk {SCORES} --gold words.conllup",
    f"calibrate {SCORES} --gold words.conllup",
    "combine scores.npz:natasha words.conllup --conllu words.conllup",
    f"check-bias {SCORES} --samples words.conllup",
    "estimate words.conllup",
    f"inspect {WORDS} --json",
    f"show {WORDS} --sentence en-1",
    f"report {WORDS} -o report.html",
    f"convert {WORDS} -o out.jsonl",
    "hpyp train words.conllup -o out.npz --iterations 1 --seed 1",
    "hpyp parse model.npz words.conllup --particles 5",
    "hpyp parse model.npz words.conllup --particles 5 --tags predict -k 2 --seed 1",
    "hpyp surprisal model.npz words.conllup --particles 5 --seed 1",
    "hpyp perplexity model.npz words.conllup --particles 5 --seed 1",
]

# What makes sentences for commands that read samples.
DRAWN = {
    "estimate": f"swor {SCORES} --conllu gold.conllu -k 3 --seed 1",
    "check-bias": f"sample {SCORES} --conllu gold.conllu -k 50 --seed 1",
}

# Others that read sentences beside scores.
LISTED = {name for name in COMMANDS for line in LINES if line.startswith(f"{name} ")}
OTHERS = [name for name, entry in ENTRIES.items() if entry.reads == "scores" and name not in LISTED]
LINES += [f"{name} {WORDS}" for name in OTHERS]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("plus") / "model.npz"
    Parser.train(DATA / "gold.conllu", iterations=1, seed=1).save(path)
    return path.read_bytes()


@pytest.fixture
def read(put, model):
    put("scores.npz", (DATA / "scores.npz").read_bytes())
    put("model.npz", model)


def test_a_report_has_the_columns_of_its_sentences(done, put, read):
    put("words.conllup", to_plus(GOLD))
    page = done(*f"report {WORDS}".split()).out.decode()
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    data = json.loads(found)
    assert from_plus("".join(data["conllu"])) == GOLD
    assert data["columns"] == [name.lower() for name in MIXED]


def test_files_of_other_columns_together_are_read_but_not_written(deptree, done, put, read):
    put("words.conllup", to_plus(GOLD))
    put("gold.conllu", GOLD)
    assert b'"UAS","value":1.0' in done("eval", "gold.conllu", "words.conllup", "--seed", 1).out
    scores = ["scores.npz", "scores.npz", "--from", "natasha"]
    ran = deptree("decode", *scores, "--conllu", "words.conllup", "--conllu", "gold.conllu", "-o", "out.cupt")
    assert (ran.code, ran.said[-1][:51]) == (2, "deptree: out.cupt: sentences with columns ID X:TYPE")
    assert ran.said[-1].endswith(" in one file. Give files of the same columns together.")
    assert not Path("out.cupt").exists()


@pytest.mark.parametrize("more", [["--shard", "2/2"], ["--shard", "1/2", "--jobs", 2], ["-k", 3], ["--no-header"]])
def test_columns_are_named_first_and_once(done, put, read, more):
    """Also where the first sentence is not the first of the file, and in what comes on standard input."""
    text = to_plus(GOLD)
    ran = done("decode", *SCORES.split(), "--conllu", "-", *more, stdin=text.encode())
    assert ran.out.startswith(text.partition("\n")[0].encode() + b"\n# ")
    assert ran.out.count(b"global.columns") == 1
    assert "sent_id" in from_plus(ran.out.decode())


def test_what_has_no_column_is_named_in_a_line(deptree, done, put, read):
    names = ["ID", "FORM", "HEAD"]
    put("words.conllup", to_plus(GOLD, names))
    ran = done("decode", *WORDS.split(), "-o", "out.conllup")
    assert "deptree: not written, because # global.columns names no column for it: HeadProb (MISC)" in ran.said
    assert Path("out.conllup").read_text().startswith("# global.columns = ID FORM HEAD\n# generator = ")
    ran = deptree("marginals", *WORDS.split())
    assert (ran.code, ran.out) == (2, b"")
    assert "words.conllup:2" in ran.err
    assert "there is no column MISC for HeadProb: # global.columns names ID FORM HEAD. Add MISC" in ran.err
    put("words.conllup", to_plus(GOLD, ["ID", "FORM"]))
    ran = deptree("decode", *WORDS.split())
    assert ran.code == 2
    assert "there is no column HEAD for trees: # global.columns names ID FORM. Add HEAD" in ran.err
    assert b'"heads":[' in done("decode", *WORDS.split(), "--format", "jsonl").out


@pytest.mark.parametrize("line", LINES)
def test_the_same_results(deptree, done, put, read, line):
    put("gold.conllu", GOLD)
    drawn = DRAWN.get(line.split()[0])
    text = done(*drawn.split()).out.decode() if drawn else GOLD

    def ran(text):
        put("words.conllup", text)
        return deptree(*line.split()), [each.read_bytes() for each in Path.cwd().glob("out.*")]

    plain, files = ran(text)
    plus, others = ran(to_plus(text))
    assert (plus.code, plus.err, others) == (plain.code, plain.err, files)
    assert plain.code in (0, 1, 3), plain.err
    text = plus.out.decode()
    assert (from_plus(text) if text.startswith("# global") else text) == plain.out.decode()
    assert text.startswith("# global") == (b"\t_\t" in plain.out and b"sent_id\t" not in plain.out)
